# SPDX-License-Identifier: Apache-2.0
"""Hold a posture with the static-torque distributor as feed-forward."""
