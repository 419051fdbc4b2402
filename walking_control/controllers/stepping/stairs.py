# SPDX-License-Identifier: Apache-2.0
"""Edges of the floor that the law is told of: no foot comes down on one."""

from collections.abc import Sequence

import numpy as np

BESIDE = 0.02  # m: of the sole from an edge
DRIFT = 0.15  # m: farthest that a place is corrected at once
STOP = 0.35  # m: so far before a step beyond reach it stands


class Stairs:
    """A floor of levels along x of the floor frame.

    Args:
        places: Of the edges, m ahead of the start, rising.
        rises: Of each, m; down below 0.
        half: Half a sole's length, m.
        highest: The largest rise or drop that is stepped over, m.
        length: Factor of lengths, of a robot's `Size`.
    """

    def __init__(
        self,
        places: Sequence[float],
        rises: Sequence[float],
        half: float,
        highest: float,
        length: float = 1.0,
    ) -> None:
        self.places, self._levels = np.array(places), np.append(0.0, np.cumsum(rises))
        self._clear, self._drift = half + BESIDE * length, DRIFT * length
        beyond = np.flatnonzero(np.abs(rises) > highest)
        # no farther than here
        self.end = self.places[beyond[0]] - STOP * length if len(beyond) else np.inf

    def locate(self, x: float, height: float) -> float:
        """Return how far off a place is, by the height at which a foot found the floor there, m.

        The estimate drifts: the level beside the believed one may fit better.

        Args:
            x: Place of the foot ahead of the start, m.
            height: At which it stands, m.
        """
        own = int(np.searchsorted(self.places, x))
        beside = [i for i in (own, own - 1, own + 1) if 0 <= i < len(self._levels)]
        found = min(beside, key=lambda i: abs(self._levels[i] - height))
        edge = self.places[own - 1 if found < own else min(own, len(self.places) - 1)]
        return float(edge - x) if found != own and abs(edge - x) < self._drift else 0.0

    def beside(self, x: float, stance: float) -> float:
        """Return a place near x at which a sole lies on one level, m.

        Before an edge ahead only if the step from the stance foot stays half as long: else it would
        be stood before for ever.

        Args:
            x: Where the foot shall land, m ahead of the start.
            stance: Place of the stance foot, likewise.
        """
        near = self.places[np.abs(self.places - x) < self._clear]
        if len(near) == 0:
            return x
        edge = float(near[np.argmin(np.abs(near - x))])
        before = edge - self._clear
        ahead = x >= edge or stance < edge and before - stance < 0.5 * (x - stance)
        return edge + self._clear if ahead else before

    def rise(self, stance: float, start: float, end: float) -> tuple[float, float]:
        """Return how much higher than at the stance foot the floor is at `end`, and on the way, m.

        Args:
            stance: Place of the stance foot, m.
            start: Of the swing foot, m.
            end: Where it lands, m.
        """
        own, first, last = np.searchsorted(self.places, (stance, start, end))
        levels = self._levels - self._levels[own]
        return float(levels[last]), float(levels[min(first, last) : max(first, last) + 1].max())
