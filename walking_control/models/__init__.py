# SPDX-License-Identifier: Apache-2.0
"""What a walker is: robot file, dynamics, actuators, and the signals all rooms share.

What many need is here by name and is imported on first use, whichever module of the room it is in::

    from walking_control.models import Dynamics, Robot, World
"""

from importlib import import_module

# module -> the names in it
_DEFINED = {
    'array_functions': 'array_function factorise_spd form inner multiply solve_spd Terms',
    'base': 'Base ROOT',
    'dynamics': 'bare_robot Dynamics floor_gravity',
    'friction': 'BACK_LOSS DRIVING_LOSS friction_table gear_table',
    'parameters': 'parameter Parameters',
    'registry': 'Choice',
    'robot': 'in_words Robot Start',
    'robot_file': 'RobotFile with_section World',
    'signals': 'BaseState Command IMU JOINTS LOCKS Measurement Reference Sensor sensors_of '
    'WalkerState',
    'step_equations': 'step_parameters StepEquations',
    'support.compiled': 'compile_law make_terms',
    'support.dynamics': 'effort_map SupportDynamics terms_places',
    'urdf': 'load_urdf moving_joints parse',
    'yaml_text': 'read_yaml',
}
# name -> module and name there
_PUBLIC = {
    name: (f'models.{module}', name) for module, names in _DEFINED.items() for name in names.split()
}
__all__ = [*_PUBLIC]


def __getattr__(name):
    """Import a name of the room on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = globals()[name] = getattr(import_module(f'walking_control.{_PUBLIC[name][0]}'), name)
    return value
