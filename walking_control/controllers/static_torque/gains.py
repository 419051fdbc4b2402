# SPDX-License-Identifier: Apache-2.0
"""Gains of the joints' impedance that a delay of the loop does not make swing.

doc/controllers/static_torque_evidence.md, "Gains", derives them. With W what the constraints leave
of the inverse mass matrix, a diagonal X >= W (as matrices), X_i = sum_j |W_ij| sqrt(W_ii / W_jj),
bounds all modes: X - W is diagonally dominant in the units that make the diagonal of W one.
"""

from collections.abc import Sequence
import math

import numpy as np

from walking_control.models import Dynamics, ROOT
from walking_control.statics.program import loaded_joints


class DelayBounds:
    """Bounds of stiffness and damping from what each joint moves, in the air and standing.

    The inertias are the least over the stances: nothing on the floor, one foot, all feet.

    Args:
        frames: Of the soles.
        posture: Where the inertias are taken, ``(n_joints,)``.

    Attributes:
        legs: The joints of each leg.
    """

    def __init__(self, dynamics: Dynamics, frames: Sequence[int], posture: np.ndarray) -> None:
        self.legs = [loaded_joints(dynamics, [frame]) for frame in frames]
        feet = range(len(frames))
        stances = [(), *((foot,) for foot in feet), tuple(feet)]
        inertias = [
            coupled_inertias(mobility(dynamics, posture, [frames[i] for i in stance]))
            for stance in stances
        ]
        self._free = np.min(inertias, axis=0)
        self._fixed = self._free.copy()
        for foot, leg in enumerate(self.legs):
            for kind, stands in ((self._free, False), (self._fixed, True)):
                kind[leg] = np.min(
                    [
                        inertia[leg]
                        for stance, inertia in zip(stances, inertias)
                        if (foot in stance) is stands
                    ],
                    axis=0,
                )

    def apply(
        self, stiffness: np.ndarray, damping: np.ndarray, delay: float, standing: Sequence[float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return stiffness and damping within their bounds.

        Args:
            stiffness: ``(n_joints,)``, N m/rad.
            damping: ``(n_joints,)``, N m s/rad.
            delay: From joints to torques, s.
            standing: How much each leg counts as standing, 0 to 1.
        """
        if delay <= 0.0:
            return stiffness, damping
        share = np.zeros(len(damping))
        for leg, part in zip(self.legs, standing):
            share[leg] = part
        free, fixed = (
            np.minimum(damping, inertia * math.pi / (6.0 * delay))
            for inertia in (self._free, self._fixed)
        )
        soft, stiff = (np.minimum(stiffness, 0.5 * bounded / delay) for bounded in (free, fixed))
        soft = np.minimum(soft, free * free / (4.0 * self._free))
        return soft + share * (stiff - soft), free + share * (fixed - free)


def mobility(dynamics: Dynamics, posture: np.ndarray, frames: Sequence[int]) -> np.ndarray:
    """Return how torques accelerate joints while frames are fixed, ``(n, n)``, 1/(kg m^2).

    Of the inverse mass matrix what the constraints leave.

    Args:
        dynamics: `Dynamics` of the robot.
        posture: Joint angles, rad, ``(n,)``.
        frames: Which do not move, by index.
    """
    q = dynamics.configuration(posture)
    inverse = np.linalg.inv(dynamics.mass_matrix(q))
    if len(frames):
        J = np.vstack([dynamics.frame_jacobian(q, frame) for frame in frames])
        inverse = (
            inverse - inverse @ J.T @ np.linalg.pinv(J @ inverse @ J.T, rcond=1e-9) @ J @ inverse
        )
    return inverse[ROOT:, ROOT:]


def coupled_inertias(mobility: np.ndarray) -> np.ndarray:
    """Return inertias below those of all modes of a mobility W, ``(n_joints,)``, kg m^2."""
    own = np.sqrt(np.maximum(np.diag(mobility), 1e-6))
    return 1.0 / (own * (abs(mobility) @ (1.0 / own)))
