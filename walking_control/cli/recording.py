# SPDX-License-Identifier: Apache-2.0
"""Verbs about recordings: replay, plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    from walking_control.models.robot_file import RobotFile
    from walking_control.recording.bag import Bag


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
    from pathlib import Path

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


def _robot(options: Namespace, bag: Bag) -> RobotFile:
    """Return the robot that is named, or the one in the bag."""
    from walking_control.loading import load_robot
    from walking_control.recording.replay import recorded_robot
    if options.robot is not None:
        return load_robot(options.robot, options.set)
    return recorded_robot(bag, options.set)
