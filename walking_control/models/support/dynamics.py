# SPDX-License-Identifier: Apache-2.0
"""Support reduction: the floating-base robot seen from the foot it stands on.

Support coordinates ``z = [x, z of the stance foot, minimal coordinates q]``: while the foot rests,
the first two do not move and the rest obeys ordinary equations of motion ([DS09] (4.11)); contact
forces are what the first two rows then demand. The same coordinates serve flight (foot free) and
impact (the other foot's velocity is constrained as well).

Everything a plant needs of one configuration is one flat array, so that the functions generated in
`symbolic` and this class, which asks Pinocchio, can stand in for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.models.friction import spring_torques
from walking_control.models.support.layout import TermsLayout

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics


class SupportDynamics:
    """Support terms of a planar robot by Pinocchio.

    Args:
        dynamics: `Dynamics` of the robot.

    Raises:
        InvalidInput: The robot is not planar.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        robot = dynamics.robot
        if not robot.is_planar:
            raise InvalidInput(f'robot {robot.name}', value=f'base: {robot.base.value}',
                               limit='support reduction is for planar robots')
        self.dynamics = dynamics
        self.robot = robot
        self.layout = TermsLayout(len(robot.coordinates))
        # minimal coordinates -> (pitch, joints), by support
        self.lift = tuple(robot.lifts[foot] for foot in robot.feet)

    def relabel(self, support: int) -> np.ndarray:
        """Return the matrix S that turns q of one support into q of the other ([DS09] (4.10)).

        Args:
            support: Index of the foot that has been standing.
        """
        return np.asarray(self.robot.supports[self.robot.feet[1 - support]] @ self.lift[support])

    def input_map(self, support: int) -> np.ndarray:
        """Return the generalised forces on q per unit of joint effort, ``(n, n_joints)``."""
        return np.asarray(self.lift[support][1:].T)

    def terms(self, support: int, q: np.ndarray, v: np.ndarray,
              out: np.ndarray | None = None) -> np.ndarray:
        """Return the flat array of support terms (see `TermsLayout`).

        Args:
            support: Index of the stance foot.
            q: Minimal coordinates, ``(n,)``.
            v: Their rates.
            out: Array to fill.
        """
        out = np.empty(self.layout.size) if out is None else out
        dynamics, n = self.dynamics, self.layout.n
        stance, other = self.robot.feet[support], self.robot.feet[1 - support]
        parts = self.layout.split(out)
        full_q, full_v = dynamics.base_from_coordinates(stance, q, v)
        J = dynamics.foot_jacobian(full_q, stance)[:, 2:] @ self.lift[support]
        J_other = dynamics.foot_jacobian(full_q, other)[:, 2:] @ self.lift[support]
        G = np.eye(n + 2)
        G[:2, 2:] = -J
        G[2:, 2:] = self.lift[support]
        # accelerations of the base and of the other foot at zero coordinate acceleration
        base_drift = np.zeros(n + 2)
        base_drift[:2] = -dynamics.foot_drift(full_q, full_v, stance)
        M = dynamics.mass_matrix(full_q)
        parts['mass'][:] = G.T @ M @ G
        parts['bias'][:] = G.T @ (dynamics.bias(full_q, full_v) + M @ base_drift)
        joints = self.lift[support][1:]
        parts['bias'][2:] += joints.T @ spring_torques(self.robot, joints @ q, joints @ v)
        dynamics.place(full_q)
        parts['foot'][:] = np.subtract(dynamics.foot_position(other)[::2],
                                       dynamics.foot_position(stance)[::2])
        parts['jacobian'][:] = J_other - J
        parts['drift'][:] = dynamics.foot_drift(full_q, full_v, other) + base_drift[:2]
        parts['base'][:] = full_q[:2]
        return out
