# SPDX-License-Identifier: Apache-2.0
"""Verb bring-up: the steps from a robot file to a walk."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import TYPE_CHECKING

from walking_control.cli.argument_types import duration, positive, seed
from walking_control.cli.inputs import make_folder
from walking_control.cli.output import print_files, print_json, write_json
from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_bring_up_arguments(verb: ArgumentParser) -> None:
    """Add the arguments of bring-up."""
    verb.add_argument('robot', help='name of a robot, or the path of a robot file')
    verb.add_argument('--out', type=Path, required=True, metavar='DIR', help='write everything '
                      'here; given again, what is done already is not repeated')
    verb.add_argument('--speed', type=positive, metavar='V',
                      help='to walk at, m/s (default: found)')
    verb.add_argument('--duration', type=duration, default=20.0, metavar='S',
                      help='of the walk that counts (default: 20)')
    verb.add_argument('--evaluations', type=seed, default=12, metavar='N',
                      help='points that tuning tries; 0: none (default: 12)')
    verb.add_argument('--seed', type=seed, default=0, metavar='N', help='of everything random')
    verb.add_argument('--json', action='store_true', help='print one JSON document')


def bring_up(options: Namespace) -> int:
    """Bring a robot up: check, stand, gait, gains, walk, margins, ros2_control files, report."""
    from walking_control.experiments.bring_up.run import bring_up as go
    from walking_control.experiments.bring_up.run import summarize
    from walking_control.experiments.bring_up.step import Site
    from walking_control.models.resources import robot_path
    from walking_control.reports.bring_up_page import write_bring_up_page
    from walking_control.reports.page import writing_to
    path = robot_path(options.robot)
    if options.duration < 1.0:
        raise InvalidInput('option --duration', value=options.duration,
                           limit='must be at least 1 s')
    make_folder(options)
    site = Site(Path(path), options.out, options.speed, options.duration, options.evaluations,
                options.seed, progress=lambda text: print(text, file=sys.stderr, flush=True))
    with writing_to(options.out):
        result = summarize(go(site))
    result['robot'], result['command'] = str(path), options.command
    page = write_bring_up_page(result, options.out)
    result['files'] = [file for step in result['steps'] for file in step['files']] + [page]
    result['files'].append(str(options.out / 'summary.json'))
    write_json(result, options.out / 'summary.json')
    if options.json:
        print_json(result)
    else:
        for step in result['steps']:
            print(f'{step["name"]:>16}: {"passed" if step["ok"] else "not passed"}: '
                  f'{sentence(step)}')
        print_files(result)
    if not result['ok']:
        stopped = next(step for step in result['steps'] if not step['ok'])
        print(f'error: {stopped["name"]} did not pass: {sentence(stopped)}', file=sys.stderr)
    return 0 if result['ok'] else 1


def sentence(step: dict[str, object]) -> str:
    """Return in one line what came of a step, its number among it."""
    text = str(step['what'])
    if not step['ok'] and step['value'] is not None:
        text += f'; {step["value"]} {step["limit"] or ""}'.rstrip()
    if not step['ok'] and step['remedy']:
        text += f'; {step["remedy"]}'
    return ' '.join(text.split())
