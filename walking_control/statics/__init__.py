# SPDX-License-Identifier: Apache-2.0
"""Torques that hold a robot still: contacts, program, solvers, diagnosis; no controller, no ROS."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'contacts': 'centre_of_pressure CENTRE_OF_PRESSURE Contact contact_margins edge_gains '
        'FRICTION LEAST_FORCE LIMITS MAX_FORCE NO_BALANCE Shortfall TORQUE TORSION UNILATERAL '
        'wrench_bounds wrench_limits',
        'diagnosis': 'Explanation nearest_point',
        'distributor': 'StaticSolution StaticTorque',
        'few_points': 'stand_on_points',
        'kernels': 'fill_program hull_of is_beyond judge_forces margin_inside share_inside '
        'stand_on_one',
        'posture_search': 'coolest_posture search_posture',
        'program': 'StaticProgram',
    },
)
