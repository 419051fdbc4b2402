# SPDX-License-Identifier: Apache-2.0
"""A robot on ros2_control: which controllers, tags, bridges and processes it takes, as files."""
