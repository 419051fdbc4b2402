# SPDX-License-Identifier: Apache-2.0
"""From a stranger's URDF, MJCF or SDF to a robot file: everything guessed, told and weighed."""
