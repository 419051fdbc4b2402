# SPDX-License-Identifier: Apache-2.0
"""Walking in space on legs with mass: where and when to step, and the torques that do it."""
