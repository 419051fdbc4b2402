# SPDX-License-Identifier: Apache-2.0
"""Levels of the floor under each foot of a planar walker in an engine with contacts.

Each foot meets a plane of its own, so that the floor can be lower, or lean, for the one and not for
the other. The edge between two footholds lies where it does least harm, as on plant rigid: between
them the floor is the lower one's; a foot that is above the next foothold's level finds it there. A
plane never moves under a foot that stands on it, and a foot that comes ahead of the stance foot
while it is inside the floor has tripped.
"""

from collections.abc import Sequence
import math

import numpy as np

TOUCHES = 0.0005   # m: a foot higher than this over its plane does not stand on it
LATEST = 4096      # steps whose levels are kept


class Levels:
    """The planes of the feet; those of two follow the walk.

    Args:
        feet: How many.
        depth: A foot deeper in the floor than this, ahead of the stance foot, has tripped, m.

    Attributes:
        planned: Whether any level differs from that at the start.
        steps: Touchdowns so far.
        heights: Height of each foot's plane where the robot starts, x = 0, m, ``(n_feet,)``.
        slopes: By how much each falls for every metre ahead, ``(n_feet,)``.
    """

    def __init__(self, feet: int, depth: float) -> None:
        self._feet, self._depth = feet, depth
        self._drops, self._leans = np.zeros(LATEST), np.zeros(LATEST)
        self.planned = False
        self.reset(0)

    def plan(self, drop: float, step: int, lean: float = 0.0) -> None:
        """Lower the floor by a drop, m, and let it lean more, rad, from a touchdown on."""
        self._drops[step] += drop
        self._leans[step:] += lean
        self.planned = True

    def reset(self, support: int) -> None:
        """Begin with a foot that stands at level zero."""
        self._support, self.steps, self.heights = support, 0, np.zeros(self._feet)
        self.slopes, self._falls = np.zeros(self._feet), np.tan(self._leans)
        self._levels = -np.cumsum(self._drops)
        self._x = self._rise = 0.0   # of the last foothold, and what leaning floors did up to it

    def follow(self, x: Sequence[float], z: Sequence[float]) -> float:
        """Move the planes to where the feet are.

        Args:
            x: Places of the feet along the floor, m.
            z: Heights of their lowest points, m.

        Returns:
            How deep the foot that tripped is in the floor, m; 0 where none did.
        """
        stance, swing = self._support, 1 - self._support
        ahead, levels, steps = x[swing] - x[stance], self._levels, self.steps
        further = x[swing] - self._x   # than the last foothold, from where on the next floor leans
        slope = float(self._falls[steps + 1 if ahead > 0.0 else steps])
        if z[swing] - self.height(swing, x[swing]) <= TOUCHES:
            if ahead > 0.0:
                self._support, self.steps = swing, min(steps + 1, LATEST - 2)
                self._x, self._rise = x[swing], self._rise - slope * further
            return 0.0
        leant = self._rise - slope * further
        present = levels[steps] + leant
        neighbour = levels[steps + 1 if ahead > 0.0 else max(steps - 1, 0)] + leant
        level = min(present, neighbour)
        if ahead > 0.0 and z[swing] > neighbour:
            level = neighbour
        if level > z[swing] + self._depth and ahead > 0.0:
            return float(level - z[swing])
        if z[swing] > level:
            self.slopes[swing], self.heights[swing] = slope, level + slope * x[swing]
        return 0.0

    def walk(self, places: Sequence[float], heights: Sequence[float]) -> str | None:
        """Move the planes to where the feet are; return why one tripped, or None.

        Args:
            places: Of the feet along the floor, m.
            heights: Of their lowest points over their planes, along the normal, m.
        """
        depth = self.follow(places, [
            float(above * math.hypot(1.0, slope) + self.height(foot, x))
            for foot, (above, slope, x) in enumerate(zip(heights, self.slopes, places))])
        return None if depth <= 0.0 else \
            f'a foot tripped: {1000.0 * depth:.3g} mm under a step up where it passes the ' \
            f'stance foot; limit {1000.0 * self._depth:.3g} mm'

    def height(self, foot: int, x: float) -> float:
        """Return the height of a foot's plane at a place, m."""
        return float(self.heights[foot] - self.slopes[foot] * x)
