# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: topics, time, parameters and lifecycle around the same chain that scripts use."""
