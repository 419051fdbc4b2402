# SPDX-License-Identifier: Apache-2.0
"""A floor with edges and changes of slope at places ahead, made of boxes."""

from collections.abc import Sequence
import math
from typing import NamedTuple

WIDTH, FAR, DEPTH = 100.0, 200.0, 2.0   # m: half width, length before and after, half thickness


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


def _piece(x: float, z: float, length: float, tilt: float) -> Piece:
    """Return the box whose top begins at (x, z) and covers a length along x."""
    half = 0.5 * length / math.cos(tilt)
    s, c = math.sin(tilt), math.cos(tilt)
    return Piece((half, WIDTH, DEPTH), (x + half * c - DEPTH * s, 0.0, z - half * s - DEPTH * c),
                 tilt)
