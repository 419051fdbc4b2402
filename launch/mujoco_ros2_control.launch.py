# SPDX-License-Identifier: Apache-2.0
"""The robot in MuJoCo, on ros2_control.

`walking_control.ros.launch_arguments` holds the arguments,
`walking_control.ros.ros2_control.launching` the steps.
"""

from walking_control.ros.launch_arguments import MUJOCO
from walking_control.ros.nodes.launch_actions import describe, on_robot
from walking_control.ros.ros2_control.launching import plan_mujoco


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, MUJOCO, on_robot(plan_mujoco))
