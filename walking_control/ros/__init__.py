# SPDX-License-Identifier: Apache-2.0
"""ROS 2: nodes, what ros2_control and launch need, recordings."""
