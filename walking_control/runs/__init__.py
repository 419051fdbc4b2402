# SPDX-License-Identifier: Apache-2.0
"""The record of a walk: what it was worth, and where its limbs were."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'disturbance_response': 'observe_energies',
        'indicators': 'Walk',
        'kinematics': 'base_lean foot_positions leg_of_each_joint place_soles Skeleton '
        'sole_corners tilt',
        'metrics': 'DEPTHS step_table summarize',
        'quantities': 'ending failure largest LOADED touchdowns',
        'result': 'plain Result',
        'route': 'read_route Route Segment',
        'run': 'Recorder Run',
        'space': 'mean_velocity pushes steady_in_space walks_in_space yaw',
        'tables': 'joint_unit read_columns',
    },
)
