# SPDX-License-Identifier: Apache-2.0
"""Plants that play the robot, and the loop that walks one."""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'disturbance': 'Disturbance How parse_disturbance plan_disturbances rough_floor Touchdowns',
        'engine': 'Engine Feature Forces Truth',
        'guide': 'Guide planned_pushes',
        'injection': 'Injection SENSOR_FAULTS',
        'mujoco': 'import_mujoco',
        'parameters': 'CompliantParameters FLOORS RigidParameters',
        'plant': 'Plant',
        'registry': 'make_fast_plant make_plant',
        'rigid.compiled': 'arrays_of make_walker Walker',
        'rigid.engine': 'FloorChange',
        'rigid.forces': 'collide',
        'rigid.model': 'DONE STEP_LENGTH STEPPED STEPS SUPPORT TIME',
        'sensors': 'has_errors read_preset SensorParameters',
        'simulate': 'run_plant Walk',
        'stepped': 'SteppedEngine',
        'terrain': 'Change profile_of',
    },
)
