# SPDX-License-Identifier: Apache-2.0
"""Where the centre of mass is over the soles and how it moves; how far points are from an edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
import pinocchio as pin

from walking_control.models.base import ROOT
from walking_control.statics.kernels import compiled

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics
    from walking_control.models.signals import BaseState
    from walking_control.statics.contacts import Contact

_SIGNS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])   # of the corners


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
        self._frames = [dynamics.frame(contact.frame, contact.offset, contact.rotation)
                        for contact in contacts.values()]
        self._corners = [0.5 * np.array([contact.length, contact.width]) * _SIGNS
                         for contact in contacts.values()]
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
        return np.concatenate([self.feet[foot][:2] + self._corners[foot] @ self.turns[foot][:2, :2].T
                               for foot in feet])


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


@compiled
def margin_inside(hull: Hull, point: np.ndarray) -> float:
    """Return how far a point, ``(2,)``, lies inside a `Hull`, m; below zero outside."""
    least, nearest = np.inf, np.inf
    for corner, inward, length in zip(*hull):
        x, y = point[0] - corner[0], point[1] - corner[1]
        least = min(least, inward[0] * x + inward[1] * y)
        along = min(max(inward[1] * x - inward[0] * y, 0.0), length)
        nearest = min(nearest, math.hypot(x - along * inward[1], y + along * inward[0]))
    return least if least >= 0.0 else -nearest


@compiled
def share_inside(hull: Hull, point: np.ndarray, move: np.ndarray) -> float:
    """Return which share of a move, at most 1, ends inside a `Hull`; 0 from outside.

    Args:
        hull: The `Hull`.
        point: Where the move begins, ``(2,)``.
        move: ``(2,)``.
    """
    share = 1.0
    for corner, inward, _ in zip(*hull):
        room = inward[0] * (point[0] - corner[0]) + inward[1] * (point[1] - corner[1])
        rate = inward[0] * move[0] + inward[1] * move[1]
        if room < 0.0:
            return 0.0
        if rate < 0.0:
            share = min(share, -room / rate)
    return share


@compiled
def hull_of(points: np.ndarray) -> Hull:
    """Return the convex `Hull` of points, ``(n, 2)``, n >= 3 and not all on one line.

    By Andrew's chain: the lower half from the left to the right, the upper half back.
    """
    n, k = len(points), 0
    ordered = points[np.argsort(points[:, 0])]
    for i in range(1, n):   # ties
        j = i
        while j > 0 and ordered[j, 0] == ordered[j - 1, 0] and ordered[j, 1] < ordered[j - 1, 1]:
            ordered[j, 1], ordered[j - 1, 1] = ordered[j - 1, 1], ordered[j, 1]
            j -= 1
    chain = np.empty((2 * n, 2))
    for half in range(2):
        first = k
        for i in range(n):
            p = ordered[n - 1 - i if half else i]
            while k - first > 1 and (chain[k - 1, 0] - chain[k - 2, 0]) * (p[1] - chain[k - 2, 1]) \
                    <= (chain[k - 1, 1] - chain[k - 2, 1]) * (p[0] - chain[k - 2, 0]):
                k -= 1
            chain[k] = p
            k += 1
        k -= 1
    corners = chain[:k].copy()
    inwards, lengths = np.empty((k, 2)), np.empty(k)
    for i in range(k):
        x, y = corners[(i + 1) % k] - corners[i]
        lengths[i] = math.hypot(x, y)
        inwards[i] = -y / lengths[i], x / lengths[i]
    return Hull(corners, inwards, lengths)


def heading(turn: np.ndarray) -> np.ndarray:
    """Return the turn about the floor's normal of a rotation, ``(3, 3)``."""
    length = math.hypot(turn[0, 0], turn[1, 0]) or 1.0
    cos, sin = turn[0, 0] / length, turn[1, 0] / length
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
