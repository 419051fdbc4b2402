# SPDX-License-Identifier: Apache-2.0
"""The record of a walk: what it was worth, and where its limbs were."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'disturbance_response': 'observe_energies',
        'indicators': 'Walk',
        'kinematics': 'base_lean Bone estimation_measures EstimationMeasures foot_positions '
        'leg_of_each_joint place_soles Skeleton sole_corners tilt',
        'metrics': 'DEPTHS foot_depths steady_state step_table summarize',
        'posture': 'friction_ratios is_held joint_motion keeps_posture load_extremes '
        'posture_measures support_intervals',
        'quantities': 'ending failure floor_tilt largest LOADED motors squared_effort_per_step '
        'steady_rows touchdowns',
        'result': 'plain Result',
        'route': 'read_route Route Segment',
        'run': 'Recorder Run',
        'space': 'judge_route mean_velocity name_natural_part pushes share_on_gait Steady '
        'steady_in_space SteadyInSpace step_sizes walks_in_space yaw',
        'tables': 'effort_headers joint_unit read_columns read_table write_run_table',
    },
)
