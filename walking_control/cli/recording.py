# SPDX-License-Identifier: Apache-2.0
"""Verbs about recordings: import, replay, estimate, plot."""

from __future__ import annotations

from collections.abc import Iterable
import math
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import make_folder
from walking_control.cli.output import (
    print_files,
    print_json,
    print_summary,
    save_figures,
    say_remark,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from walking_control.experiments.log_estimate import LogErrors
    from walking_control.models.robot_file import RobotFile
    from walking_control.recording.bag import Bag


def import_log(options: Namespace) -> int:
    """Make a recording of the log of a real robot: MATLAB or CSV, by a layout of its columns."""
    from walking_control.loading import load_robot
    from walking_control.recording.measured import import_log as convert
    out = options.out or Path(f'{options.log.stem}_recording')
    for words in convert(options.log, options.layout, load_robot(options.robot, options.set), out):
        print(f'remark: {words}', file=sys.stderr)
    if options.json:
        print_json({'recording': str(out), 'files': [str(out)]})
    else:
        print_files({'files': [str(out)]})
    return 0


def estimate(options: Namespace) -> int:
    """Run the estimator alone over a recording; with a truth in it, judge and fit it."""
    from walking_control.experiments.log_estimate import estimate_log, fit_noise, judge_estimate
    from walking_control.recording.bag import open_bag
    from walking_control.reports.report import write_report
    make_folder(options)
    bag = open_bag(options.recording)
    robot_file, fitted = _robot(options, bag), {}
    if options.fit is not None:
        def with_values(pairs: Iterable[tuple[str, Any]]) -> RobotFile:
            return _robot(options, bag, pairs)
        fitted = fit_noise(bag, robot_file, options.fit, with_values)
        robot_file = with_values((f'estimator.{name}', value) for name, value in fitted.items())
    run = estimate_log(bag, robot_file)
    parts = {'whole': (0.0, 1.0)}
    if options.fit is not None:
        parts |= {'fitted': (0.0, options.fit), 'held_out': (options.fit, 1.0)}
    errors = {name: judge_estimate(run, part) for name, part in parts.items()}
    result: dict[str, Any] = {'robot': run.robot.name, 'rows': len(run.time),
                              'parameters': fitted,
                              **{name: None if found is None else vars(found)
                                 for name, found in errors.items()}, 'files': []}
    if options.out is not None:
        result['files'] = [str(file) for file in write_report(run, run.summary(), options.out)]
    say_remark(bag.remark)
    if options.json:
        print_json({**result, 'recording': str(options.recording)})
        return 0
    for name, found in errors.items():
        _say_errors(name, found)
    if fitted:
        print('fitted: ' + ' '.join(f'--set estimator.{name}={value:g}'
                                    for name, value in fitted.items()))
    print_files(result)
    return 0


def _say_errors(name: str, found: LogErrors | None) -> None:
    if found is None:
        print('the recording tells no truth: nothing to compare with')
        return
    place = ' '.join(f'{1e3 * value:.1f}' for value in found.place_rms)
    tilt = ' '.join(f'{math.degrees(value):.2f}' for value in (*found.tilt_rms, found.yaw_rms))
    share = '' if found.place_share is None else f', {100.0 * found.place_share:.1f} % of the way'
    print(f'{name}: {found.duration:.1f} s, {found.way:.2f} m; place {place} mm rms, '
          f'{1e3 * found.place_final:.1f} mm at the end{share}; roll, pitch, yaw {tilt} degrees '
          f'rms; NEES {"-" if found.nees is None else format(found.nees, ".2f")}')


def replay(options: Namespace) -> int:
    """Give a controller what another heard, and compare what they answer."""
    from walking_control.recording.bag import open_bag
    from walking_control.recording.replay import replay as give
    from walking_control.recording.replay import retell
    make_folder(options)
    bag = open_bag(options.recording)
    robot_file, files = _robot(options, bag), []
    if options.out is None:
        result = give(bag, robot_file, options.controller)
    else:
        from walking_control.reports.report import write_report
        result, run = retell(bag, robot_file, options.controller)
        files = [str(file) for file in write_report(run, run.summary(), options.out)]
    say_remark(bag.remark)
    if options.json:
        print_json({**result, 'recording': str(options.recording), 'files': files})
    else:
        print_summary({**result, 'files': files})
    return 0 if result['identical'] or not result['compared'] else 1


def plot(options: Namespace) -> int:
    """Draw a recording or a run: joints, forces and efforts over time."""
    from walking_control.recording.columns import read_columns
    from walking_control.reports.plots.recording import plot_columns
    if options.out is None:
        options.out = Path('.')
    make_folder(options)
    columns = read_columns(options.recording, options.robot, options.set)
    say_remark(columns.remark)
    result = {'rows': len(columns.time), 'columns': {
        name: list(labels) for name, (_, labels, _) in columns.groups.items()}}
    result['files'] = save_figures(options.out, {f'{options.recording.stem}_recording':
                                                 plot_columns(columns)})
    if options.json:
        print_json(result)
    else:
        print_files(result)
    return 0


def _robot(options: Namespace, bag: Bag, more: Iterable[tuple[str, Any]] = ()) -> RobotFile:
    """Return the robot that is named, or the one in the bag."""
    from walking_control.loading import load_robot
    from walking_control.recording.replay import recorded_robot
    if options.robot is not None:
        return load_robot(options.robot, [*options.set, *more])
    return recorded_robot(bag, [*options.set, *more])
