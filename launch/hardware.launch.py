# SPDX-License-Identifier: Apache-2.0
"""The robot itself, beside a controller manager that runs already; see dry_run and arm.

`walking_control.ros.launch_arguments` holds the arguments,
`walking_control.ros.ros2_control.launching` the steps.
"""

from walking_control.ros.launch_arguments import HARDWARE
from walking_control.ros.nodes.launch_actions import describe, on_robot
from walking_control.ros.ros2_control.launching import plan_hardware


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, HARDWARE, on_robot(plan_hardware))
