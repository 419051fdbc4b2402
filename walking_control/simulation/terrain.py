# SPDX-License-Identifier: Apache-2.0
"""Floors with edges, changes of slope and heights at places ahead, made of boxes.

Boxes can be of any length, as the pieces are, and both engines know them: the height fields of
engines have even grids, and not every collision detector of DART takes them. They are thick
downwards, so that no foot falls through: below the floor each box lies under its neighbours.

Levels of the floor under each foot of a planar walker in an engine with contacts.

Each foot meets a plane of its own, so that the floor can be lower, or lean, for the one and not for
the other. The edge between two footholds lies where it does least harm, as on plant rigid: between
them the floor is the lower one's; a foot that is above the next foothold's level finds it there. A
plane never moves under a foot that stands on it, and a foot that comes ahead of the stance foot
while it is inside the floor has tripped.
"""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from walking_control.models import FloorProfile

WIDTH, FAR, DEPTH = 100.0, 200.0, 2.0  # m: half width, length before and after, half thickness
EDGE = 1e-9  # m: the length of an edge where a floor is told by heights


class Change(NamedTuple):
    """A change of the floor.

    Attributes:
        place: m ahead of the origin.
        drop: By how much the floor is lower from there on, m.
        tilt: By how much it leans more, rad, downhill positive.
    """

    place: float
    drop: float
    tilt: float


class Piece(NamedTuple):
    """A box whose top is floor.

    Attributes:
        size: Half its edges, m, ``(3,)``.
        middle: m, ``(3,)``.
        pitch: Turn about y, rad: downhill positive.
    """

    size: tuple[float, float, float]
    middle: tuple[float, float, float]
    pitch: float


def profile_of(changes: Sequence[Change]) -> FloorProfile:
    """Return the heights of a floor that is at height zero and level before its first change.

    An edge is a piece of `EDGE`, on which no foot comes down but by a chance of one in a million.
    """
    places, heights, tilt = [-FAR], [0.0], 0.0
    for change in sorted(changes):
        heights.append(heights[-1] - math.tan(tilt) * (change.place - places[-1]))
        places.append(change.place)
        if change.drop != 0.0:
            places.append(change.place + EDGE)
            heights.append(heights[-1] - change.drop)
        tilt += change.tilt
    places.append(places[-1] + FAR)
    heights.append(heights[-1] - math.tan(tilt) * FAR)
    return FloorProfile(np.array(places), np.array(heights))


def lay_floor(changes: Sequence[Change]) -> list[Piece]:
    """Return the boxes of a floor that is at height zero and level before its first change."""
    edges = sorted(changes)
    x, z, tilt = -FAR, 0.0, 0.0
    pieces = []
    for i in range(len(edges) + 1):
        end = edges[i].place if i < len(edges) else x + FAR
        if end > x:
            pieces.append(_piece(x, z, end - x, tilt))
        z -= math.tan(tilt) * (end - x)
        if i < len(edges):
            x, z, tilt = end, z - edges[i].drop, tilt + edges[i].tilt
    return pieces


def lay_profile(profile: FloorProfile) -> list[Piece]:
    """Return the boxes of a floor of given heights, one for each of its pieces."""
    places, last = profile.places.tolist(), len(profile.slopes) - 1
    pieces = []
    for i, slope in enumerate(profile.slopes.tolist()):
        start = places[i] - (FAR if i == 0 else 0.0)
        end = places[i + 1] + (FAR if i == last else 0.0)
        pieces.append(_piece(start, float(profile.height(start)), end - start, -math.atan(slope)))
    return pieces


def _piece(x: float, z: float, length: float, tilt: float) -> Piece:
    """Return the box whose top begins at (x, z) and covers a length along x."""
    half = 0.5 * length / math.cos(tilt)
    s, c = math.sin(tilt), math.cos(tilt)
    return Piece(
        (half, WIDTH, DEPTH), (x + half * c - DEPTH * s, 0.0, z - half * s - DEPTH * c), tilt
    )


TOUCHES = 0.0005  # m: a foot higher than this over its plane does not stand on it
LATEST = 4096  # steps whose levels are kept


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

    def plan(self, step: int, drop: float, lean: float = 0.0) -> None:
        """Lower the floor by a drop, m, and let it lean more, rad, from a touchdown on.

        Args:
            step: The touchdown, counted from 1.
            drop: m.
            lean: rad, downhill positive.
        """
        self._drops[step] += drop
        self._leans[step:] += lean
        self.planned = True

    def reset(self, support: int) -> None:
        """Begin with a foot that stands at level zero."""
        self._support, self.steps, self.heights = support, 0, np.zeros(self._feet)
        self.slopes, self._falls = np.zeros(self._feet), np.tan(self._leans)
        self._levels = -np.cumsum(self._drops)
        self._x = self._rise = 0.0  # of the last foothold, and what leaning floors did up to it

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
        further = x[swing] - self._x  # than the last foothold, from where on the next floor leans
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
        depth = self.follow(
            places,
            [
                float(above * math.hypot(1.0, slope) + self.height(foot, x))
                for foot, (above, slope, x) in enumerate(zip(heights, self.slopes, places))
            ],
        )
        return (
            None
            if depth <= 0.0
            else f'a foot tripped: {1000.0 * depth:.3g} mm under a step up where it passes the '
            f'stance foot; limit {1000.0 * self._depth:.3g} mm'
        )

    def height(self, foot: int, x: float) -> float:
        """Return the height of a foot's plane at a place, m.

        Args:
            foot: Its index.
            x: Ahead of the start, m.
        """
        return float(self.heights[foot] - self.slopes[foot] * x)
