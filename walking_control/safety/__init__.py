# SPDX-License-Identifier: Apache-2.0
"""Judgement of measurements, states and commands; pure, without ROS."""
