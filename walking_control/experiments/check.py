# SPDX-License-Identifier: Apache-2.0
"""Can this robot be used? Everything that stands in the way, and what is assumed."""

import math

from walking_control.controllers.registry import fitting_controllers, make_controller
from walking_control.exceptions import InvalidInput, MissingDependency
from walking_control.experiments.check_spatial import check_spatial_robot
from walking_control.loading import load_robot
from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.urdf import link_names, load_urdf, moving_joints
from walking_control.runs.kinematics_spatial import SpatialKinematics
from walking_control.simulation.registry import make_plant, PLANTS


def check_robot(name_or_path, overrides=()):
    """Check a robot file or a plain URDF.

    Args:
        name_or_path: Robot name, path of a robot file, or path of a URDF or xacro file.
        overrides: Pairs (name, value) as for `load_robot`.

    Returns:
        dict with ``ok``, ``problems`` (list of what, value, limit, remedy), ``assumptions``
        (list of sentences) and ``facts`` (name to value).
    """
    problems, assumptions, facts = [], [], {}
    try:
        if str(name_or_path).endswith(('.urdf', '.xacro')):
            urdf = load_urdf(name_or_path)
            facts['links'] = len(link_names(urdf))
            problems.append({'what': 'robot file', 'value': None,
                             'limit': 'a URDF alone names no feet, coordinates or motors',
                             'remedy': 'write a robot file, see doc/robot_file.md'})
        else:
            robot_file = load_robot(name_or_path, overrides)
            urdf = robot_file.robot.urdf
            _check_robot_file(robot_file, problems, assumptions, facts)
        _check_limits(urdf, problems)
    except InvalidInput as error:
        problems.append(error.as_dict())
    return {'ok': not problems, 'problems': problems, 'assumptions': assumptions, 'facts': facts}


def _check_limits(urdf, problems):
    for joint in moving_joints(urdf):
        if joint.kind != 'continuous' and joint.lower >= joint.upper:
            problems.append({'what': f'limits of joint {joint.name}',
                             'value': f'{joint.lower:g} to {joint.upper:g}',
                             'limit': 'leave no room to move', 'remedy': 'set lower below upper'})


def _check_robot_file(robot_file, problems, assumptions, facts):
    robot = robot_file.robot
    mass = PlanarDynamics(robot).mass if robot.planar else SpatialKinematics(robot).mass
    facts.update(name=robot.name, mass=round(mass, 9), joints=list(robot.joints),
                 feet=list(robot.feet), motors=sorted(robot.actuators),
                 controllers=_fitting_controllers(robot_file, problems),
                 plants=_fitting_plants(robot_file, problems, assumptions))
    sentences = []
    for joint, motor in robot.actuators.items():
        limit = robot.limits[joint].effort
        if limit <= 0.0:
            problems.append({'what': f'effort limit of joint {joint}', 'value': limit,
                             'limit': 'a motor joint needs a positive one',
                             'remedy': 'set it in the URDF'})
        elif not math.isinf(limit):
            least = min(limit, motor.effort_limit)
            sentences.append(f'{joint}: effort limited to {least:.3g} N m, the smaller of URDF '
                             f'({limit:.3g}) and motor ({motor.effort_limit:.3g})')
    if not robot.planar:
        check_spatial_robot(robot_file, problems, assumptions, facts)
    else:
        assumptions += sentences
        assumptions.append('the robot moves in the x-z plane; nothing tips it sideways')
    assumptions.append('motors: no friction, no gear losses, current follows its command at once')


def _fitting_controllers(robot_file, problems):
    try:
        make_controller(robot_file)
    except InvalidInput as error:
        problems.append(error.as_dict())
    return fitting_controllers(robot_file)


def _fitting_plants(robot_file, problems, assumptions):
    fitting = []
    for name in PLANTS:
        try:
            make_plant(robot_file, name)
            fitting.append(name)
        except MissingDependency as error:
            assumptions.append(f'not tried: {error}')
        except InvalidInput as error:
            if name == robot_file.plant:
                problems.append(error.as_dict())
    return fitting
