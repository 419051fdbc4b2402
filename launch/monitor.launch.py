# SPDX-License-Identifier: Apache-2.0
"""Tools that show a running robot.

`walking_control.ros.launch_arguments` holds the arguments,
`walking_control.ros.ros2_control.launching` the steps.
"""

from walking_control.ros.launch_arguments import MONITOR
from walking_control.ros.nodes.launch_actions import describe
from walking_control.ros.ros2_control.launching import plan_monitor


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, MONITOR, plan_monitor)
