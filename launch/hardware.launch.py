# SPDX-License-Identifier: Apache-2.0
"""The robot itself, beside a controller manager that runs already; see dry_run and arm.

`walking_control.launch_arguments` holds the arguments, `walking_control.ros2_control.launching` the
steps.
"""

from walking_control.launch_arguments import HARDWARE
from walking_control.nodes.launch_actions import describe, on_robot
from walking_control.ros2_control.launching import plan_hardware


def generate_launch_description():
    """Return the launch description."""
    return describe(__file__, HARDWARE, on_robot(plan_hardware))
