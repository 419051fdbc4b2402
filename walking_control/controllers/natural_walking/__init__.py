# SPDX-License-Identifier: Apache-2.0
"""Walking in space on a gait of its own: along it the robot falls, across it the law acts."""
