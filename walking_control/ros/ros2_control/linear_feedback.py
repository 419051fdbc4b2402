# SPDX-License-Identifier: Apache-2.0
"""LAAS's linear_feedback_controller, where it plays the drives of joints that take efforts.

With each cycle of the controller manager it commands ``feedforward + K (x - measured x)``, where x
holds all positions, then all velocities (https://github.com/loco-3d/linear-feedback-controller,
4.0.3). With our stiffnesses and dampings on the two diagonals of K that is `Command.torque`. It
hears positions, velocities and efforts from a JointStateEstimator ahead of it in the chain.

It sorts its joints as Pinocchio does, but takes measurements and efforts in the order of its
parameters. So we name them in Pinocchio's order, in the parameters and in messages.
"""

from typing import Any

from walking_control.exceptions import IncompatiblePlant, require
from walking_control.models import Dynamics, KINDS, Robot
from walking_control.ros.ros2_control import names

PLUGIN = 'linear_feedback_controller/LinearFeedbackController'
ESTIMATOR = 'linear_feedback_controller/JointStateEstimator'


def feedback_joints(robot: Robot) -> list[str]:
    """Return the joints that the controller drives, in its order; none where it has none.

    Args:
        robot: The `Robot`.

    Raises:
        IncompatiblePlant: It shall drive some motors and not all.
    """
    driven = [joint for joint, motor in robot.actuators.items() if KINDS[motor.drive].chained]
    require(
        len(driven) in (0, len(robot.actuators)),
        'robot.actuators',
        value=', '.join(driven),
        limit='linear_feedback drives all motors of a robot or none',
        remedy='give every motor drive: linear_feedback',
        error=IncompatiblePlant,
    )
    return [name for name in Dynamics(robot).model.names if name in driven] if driven else []


def feedback_controllers(robot: Robot) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return controller -> (plugin, parameters) of a robot that has it, else nothing.

    Args:
        robot: The `Robot`.
    """
    joints = feedback_joints(robot)
    states = [
        f'{joint}/{state}' for state in ('position', 'velocity', names.EFFORT) for joint in joints
    ]
    controllers: dict[str, tuple[str, dict[str, Any]]] = {
        names.EFFORT_CONTROLLER: (
            PLUGIN,
            {
                'moving_joint_names': joints,
                **{joint: {'p': 0.0, 'd': 0.0} for joint in joints},  # until we command
                'chainable_controller': {
                    'command_interfaces': [f'{joint}/{names.EFFORT}' for joint in joints]
                },
                'joint_velocity_filter_coefficient': 1.0,  # no filter
                'pd_to_lf_transition_duration': 0.0,
                'remove_gravity_compensation_effort': False,
                'robot_has_free_flyer': False,  # its state is the joints
            },
        ),
        names.STATE_ESTIMATOR: (
            ESTIMATOR,
            {
                'state_interfaces': states,
                'command_interfaces': [f'{names.EFFORT_CONTROLLER}/{each}' for each in states],
            },
        ),
    }
    return controllers if joints else {}
