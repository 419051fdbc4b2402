# SPDX-License-Identifier: Apache-2.0
"""A gait: the periodic motion of one step, phase by phase, as polynomials of time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from walking_control.exceptions import InvalidInput
from walking_control.gaits.polynomials import evaluation


class GaitError(InvalidInput):
    """A gait cannot be read, contradicts itself or does not belong to the robot."""


@dataclass(frozen=True)
class Phase:
    """A part of a step without jumps."""

    duration: float   # s
    # all minimal coordinates at the Chebyshev points of the phase, rad, ``(degree + 1, n)``; held
    # coordinates are constant columns
    values: np.ndarray
    held: tuple[int, ...] = ()   # indices of the coordinates that locks hold

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return len(self.values) - 1

    def motion(self, s: ArrayLike) -> tuple[np.ndarray, ...]:
        """Return coordinates, rates and accelerations at s in [0, 1], each ``(m, n)``."""
        return tuple(evaluation(self.degree, s, order) @ self.values / self.duration ** order
                     for order in range(3))


@dataclass(frozen=True)
class Gait:
    """A symmetric gait; each step repeats the phases with left and right exchanged."""

    phases: tuple[Phase, ...]   # tuple of `Phase`, touchdown to touchdown

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
