# SPDX-License-Identifier: Apache-2.0
"""What a walker is: robot file, dynamics, actuators, and the signals all rooms share."""
