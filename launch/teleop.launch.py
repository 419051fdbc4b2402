# SPDX-License-Identifier: Apache-2.0
"""Steering by game controller or keyboard.

`walking_control.ros.launch_arguments` holds the arguments,
`walking_control.ros.ros2_control.teleop` the steps.
"""

from walking_control.ros.launch_arguments import TELEOP
from walking_control.ros.nodes.launch_actions import describe
from walking_control.ros.ros2_control.teleop import plan_teleop


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, TELEOP, plan_teleop)
