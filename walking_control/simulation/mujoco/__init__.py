# SPDX-License-Identifier: Apache-2.0
"""Robots in MuJoCo, built from their URDF."""
