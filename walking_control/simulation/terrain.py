# SPDX-License-Identifier: Apache-2.0
"""Floors with edges, changes of slope and heights at places ahead, made of boxes.

Boxes can be of any length, as the pieces are, and both engines know them: the height fields of
engines have even grids, and not every collision detector of DART takes them. They are thick
downwards, so that no foot falls through: below the floor each box lies under its neighbours.
"""

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from walking_control.models.floor import FloorProfile

WIDTH, FAR, DEPTH = 100.0, 200.0, 2.0   # m: half width, length before and after, half thickness
EDGE = 1e-9   # m: the length of an edge where a floor is told by heights


class Change(NamedTuple):
    """A change of the floor."""

    place: float   # m ahead of the origin
    drop: float   # by how much the floor is lower from there on, m
    tilt: float   # by how much it leans more, rad, downhill positive


class Piece(NamedTuple):
    """A box whose top is floor."""

    size: tuple[float, float, float]   # half its edges, m, ``(3,)``
    middle: tuple[float, float, float]   # m, ``(3,)``
    pitch: float   # turn about y, rad: downhill positive


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
    return Piece((half, WIDTH, DEPTH), (x + half * c - DEPTH * s, 0.0, z - half * s - DEPTH * c),
                 tilt)
