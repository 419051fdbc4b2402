# SPDX-License-Identifier: Apache-2.0
"""Friction that resists the turning of feet about the floor's normal, which DART does not have.

The torque about the normal of each foot stops its turning, up to the friction, the normal force
and a radius: ``|t| <= mu r N``. It acts in the next step, from the rate of turning w after this:
``t = i - G w``, and ``i <- i - G w / 2`` holds against a lasting torque without creeping; both are
clamped. G is what would stop the foot in a step if nothing else touched it. With contacts it turns
less easily, by a share s of that: ``det = 1 - s``, ``trace = 2 - 3 s / 2``, whose roots lie inside
the unit circle for all s up to 1.
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
        inverse = np.linalg.inv(mass_matrix)
        self._held = self._torque = np.zeros(len(self._feet))
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
        limit, stopping = self._radius * np.maximum(normal_force, 0.0), self._gain * rate
        self._held = np.clip(self._held - 0.5 * stopping, -limit, limit)
        self._torque = np.clip(self._held - stopping, -limit, limit)
