# SPDX-License-Identifier: Apache-2.0
"""The return map of the simplest walking model [GCRC98] and its derivative, to 12 digits and more.

A point mass on two straight legs whose feet weigh nothing: the robot that `compass` becomes when
the mass of its feet goes to zero, where every plant that divides by that mass loses digits. It is
the yardstick for return maps and eigenvalues, not a robot.

Time counts in sqrt(leg length / gravity), angles in rad: theta of the stance leg from the slope
normal, positive with the hip behind the foot, phi between the legs, twice theta at touchdown. The
integration (order 8, steps of equal length up to the touchdown, [HNW93]) takes complex numbers, so
that a derivative is the imaginary part of one stride and nothing is subtracted.
"""

import cmath
import math
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.gaits.return_map import sorted_eigenvalues
from walking_control.models.dormand_prince import A

STEPS = 60       # per stride: halving them changes no digit that is left
TINY = 1e-30     # imaginary step of a derivative
# Where the searches begin: angle / slope^(1/3), rate / angle and time, each with its change over
# slope^(2/3), of the expansions of [GCRC98] Table 1 or (rate) of the gaits on 0.009
LONG = ((0.970956, -0.1864), (-1.045203, 1.1), (3.812092, 1.579129))
SHORT = ((0.943976, -0.264561), (-1.090331, 0.9), (math.pi, -0.907496))
_ROWS = [[(j, float(A[i, j])) for j in range(i) if A[i, j] != 0.0] for i in range(13)]


class SimplestCycle(NamedTuple):
    """A limit cycle of the simplest walking model."""

    angle: float   # of the stance leg just after touchdown, rad
    rate: float   # of the same, in units of sqrt(gravity / leg length)
    period: float   # in units of sqrt(leg length / gravity)
    eigenvalues: np.ndarray   # of the return map of angle and rate, largest first, ``(2,)``
    residual: float   # largest change of angle and rate over a stride


def find_simplest_cycle(slope: float, long: bool = True) -> SimplestCycle:
    """Return a passive gait of the simplest walking model.

    Args:
        slope: rad, downhill positive.
        long: Which of the two gaits: the one of the longer step, or the other.

    Raises:
        NotAchieved: Newton's method does not get there.
    """
    if not 0.0 < slope < 0.5:
        raise InvalidInput('slope of the simplest walking model', value=slope,
                           limit='must be between 0 and 0.5 rad')
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
    if not np.abs(after - x).max() < 1e-12 or x[0] <= 0.0:
        raise NotAchieved('gait of the simplest walking model', value=slope,
                          limit='Newton finds none on this slope', remedy='try 0.001 to 0.05 rad')
    after, time, jacobian = _linearise(x, time, slope)
    return SimplestCycle(float(x[0]), float(x[1]), time.real,
                         sorted_eigenvalues(jacobian).astype(complex),
                         float(np.abs(after - x).max()))


def _linearise(x: np.ndarray, time: complex, slope: float
               ) -> tuple[np.ndarray, complex, np.ndarray]:
    """Return the state after a stride, its time, and the derivative of the state."""
    columns = []
    for step in TINY * 1j * np.eye(2):
        after, time = _stride(x + step, time.real, slope)
        columns.append(after.imag / TINY)
    return after.real, time, np.array(columns).T


def _stride(x: np.ndarray, time: complex, slope: float) -> tuple[np.ndarray, complex]:
    """Return angle and rate just after the next touchdown and its time, near the time given."""
    for _ in range(30):   # Newton's method on phi = 2 theta, in complex time
        theta, rate, phi, turn = _swing(x, time, slope)
        change = (phi - 2.0 * theta) / (turn - 2.0 * rate)
        time -= change
        if abs(change) < 1e-13 * abs(time):   # the next would square it
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


def _ahead(y: tuple[complex, ...], stages: list[tuple[complex, ...]], row: list[tuple[int, float]],
           step: complex) -> tuple[complex, ...]:
    return tuple(y[i] + step * sum(weight * stages[j][i] for j, weight in row) for i in range(4))


def _accelerate(y: tuple[complex, ...], slope: float) -> tuple[complex, ...]:
    """Return the rates of theta, its rate, phi, its rate: [GCRC98] eq. (1) and (2)."""
    theta, rate, phi, turn = y
    fall, swing = cmath.sin(theta - slope), cmath.sin(phi)
    return rate, fall, turn, fall + (rate * rate - cmath.cos(theta - slope)) * swing
