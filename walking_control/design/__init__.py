# SPDX-License-Identifier: Apache-2.0
"""Questions asked before a robot is built: what gears cost, how a posture passes force on."""
