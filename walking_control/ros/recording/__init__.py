# SPDX-License-Identifier: Apache-2.0
"""What a controller heard and answered, as a bag that ros2 bag reads, and what it answers again."""

from walking_control.door import modules_of

__getattr__ = modules_of(__name__)
