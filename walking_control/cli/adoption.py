# SPDX-License-Identifier: Apache-2.0
"""Verb adopt: a robot file from a stranger's description."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.argument_types import margin, not_negative, positive, words
from walking_control.cli.inputs import make_folder
from walking_control.cli.output import print_files, print_json, write_json
from walking_control.exceptions import InvalidInput, MissingDependency

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from walking_control.adoption.adopt import Adoption

AXES = ('x', 'y', '-x', '-y')


def add_adopt_arguments(verb: ArgumentParser) -> None:
    """Add what can be told instead of being guessed."""
    verb.add_argument('description', type=Path, metavar='FILE', help='URDF, xacro, MJCF or SDF')
    verb.add_argument('--out', type=Path, required=True, metavar='DIR',
                      help='write robot file, URDF, adoption.json and a picture')
    verb.add_argument('--name', help='of the robot (default: that of the description)')
    verb.add_argument('--feet', type=words, default=(), metavar='A,B', help='links')
    verb.add_argument('--base', choices=('planar', 'free'), help='how the base moves')
    verb.add_argument('--forward', choices=AXES, metavar='AXIS',
                      help='axis of the description that points ahead: x, y, -x or -y')
    verb.add_argument('--mirror', type=words, action='append', default=[], metavar='A,B',
                      help='joints that are each other\'s mirror image (repeatable)')
    verb.add_argument('--fix', type=margin, action='append', default=[], metavar='JOINT=VALUE',
                      help='make a joint fixed there, rad or m (repeatable)')
    verb.add_argument('--effort', type=margin, action='append', default=[],
                      metavar='JOINT=VALUE', help='effort limit, N m or N (repeatable)')
    verb.add_argument('--armature', type=margin, action='append', default=[],
                      metavar='JOINT=VALUE', help='inertia of its rotor at the joint, kg m^2 '
                      '(repeatable)')
    verb.add_argument('--sole', type=not_negative, nargs=2, metavar=('LENGTH', 'WIDTH'),
                      help='of each foot, m; 0 0: points')
    verb.add_argument('--posture', type=margin, action='append', default=[],
                      metavar='JOINT=VALUE', help='position at the start (repeatable)')
    verb.add_argument('--bend', type=positive, default=0.93, metavar='SHARE',
                      help='length of the legs at the start, of their longest (default: 0.93)')
    verb.add_argument('--json', action='store_true', help='print one JSON document')


def adopt(options: Namespace) -> int:
    """Write a robot file from a URDF, MJCF or SDF; say what was guessed, and how surely."""
    from walking_control.adoption.adopt import adopt as adopt_robot
    from walking_control.adoption.guess import Told
    for pair in options.mirror:
        if len(pair) != 2:
            raise InvalidInput('option --mirror', value=','.join(pair), limit='must name two '
                               'joints', remedy='--mirror left_hip,right_hip')
    if not 0.5 <= options.bend <= 0.999:
        raise InvalidInput('option --bend', value=options.bend, limit='must be from 0.5 to 0.999')
    adoption = adopt_robot(options.description, Told(
        options.name, options.feet, options.base, options.forward,
        {a: b for a, b in options.mirror}, dict(options.fix), dict(options.effort),
        dict(options.armature),
        tuple(options.sole) if options.sole else None, dict(options.posture), options.bend))
    make_folder(options)
    from walking_control.reports.page import writing_to
    with writing_to(options.out):
        files = [str(path) for path in adoption.write(options.out)]
    result: dict[str, Any] = {'file': files[0], 'robot': adoption.name,
              'guesses': [vars(guess) for guess in adoption.guesses],
              'suspicions': [error.as_dict() for error in adoption.suspicions],
              'files': [*files, *_draw(adoption, options.out)]}
    result['command'] = options.command
    result['files'].append(str(options.out / 'adoption.json'))
    write_json(result, options.out / 'adoption.json')
    if options.json:
        print_json(result)
    else:
        _print(adoption, result)
    return 0


def _draw(adoption: Adoption, folder: Path) -> list[str]:
    """Write the picture and return its path, nothing without matplotlib."""
    from walking_control.reports.plots.adoption import draw_adoption
    try:
        return [str(draw_adoption(adoption, folder / f'{adoption.name}.png'))]
    except MissingDependency as error:
        print(f'no picture: {error}', file=sys.stderr)
        return []


def _print(adoption: Adoption, result: dict[str, Any]) -> None:
    for guess in adoption.guesses:
        value = ', '.join(guess.value) if isinstance(guess.value, list) else guess.value
        option = f'; or {guess.option}' if guess.option else ''
        print(f'{guess.what:>16}: {value}')
        print(f'{"":>16}  {guess.confidence}: {guess.why}{option}')
    for error in adoption.suspicions:
        print(f'{"suspicious":>16}: {error}')
    print_files(result)
