# SPDX-License-Identifier: Apache-2.0
"""The record of a walk: what it was worth, and where its limbs were."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'kinematics': 'foot_positions leg_of_each_joint sole_corners tilt',
        'metrics': 'step_table summarize',
        'quantities': 'ending failure LOADED',
        'result': 'plain Result',
        'route': 'read_route Route',
        'run': 'Recorder Run',
        'space': 'mean_velocity pushes steady_in_space yaw',
        'tables': 'joint_unit read_columns',
    },
)
