# SPDX-License-Identifier: Apache-2.0
"""Verbs about recordings: import, replay, estimate, plot, identify."""

from __future__ import annotations

import math
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.common import Common, make_folder, OfBag, RECORDED, ROBOT
from walking_control.cli.output import print_files, save_figures, say_remark, tell, write_json
from walking_control.cli.verb import argument, not_negative, option, positive, share, verb
from walking_control.controllers.registry import CONTROLLERS
from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from walking_control.models.robot_file import RobotFile
    from walking_control.ros.recording.bag import Bag
    from walking_control.ros.recording.log_estimate import LogErrors

SAME = 1e-6  # relative, of masses


class _Import(Common):
    log: Path = argument('.mat (5 or 7.3), or text with a header and commas', 'LOG')
    layout: Path = argument('which column is what, in which unit and frame', 'LAYOUT.yaml')
    robot: str = option(ROBOT, 'ROBOT', required=True)


@verb(
    'walking_control adopt model.urdf --out robot',
    'walking_control import walking.mat layout.yaml --robot robot/robot.yaml --out walking',
    name='import',
)
def import_log(options: _Import) -> int:
    """Make a recording of the log of a real robot: MATLAB or CSV, by a layout of its columns."""
    from walking_control.loading import load_robot
    from walking_control.ros.recording.measured import import_log as convert

    out = options.out or Path(f'{options.log.stem}_recording')
    for words in convert(options.log, options.layout, load_robot(options.robot, options.set), out):
        print(f'remark: {words}', file=sys.stderr)
    tell(options, {'recording': str(out), 'files': [str(out)]}, print_files)
    return 0


class _Estimate(OfBag):
    fit: float | None = option(
        'fit the noise of the sensors to this share of the recording, from '
        'the beginning, and judge the rest',
        'SHARE',
        share,
    )


@verb(
    'walking_control simulate walker3d --noise lab --record walk.mcap',
    'walking_control estimate walk.mcap --out out/estimate',
)
def estimate(options: _Estimate) -> int:
    """Run the estimator alone over a recording; with a truth in it, judge and fit it."""
    from walking_control.estimation.parameters import EstimatorParameters
    from walking_control.models.robot_file import with_section
    from walking_control.ros.recording.bag import open_bag
    from walking_control.ros.recording.log_estimate import estimate_log, fit_noise, judge_estimate

    make_folder(options)
    bag = open_bag(options.recording)
    robot_file, fitted = _robot(options, bag), {}
    if options.fit is not None:
        fitted = fit_noise(bag, robot_file, options.fit)
        robot_file = with_section(robot_file, EstimatorParameters.section, fitted)
    run = estimate_log(bag, robot_file)
    parts = {'whole': (0.0, 1.0)}
    if options.fit is not None:
        parts |= {'fitted': (0.0, options.fit), 'held_out': (options.fit, 1.0)}
    errors = {name: judge_estimate(run, part) for name, part in parts.items()}
    result: dict[str, Any] = {
        'robot': run.robot.name,
        'rows': len(run.time),
        'parameters': fitted,
        **{name: None if found is None else vars(found) for name, found in errors.items()},
        'files': [],
    }
    if options.out is not None:
        result['files'] = run.report(options.out)
    say_remark(bag.remark)

    def say(result: dict[str, Any]) -> None:
        for name, found in errors.items():
            _say_errors(name, found)
        if fitted:
            print(
                'fitted: '
                + ' '.join(f'--set estimator.{name}={value:g}' for name, value in fitted.items())
            )
        print_files(result)

    tell(options, {**result, 'recording': str(options.recording)}, say)
    return 0


def _say_errors(name: str, found: LogErrors | None) -> None:
    if found is None:
        print('the recording tells no truth: nothing to compare with')
        return
    place = ' '.join(f'{1e3 * value:.1f}' for value in found.place_rms)
    tilt = ' '.join(f'{math.degrees(value):.2f}' for value in (*found.tilt_rms, found.yaw_rms))
    share = '' if found.place_share is None else f', {100.0 * found.place_share:.1f} % of the way'
    print(
        f'{name}: {found.duration:.1f} s, {found.way:.2f} m; place {place} mm rms, '
        f'{1e3 * found.place_final:.1f} mm at the end{share}; roll, pitch, yaw {tilt} degrees '
        f'rms; NEES {"-" if found.nees is None else format(found.nees, ".2f")}'
    )


class _Replay(OfBag):
    controller: str | None = option(lambda: ', '.join(CONTROLLERS) + RECORDED, 'C')


@verb('walking_control simulate dribbel --record walk.mcap', 'walking_control replay walk.mcap')
def replay(options: _Replay) -> int:
    """Give a controller what another heard, and compare what they answer."""
    from walking_control.ros.recording.bag import open_bag
    from walking_control.ros.recording.replay import replay as give
    from walking_control.ros.recording.replay import retell

    make_folder(options)
    bag = open_bag(options.recording)
    given, files = (bag, _robot(options, bag), options.controller), []
    if options.out is None:
        result = give(*given)
    else:
        result, run = retell(*given)
        files = run.report(options.out)
    say_remark(bag.remark)
    told = {'recording': str(options.recording)} if options.json else {}
    tell(options, {**result, **told, 'files': files})
    return 0 if result['identical'] or not result['compared'] else 1


class _Plot(OfBag):
    recording: Path = argument(
        '.mcap or folder of a rosbag2; folder of --out or its run.csv', 'FILE'
    )


@verb('walking_control plot walk.mcap --out out/walk')
def plot(options: _Plot) -> int:
    """Draw a recording or a run: joints, forces and efforts over time."""
    from walking_control.lab.reports.plots.walk import plot_columns
    from walking_control.ros.recording.replay import read_columns

    if options.out is None:
        options.out = Path('.')
    make_folder(options)
    columns = read_columns(options.recording, options.robot, options.set)
    say_remark(columns.remark)
    result = {
        'rows': len(columns.time),
        'columns': {name: list(labels) for name, (_, labels, _) in columns.groups.items()},
    }
    result['files'] = save_figures(
        options.out, {f'{options.recording.stem}_recording': plot_columns(columns)}
    )
    tell(options, result, print_files)
    return 0


def _robot(options: OfBag, bag: Bag) -> RobotFile:
    """Return the robot that is named, or the one in the bag."""
    from walking_control.loading import load_robot
    from walking_control.ros.recording.replay import recorded_robot

    if options.robot is not None:
        return load_robot(options.robot, options.set)
    return recorded_robot(bag, options.set)


class _Identify(Common):
    recording: Path = argument('folder of simulate --out or demo --out, or its run.csv', 'RUN')
    robot: str | None = option(ROBOT + ' (default: the one that the run names)', 'ROBOT')
    confidence: float = option('of the intervals (default: 0.95)', 'C', positive, default=0.95)
    model_error: float = option(
        'share by which masses and floor may make torques differ from the model (default: 0.01)',
        'E',
        not_negative,
        default=0.01,
    )


@verb(
    'walking_control simulate dribbel --duration 60 --out out/walk',
    'walking_control identify out/walk',
)
def identify(options: _Identify) -> int:
    """Find friction and motor constants in a recorded run."""
    from walking_control.lab.experiments.identification import identify as find
    from walking_control.runs.tables import read_recording

    make_folder(options)
    robot_file = _walker(options)
    result = find(
        robot_file,
        read_recording(options.recording, robot_file.robot),
        options.confidence,
        options.model_error,
    )
    result = {**result, 'run': str(options.recording), 'files': []}
    if options.out is not None:
        result['files'] = [write_json(result, options.out / 'identification.json')]
    tell(options, result, _print)
    return 0


def _print(result: dict[str, Any]) -> None:
    print(
        f'{result["steps"]} steps, {result["windows"]} windows, condition '
        f'{result["condition"]:.3g}; intervals of {100.0 * result["confidence"]:g} %'
    )
    print(f'{"":28} {"value":>10} {"from":>10} {"to":>10} {"robot file":>10}')
    for name, found in result['parameters'].items():
        numbers = (found['value'], found['low'], found['high'], found['robot_file'])
        print(f'{name:28} ' + ' '.join(_cell(value) for value in numbers) + f' {found["unit"]}')
    print_files(result)


def _cell(value: float | None) -> str:
    """Return a number, or what stands for one that the run does not tell."""
    return f'{"-":>10}' if value is None or not math.isfinite(value) else f'{value:10.5g}'


def _walker(options: _Identify) -> RobotFile:
    """Return the `RobotFile` of the robot that walked, on the floor it walked on.

    Raises:
        InvalidInput: Nobody says which, or it is another one.
    """
    from walking_control.loading import load_robot
    from walking_control.models.dynamics import Dynamics
    from walking_control.runs.tables import read_summary

    summary = read_summary(options.recording)
    name = options.robot if options.robot is not None else summary.get('robot')
    if name is None:
        raise InvalidInput(
            f'run {options.recording}',
            limit='does not say which robot walked',
            remedy='give --robot',
        )
    world: list[tuple[str, Any]] = [
        (f'world.{key}', summary[key]) for key in ('slope', 'gravity') if key in summary
    ]
    robot_file = load_robot(name, [*world, *options.set])
    robot = robot_file.robot
    if summary.get('robot') not in (None, robot.name):
        raise InvalidInput(
            f'run {options.recording}',
            value=summary['robot'],
            limit=f'is of another robot than {robot.name}',
            remedy='choose another --robot',
        )
    mass = Dynamics(robot).mass
    if not math.isclose(summary.get('mass', mass), mass, rel_tol=SAME):
        raise InvalidInput(
            f'run {options.recording}',
            value=summary['mass'],
            limit=f'is of a robot of another mass than {robot.name}, {mass:.6g} kg',
            remedy='give the robot file and --set it was recorded with',
        )
    return robot_file
