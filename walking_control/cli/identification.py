# SPDX-License-Identifier: Apache-2.0
"""The verb that finds friction and motor constants in a recorded run: identify."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, TYPE_CHECKING

from walking_control.cli.argument_types import not_negative, positive
from walking_control.cli.inputs import make_folder
from walking_control.cli.options import Common, ROBOT
from walking_control.cli.output import print_files, tell, write_json
from walking_control.cli.verb import argument, option, verb
from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from walking_control.models.robot_file import RobotFile

SAME = 1e-6   # relative, of masses


class _Identify(Common):
    recording: Path = argument('folder of simulate --out or demo --out, or its run.csv', 'RUN')
    robot: str | None = option(ROBOT + ' (default: the one that the run names)', 'ROBOT')
    confidence: float = option('of the intervals (default: 0.95)', 'C', positive, default=0.95)
    model_error: float = option('share by which masses and floor may make torques differ from the '
                                'model (default: 0.01)', 'E', not_negative, default=0.01)


@verb('walking_control simulate dribbel --duration 60 --out out/walk',
      'walking_control identify out/walk')
def identify(options: _Identify) -> int:
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
    tell(options, result, _print)
    return 0


def _print(result: dict[str, Any]) -> None:
    print(f'{result["steps"]} steps, {result["windows"]} windows, condition '
          f'{result["condition"]:.3g}; intervals of {100.0 * result["confidence"]:g} %')
    print(f'{"":28} {"value":>10} {"from":>10} {"to":>10} {"robot file":>10}')
    for name, found in result['parameters'].items():
        numbers = (found['value'], found['low'], found['high'], found['robot_file'])
        print(f'{name:28} ' + ' '.join(_cell(value) for value in numbers) + f' {found["unit"]}')
    print_files(result)


def _cell(value: float | None) -> str:
    """Return a number, or what stands for one that the run does not tell."""
    return f'{"-":>10}' if value is None or not math.isfinite(value) else f'{value:10.5g}'


def _walker(options: _Identify) -> RobotFile:
    """Return the `RobotFile` of the robot that walked, on the floor it walked on."""
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
