# SPDX-License-Identifier: Apache-2.0
"""Tools that show a running robot.

`walking_control.launch_arguments` holds the arguments, `walking_control.ros2_control.launching` the
steps.
"""

from walking_control.launch_arguments import MONITOR
from walking_control.nodes.launch_actions import describe
from walking_control.ros2_control.launching import plan_monitor


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, MONITOR, plan_monitor)
