# SPDX-License-Identifier: Apache-2.0
"""Sway within the soles: how it is braked, and how much of the soles is left.

doc/controllers/static_torque_evidence.md derives both. How far the capture point ([Pra06]) is from
the edge says, before the robot tips, whether a step is needed.
"""

from collections.abc import Mapping, Sequence
import math

import numpy as np

from walking_control.controllers.static_torque.body_motion import BodyMotion, heading
from walking_control.models import BaseState, Dynamics
from walking_control.statics import Contact, hull_of, margin_inside, share_inside

_SMOOTHING = 0.01  # s: memory of the centre of mass's velocity
_REACH = 0.95  # of the way to the edge that braking may take the centre of pressure


class Balance:
    """What brakes the sway of the body, and what is left of the soles.

    Args:
        dynamics: The robot's `Dynamics`.
        contacts: foot -> `Contact`.

    Attributes:
        margin: Distance of the capture point to the edge of the soles, m; below zero it is
            outside, and only a step keeps the robot up.
    """

    def __init__(self, dynamics: Dynamics, contacts: Mapping[str, Contact]) -> None:
        self.dynamics = dynamics
        self._gravity = np.array(self.dynamics.model.gravity.linear)  # of the floor's axes
        self._now = BodyMotion(self.dynamics, contacts)
        self._held = BodyMotion(self.dynamics, contacts)
        self._held_posture = np.full(len(self.dynamics.joints), np.nan)
        self._rest = np.zeros(self.dynamics.nq)
        self._names = list(contacts)
        self.margin = 0.0

    def reset(self) -> None:
        """Forget the past."""
        self._velocity: np.ndarray | None = None
        self._planned: np.ndarray | None = None
        self._feet: list[int] = []
        self.margin = 0.0

    def observe(
        self,
        q: np.ndarray,
        velocity: np.ndarray,
        base: BaseState,
        held: np.ndarray,
        support: Sequence[str],
        dt: float,
    ) -> None:
        """Look at a state; `margin` is that of it.

        Args:
            q: Configuration, the base at the origin, ``(nq,)``.
            velocity: Of the joints, ``(n_joints,)``.
            base: The `BaseState`.
            held: Posture that is held, ``(n_joints,)``.
            support: Feet that stand; with none nothing is said.
            dt: Since the last look, s.
        """
        self._feet = [self._names.index(foot) for foot in support]
        if not support:
            self._planned = None
            return
        now = self._now
        now.update(q, velocity, base)
        if self._velocity is None:
            self._velocity = now.velocity.copy()
        self._velocity += dt / (dt + _SMOOTHING) * (now.velocity - self._velocity)
        if not np.array_equal(held, self._held_posture):
            self._held_posture[:] = held
            self.dynamics.configuration(held, out=self._rest)
            self._held.update(self._rest, velocity, None)
        # how fast the centre of mass of the held posture moves over each foot
        soles = zip(self._held.feet, self._held.turns)
        places = np.array([(self._held.com - foot) @ turn for foot, turn in soles])
        self._rates = (
            np.zeros_like(places)
            if self._planned is None or dt <= 0.0
            else (places - self._planned) / dt
        )
        self._planned = places
        height = max(
            now.com[2] - sum(now.feet[foot][2] for foot in self._feet) / len(self._feet), 1e-3
        )
        self._frequency = math.sqrt(-self._gravity[2] / height)
        # where the pressure holds it at rest: under it along gravity, not along the floor's normal
        self._ground = now.com[:2] - height * self._gravity[:2] / self._gravity[2]
        capture = self._ground + self._velocity[:2] / self._frequency
        self._hull = hull_of(now.corners(self._feet))
        self.margin = margin_inside(self._hull, capture)

    def brake(self, damping: float) -> np.ndarray | None:
        """Return the acceleration that brakes the sway, floor axes, ``(3,)``, m/s^2.

        Args:
            damping: See the head of this module.

        Returns:
            What the soles allow of it; None where they allow nothing, or nothing is wanted.
        """
        if not self._feet or damping <= 0.0:
            return None
        assert self._velocity is not None
        planned = sum(heading(self._now.turns[foot]) @ self._rates[foot] for foot in self._feet)
        ahead = damping / self._frequency * (self._velocity - planned / len(self._feet))[:2]
        share = share_inside(self._hull, self._ground, ahead / _REACH)
        if share <= 0.0:
            return None
        return np.array([*(-share * self._frequency**2 * ahead), 0.0])
