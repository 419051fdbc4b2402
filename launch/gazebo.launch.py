# SPDX-License-Identifier: Apache-2.0
"""The robot in Gazebo, on ros2_control. The world stands still until all is loaded.

`walking_control.ros.launch_arguments` holds the arguments,
`walking_control.ros.ros2_control.launching` the steps.
"""

from walking_control.ros.launch_arguments import GAZEBO
from walking_control.ros.nodes.launch_actions import describe, on_robot
from walking_control.ros.ros2_control.launching import plan_gazebo


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, GAZEBO, on_robot(plan_gazebo))
