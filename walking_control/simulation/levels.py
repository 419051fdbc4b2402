# SPDX-License-Identifier: Apache-2.0
"""Levels of the floor under each foot of a planar walker in an engine with contacts.

Each foot meets a plane of its own, so that the floor can be lower for the one and not for the
other. The edge between two footholds lies where it does least harm, as on plant rigid: between
them the floor is the lower one's; a foot that is above the next foothold's level finds it there. A
plane never moves under a foot that stands on it, and a foot that comes ahead of the stance foot
while it is inside the floor has tripped.
"""

from collections.abc import Sequence

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
        heights: Height of each foot's plane, m, ``(n_feet,)``.
    """

    def __init__(self, feet: int, depth: float) -> None:
        self._feet, self._depth = feet, depth
        self._drops = np.zeros(LATEST)
        self.planned = False
        self.reset(0)

    def plan(self, drop: float, step: int) -> None:
        """Lower the floor by a drop from a touchdown on, m."""
        self._drops[step] += drop
        self.planned = True

    def reset(self, support: int) -> None:
        """Begin with a foot that stands at level zero."""
        self._support, self.steps, self.heights = support, 0, np.zeros(self._feet)
        self._levels = -np.cumsum(self._drops)

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
        if z[swing] - self.heights[swing] <= TOUCHES:
            if ahead > 0.0:
                self._support, self.steps = swing, min(steps + 1, LATEST - 2)
            return 0.0
        present = levels[steps]
        neighbour = levels[steps + 1] if ahead > 0.0 else levels[max(steps - 1, 0)]
        level = min(present, neighbour)
        if ahead > 0.0 and z[swing] > neighbour:
            level = neighbour
        if level > z[swing] + self._depth and ahead > 0.0:
            return float(level - z[swing])
        if z[swing] > level:
            self.heights[swing] = level
        return 0.0
