# SPDX-License-Identifier: Apache-2.0
"""Verbs bring-up, the steps from a robot file to a walk, and gallery, what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import sys
from typing import Any

from walking_control.cli.argument_types import duration, positive, seed
from walking_control.cli.inputs import make_folder
from walking_control.cli.options import Answered, ROBOT, Writing
from walking_control.cli.output import print_files, tell, write_json
from walking_control.cli.verb import argument, option, verb
from walking_control.exceptions import InvalidInput, writing_to


class _BringUp(Writing):
    robot: str = argument(ROBOT)
    out: Path = option('write everything here; given again, what is done already is not repeated',
                       'DIR', required=True)
    speed: float | None = option('to walk at, m/s (default: found)', 'V', positive)
    duration: float = option('of the walk that counts (default: 20)', 'S', duration, default=20.0)
    evaluations: int = option('points that tuning tries; 0: none (default: 12)', 'N', seed,
                              default=12)
    seed: int = option('of everything random', 'N', seed, default=0)


@verb('walking_control adopt my_robot.urdf --out my_robot',
      'walking_control bring-up my_robot/my_robot.yaml --out my_robot/up', name='bring-up')
def bring_up(options: _BringUp) -> int:
    """Bring a robot up: check, stand, gait, gains, walk, margins, ros2_control files, report."""
    from walking_control.experiments.bring_up.run import bring_up as go
    from walking_control.experiments.bring_up.run import summarize
    from walking_control.experiments.bring_up.step import Site
    from walking_control.models.resources import robot_path
    from walking_control.reports.bring_up_page import write_bring_up_page
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
    tell(options, result, _print)
    if not result['ok']:
        stopped = next(step for step in result['steps'] if not step['ok'])
        print(f'error: {stopped["name"]} did not pass: {sentence(stopped)}', file=sys.stderr)
    return 0 if result['ok'] else 1


def _print(result: dict[str, Any]) -> None:
    for step in result['steps']:
        print(f'{step["name"]:>16}: {"passed" if step["ok"] else "not passed"}: {sentence(step)}')
    print_files(result)
    files = [step['robot_file'] for step in result['steps'] if step['ok'] and step['robot_file']]
    if result['ok'] and files:
        print(f'this file walks: {files[-1]}')
        for verb, more in (('simulate', ''), ('demo', ''), ('simulate', ' --disturb push=0.3@8')):
            print(f'  walking_control {verb} {files[-1]}{more}')


def sentence(step: dict[str, object]) -> str:
    """Return in one line what came of a step, its number among it."""
    text = str(step['what'])
    if not step['ok'] and step['value'] is not None:
        text += f'; {step["value"]} {step["limit"] or ""}'.rstrip()
    if not step['ok'] and step['remedy']:
        text += f'; {step["remedy"]}'
    return ' '.join(text.split())


class _Gallery(Answered):
    folders: Sequence[Path] = argument('that bring-up wrote, in the order of the page', 'DIR',
                                       nargs='+', type=Path)
    out: Path = option('Markdown page; pictures go to a folder of its name. Of a page that is '
                       'there only what stands between the marks of a gallery is replaced',
                       'FILE.md', required=True)


@verb('walking_control gallery my_robot/up another/up --out gallery.md')
def gallery(options: _Gallery) -> int:
    """Put robots that were brought up on one page: picture, numbers, commands."""
    from walking_control.reports.gallery import write_gallery
    tell(options, {'files': write_gallery(options.folders, options.out)}, print_files)
    return 0
