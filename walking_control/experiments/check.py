# SPDX-License-Identifier: Apache-2.0
"""Can this robot be used? Everything that stands in the way, and what is assumed."""

from collections.abc import Iterable
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any

from walking_control.controllers.registry import CONTROLLERS, judge_controllers
from walking_control.controllers.stepping.controller import Stepping
from walking_control.exceptions import Findings, InvalidInput, MissingDependency
from walking_control.experiments.check_posture import check_posture
from walking_control.experiments.check_walk import find_walk_obstacles, remarks_on_steps
from walking_control.experiments.obstacles import check_meshes, find_obstacles, remarks
from walking_control.loading import load_robot
from walking_control.models.base import Base
from walking_control.models.meshes import find_meshes
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile
from walking_control.models.urdf import link_names, load_urdf, require_room
from walking_control.runs.result import Result
from walking_control.simulation.registry import make_plant, PLANTS

_TIPS = {Base.PLANAR: 'the robot moves in the x-z plane; nothing tips it sideways',
         Base.TRANSLATING: 'the robot moves in space with a base that does not turn; plant rigid '
                           'takes all mass at the hip, gait search takes it where it is',
         Base.FREE: 'the robot moves freely in space'}


@dataclass(eq=False)
class Check(Result):
    """Whether a robot can be used.

    Attributes:
        ok: Whether there are no problems.
        problems: What, value, limit and remedy of each.
        assumptions: Sentences.
        facts: name -> value.
    """

    ok: bool
    problems: list[dict[str, Any]]
    assumptions: list[str]
    facts: dict[str, Any]


def check_robot(name_or_path: str | Path,
                overrides: Iterable[tuple[str, Any]] = ()) -> Check:
    """Check a robot file or a plain URDF.

    Args:
        name_or_path: Robot name, path of a robot file, or path of a URDF or xacro file.
        overrides: Pairs (name, value) as for `load_robot`.
    """
    problems: list[dict[str, Any]] = []
    assumptions: list[str] = []
    facts: dict[str, Any] = {}
    try:
        if str(name_or_path).endswith(('.urdf', '.xacro')):
            _check_bare_urdf(Path(name_or_path), problems, facts)
        else:
            robot_file = load_robot(name_or_path, overrides)
            problems += [error.as_dict() for error in find_obstacles(robot_file)]
            _check_robot_file(robot_file, problems, assumptions, facts)
    except InvalidInput as error:
        problems += [each.as_dict() for each in (error, *error.others)]
    unique = [problem for i, problem in enumerate(problems) if problem not in problems[:i]]
    return Check(not unique, unique, assumptions, facts)


def _check_bare_urdf(path: Path, problems: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    urdf = load_urdf(path)
    facts['links'] = len(link_names(urdf))
    findings = Findings()
    findings.errors.append(InvalidInput(
        'robot file', limit='a URDF alone names no feet, coordinates or motors',
        remedy='write a robot file, see doc/robot_file.md'))
    findings.attempt(require_room, urdf)
    findings.attempt(check_meshes, urdf, find_meshes(urdf, path.parent))
    problems += [error.as_dict() for error in findings.errors]


def _check_robot_file(robot_file: RobotFile, problems: list[dict[str, Any]],
                      assumptions: list[str], facts: dict[str, Any]) -> None:
    robot = robot_file.robot
    facts.update(name=robot.name, mass=round(robot_file.scale.mass, 9), joints=list(robot.joints),
                 feet=list(robot.feet), motors=sorted(robot.actuators))
    _check_controllers(robot_file, problems, facts)
    _check_plants(robot_file, problems, assumptions, facts)
    if robot_file.start.posture is None:
        assumptions += _effort_sentences(robot)
        assumptions.append(_TIPS[robot.base])
    else:
        check_posture(robot_file, problems, assumptions, facts)
        if robot_file.controller == Stepping.name and Stepping.name in facts['controllers']:
            problems += [error.as_dict() for error in find_walk_obstacles(robot_file)]
            assumptions += remarks_on_steps(robot_file)
    assumptions += remarks(robot_file)
    assumptions.append('motors: no friction, no gear losses, current follows its command at once')


def _effort_sentences(robot: Robot) -> list[str]:
    """Return which limit of effort counts at each motor."""
    sentences = []
    for joint, motor in robot.actuators.items():
        limit = robot.limits[joint].effort
        if not math.isinf(limit):
            sentences.append(f'{joint}: effort limited to {min(limit, motor.effort_limit):.3g} '
                             f'N m, the smaller of URDF ({limit:.3g}) and motor '
                             f'({motor.effort_limit:.3g})')
    return sentences


def _check_controllers(robot_file: RobotFile, problems: list[dict[str, Any]],
                       facts: dict[str, Any]) -> None:
    """Say which controllers fit with the file's own parameters, and why others do not."""
    verdicts = judge_controllers(robot_file)
    facts['controllers'] = [name for name, error in verdicts.items() if error is None]
    chosen = robot_file.controller
    try:
        CONTROLLERS.find(chosen)
        error = verdicts[chosen]
    except InvalidInput as unknown:
        error = unknown
    if error is not None:
        problems.append(error.as_dict())
    for name, error in verdicts.items():
        if error is not None and name != chosen:
            facts[f'not {name}'] = str(error)


def _check_plants(robot_file: RobotFile, problems: list[dict[str, Any]], assumptions: list[str],
                  facts: dict[str, Any]) -> None:
    facts['plants'] = []
    try:
        PLANTS.find(robot_file.plant)
    except InvalidInput as error:
        problems.append(error.as_dict())
    for name in PLANTS:
        try:
            make_plant(robot_file, name)
            facts['plants'].append(name)
        except MissingDependency as error:
            assumptions.append(f'not tried: {error}')
        except InvalidInput as error:
            if name == robot_file.plant:
                problems.append(error.as_dict())
            else:
                facts[f'not plant {name}'] = str(error)
