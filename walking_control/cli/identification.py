# SPDX-License-Identifier: Apache-2.0
"""The verb that finds friction and motor constants in a recorded run: identify."""

from __future__ import annotations

import math
from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import make_folder
from walking_control.cli.output import print_files, print_json, write_json
from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace

    from walking_control.models.robot_file import RobotFile

SAME = 1e-6   # relative, of masses


def identify(options: Namespace) -> int:
    """Find friction and motor constants in a recorded run."""
    from walking_control.experiments.identification import identify as find
    from walking_control.runs.recording import read_recording
    make_folder(options)
    robot_file = _walker(options)
    result = find(robot_file, read_recording(options.recording, robot_file.robot),
                  options.confidence, options.model_error)
    result = {**result, 'run': str(options.recording), 'files': []}
    if options.out is not None:
        result['files'] = [write_json(result, options.out / 'identification.json')]
    if options.json:
        print_json(result)
        return 0
    print(f'{result["steps"]} steps, {result["windows"]} windows, condition '
          f'{result["condition"]:.3g}; intervals of {100.0 * result["confidence"]:g} %')
    print(f'{"":28} {"value":>10} {"from":>10} {"to":>10} {"robot file":>10}')
    for name, found in result['parameters'].items():
        numbers = (found['value'], found['low'], found['high'], found['robot_file'])
        print(f'{name:28} ' + ' '.join(_cell(value) for value in numbers) + f' {found["unit"]}')
    print_files(result)
    return 0


def _cell(value: float | None) -> str:
    """Return a number, or what stands for one that the run does not tell."""
    return f'{"-":>10}' if value is None or not math.isfinite(value) else f'{value:10.5g}'


def _walker(options: Namespace) -> RobotFile:
    """Return the `RobotFile` of the robot that walked, on the floor it walked on.

    Raises:
        InvalidInput: Nobody says which, or it is another one.
    """
    from walking_control.loading import load_robot
    from walking_control.models.dynamics import Dynamics
    from walking_control.runs.recording import read_summary
    summary = read_summary(options.recording)
    name = options.robot if options.robot is not None else summary.get('robot')
    if name is None:
        raise InvalidInput(f'run {options.recording}', limit='does not say which robot walked',
                           remedy='give --robot')
    world: list[tuple[str, Any]] = [(f'world.{key}', summary[key])
                                    for key in ('slope', 'gravity') if key in summary]
    robot_file = load_robot(name, [*world, *options.set])
    robot = robot_file.robot
    if summary.get('robot') not in (None, robot.name):
        raise InvalidInput(f'run {options.recording}', value=summary['robot'],
                           limit=f'is of another robot than {robot.name}',
                           remedy='choose another --robot')
    mass = Dynamics(robot).mass
    if not math.isclose(summary.get('mass', mass), mass, rel_tol=SAME):
        raise InvalidInput(f'run {options.recording}', value=summary['mass'],
                           limit=f'is of a robot of another mass than {robot.name}, {mass:.6g} kg',
                           remedy='give the robot file and --set it was recorded with')
    return robot_file
