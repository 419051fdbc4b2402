# SPDX-License-Identifier: Apache-2.0
"""Limit cycles as fixed points of the stride function ([DS09] section 4.1).

The stride function maps the state just after one touchdown to that just after the next, left and
right exchanged. It comes as a callable, so that any plant and controller will do.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walking_control.exceptions import NotAchieved


@dataclass(frozen=True)
class Stride:
    """One step."""

    x: np.ndarray   # state just after the touchdown that ends it, ``(m,)``
    period: float   # s
    length: float   # distance between the footholds, m


StrideFunction = Callable[[np.ndarray], Stride | None]   # None where the robot falls


@dataclass(frozen=True)
class Cycle:
    """A limit cycle."""

    x: np.ndarray   # its state just after touchdown, ``(m,)``
    period: float   # s
    length: float   # step length, m
    eigenvalues: np.ndarray   # of the linearised stride function, largest first, ``(m,)``
    residual: float   # largest entry of stride(x) - x

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


def polish(stride: StrideFunction, x: np.ndarray, tolerance: float = 1e-11,
           rounds: int = 30) -> np.ndarray | None:
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
    """Return the `Cycle` through a fixed point, or None where the stride function ends."""
    here, jacobian = stride(x), linearise(stride, x)
    if here is None or jacobian is None:
        return None
    return Cycle(np.array(x), here.period, here.length, sorted_eigenvalues(jacobian),
                 float(np.abs(here.x - x).max()))


def sorted_eigenvalues(jacobian: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a matrix, largest first, pairs by their real parts."""
    values = np.linalg.eigvals(jacobian)
    return values[np.lexsort((-values.imag, -values.real, -np.round(np.abs(values), 9)))]


def find_cycles(stride: StrideFunction, starts: np.ndarray, newton_starts: int = 24,
                tolerance: float = 1e-11, distinct: float = 1e-6,
                progress: Callable[[float], None] | None = None) -> list[Cycle]:
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
    alive = [(np.linalg.norm(there.x - x) / (0.1 + np.linalg.norm(x)), i)
             for i, (x, there) in enumerate(strides) if there is not None]
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
    if not cycles:
        raise NotAchieved(
            'limit cycle', limit=f'none found from {len(strides)} starts, of which {len(alive)} '
            f'made a step and {min(newton_starts, len(alive))} were refined',
            remedy='try another slope, controller or seed')
    return sorted(cycles, key=lambda cycle: (not cycle.stable, cycle.period))
