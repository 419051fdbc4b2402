# SPDX-License-Identifier: Apache-2.0
"""Gains of the joints' impedance that a delay of the loop does not make swing.

A joint that moves an inertia I with a damping d crosses over at d / I; a delay T costs T d / I of
phase there, and turns a stiffness K into a damping of -K T. So d <= I pi / (6 T) leaves 60
degrees, K <= d / (2 T) half of the damping. A leg off the floor moves little, one that stands the
robot; off the floor it is not to overshoot either, K <= d^2 / (4 I).
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import TYPE_CHECKING

import numpy as np

from walking_control.models.base import ROOT
from walking_control.statics.program import loaded_joints

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics


class DelayBounds:
    """Bounds of stiffness and damping from what each joint moves, in the air and standing.

    Args:
        dynamics: The `Dynamics`.
        frames: Of the soles.
        posture: Where the inertias are taken, ``(n_joints,)``.
    """

    def __init__(self, dynamics: Dynamics, frames: Sequence[int], posture: np.ndarray) -> None:
        self._free = joint_inertias(dynamics, posture, ())
        self._fixed = joint_inertias(dynamics, posture, frames)
        self.legs = [loaded_joints(dynamics, [frame]) for frame in frames]

    def apply(self, stiffness: np.ndarray, damping: np.ndarray, delay: float,
              standing: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Return stiffness and damping within their bounds.

        Args:
            stiffness: ``(n_joints,)``, N m/rad.
            damping: ``(n_joints,)``, N m s/rad.
            delay: From joints to torques, s.
            standing: How much each leg counts as standing, 0 to 1.
        """
        if delay <= 0.0:
            return stiffness, damping
        free, fixed = (np.minimum(damping, inertia * math.pi / (6.0 * delay))
                       for inertia in (self._free, self._fixed))
        soft, stiff = (np.minimum(stiffness, 0.5 * bounded / delay) for bounded in (free, fixed))
        soft = np.minimum(soft, free * free / (4.0 * self._free))
        share = np.zeros(len(damping))
        for leg, part in zip(self.legs, standing):
            share[leg] = part
        return soft + share * (stiff - soft), free + share * (fixed - free)


def joint_inertias(dynamics: Dynamics, posture: np.ndarray, frames: Sequence[int]) -> np.ndarray:
    """Return the inertia each joint moves while frames are fixed, ``(n_joints,)``, kg m^2.

    Of the inverse mass matrix what the constraints leave, its diagonal inverted.
    """
    q = dynamics.configuration(posture)
    inverse = np.linalg.inv(dynamics.mass_matrix(q))
    if len(frames):
        J = np.vstack([dynamics.frame_jacobian(q, frame) for frame in frames])
        inverse = inverse - inverse @ J.T @ np.linalg.pinv(J @ inverse @ J.T, rcond=1e-9) \
            @ J @ inverse
    return 1.0 / np.maximum(np.diag(inverse)[ROOT:], 1e-6)
