# SPDX-License-Identifier: Apache-2.0
"""Judgement of measurements, states and commands; pure, without ROS."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'faults': 'EMERGENCY_STOP FALL Fault INTERNAL POWER_OFF read_fault',
        'fall': 'FallDetector',
        'latch': 'Latch',
        'machine': 'Event LED State',
        'parameters': 'SafetyParameters',
        'steering': 'Steering',
    },
)
