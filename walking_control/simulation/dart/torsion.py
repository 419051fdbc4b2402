# SPDX-License-Identifier: Apache-2.0
"""Friction that resists the turning of feet about the floor's normal, which DART does not have.

The torque about the normal of each foot is what stops its turning, up to the friction, the normal
force and a radius: ``|t| <= mu r N``. It acts in the next step and is carried from step to step,
``t <- clamp(t - w / (h W), mu r N)``, with w the rate of turning, h the timestep and W the inverse
inertia of the foot about the normal when nothing else touches. Contacts let the foot turn no
easier than that, so that a step takes away a share of w between 0 and 1: no overshoot, and no
creeping where friction holds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np


class Torsion:
    """Torques on the feet of one skeleton.

    Args:
        links: DART's skeleton that forces move.
        feet: Its bodies that are feet.
        radius: Friction times radius, m; 0: none.
        timestep: s.
    """

    def __init__(self, links: Any, feet: Sequence[Any], radius: float, timestep: float) -> None:
        self._links, self._feet, self._radius, self._timestep = links, feet, radius, timestep
        self.acts = radius > 0.0
        self.reset(np.eye(links.getNumDofs()))

    def reset(self, mass_matrix: np.ndarray) -> None:
        """Begin a run from the posture the skeleton has, with its mass matrix and rotors."""
        inverse, self._torque = np.linalg.inv(mass_matrix), np.zeros(len(self._feet))
        rows = [self._links.getAngularJacobian(foot)[2] for foot in self._feet]
        self._gain = np.array([1.0 / (self._timestep * float(row @ inverse @ row) + 1e-12)
                               for row in rows])

    def apply(self) -> None:
        """Add the torques to the external forces of the coming step."""
        for foot, torque in zip(self._feet, self._torque.tolist()):
            if torque != 0.0:
                foot.addExtTorque(np.array([0.0, 0.0, torque]), False)

    def follow(self, normal_force: np.ndarray) -> None:
        """Find the torques after a step with the normal force on each foot, N."""
        rate = np.array([foot.getAngularVelocity()[2] for foot in self._feet])
        limit = self._radius * np.maximum(normal_force, 0.0)
        self._torque = np.clip(self._torque - self._gain * rate, -limit, limit)
