# SPDX-License-Identifier: Apache-2.0
"""Limit cycles as fixed points of the stride function ([DS09] section 4.1).

The stride function maps the state just after one touchdown to that just after the next, left and
right exchanged. It comes as a callable, so that any plant and controller will do.

The return map of the simplest walking model [GCRC98] and its derivative, to 12 digits and more.

A point mass on two straight legs whose feet weigh nothing: the robot that `compass` becomes when
the mass of its feet goes to zero, where every plant that divides by that mass loses digits. It is
the yardstick for return maps and eigenvalues, not a robot.

Time counts in sqrt(leg length / gravity), angles in rad: theta of the stance leg from the slope
normal, positive with the hip behind the foot, phi between the legs, twice theta at touchdown. The
integration (order 8, steps of equal length up to the touchdown, [HNW93]) takes complex numbers, so
that a derivative is the imaginary part of one stride and nothing is subtracted.
"""

import cmath
from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import NotAchieved, require
from walking_control.models.dormand_prince import A


@dataclass(frozen=True)
class Stride:
    """One step.

    Attributes:
        x: State just after the touchdown that ends it, ``(m,)``.
        period: s.
        length: Distance between the footholds, m.
    """

    x: np.ndarray
    period: float
    length: float


StrideFunction = Callable[[np.ndarray], Stride | None]  # None where the robot falls


@dataclass(frozen=True)
class Cycle:
    """A limit cycle.

    Attributes:
        x: Its state just after touchdown, ``(m,)``.
        period: s.
        length: Step length, m.
        eigenvalues: Of the linearised stride function, largest first, ``(m,)``.
        residual: Largest entry of stride(x) - x.
    """

    x: np.ndarray
    period: float
    length: float
    eigenvalues: np.ndarray
    residual: float

    @property
    def stable(self) -> bool:
        """Whether small disturbances die out."""
        return bool(abs(self.eigenvalues[0]) < 1.0)

    @property
    def speed(self) -> float:
        """Walking speed along the floor, m/s."""
        return self.length / self.period


def linearise(stride: StrideFunction, x: np.ndarray, step: float = 1e-6) -> np.ndarray | None:
    """Return the Jacobian of the stride function by central differences, or None at its edge.

    Args:
        stride: Callable x -> `Stride`, or None where the robot falls.
        x: State, ``(m,)``.
        step: Disturbance of each entry.
    """
    columns = []
    for direction in step * np.eye(len(x)):
        after, before = stride(x + direction), stride(x - direction)
        if after is None or before is None:
            return None
        columns.append((after.x - before.x) / (2 * step))
    return np.asarray(np.array(columns).T)


def polish(
    stride: StrideFunction, x: np.ndarray, tolerance: float = 1e-11, rounds: int = 30
) -> np.ndarray | None:
    """Return the fixed point Newton's method reaches from x, or None.

    Args:
        stride: Callable x -> `Stride` or None.
        x: First guess.
        tolerance: Largest entry of the residual that counts as zero.
        rounds: Newton steps allowed; each is shortened until the residual falls.
    """
    x = np.array(x, dtype=float)
    here = stride(x)
    if here is None:
        return None
    for _ in range(rounds):
        residual = here.x - x
        size = np.abs(residual).max()
        if size < tolerance:
            return x
        jacobian = linearise(stride, x)
        if jacobian is None:
            return None
        direction = np.linalg.lstsq(np.eye(len(x)) - jacobian, residual, rcond=None)[0]
        for shorter in 0.5 ** np.arange(12):
            there = stride(x + shorter * direction)
            if there is not None and np.abs(there.x - x - shorter * direction).max() < size:
                break
        else:
            # at the accuracy of the stride function itself nothing improves any more
            return x if size < 1e3 * tolerance else None
        x = x + shorter * direction
        here = there
    return None


def judge(stride: StrideFunction, x: np.ndarray) -> Cycle | None:
    """Return the `Cycle` through a fixed point, or None where the stride function ends.

    Args:
        stride: From a state to the next.
        x: The fixed point, ``(n,)``.
    """
    here, jacobian = stride(x), linearise(stride, x)
    if here is None or jacobian is None:
        return None
    return Cycle(
        np.array(x),
        here.period,
        here.length,
        sorted_eigenvalues(jacobian),
        float(np.abs(here.x - x).max()),
    )


def sorted_eigenvalues(jacobian: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a matrix, largest first, pairs by their real parts."""
    values = np.linalg.eigvals(jacobian)
    return values[np.lexsort((-values.imag, -values.real, -np.round(np.abs(values), 9)))]


def find_cycles(
    stride: StrideFunction,
    starts: np.ndarray,
    newton_starts: int = 24,
    tolerance: float = 1e-11,
    distinct: float = 1e-6,
    progress: Callable[[float], None] | None = None,
) -> list[Cycle]:
    """Return all limit cycles reached from many starts, stable ones first, then by period.

    The starts whose stride comes back nearest to them serve Newton's method.

    Args:
        stride: Callable x -> `Stride` or None.
        starts: Candidate states, ``(k, m)``.
        newton_starts: How many of them to polish.
        tolerance: See `polish`.
        distinct: Fixed points closer than this are one.
        progress: Called with the share done now and then, from 0 to 1.

    Raises:
        NotAchieved: No cycle; says what was tried.
    """
    show = progress or (lambda share: None)
    strides = []
    for x in np.asarray(starts, dtype=float):
        strides.append((x, stride(x)))
        show(0.5 * len(strides) / len(starts))
    alive = [
        (np.linalg.norm(there.x - x) / (0.1 + np.linalg.norm(x)), i)
        for i, (x, there) in enumerate(strides)
        if there is not None
    ]
    cycles: list[Cycle] = []
    chosen = sorted(alive)[:newton_starts]
    for k, (_, i) in enumerate(chosen):
        show(0.5 + 0.5 * k / len(chosen))
        x = polish(stride, strides[i][0], tolerance)
        if x is None or any(np.abs(x - cycle.x).max() < distinct for cycle in cycles):
            continue
        cycle = judge(stride, x)
        if cycle is not None and cycle.length > 1e-6:
            cycles.append(cycle)
    show(1.0)
    require(
        cycles,
        'limit cycle',
        limit=f'none found from {len(strides)} starts, of which {len(alive)} '
        f'made a step and {min(newton_starts, len(alive))} were refined',
        remedy='try another slope, controller or seed',
        error=NotAchieved,
    )
    return sorted(cycles, key=lambda cycle: (not cycle.stable, cycle.period))


STEPS = 60  # per stride: halving them changes no digit that is left
TINY = 1e-30  # imaginary step of a derivative
# Where the searches begin: angle / slope^(1/3), rate / angle and time, each with its change over
# slope^(2/3), of the expansions of [GCRC98] Table 1 or (rate) of the gaits on 0.009
LONG = ((0.970956, -0.1864), (-1.045203, 1.1), (3.812092, 1.579129))
SHORT = ((0.943976, -0.264561), (-1.090331, 0.9), (math.pi, -0.907496))
_ROWS = [[(j, float(A[i, j])) for j in range(i) if A[i, j] != 0.0] for i in range(13)]


class SimplestCycle(NamedTuple):
    """A limit cycle of the simplest walking model.

    Attributes:
        angle: Of the stance leg just after touchdown, rad.
        rate: Of the same, in units of sqrt(gravity / leg length).
        period: In units of sqrt(leg length / gravity).
        eigenvalues: Of the return map of angle and rate, largest first, ``(2,)``.
        residual: Largest change of angle and rate over a stride.
    """

    angle: float
    rate: float
    period: float
    eigenvalues: np.ndarray
    residual: float


def find_simplest_cycle(slope: float, long: bool = True) -> SimplestCycle:
    """Return a passive gait of the simplest walking model.

    Args:
        slope: rad, downhill positive.
        long: Which of the two gaits: the one of the longer step, or the other.

    Raises:
        NotAchieved: Newton's method does not get there.
    """
    require(
        0.0 < slope < 0.5,
        'slope of the simplest walking model',
        value=slope,
        limit='must be between 0 and 0.5 rad',
    )
    small = slope ** (2.0 / 3.0)
    angle, share, period = (first + change * small for first, change in (LONG if long else SHORT))
    angle *= slope ** (1.0 / 3.0)
    x, time, after = np.array([angle, share * angle]), complex(period), np.full(2, math.nan)
    for _ in range(50):
        try:
            after, time, jacobian = _linearise(x, time, slope)
            change = np.linalg.solve(np.eye(2) - jacobian, after - x)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            break
        x = x + change
        if np.abs(change).max() < 1e-15:
            break
    require(
        np.abs(after - x).max() < 1e-12 and x[0] > 0.0,
        'gait of the simplest walking model',
        value=slope,
        limit='Newton finds none on this slope',
        remedy='try 0.001 to 0.05 rad',
        error=NotAchieved,
    )
    after, time, jacobian = _linearise(x, time, slope)
    return SimplestCycle(
        float(x[0]),
        float(x[1]),
        time.real,
        sorted_eigenvalues(jacobian).astype(complex),
        float(np.abs(after - x).max()),
    )


def _linearise(
    x: np.ndarray, time: complex, slope: float
) -> tuple[np.ndarray, complex, np.ndarray]:
    """Return the state after a stride, its time, and the derivative of the state."""
    columns = []
    for step in TINY * 1j * np.eye(2):
        after, time = _stride(x + step, time.real, slope)
        columns.append(after.imag / TINY)
    return after.real, time, np.array(columns).T


def _stride(x: np.ndarray, time: complex, slope: float) -> tuple[np.ndarray, complex]:
    """Return angle and rate just after the next touchdown and its time, near the time given."""
    for _ in range(30):  # Newton's method on phi = 2 theta, in complex time
        theta, rate, phi, turn = _swing(x, time, slope)
        change = (phi - 2.0 * theta) / (turn - 2.0 * rate)
        time -= change
        if abs(change) < 1e-13 * abs(time):  # the next would square it
            break
    theta, rate, _, _ = _swing(x, time, slope)
    return np.array([-theta, cmath.cos(2.0 * theta) * rate]), time


def _swing(x: np.ndarray, time: complex, slope: float) -> tuple[complex, ...]:
    """Return theta, phi and their rates a time after touchdown, as theta, rate, phi, its rate."""
    angle, rate = complex(x[0]), complex(x[1])
    y: tuple[complex, ...] = (angle, rate, 2.0 * angle, (1.0 - cmath.cos(2.0 * angle)) * rate)
    step = time / STEPS
    for _ in range(STEPS):
        stages: list[tuple[complex, ...]] = []
        for row in _ROWS[:12]:
            stages.append(_accelerate(_ahead(y, stages, row, step), slope))
        y = _ahead(y, stages, _ROWS[12], step)
    return y


def _ahead(
    y: tuple[complex, ...],
    stages: list[tuple[complex, ...]],
    row: list[tuple[int, float]],
    step: complex,
) -> tuple[complex, ...]:
    return tuple(y[i] + step * sum(weight * stages[j][i] for j, weight in row) for i in range(4))


def _accelerate(y: tuple[complex, ...], slope: float) -> tuple[complex, ...]:
    """Return the rates of theta, its rate, phi, its rate: [GCRC98] eq. (1) and (2)."""
    theta, rate, phi, turn = y
    fall, swing = cmath.sin(theta - slope), cmath.sin(phi)
    return rate, fall, turn, fall + (rate * rate - cmath.cos(theta - slope)) * swing
