# SPDX-License-Identifier: Apache-2.0
"""From the torque a law wants at a joint to the effort of the motor that gives it.

What friction and gear take on the way is known from the robot file (`models.friction`) and made up
for. Laws think in torques at the joint, and keep their books in them: what is added here only
replaces what is lost. As friction changes its sign with the rate, which is measured, the
compensation of dry friction and gear losses fades around rest, and a share below 1 leaves some
friction, lest a joint that rests be pushed.
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.controllers.parameters import LossParameters
from walking_control.models.array_functions import array_function
from walking_control.models.efforts import effort_map
from walking_control.models.friction import (
    ARMATURE,
    BACK_LOSS,
    COULOMB,
    DRIVING_LOSS,
    entering_torque,
    friction_table,
    friction_torque,
    gear_table,
    VISCOUS,
)

if TYPE_CHECKING:
    from walking_control.models.support.dynamics import SupportDynamics


class Compensation(NamedTuple):
    """What makes up for friction and gear losses."""

    share: float   # of the losses, 0 to 1; 0 where the robot has none
    fade: float   # rate below which the compensation of dry friction and gear losses fades, rad/s
    friction: np.ndarray   # rows of `friction_table` of the motors' joints, ``(k, 2)``
    gears: np.ndarray   # `gear_table`
    inputs: np.ndarray   # generalised force per effort, by support, ``(2, n, n_efforts)``
    largest: np.ndarray   # largest efforts, N m, ``(n_efforts,)``


def make_compensation(support: SupportDynamics, values: LossParameters) -> Compensation:
    """Return the `Compensation` of a robot."""
    robot = support.robot
    joints = [robot.joint_index(joint) for joint in robot.actuators]
    friction = friction_table(robot)[joints]
    lossy = robot.has_gear_losses or bool(friction.any())
    return Compensation(values.friction_compensation if lossy else 0.0, values.compensation_fade,
                        friction, gear_table(robot)[:len(joints)],
                        np.array([effort_map(support, i) for i in range(2)]), robot.effort_limits)


@array_function
def make_up(losses: Compensation, support: int, v: np.ndarray, a: np.ndarray,
            effort: np.ndarray) -> None:
    """Turn torques wanted at joints into the efforts of motors, within their limits.

    Args:
        support: Index of the stance foot.
        v: Rates of the minimal coordinates, ``(n,)``.
        a: Accelerations the torques are to cause, or zeros: then the gear's loss on what turns
            the rotor is left.
        effort: Changed in place.
    """
    for i in range(losses.friction.shape[0]):
        rate, turning = 0.0, 0.0
        for j in range(v.shape[0]):
            rate += losses.inputs[support, j, i] * v[j]
            turning += losses.inputs[support, j, i] * a[j] * losses.gears[i, ARMATURE]
        leaving = effort[i] - turning + friction_torque(
            losses.friction[i, VISCOUS], losses.friction[i, COULOMB], rate, losses.fade)
        wanted = turning + entering_torque(losses.gears[i, DRIVING_LOSS],
                                           losses.gears[i, BACK_LOSS], leaving, rate, losses.fade)
        wanted = effort[i] + losses.share * (wanted - effort[i])
        effort[i] = min(max(wanted, -losses.largest[i]), losses.largest[i])
