# SPDX-License-Identifier: Apache-2.0
"""What stands in the way of using a robot that could be loaded: each raises when it does."""

import numpy as np

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import Findings, InvalidInput
from walking_control.models.dynamics import Dynamics
from walking_control.models.meshes import missing_meshes
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile
from walking_control.models.symmetry import leg_difference
from walking_control.models.urdf import require_room

_DEEP = 1e-3        # of the leg: how deep in the floor the swing foot may begin, as rounding has it
_SINGULAR = 1e-12   # smallest over largest eigenvalue of a mass matrix


def find_obstacles(robot_file: RobotFile) -> list[InvalidInput]:
    """Return the errors, all of them, that make a loaded robot file unusable."""
    robot, findings = robot_file.robot, Findings()
    findings.attempt(require_room, robot.urdf)
    findings.attempt(_check_efforts, robot)
    findings.attempt(check_meshes, robot.urdf, robot.meshes)
    findings.attempt(_check_legs, robot)
    findings.attempt(_check_thresholds, robot_file)
    if robot.is_planar and robot.coordinates:
        findings.attempt(_check_inertia, robot_file)
        findings.attempt(_check_swing_foot, robot_file)
    return findings.errors


def check_meshes(urdf: str, found: dict[str, str]) -> None:
    """Refuse collision meshes that are not there."""
    missing = [name for tag, name in missing_meshes(urdf, found) if tag == 'collision']
    if missing:
        raise InvalidInput('collision meshes of the URDF', value=missing[0], limit='no such file'
                           + (f', nor {len(missing) - 1} others' if len(missing) > 1 else ''),
                           remedy='put them beside the URDF, or set AMENT_PREFIX_PATH so that '
                           'package:// is found')


def _check_efforts(robot: Robot) -> None:
    findings = Findings()
    for joint in robot.actuators:
        if robot.limits[joint].effort <= 0.0:
            findings.errors.append(InvalidInput(
                f'effort limit of joint {joint}', value=robot.limits[joint].effort,
                limit='a motor joint needs a positive one', remedy='set it in the URDF'))
    findings.raise_first()


def _check_legs(robot: Robot) -> None:
    difference = leg_difference(robot)
    if difference is not None:
        raise InvalidInput('robot.mirror', limit='does not hold for the model: its legs differ '
                           f'({difference}), so that it has no gait of equal steps',
                           remedy='make the legs equal, or correct robot.mirror and '
                           'robot.supports')


def _check_thresholds(robot_file: RobotFile) -> None:
    """Refuse a contact force that a foot never reaches while the robot stands on all."""
    share = robot_file.scale.mass * robot_file.scale.gravity / len(robot_file.robot.feet)
    contact_on = robot_file.values(EstimatorParameters).contact_on
    if contact_on >= share:
        raise InvalidInput('parameter estimator.contact_on', value=contact_on,
                           limit='a foot would never count as standing: each carries '
                           f'{share:.3g} N of the weight',
                           remedy=f'leave it out, or set it below {0.5 * share:.2g}')


def _check_inertia(robot_file: RobotFile) -> None:
    robot, start = robot_file.robot, robot_file.start
    dynamics = Dynamics(robot)
    q, _ = dynamics.base_from_coordinates(start.support, start.q, start.v)
    sizes, directions = np.linalg.eigh(dynamics.mass_matrix(q))
    if sizes[0] < _SINGULAR * sizes[-1]:
        names = ('x', 'z', 'pitch', *robot.joints)
        loose = names[int(np.argmax(np.abs(directions[:, 0])))]
        raise InvalidInput(f'inertia felt by {loose}', value=float(sizes[0]),
                           limit='must be positive: nothing moves with it',
                           remedy='give its link an <inertial>, or its motor a rotor_inertia')


def _check_swing_foot(robot_file: RobotFile) -> None:
    robot, start = robot_file.robot, robot_file.start
    dynamics = Dynamics(robot)
    q, _ = dynamics.base_from_coordinates(start.support, start.q, start.v)
    if q[1] <= 0.0:
        raise InvalidInput('start.q', value=start.q.tolist(), limit='puts the base below the '
                           f'stance foot, at {q[1]:.3g} m', remedy='stand it up')
    dynamics.place(q)
    deepest = min(robot.feet, key=lambda foot: dynamics.foot_position(foot)[2])
    height = dynamics.foot_position(deepest)[2]
    if height < -_DEEP * robot_file.scale.length:
        raise InvalidInput('start.q', value=start.q.tolist(),
                           limit=f'puts {deepest} {-height:.3g} m into the floor',
                           remedy='bend its knee, or take a posture with both feet on the floor')


def remarks(robot_file: RobotFile) -> list[str]:
    """Return sentences on what is as it is, but good to know."""
    robot = robot_file.robot
    looks = [name for tag, name in missing_meshes(robot.urdf, robot.meshes) if tag == 'visual']
    sentences = [f'looks are missing ({len(looks)} meshes, {looks[0]})'] if looks else []
    if robot.is_planar and len(robot.coordinates) == 2:
        sentences.append('straight legs scuff as they pass each other: plant rigid lets '
                         'feet less than rigid.scuff_length ahead through the floor, '
                         'plant mujoco does not (scuffs are counted in the summary)')
    return sentences
