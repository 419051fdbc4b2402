# SPDX-License-Identifier: Apache-2.0
"""Verbs of a robot at rest: statics, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import make_folder, needing_ros
from walking_control.cli.output import plain, print_files, print_json, write_json
from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace

    from walking_control.experiments.statics import Posture
    from walking_control.statics.distributor import StaticSolution, StaticTorque


def statics(options: Namespace) -> int:
    """Find the joint torques that hold a robot still on one or two legs."""
    from walking_control.experiments.statics import Posture, solve_statics
    make_folder(options)
    posture = Posture(options.robot, options.left, options.right, options.q, options.friction,
                      options.foot_size, options.set)
    result = solve_statics(posture, options.support, options.objective, options.solver,
                           draw=_picture(options.out))
    if options.json:
        print_json(result)
    else:
        _print_statics(result)
    if result['status'] != 'feasible':
        print(f'error: {posture.name} cannot be held: {result["reason"]}', file=sys.stderr)
        return 1
    return 0


def check(options: Namespace) -> int:
    """Say whether a robot can be used."""
    from walking_control.experiments.check import check_robot
    make_folder(options)
    result = {**check_robot(options.robot, options.set), 'files': []}
    if options.bringup is not None or options.live:
        _check_bringup(options, result)
    if options.out is not None:
        result['files'] = [write_json(result, options.out / 'check.json')]
    if options.json:
        print_json(result)
    else:
        for name, value in result['facts'].items():
            print(f'{name:>16}: {", ".join(value) if isinstance(value, list) else value}')
        for sentence in result['assumptions']:
            print(f'         assumed: {sentence}')
        for problem in result['problems']:
            print(f'         problem: {InvalidInput(**problem)}')
        print('usable' if result['ok'] else 'not usable')
        print_files(result)
    return 0 if result['ok'] else 2


def _check_bringup(options: Namespace, result: dict[str, Any]) -> None:
    """Add what is wrong with the bring-up, on file and live, to the result of a check."""
    from walking_control.bringup.check import check_bringup
    from walking_control.loading import load_robot
    if not result['ok']:
        result['assumptions'].append('not looked at, for the robot file comes first: bring-up')
        return
    robot_file = load_robot(options.robot, options.set)
    problems = []
    if options.bringup is not None:
        problems += check_bringup(robot_file, options.bringup)
    if options.live:
        with needing_ros('check --live'):
            from walking_control.nodes.live_check import check_live
        found, left_out = check_live(robot_file, options.namespace, options.wait,
                                     options.seconds)
        problems += found
        result['assumptions'] += left_out
    result['problems'] += [problem.as_dict() for problem in problems]
    result['ok'] = not result['problems']


def _picture(out: Path | None) -> Callable[..., Path] | None:
    """Return what draws the picture into a folder; None without one."""
    if out is None:
        return None

    def draw(posture: Posture, distributor: StaticTorque, solution: StaticSolution) -> Path:
        from walking_control.reports.page import writing_to
        from walking_control.reports.plots.statics import draw_statics
        with writing_to(Path(out)):
            return draw_statics(posture, distributor, solution, Path(out) / 'statics.png')
    return draw


def _print_statics(result: Mapping[str, Any]) -> None:
    for sentence in result['assumptions']:
        print(f'{"assumed":>36}: {sentence}')
    for joint, torque in (result['joint_torques'] or {}).items():
        print(f'{joint:>36}: {torque:10.4f} N m')
    for side, wrench in result['wrenches'].items():
        if wrench:
            print(f'{side + " sole":>36}: '
                  + '  '.join(f'{name} {value:.4g}' for name, value in wrench.items()))
    for name in ('cop', 'margins', 'torque_norm', 'base_residual', 'solver', 'solve_time',
                 'files'):
        if result[name]:
            print(f'{name.replace("_", " "):>36}: {plain(result[name])}')
    for problem in result['problems']:
        print(f'{"problem":>36}: {InvalidInput(**problem)}')
