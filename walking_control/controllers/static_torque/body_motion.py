# SPDX-License-Identifier: Apache-2.0
"""Where the centre of mass is over the soles and how it moves; how far points are from an edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
import pinocchio as pin

from walking_control.models.base import ROOT

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics
    from walking_control.models.signals import BaseState
    from walking_control.statics.contacts import Contact


class BodyMotion:
    """Where the centre of mass is and how it moves, seen from the feet that stand.

    Args:
        dynamics: The `Dynamics`, of a free base.
        contacts: foot -> `Contact`.

    Attributes:
        com: Centre of mass, the base at the origin, floor axes, ``(3,)``, m.
        velocity: Its velocity over the floor, ``(3,)``, m/s.
        feet: Place of each sole, base at the origin, ``(n_feet, 3)``, m.
        turns: Rotation of each sole to the floor, ``(n_feet, 3, 3)``.
    """

    def __init__(self, dynamics: Dynamics, contacts: Mapping[str, Contact]) -> None:
        self._dynamics = dynamics
        self._contacts = list(contacts.values())
        self._frames = [dynamics.frame(contact.frame, contact.offset, contact.rotation)
                        for contact in self._contacts]
        self._data = dynamics.model.createData()
        self._v = np.zeros(dynamics.nv)
        self.com, self.velocity = np.zeros(3), np.zeros(3)
        self.feet = np.zeros((len(self._frames), 3))
        self.turns = np.zeros((len(self._frames), 3, 3))

    def update(self, q: np.ndarray, velocity: np.ndarray, base: BaseState | None) -> None:
        """Look at a configuration with the base at the origin; without a base at rest."""
        dynamics, data, v = self._dynamics, self._data, self._v
        model, place = dynamics.model, dynamics.to_pinocchio(q)
        v[:] = 0.0
        if base is not None:
            v[:3] = base.linear @ base.rotation
            v[3:ROOT] = base.angular
            v[dynamics.pinocchio_order[ROOT:]] = velocity
        pin.centerOfMass(model, data, place, v)
        for i, frame in enumerate(self._frames):
            pin.updateFramePlacement(model, data, frame)
            self.feet[i] = data.oMf[frame].translation
            self.turns[i] = data.oMf[frame].rotation
        self.com[:], self.velocity[:] = data.com[0], data.vcom[0]

    def from_foot(self, foot: int) -> np.ndarray:
        """Return the centre of mass over a foot in its heading, ``(3,)``, m."""
        return np.asarray((self.com - self.feet[foot]) @ heading(self.turns[foot]))

    def from_sole(self, foot: int) -> np.ndarray:
        """Return the centre of mass over a foot in the axes of its sole, ``(3,)``, m.

        That is `from_foot` once the sole lies flat.
        """
        return np.asarray((self.com - self.feet[foot]) @ self.turns[foot])

    def corners(self, feet: Sequence[int]) -> np.ndarray:
        """Return the corners of soles on the floor, ``(4 n, 2)``, m."""
        points = []
        for foot in feet:
            contact, turn = self._contacts[foot], self.turns[foot]
            for x in (-0.5, 0.5):
                for y in (-0.5, 0.5):
                    points.append(self.feet[foot][:2] + x * contact.length * turn[:2, 0]
                                  + y * contact.width * turn[:2, 1])
        return np.array(points)


class Hull(NamedTuple):
    """A convex polygon, counter-clockwise; each edge begins at its corner.

    Attributes:
        corners: ``(n, 2)``, m.
        inwards: Normals of the edges, ``(n, 2)``.
        lengths: Of the edges, ``(n,)``, m.
    """

    corners: np.ndarray
    inwards: np.ndarray
    lengths: np.ndarray


def margin_inside(hull: Hull, point: np.ndarray) -> float:
    """Return how far a point, ``(2,)``, lies inside a `Hull`, m; below zero outside."""
    corners, inwards, lengths = hull
    to = point - corners
    least = float((inwards * to).sum(axis=1).min())
    if least >= 0.0:
        return least
    edges = np.stack((inwards[:, 1], -inwards[:, 0]), axis=1)
    along = np.clip((edges * to).sum(axis=1), 0.0, lengths)
    return -float(np.hypot(*(to - along[:, None] * edges).T).min())


def share_inside(hull: Hull, point: np.ndarray, move: np.ndarray) -> float:
    """Return which share of a move, at most 1, ends inside a `Hull`; 0 from outside.

    Args:
        hull: The `Hull`.
        point: Where the move begins, ``(2,)``.
        move: ``(2,)``.
    """
    corners, inwards, _ = hull
    room, rate = (inwards * (point - corners)).sum(axis=1), inwards @ move
    if room.min() < 0.0:
        return 0.0
    return float(min([1.0, *(room[rate < 0.0] / -rate[rate < 0.0])]))


def hull_of(points: np.ndarray) -> Hull:
    """Return the convex `Hull` of points, ``(n, 2)``, n >= 3 and not all on one line."""
    hull = _chain(points)
    edges = np.concatenate((hull[1:], hull[:1])) - hull
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    return Hull(hull, np.stack((-edges[:, 1], edges[:, 0]), axis=1) / lengths[:, None], lengths)


def _chain(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, counter-clockwise (Andrew's chain)."""
    ordered = sorted(map(tuple, points.tolist()))
    chain: list[tuple[float, ...]] = []
    for sweep in (ordered, ordered[::-1]):
        half: list[tuple[float, ...]] = []
        for p in sweep:
            while len(half) > 1 and (half[-1][0] - half[-2][0]) * (p[1] - half[-2][1]) \
                    <= (half[-1][1] - half[-2][1]) * (p[0] - half[-2][0]):
                half.pop()
            half.append(p)
        chain += half[:-1]
    return np.array(chain)


def heading(turn: np.ndarray) -> np.ndarray:
    """Return the turn about the floor's normal of a rotation, ``(3, 3)``."""
    length = math.hypot(turn[0, 0], turn[1, 0]) or 1.0
    cos, sin = turn[0, 0] / length, turn[1, 0] / length
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
