# SPDX-License-Identifier: Apache-2.0
"""Plants that play the robot, and the loop that walks one."""
