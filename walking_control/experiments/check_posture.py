# SPDX-License-Identifier: Apache-2.0
"""What `check` says of a robot that begins in a posture: size, soles, what the posture takes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from walking_control.controllers.static_torque.controller import PostureControl
from walking_control.controllers.static_torque.parameters import StaticTorqueParameters
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words, Robot
from walking_control.models.robot_file import RobotFile, World
from walking_control.runs.kinematics import sole_corners
from walking_control.statics.contacts import Contact
from walking_control.statics.distributor import StaticSolution, StaticTorque

# A sole lies on the floor when it is no higher above the lowest one and no more tilted than this.
_HIGH, _TILTED = 0.005, 0.05   # m, rad


def check_posture(robot_file: RobotFile, problems: list[dict[str, Any]], assumptions: list[str],
                  facts: dict[str, Any]) -> None:
    """Add what is known of a robot that begins in a posture to the findings of `check_robot`.

    Args:
        problems: List of dictionaries, added to.
        assumptions: List of sentences, added to.
        facts: name -> value, added to.
    """
    robot, world = robot_file.robot, robot_file.values(World)
    dynamics = Dynamics(robot, world.gravity, world.slope)
    assert robot_file.start.posture is not None
    posture = dict(zip(robot.joints, robot_file.start.posture, strict=True))
    q = dynamics.configuration(posture)
    height, standing = _standing(robot, dynamics, q)
    facts['base height'] = f'{height:.3f} m in the start posture'
    facts['soles'] = [f'{in_words(foot)} {_size(robot.urdf, foot)}' for foot in robot.feet]
    _assume_limits(robot, assumptions)
    if len(standing) < 3 and all(_is_point(robot.urdf, foot) for foot in robot.feet):
        if robot_file.controller == PostureControl.name:
            problems.append({'what': 'robot.feet', 'value': list(robot.feet),
                             'limit': 'are points, on fewer than three of which nothing can be '
                             'held at rest',
                             'remedy': 'give the feet soles, or choose controller stepping'})
        facts['start'] = 'on points: only a law that steps keeps the robot up'
    elif not standing:
        problems.append({'what': 'start.posture', 'value': None,
                         'limit': 'no sole lies flat on the floor with the base upright',
                         'remedy': 'change the ankles of the start posture'})
    elif all(joint in robot.actuators for joint in robot.joints):
        _check_statics(robot_file, dynamics, q, standing, problems, assumptions, facts)
    assumptions.append('the robot moves freely in space on a flat floor; standing soles lie flat')
    assumptions.append('the base’s orientation comes from the IMU, in the gravity-aligned world; '
                       'its place and speed from legs that stand still on a flat floor')


def _standing(robot: Robot, dynamics: Dynamics, q: np.ndarray) -> tuple[float, tuple[str, ...]]:
    """Return the height of the base above the lowest sole, m, and the feet that stand."""
    places = {foot: dynamics.placement(q, dynamics.frame(foot)) for foot in robot.feet}
    lowest = min(place[2] for place, _ in places.values())
    return -lowest, tuple(
        foot for foot, (place, rotation) in places.items() if place[2] - lowest <= _HIGH
        and (rotation[2, 2] >= np.cos(_TILTED) or _is_point(robot.urdf, foot)))


def _is_point(urdf: str, foot: str) -> bool:
    return len(sole_corners(urdf, foot)) == 1


def _size(urdf: str, foot: str) -> str:
    corners = sole_corners(urdf, foot)
    if len(corners) == 1:
        return 'of unknown size'
    length, width = np.ptp(corners[:, 0]), np.ptp(corners[:, 1])
    return f'{length:.3g} m x {width:.3g} m'


def _assume_limits(robot: Robot, assumptions: list[str]) -> None:
    """Say which limit of effort counts: one sentence where URDF and motor agree."""
    if not robot.actuators:
        return
    urdf = np.array([robot.limits[joint].effort for joint in robot.actuators])
    least = robot.effort_limits
    motors = np.array([motor.effort_limit for motor in robot.actuators.values()])
    assumptions.append(f'efforts limited to the smaller of URDF and motor, {least.min():.3g} to '
                       f'{least.max():.3g} N m')
    for i, joint in enumerate(robot.actuators):
        if np.isfinite(urdf[i]) and abs(urdf[i] - motors[i]) > 1e-3 * motors[i]:
            assumptions.append(f'{joint}: effort limited to {least[i]:.3g} N m; URDF '
                               f'{urdf[i]:.3g}, motor {motors[i]:.3g}')


def _check_statics(robot_file: RobotFile, dynamics: Dynamics, q: np.ndarray,
                   standing: Sequence[str], problems: list[dict[str, Any]], assumptions: list[str],
                   facts: dict[str, Any]) -> None:
    """Judge the start posture at rest on the feet that stand, and on each of them alone."""
    robot, values = robot_file.robot, robot_file.values(StaticTorqueParameters)
    share = values.effort_share
    limits = dict(zip(robot.actuators, share * robot.effort_limits, strict=True))
    contacts = {foot: Contact(foot, values.sole_length, values.sole_width, values.friction)
                for foot in robot.feet}
    statics = StaticTorque(dynamics, contacts, values.objective, limits,
                           None if values.solver == 'auto' else values.solver)
    solution = statics.solve(q, standing)
    feet = ' and '.join(in_words(foot) for foot in standing)
    if solution.feasible:
        facts['start'] = f'posture can be held on {feet}, {_effort(statics, solution, share)}'
    elif robot_file.controller == PostureControl.name:
        problems.append({'what': 'start.posture', 'value': None,
                         'limit': f'cannot be held on {feet}: {solution.reason}',
                         'remedy': 'bring the centre of mass above the soles, or see '
                         'walking_control statics'})
    for foot in standing if len(standing) > 1 else ():
        solution = statics.solve(q, (foot,))
        facts[f'{in_words(foot)} alone'] = _effort(statics, solution, share) if solution.feasible \
            else f'not in the start posture; {solution.reason}'
    assumptions.append(f'static torques rely on a friction of {values.friction:g} and soles of '
                       f'{values.sole_length:g} m x {values.sole_width:g} m, and on '
                       f'{100 * share:g} % of each effort limit')


def _effort(statics: StaticTorque, solution: StaticSolution, share: float) -> str:
    """Return the largest torque in words, as a share of the joint's whole limit."""
    largest = statics.margins(solution)['torque']
    used = 100.0 * share * (1.0 - largest['free'])
    return f'{used:.0f} % of the limit of {in_words(largest["joint"])} at most'
