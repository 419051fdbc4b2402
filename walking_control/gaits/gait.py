# SPDX-License-Identifier: Apache-2.0
"""A gait: the periodic motion of one step, phase by phase, as polynomials of time.

Within a phase time runs from 0 to 1. Values at Chebyshev points are a well-conditioned basis of
the polynomials of [DS09] (4.2), and a polynomial moves to a higher degree without loss.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import ArrayLike

from walking_control.exceptions import InvalidInput

STEEPEST = 0.3  # rad: of a floor that a gait in space is of


@lru_cache
def points(degree: int) -> np.ndarray:
    """Return the Chebyshev points of the second kind on [0, 1], ascending, ``(degree + 1,)``."""
    return 0.5 * (1.0 - np.cos(np.pi * np.arange(degree + 1) / degree))


def evaluation(degree: int, s: ArrayLike, order: int = 0) -> np.ndarray:
    """Return the matrix from values at `points` to the derivative of an order at s.

    Args:
        degree: Of the polynomial.
        s: Where, in [0, 1], ``(m,)``.
        order: Of the derivative with respect to s.

    Returns:
        ``(m, degree + 1)``.
    """
    to_coefficients = np.linalg.inv(chebyshev.chebvander(2.0 * points(degree) - 1.0, degree))
    coefficients = to_coefficients
    for _ in range(order):
        coefficients = 2.0 * chebyshev.chebder(coefficients)
    x = 2.0 * np.asarray(s, dtype=float) - 1.0
    return chebyshev.chebvander(x, len(coefficients) - 1) @ coefficients


@lru_cache
def lobatto(intervals: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of Gauss-Lobatto quadrature on [0, 1]; both ends are nodes.

    Args:
        intervals: Number of nodes less one; exact for polynomials up to degree 2 intervals - 1.
    """
    series = np.zeros(intervals + 1)
    series[-1] = 1.0
    inner = np.sort(legendre.legroots(legendre.legder(series)).real)
    x = np.concatenate(([-1.0], inner, [1.0]))
    weights = 1.0 / (intervals * (intervals + 1) * legendre.legval(x, series) ** 2)
    return 0.5 * (x + 1.0), weights


def riemann(intervals: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the equidistant nodes of [DS09] (4.3) with both ends, each of weight 1/intervals.

    The right-end sum as printed does not see t = 0, where an optimiser then hides a spike of
    torque; counting both ends in full closes that gap.
    """
    return np.linspace(0.0, 1.0, intervals + 1), np.full(intervals + 1, 1.0 / intervals)


Quadrature = Callable[[int], tuple[np.ndarray, np.ndarray]]  # intervals -> nodes, weights
QUADRATURES: dict[str, Quadrature] = {'lobatto': lobatto, 'riemann': riemann}


def fine_grid(intervals: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights fine enough to judge any search (composite Lobatto)."""
    x, w = lobatto(3)
    starts = np.arange(intervals) / intervals
    nodes = (starts[:, None] + x / intervals).ravel()
    return nodes, np.tile(w / intervals, intervals)


class GaitError(InvalidInput):
    """A gait cannot be read, contradicts itself or does not belong to the robot."""


@dataclass(frozen=True)
class Phase:
    """A part of a step without jumps.

    Attributes:
        duration: s.
        values: All minimal coordinates at the Chebyshev points of the phase, rad,
            ``(degree + 1, n)``; held coordinates are constant columns.
        held: Indices of the coordinates that locks hold.
    """

    duration: float  # s
    # all minimal coordinates at the Chebyshev points of the phase, rad, ``(degree + 1, n)``; held
    # coordinates are constant columns
    values: np.ndarray
    held: tuple[int, ...] = ()

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return len(self.values) - 1

    def motion(self, s: ArrayLike) -> tuple[np.ndarray, ...]:
        """Return coordinates, rates and accelerations at s in [0, 1], each ``(m, n)``."""
        return tuple(
            evaluation(self.degree, s, order) @ self.values / self.duration**order
            for order in range(3)
        )


@dataclass(frozen=True)
class Gait:
    """A symmetric gait; each step repeats the phases with left and right exchanged.

    Attributes:
        phases: Tuple of `Phase`, touchdown to touchdown.
    """

    phases: tuple[Phase, ...]

    @property
    def period(self) -> float:
        """Duration of a step, s."""
        return float(sum(phase.duration for phase in self.phases))

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and rates just after touchdown, each ``(n,)``."""
        q, v, _ = self.phases[0].motion([0.0])
        return q[0], v[0]

    @property
    def end(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and rates just before the next touchdown, each ``(n,)``."""
        q, v, _ = self.phases[-1].motion([1.0])
        return q[0], v[0]

    def motion(self, time: ArrayLike) -> tuple[np.ndarray, ...]:
        """Return coordinates, rates and accelerations at times within the step, each ``(m, n)``.

        Args:
            time: s, ``(m,)``; outside the step the nearest phase goes on.
        """
        time = np.atleast_1d(np.asarray(time, dtype=float))
        ends = np.cumsum([phase.duration for phase in self.phases])
        which = np.minimum(np.searchsorted(ends, time, side='right'), len(self.phases) - 1)
        parts = np.zeros((3, len(time), self.phases[0].values.shape[1]))
        for i, phase in enumerate(self.phases):
            chosen = which == i
            s = (time[chosen] - (ends[i] - phase.duration)) / phase.duration
            parts[:, chosen] = phase.motion(s)
        return tuple(parts)


def on_slope(slope: float) -> str:
    """Return in words that a floor in rad rises or falls; nothing of a level one."""
    way = 'downhill' if slope > 0.0 else 'uphill'
    return f', {abs(np.degrees(slope)):.3g} degrees {way}' if slope else ''
