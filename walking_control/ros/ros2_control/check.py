# SPDX-License-Identifier: Apache-2.0
"""Does a controllers.yaml fit a robot? All that a controller manager would accept and we would not.

What it would not accept, the stand-in refuses.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from walking_control.controllers.registry import CONTROLLERS as LAWS
from walking_control.exceptions import Findings, InvalidInput, require
from walking_control.models import Robot, RobotFile
from walking_control.ros.ros2_control import (
    CONTROLLERS,
    controllers_of,
    FORWARD,
    HARDWARE,
    names,
    read_controllers,
    StandIn,
    wire,
)


def check_ros2_control(robot_file: RobotFile, path: Path) -> list[InvalidInput]:
    """Return what is wrong with a robot's controllers.yaml, and with those of simulators beside it.

    Args:
        path: Of a file, or of the folder that `walking_control ros2_control` wrote.
    """
    findings = Findings()
    for target, name in CONTROLLERS.items():
        file = path / name if path.is_dir() else path
        if target == HARDWARE or (path.is_dir() and file.is_file()):
            errors = _check_file(robot_file, file, target)
            for error in errors if target != HARDWARE else ():
                error.what = f'{error.what} in {name}'
            findings.errors += errors
    return findings.errors


def _check_file(robot_file: RobotFile, path: Path, target: str) -> list[InvalidInput]:
    findings = Findings()
    tree = findings.attempt(read_controllers, path)
    if tree is None:
        return findings.errors
    robot = robot_file.robot
    for name, (plugin, wanted) in controllers_of(wire(robot_file), target).items():
        if plugin == FORWARD:
            findings.attempt(_check_order, tree, name, wanted['joints'])
        elif 'frame_id' in wanted:
            findings.attempt(_check_frame, tree, name, wanted['frame_id'])
    findings.attempt(_check_told, tree, robot)
    findings.attempt(_check_rate, tree, robot_file)
    # each of these would be said there again; simulators have tags of their own
    if not findings.errors and target == HARDWARE:
        findings.attempt(StandIn, robot, tree)
    return findings.errors


def _parameter(tree: Mapping[str, Mapping[str, Any]], controller: str, name: str) -> Any:
    require(
        controller in tree,
        f'controller {controller}',
        limit='is not in controllers.yaml',
        remedy='write one by walking_control ros2_control ROBOT --out DIR',
    )
    return tree[controller].get(name)


def _check_order(
    tree: Mapping[str, Mapping[str, Any]], controller: str, expected: Sequence[str]
) -> None:
    given = _parameter(tree, controller, 'joints')
    same = isinstance(given, list) and sorted(map(str, given)) == sorted(expected)
    require(
        given == list(expected),
        f'joints of {controller}',
        value=', '.join(map(str, given or ())),
        limit=(
            'are the right ones in another order; commands come in the order '
            if same
            else 'are those of another robot; must be '
        )
        + ', '.join(expected),
        remedy='write the file by walking_control ros2_control ROBOT --out DIR',
    )


def _check_told(tree: Mapping[str, Mapping[str, Any]], robot: Robot) -> None:
    told = _parameter(tree, names.JOINT_STATE_BROADCASTER, 'joints') or list(robot.joints)
    missing = [joint for joint in robot.joints if joint not in told]
    require(
        not missing,
        f'joints of {names.JOINT_STATE_BROADCASTER}',
        value=', '.join(map(str, told)),
        limit='lack ' + ', '.join(missing),
    )


def _check_frame(tree: Mapping[str, Mapping[str, Any]], controller: str, frame: str) -> None:
    given = _parameter(tree, controller, 'frame_id')
    require(
        given == frame,
        f'frame_id of {controller}',
        value=given,
        limit=f'must be {frame}, in whose axes the robot file has the sensor',
    )


def _check_rate(tree: Mapping[str, Mapping[str, Any]], robot_file: RobotFile) -> None:
    rate = tree[names.MANAGER].get('update_rate', 100)
    law = robot_file.values(LAWS.find(robot_file.controller).parameters).rate
    require(
        isinstance(rate, (int, float)) and rate >= law,
        f'update_rate of {names.MANAGER}',
        value=rate,
        limit=f'must be {law:g} Hz or more, the rate of {robot_file.controller}',
    )
