# SPDX-License-Identifier: Apache-2.0
"""Torques that hold a robot still: contacts, program, solvers, diagnosis; no controller, no ROS."""
