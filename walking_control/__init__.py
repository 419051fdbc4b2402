# SPDX-License-Identifier: Apache-2.0
"""Efficient and safe walking for ROS 2 robots."""

__version__ = '0.1.0'
