# SPDX-License-Identifier: Apache-2.0
"""What efforts do: from commanded efforts to forces on the minimal coordinates.

The efforts of a robot are those of its actuated joints, then, if the robot file offers it,
``ground_torque``: a torque of the floor on the stance foot about +y. No machine with point
feet has it;
plants here provide it, only while the foot stands, and say how long a foot would be needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from walking_control.models.support.dynamics import SupportDynamics


def foot_turn(support: SupportDynamics, foot: int) -> np.ndarray:
    """Return a foot's rate of rotation about +y per rate of (pitch, joints), ``(1 + n_joints,)``.

    Args:
        foot: Index of the foot.
    """
    dynamics = support.dynamics
    J = dynamics.foot_twist_jacobian(np.zeros(dynamics.nq), support.robot.feet[foot])
    return np.round(J[4, 2:], 12)


def effort_map(support: SupportDynamics, foot: int) -> np.ndarray:
    """Return generalised forces on q per effort with a foot standing, ``(n, n_efforts)``.

    Args:
        foot: Index of the stance foot.
    """
    robot = support.robot
    columns = [support.input_map(foot)[:, robot.joint_index(joint)] for joint in robot.actuators]
    if robot.ground_torque is not None:
        columns.append(support.lift[foot].T @ foot_turn(support, foot))
    n = len(robot.coordinates)
    return np.ascontiguousarray(np.array(columns).reshape(-1, n).T)
