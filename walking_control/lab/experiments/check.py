# SPDX-License-Identifier: Apache-2.0
"""Can this robot be used? Everything that stands in the way, and what is assumed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import math
from pathlib import Path
from typing import Any

import numpy as np

from walking_control.controllers import PostureControl, StaticTorqueParameters, Stepping
from walking_control.controllers.registry import judge_controllers
from walking_control.exceptions import Findings, InvalidInput, MissingDependency
from walking_control.lab.experiments import obstacles
from walking_control.loading import load_robot, PLANTS
from walking_control.models import (
    Base,
    Dynamics,
    find_meshes,
    in_words,
    is_urdf,
    link_names,
    load_urdf,
    require_room,
    Robot,
    RobotFile,
    World,
)
from walking_control.runs import plain, sole_corners
from walking_control.simulation import make_plant
from walking_control.statics import Contact, FRICTION, StaticSolution, StaticTorque, TORQUE, TORSION

# A sole lies on the floor when it is no higher above the lowest one and no more tilted than this.
_HIGH, _TILTED = 0.005, 0.05  # m, rad
# Limit that stands in the way -> what to do.
_REMEDIES = {
    TORQUE: 'give it a stronger motor, or a start posture that loads it less',
    FRICTION: 'put the feet nearer to each other, or raise static_torque.friction',
    TORSION: 'put the feet nearer to each other, or raise static_torque.friction',
}
_OTHERWISE = 'bring the centre of mass above the soles'
_TIPS = {
    Base.PLANAR: 'the robot moves in the x-z plane; nothing tips it sideways',
    Base.TRANSLATING: 'the robot moves in space with a base that does not turn; plant rigid '
    'takes all mass at the hip, gait search takes it where it is',
    Base.FREE: 'the robot moves freely in space',
}


class Found(Findings):
    """What a check has found so far: errors, assumptions, facts and remarks."""

    def __init__(self) -> None:
        super().__init__()
        self.assumptions, self.facts = list[str](), dict[str, Any]()
        self.remarks: Sequence[str] = ()


def check_robot(
    name_or_path: str | Path,
    overrides: Iterable[tuple[str, Any]] = (),
    more: Mapping[str, Callable[[RobotFile, Found], None]] | None = None,
    all_laws: bool = True,
) -> dict[str, Any]:
    """Check a robot file or a plain URDF.

    Args:
        name_or_path: Robot name, path of a robot file, or path of a URDF or xacro file.
        overrides: Pairs (name, value) as for `load_robot`.
        more: Name of what else is looked at, once nothing stands in the way -> adds to what was
            found.
        all_laws: Whether to say of every law if it fits, which takes seconds; else of the file's.

    Returns:
        Dictionary: ``ok``, whether there are no ``problems``: what, value, limit and remedy of
        each; ``assumptions``, sentences; ``facts``, name -> value; ``remarks``, sentences on a
        running robot.
    """
    found, robot_file = Found(), None
    if is_urdf(name_or_path):
        found.attempt(_check_bare_urdf, Path(name_or_path), found)
    elif (robot_file := found.attempt(load_robot, name_or_path, overrides)) is not None:
        found.errors += obstacles.find_obstacles(robot_file)
        found.attempt(_check_robot_file, robot_file, found, all_laws)
    for name, look in (more or {}).items():
        if robot_file is None or found.errors:
            found.assumptions.append(f'not looked at, for the robot file comes first: {name}')
        else:
            look(robot_file, found)
    problems: list[dict[str, Any]] = []
    for problem in (error.as_dict() for error in found.errors):
        problems += [problem] if problem not in problems else []
    return {
        'ok': not problems,
        'problems': plain(problems),
        'assumptions': found.assumptions,
        'facts': plain(found.facts),
        'remarks': found.remarks,
    }


def _check_posture(robot_file: RobotFile, found: Found) -> None:
    """Add what is known of a robot that begins in a posture."""
    robot, world = robot_file.robot, robot_file.values(World)
    dynamics = Dynamics(robot, world.gravity, world.slope)
    assert robot_file.start.posture is not None
    posture = dict(zip(robot.joints, robot_file.start.posture, strict=True))
    q = dynamics.configuration(posture)
    height, standing = _standing(robot, dynamics, q)
    found.facts['base height'] = f'{height:.3f} m in the start posture'
    found.facts['soles'] = [f'{in_words(foot)} {_size(robot.urdf, foot)}' for foot in robot.feet]
    if len(standing) < 3 and all(_is_point(robot.urdf, foot) for foot in robot.feet):
        if robot_file.controller == PostureControl.name:
            found.errors.append(
                InvalidInput(
                    'robot.feet',
                    value=list(robot.feet),
                    limit='are points, on fewer than three of which nothing can be held at rest',
                    remedy='give the feet soles, or choose controller stepping',
                )
            )
        found.facts['start'] = 'on points: only a law that steps keeps the robot up'
    elif not standing:
        found.errors.append(
            InvalidInput(
                'start.posture',
                limit='no sole lies flat on the floor with the base upright',
                remedy='change the ankles of the start posture',
            )
        )
    elif all(joint in robot.actuators for joint in robot.joints):
        _check_statics(robot_file, dynamics, q, standing, found)
    found.assumptions += (
        'the robot moves freely in space on a flat floor; standing soles lie flat',
        'the base’s orientation comes from the IMU, in the gravity-aligned world; '
        'its place and speed from legs that stand still on a flat floor',
    )


def _standing(robot: Robot, dynamics: Dynamics, q: np.ndarray) -> tuple[float, tuple[str, ...]]:
    """Return the height of the base above the lowest sole, m, and the feet that stand."""
    places = {foot: dynamics.placement(q, dynamics.frame(foot)) for foot in robot.feet}
    lowest = min(place[2] for place, _ in places.values())
    return -lowest, tuple(
        foot
        for foot, (place, rotation) in places.items()
        if place[2] - lowest <= _HIGH
        and (rotation[2, 2] >= np.cos(_TILTED) or _is_point(robot.urdf, foot))
    )


def _is_point(urdf: str, foot: str) -> bool:
    return len(sole_corners(urdf, foot)) == 1


def _size(urdf: str, foot: str) -> str:
    corners = sole_corners(urdf, foot)
    if len(corners) == 1:
        return 'as a point'
    length, width = np.ptp(corners[:, 0]), np.ptp(corners[:, 1])
    return f'{length:.3g} m x {width:.3g} m'


def _check_statics(
    robot_file: RobotFile,
    dynamics: Dynamics,
    q: np.ndarray,
    standing: Sequence[str],
    found: Found,
) -> None:
    """Judge the start posture at rest on the feet that stand, and on each of them alone."""
    robot, values = robot_file.robot, robot_file.values(StaticTorqueParameters)
    share = values.effort_share
    limits = dict(zip(robot.actuators, share * robot.effort_limits, strict=True))
    contacts = {
        foot: Contact(foot, values.sole_length, values.sole_width, values.friction)
        for foot in robot.feet
    }
    statics = StaticTorque(
        dynamics,
        contacts,
        values.objective,
        limits,
        None if values.solver == 'auto' else values.solver,
    )
    solution = statics.solve(q, standing)
    feet = ' and '.join(in_words(foot) for foot in standing)
    if solution.feasible:
        found.facts['start'] = f'posture can be held on {feet}, {_effort(statics, solution, share)}'
    elif robot_file.controller == PostureControl.name:
        remedy = _REMEDIES.get(solution.shortfalls[0].limit, _OTHERWISE)
        found.errors.append(
            InvalidInput(
                'start.posture',
                limit=f'cannot be held on {feet}: {solution.reason}',
                remedy=f'{remedy}, or see walking_control statics',
            )
        )
    for foot in standing if len(standing) > 1 else ():
        solution = statics.solve(q, (foot,))
        found.facts[f'{in_words(foot)} alone'] = (
            _effort(statics, solution, share)
            if solution.feasible
            else f'not in the start posture; {solution.reason}'
        )
    found.assumptions.append(
        f'static torques rely on a friction of {values.friction:g} and soles of '
        f'{values.sole_length:g} m x {values.sole_width:g} m, and on '
        f'{100 * share:g} % of each effort limit'
    )


def _effort(statics: StaticTorque, solution: StaticSolution, share: float) -> str:
    """Return the largest torque in words, as a share of the joint's whole limit."""
    largest = statics.margins(solution)['torque']
    used = 100.0 * share * (1.0 - largest['free'])
    return f'{used:.0f} % of the limit of {in_words(largest["joint"])} at most'


def _check_bare_urdf(path: Path, found: Found) -> None:
    urdf = load_urdf(path)
    found.facts['links'] = len(link_names(urdf))
    found.errors.append(
        InvalidInput(
            'robot file',
            limit='a URDF alone names no feet, coordinates or motors',
            remedy='write a robot file, see doc/robot_file.md',
        )
    )
    found.attempt(require_room, urdf)
    found.attempt(obstacles.check_meshes, urdf, find_meshes(urdf, path.parent))


def _check_robot_file(robot_file: RobotFile, found: Found, all_laws: bool) -> None:
    robot, assumptions = robot_file.robot, found.assumptions
    found.facts.update(
        name=robot.name,
        mass=round(robot_file.scale.mass, 9),
        joints=list(robot.joints),
        feet=list(robot.feet),
        motors=sorted(robot.actuators),
    )
    _check_controllers(robot_file, found, all_laws)
    _check_plants(robot_file, found)
    assumptions += _effort_sentences(robot)
    if robot_file.start.posture is None:
        assumptions.append(_TIPS[robot.base])
    else:
        _check_posture(robot_file, found)
        if robot_file.controller == Stepping.name and Stepping.name in found.facts['controllers']:
            found.errors += obstacles.find_walk_obstacles(robot_file)
            assumptions += obstacles.remarks_on_steps(robot_file)
    assumptions += obstacles.remarks(robot_file)
    motors = robot.actuators.values()
    ideal = {
        'no friction': not robot.friction,
        'no gear losses': not robot.has_gear_losses,
        'no backlash': not any(motor.backlash for motor in motors),
        'current follows its command at once': not any(motor.torque_lag for motor in motors),
    }
    assumptions.append('motors: ' + (', '.join(filter(ideal.get, ideal)) or 'as the file has them'))


def _effort_sentences(robot: Robot) -> list[str]:
    """Return which limit of effort counts: one sentence where URDF and motor agree."""
    least = robot.effort_limits
    sentences = [
        f'{joint}: effort limited to {least[i]:.3g} N m; URDF {urdf:.3g}, motor {limit:.3g}'
        for i, (joint, motor) in enumerate(robot.actuators.items())
        for urdf, limit in [(robot.limits[joint].effort, motor.effort_limit)]
        if math.isfinite(urdf) and abs(urdf - limit) > 1e-3 * limit
    ]
    ends = f'{least.min():.3g} to {least.max():.3g}' if robot.actuators else ''
    smaller = f'efforts limited to the smaller of URDF and motor, {ends} N m'
    return [smaller, *sentences] if robot.actuators else []


def _check_controllers(robot_file: RobotFile, found: Found, all_laws: bool) -> None:
    """Say which controllers fit with the file's own parameters, and why others do not."""
    chosen = robot_file.controller
    verdicts = judge_controllers(robot_file, None if all_laws else [chosen])
    found.facts['controllers'] = [name for name, error in verdicts.items() if error is None]
    for name, error in verdicts.items():
        if error is not None and name == chosen:
            found.errors.append(error)
        elif error is not None:
            found.facts[f'not {name}'] = str(error)


def _check_plants(robot_file: RobotFile, found: Found) -> None:
    found.facts['plants'] = []
    found.attempt(PLANTS.find, robot_file.plant)
    for name in PLANTS:
        try:
            make_plant(robot_file, name)
            found.facts['plants'].append(name)
        except MissingDependency as error:
            found.assumptions.append(f'not tried: {error}')
        except InvalidInput as error:
            if name == robot_file.plant:
                found.errors.append(error)
            else:
                found.facts[f'not plant {name}'] = str(error)
