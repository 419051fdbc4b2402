# SPDX-License-Identifier: Apache-2.0
"""Control laws: from what is known to what is commanded."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'controller': 'ArrayLaw Controller FootPlan FootPlanner LawFunction PostureHolder '
        'require_motors StopJudge Stoppable',
        'curve_tracking.observation': 'observe',
        'curve_tracking.parameters': 'CurveTrackingParameters',
        'curve_tracking.vector_field': 'apply_field Field',
        'hip_switching': 'find_hip',
        'knee_locks': 'KneeLocks',
        'limits.efforts': 'Compensation keep_foot Limits make_compensation make_limits make_up '
        'nearest_effort',
        'natural_walking.controller': 'NaturalWalking',
        'natural_walking.parameters': 'NaturalWalkingParameters',
        'natural_walking.reference': 'GaitTable',
        'parameters': 'LawParameters',
        'policy.controller': 'Policy',
        'policy.description': 'PolicyDescription',
        'registry': 'CONTROLLERS make_controller',
        'static_torque.controller': 'PostureControl',
        'static_torque.parameters': 'StaticTorqueParameters',
        'stepping.body': 'Body',
        'stepping.controller': 'Stepping',
        'stepping.engine': 'LEFT RIGHT SIDE WalkingEngine',
        'stepping.heading': 'StrideMean',
        'stepping.law': 'WalkingLaw',
        'stepping.parameters': 'SteppingParameters',
        'stepping.size': 'Size USUAL',
        'stepping.step_plan': 'Fall steady_aim Step SwingLeg',
        'stepping.stepping_tasks': 'posture_tasks standing_tasks step_tasks swing_task',
        'stepping.swing': 'SwingFoot',
        'stepping.tasks': 'BalanceTask FootTask FootTurnTask HeightTask JointTask '
        'PressureTask Task TorsionTask TrunkTask',
        'stepping.velocity_aim': 'SLOWING velocity_limits',
        'stepping.whole_body': 'Gains',
    },
)
