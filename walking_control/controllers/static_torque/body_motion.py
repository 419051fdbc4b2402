# SPDX-License-Identifier: Apache-2.0
"""Where the centre of mass is over the soles and how it moves."""

from collections.abc import Mapping, Sequence
import math

import numpy as np
import pinocchio as pin

from walking_control.models import BaseState, Dynamics, ROOT
from walking_control.statics.contacts import Contact

_SIGNS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])  # of the corners


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
        self._frames = [
            dynamics.frame(contact.frame, contact.offset, contact.rotation)
            for contact in contacts.values()
        ]
        self._corners = [
            0.5 * np.array([contact.length, contact.width]) * _SIGNS
            for contact in contacts.values()
        ]
        self._data = dynamics.model.createData()
        self._v = np.zeros(dynamics.nv)
        self.com, self.velocity = np.zeros(3), np.zeros(3)
        self.feet = np.zeros((len(self._frames), 3))
        self.turns = np.zeros((len(self._frames), 3, 3))

    def update(self, q: np.ndarray, velocity: np.ndarray, base: BaseState | None) -> None:
        """Look at a configuration with the base at the origin; without a base at rest.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            velocity: Of the joints, rad/s, ``(n_joints,)``.
            base: How the base moves; None: it rests.
        """
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

    def corners(self, feet: Sequence[int]) -> np.ndarray:
        """Return the corners of soles on the floor, ``(4 n, 2)``, m."""
        return np.concatenate(
            [self.feet[i][:2] + self._corners[i] @ self.turns[i][:2, :2].T for i in feet]
        )


def heading(turn: np.ndarray) -> np.ndarray:
    """Return the turn about the floor's normal of a rotation, ``(3, 3)``."""
    length = math.hypot(turn[0, 0], turn[1, 0]) or 1.0
    cos, sin = turn[0, 0] / length, turn[1, 0] / length
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
