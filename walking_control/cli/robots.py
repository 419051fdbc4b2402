# SPDX-License-Identifier: Apache-2.0
"""Verbs from a stranger's description to a walk: adopt, bring-up; gallery, what came of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from walking_control.cli.common import Answered, ROBOT, Writing
from walking_control.cli.output import Answer, say, say_nothing, text
from walking_control.cli.verb import (
    argument,
    checked,
    duration,
    margin,
    named,
    not_negative,
    option,
    positive,
    seed,
    verb,
    words,
)
from walking_control.exceptions import MissingDependency, require, writing_to
from walking_control.lab import adoption
from walking_control.lab.experiments.bring_up.step import Outcome, Site, Step
from walking_control.lab.reports import plots
from walking_control.lab.reports.gallery import write_gallery
from walking_control.lab.reports.pages import write_page
from walking_control.models import MOTORS, robot_path, SENSORS
from walking_control.ros.ros2_control import wire, write_ros2_control

AXES = ('x', 'y', '-x', '-y')


class _Adopt(Writing):
    description: Path = argument('URDF, xacro, MJCF, SDF, or RBDL in Lua', 'FILE')
    out: Path = option('write robot file, URDF, adoption.json and a picture', 'DIR', required=True)
    name: str | None = option('of the robot (default: that of the description)')
    feet: tuple[str, ...] = option('links', 'A,B', words, default=())
    base: str | None = option('how the base moves', choices=('planar', 'free'))
    forward: str | None = option(
        'axis of the description that points ahead: x, y, -x or -y', 'AXIS', choices=AXES
    )
    mirror: list[tuple[str, ...]] = option(
        "joints that are each other's mirror image (repeatable)",
        'A,B',
        checked(words, lambda pair: len(pair) == 2, 'must name two joints: left_hip,right_hip'),
    )
    fix: list[tuple[str, float]] = option(
        'make a joint fixed there, rad or m (repeatable)', 'JOINT=VALUE', margin
    )
    effort: list[tuple[str, float]] = option(
        'effort limit, N m or N (repeatable)', 'JOINT=VALUE', margin
    )
    armature: list[tuple[str, float]] = option(
        'inertia of its rotor at the joint, kg m^2 (repeatable)', 'JOINT=VALUE', margin
    )
    drives: str | None = option(
        'of its joints: a name in config/drives, such as unitree_g1, or a file', 'NAME'
    )
    sole: Sequence[float] | None = option(
        'of each foot, m; 0 0: points', ('LENGTH', 'WIDTH'), not_negative, nargs=2
    )
    posture: list[tuple[str, float]] = option(
        'position at the start (repeatable)', 'JOINT=VALUE', margin
    )
    bend: float = option(
        'length of the legs at the start, of their longest (default: 0.93)',
        'SHARE',
        checked(positive, lambda bend: 0.5 <= bend <= 0.999, 'must be from 0.5 to 0.999'),
        default=0.93,
    )
    strict: bool = option('refuse what would be repaired')
    foot_forces: str | None = option(
        'what tells the forces on the feet: sensors in them, or motors and IMU (default: sensors)',
        choices=(SENSORS, MOTORS),
    )
    xacro: list[tuple[str, str]] = option('argument of the xacro (repeatable)', 'NAME=VALUE', named)


@verb(
    'walking_control adopt my_robot.urdf --name my_robot --out my_robot',
    'walking_control check my_robot/my_robot.yaml',
)
def adopt(options: _Adopt) -> Answer:
    """Write a robot file from a URDF, MJCF or SDF; say what was guessed, and how surely."""
    adopted = adoption.adopt.adopt(
        options.description,
        adoption.Told(
            options.name,
            options.feet,
            options.base,
            options.forward,
            {a: b for a, b in options.mirror},
            dict(options.fix),
            dict(options.effort),
            dict(options.armature),
            (options.sole[0], options.sole[1]) if options.sole else None,
            dict(options.posture),
            options.bend,
            options.strict,
            options.drives,
            options.foot_forces,
            dict(options.xacro),
        ),
    )
    with writing_to(options.out):
        files = [str(path) for path in adopted.write(options.out)]
    result: dict[str, Any] = {
        'file': files[0],
        'robot': adopted.name,
        'guesses': [vars(guess) for guess in adopted.guesses],
        'suspicions': [error.as_dict() for error in adopted.suspicions],
        'command': options.command,
    }
    files += _draw(adopted, options.out)
    return Answer(result, text('adoption.txt'), files=files, document='adoption.json')


def _draw(adopted: adoption.adopt.Adoption, folder: Path) -> list[str]:
    """Write the picture and return its path, nothing without matplotlib."""
    try:
        return [str(plots.still.draw_adoption(adopted, folder / f'{adopted.name}.png'))]
    except MissingDependency as error:
        say(f'no picture: {error}')
        return []


class _BringUp(Writing):
    robot: str = argument(ROBOT)
    out: Path = option(
        'write everything here; given again, what is done already is not repeated',
        'DIR',
        required=True,
    )
    speed: float | None = option('to walk at, m/s (default: found)', 'V', positive)
    duration: float = option(
        'of the walk that counts (default: 20)',
        'S',
        checked(duration, lambda duration: duration >= 1.0, 'must be at least 1 s'),
        default=20.0,
    )
    evaluations: int = option(
        'points that tuning tries; 0: none (default: 12)', 'N', seed, default=12
    )
    seed: int = option('of everything random', 'N', seed, default=0)
    gaits: bool = option(
        'of bipeds: a first walk, then gaits of its own, and nothing else; minutes'
    )


@verb(
    'walking_control adopt my_robot.urdf --name my_robot --out my_robot',
    'walking_control bring-up my_robot/my_robot.yaml --out my_robot/up',
    name='bring-up',
)
def bring_up(options: _BringUp) -> Answer:
    """Bring a robot up: check, stand, gait, gains, walk, margins, ros2_control files, report."""
    from walking_control.lab.experiments.bring_up import run

    path = robot_path(options.robot)
    site = Site(
        Path(path),
        options.out,
        options.speed,
        options.duration,
        options.evaluations,
        options.seed,
        options.gaits,
        progress=say,
        more=(Step('ros2_control', ('check',), _write_ros2_control),),
    )
    with writing_to(options.out):
        result = run.summarize(run.bring_up(site))
    result['robot'], result['command'] = str(path), options.command
    page = write_page(options.out / 'bring_up.html', **result)
    stopped = [step for step in result['steps'] if not step['ok']]
    return Answer(
        result,
        text('bring_up.txt', sentence=sentence),
        [f'{step["name"]} did not pass: {sentence(step)}' for step in stopped[:1]],
        files=[*(file for step in result['steps'] for file in step['files']), page],
        document='summary.json',
    )


def _write_ros2_control(site: Site) -> Outcome:
    robot_file, folder = site.load(), site.folder / 'ros2_control'
    folder.mkdir(exist_ok=True)
    files = [str(path) for path in write_ros2_control(robot_file, wire(robot_file), folder)]
    return Outcome(True, f'{len(files)} files', len(files), files=files)


def sentence(step: dict[str, object]) -> str:
    """Return in one line what came of a step, its number among it."""
    if step['ok']:
        return ' '.join(str(step['what']).split())
    found = ' '.join(str(step[key]) for key in ('value', 'limit') if step[key] is not None)
    words = filter(None, (step['what'], found, step['remedy']))
    return ' '.join('; '.join(map(str, words)).split())


class _Gallery(Answered):
    films: bool = option('of walks on gaits of their own, above stepping')
    policy: list[tuple[str, ...]] = option(
        'with --films: a learned policy to walk beside, on the robot of that name (repeatable)',
        'ROBOT,FILE,NAME',
        words,
    )
    folders: Sequence[Path] = argument(
        'that bring-up wrote, in the order of the page', 'DIR', nargs='+', type=Path
    )
    page: Path = option(
        'Markdown page; pictures go to a folder of its name. Of a page that is '
        'there only what stands between the marks of a gallery is replaced',
        'FILE.md',
        flag='--out',
        required=True,
    )


@verb('walking_control gallery my_robot/up another/up --out gallery.md')
def gallery(options: _Gallery) -> Answer:
    """Put robots that were brought up on one page: picture, numbers, commands."""
    require(
        all(len(words) == 3 for words in options.policy) and (not options.policy or options.films),
        'option --policy',
        limit='takes a robot, the file of a policy and its description, with --films',
        remedy='--films --policy "g1 12dof,motion.pt,unitree_g1"',
    )
    policies = {robot: (file, config) for robot, file, config in options.policy}
    files = write_gallery(options.folders, options.page, options.films, policies)
    return Answer({}, say_nothing, files=files)
