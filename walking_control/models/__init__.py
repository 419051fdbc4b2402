# SPDX-License-Identifier: Apache-2.0
"""What a walker is: robot file, dynamics, actuators, and the signals all rooms share.

What many need is here by name and is imported on first use, whichever module of the room it is in::

    from walking_control.models import Dynamics, Robot, World
"""

from importlib import import_module

# module -> the names in it
_DEFINED = {
    'actuators': 'GearedMotor JointFriction',
    'array_functions': 'array_function factorise_spd form inner multiply solve_spd Terms',
    'base': 'Base ROOT',
    'contact': 'project_velocity',
    'drives': 'fields_of picks_of',
    'dynamics': 'bare_robot Dynamics floor_gravity',
    'floor': 'FloorProfile read_profile require_level',
    'friction': 'BACK_LOSS COULOMB DRIVING_LOSS friction_table friction_torque gear_table VISCOUS',
    'parameters': 'parameter Parameters',
    'pose': 'check_limits',
    'registry': 'Choice',
    'resources': 'find_meshes gait_path place_meshes share_directory',
    'robot': 'in_words Robot Start',
    'robot_file': 'RobotFile with_section World',
    'scale': 'Scale scale_of',
    'signals': 'BaseState Command CONTACT IMU JOINTS LOCKS Measurement places_of Reference Sensor '
    'sensors_of STATE topic_word WalkerState',
    'space_equations': 'SpaceEquations',
    'step_equations': 'step_parameters StepEquations',
    'support.compiled': 'compile_law compile_where_possible make_terms',
    'support.dynamics': 'effort_map SupportDynamics terms_places',
    'symmetry': 'require_equal_legs',
    'thermal': 'heating',
    'urdf': 'load_urdf moving_joints parse require_room UrdfJoint',
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
