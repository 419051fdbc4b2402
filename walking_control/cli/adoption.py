# SPDX-License-Identifier: Apache-2.0
"""Verb adopt: a robot file from a stranger's description."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.argument_types import margin, not_negative, positive, words
from walking_control.cli.inputs import make_folder
from walking_control.cli.options import Writing
from walking_control.cli.output import print_files, tell, write_json
from walking_control.cli.verb import argument, option, verb
from walking_control.exceptions import InvalidInput, MissingDependency, writing_to

if TYPE_CHECKING:
    from walking_control.adoption.adopt import Adoption

AXES = ('x', 'y', '-x', '-y')


class _Adopt(Writing):
    description: Path = argument('URDF, xacro, MJCF or SDF', 'FILE')
    out: Path = option('write robot file, URDF, adoption.json and a picture', 'DIR', required=True)
    name: str | None = option('of the robot (default: that of the description)')
    feet: tuple[str, ...] = option('links', 'A,B', words, default=())
    base: str | None = option('how the base moves', choices=('planar', 'free'))
    forward: str | None = option('axis of the description that points ahead: x, y, -x or -y',
                                 'AXIS', choices=AXES)
    mirror: list[tuple[str, ...]] = option(
        "joints that are each other's mirror image (repeatable)", 'A,B', words)
    fix: list[tuple[str, float]] = option('make a joint fixed there, rad or m (repeatable)',
                                          'JOINT=VALUE', margin)
    effort: list[tuple[str, float]] = option('effort limit, N m or N (repeatable)', 'JOINT=VALUE',
                                             margin)
    armature: list[tuple[str, float]] = option(
        'inertia of its rotor at the joint, kg m^2 (repeatable)', 'JOINT=VALUE', margin)
    sole: Sequence[float] | None = option('of each foot, m; 0 0: points', ('LENGTH', 'WIDTH'),
                                          not_negative, nargs=2)
    posture: list[tuple[str, float]] = option('position at the start (repeatable)', 'JOINT=VALUE',
                                              margin)
    bend: float = option('length of the legs at the start, of their longest (default: 0.93)',
                         'SHARE', positive, default=0.93)
    strict: bool = option('refuse what would be repaired')


@verb('walking_control adopt my_robot.urdf --out my_robot',
      'walking_control check my_robot/my_robot.yaml')
def adopt(options: _Adopt) -> int:
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
        dict(options.armature), (options.sole[0], options.sole[1]) if options.sole else None,
        dict(options.posture), options.bend, options.strict))
    make_folder(options)
    with writing_to(options.out):
        files = [str(path) for path in adoption.write(options.out)]
    result: dict[str, Any] = {'file': files[0], 'robot': adoption.name,
              'guesses': [vars(guess) for guess in adoption.guesses],
              'suspicions': [error.as_dict() for error in adoption.suspicions],
              'files': [*files, *_draw(adoption, options.out)]}
    result['command'] = options.command
    result['files'].append(str(options.out / 'adoption.json'))
    write_json(result, options.out / 'adoption.json')
    tell(options, result, lambda result: _print(adoption, result))
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
