# SPDX-License-Identifier: Apache-2.0
"""Control laws: from what is known to what is commanded."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'controller': 'ArrayLaw Controller FootPlanner LawFunction PostureHolder require_motors '
        'StopJudge',
        'curve_tracking.observation': 'observe',
        'curve_tracking.parameters': 'CurveTrackingParameters',
        'hip_switching': 'find_hip',
        'knee_locks': 'KneeLocks',
        'limits.efforts': 'Compensation keep_foot Limits make_compensation make_limits make_up '
        'nearest_effort',
        'natural_walking.controller': 'NaturalWalking',
        'parameters': 'LawParameters',
        'policy.controller': 'Policy',
        'policy.description': 'PolicyDescription',
        'registry': 'CONTROLLERS make_controller',
        'static_torque.controller': 'PostureControl',
        'static_torque.parameters': 'StaticTorqueParameters',
        'stepping.body': 'Body',
        'stepping.controller': 'Stepping',
        'stepping.engine': 'LEFT RIGHT SIDE WalkingEngine',
        'stepping.law': 'WalkingLaw',
        'stepping.parameters': 'SteppingParameters',
        'stepping.step_plan': 'Step',
        'stepping.stepping_tasks': 'posture_tasks standing_tasks step_tasks swing_task',
        'stepping.tasks': 'BalanceTask FootTask FootTurnTask Gains HeightTask JointTask '
        'PressureTask TorsionTask TrunkTask',
    },
)
