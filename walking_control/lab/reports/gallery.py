# SPDX-License-Identifier: Apache-2.0
"""Robots that were brought up, side by side between the two marks of a page of Markdown."""

from collections.abc import Iterable, Mapping
import json
import os
from pathlib import Path
import re
import shlex
from typing import Any

from walking_control.exceptions import InvalidInput, require, writing_to
from walking_control.lab import reports
from walking_control.lab.reports.animations.film import write_space_film
from walking_control.lab.reports.scene import import_pillow
from walking_control.loading import load_robot
from walking_control.models import fill, in_words, policy_path
from walking_control.runs import Run, summarize
from walking_control.simulation.simulate import simulate

MARKS = '<!-- gallery: written by walking_control gallery -->', '<!-- end of the gallery -->'
WIDTH = 480  # of a picture, pixels
COLOURS = 240  # of it
FILMED = (
    8.0  # s of a walk on its gait, and of those beside it; measured and shown is the second half
)
NATURAL, STEPPING, POLICY = 'natural_walking', 'stepping', 'policy'
WORK = 'cost_of_transport_positive'
PLANTS = {'walk (rigid)': 'rigid', 'walk (MuJoCo)': 'MuJoCo'}


def read_bring_up(folder: Path) -> dict[str, Any]:
    """Return what lies in the folder of a bring-up, and what `adopt` wrote about its robot.

    Returns:
        Dictionary: ``name``; ``steps``, name -> step; ``summary`` and ``adoption`` as written, the
        latter None where nothing was adopted; ``picture``, path or None.

    Raises:
        InvalidInput: No bring-up was ended there.
    """
    summary = _read(folder / 'summary.json')
    require(
        isinstance(summary, dict) and isinstance(summary.get('steps'), list),
        f'folder {folder}',
        limit='holds no summary of a bring-up',
        remedy='walking_control bring-up ROBOT --out DIR',
    )
    steps = {step['name']: step for step in summary['steps']}
    robot = Path(summary.get('robot', ''))
    for beside in (folder.parent, folder, robot.parent):
        if (adoption := _read(beside / 'adoption.json')) is not None:
            break
    name = adoption['robot'] if adoption else robot.stem
    picture = beside / f'{name}.png'
    return {
        'name': in_words(name),
        'steps': steps,
        'summary': summary,
        'adoption': adoption,
        'picture': picture if picture.is_file() else None,
    }


def _read(path: Path) -> Any:
    """Return what a JSON file holds, None where there is none."""
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except OSError:
        return None
    except ValueError as error:
        raise InvalidInput(
            f'file {path}',
            limit=f'cannot be read: {error}',
            remedy='move it away, and do that robot again',
        ) from error


def write_gallery(
    folders: Iterable[Path],
    page: Path,
    films: bool = False,
    policies: Mapping[str, tuple[str, str]] | None = None,
) -> list[str]:
    """Write the page, Markdown, of bring-ups in this order, and its pictures; return their paths.

    Args:
        folders: That `bring-up` wrote.
        page: Path.
        films: Whether robots that walk on gaits of their own are filmed, above stepping.
        policies: Name of a robot -> file and description of a learned policy to walk beside.

    Raises:
        InvalidInput: A folder without a bring-up, a page without marks, or a policy of a robot
            that is not there.
    """
    robots = [read_bring_up(Path(folder)) for folder in folders]
    names = [robot['name'] for robot in robots]
    require(
        len(set(names)) >= len(names),
        'gallery',
        value=', '.join(names),
        limit='names a robot twice',
        remedy='adopt one of them with another --name',
    )
    policies = policies or {}
    if strangers := sorted(policies.keys() - set(names)):
        raise InvalidInput(
            'option --policy', value=strangers[0], limit='names no robot among ' + ', '.join(names)
        )
    before, after = _around(page)
    written: list[str] = []
    with writing_to(page.parent):
        for robot in robots:
            robot['shown'] = _draw(robot, page, written)
            if films:
                _film(robot, page, policies.get(robot['name']), written)
        text = fill(
            reports.__name__,
            'gallery.md',
            robots=robots,
            commands=[  # as far as they were written down
                shlex.join(['walking_control', *told['command']])
                for robot in robots
                for told in (robot['adoption'] or {}, robot['summary'])
                if told.get('command')
            ],
            marks=MARKS,
            plants=PLANTS,
            laws=(NATURAL, STEPPING, POLICY),
            work=WORK,
        )
        beside = page.with_suffix('.tmp')
        beside.write_text(before + text + after, encoding='utf-8')
        os.replace(beside, page)
    return [str(page), *written]


def _around(page: Path) -> tuple[str, str]:
    """Return the words before and after the marks; of a new page a title and nothing."""
    if not page.is_file():
        return '# Gallery\n\n', '\n'
    text = page.read_text(encoding='utf-8')
    require(
        all(text.count(mark) == 1 for mark in MARKS)
        and text.index(MARKS[0]) <= text.index(MARKS[1]),
        f'page {page}',
        limit='is there, without the two marks of a gallery',
        remedy=f'write {MARKS[0]} and {MARKS[1]} where the cards shall be, or name another --out',
    )
    return text.partition(MARKS[0])[0], text.partition(MARKS[1])[2]


def _draw(robot: dict[str, Any], page: Path, written: list[str]) -> str:
    """Write a small picture and return the words that show it."""
    if robot['picture'] is None:
        return ''
    folder = page.parent / page.stem
    folder.mkdir(exist_ok=True)
    name = _file_name(robot)
    with import_pillow().open(robot['picture']) as picture:
        small = picture.convert('RGB')
    small.thumbnail((WIDTH, WIDTH))
    small.quantize(COLOURS).save(folder / f'{name}.png', optimize=True)
    written.append(str(folder / f'{name}.png'))
    return f'![{robot["name"]}]({page.stem}/{name}.png)'


def _file_name(robot: dict[str, Any]) -> str:
    return re.sub(r'\W+', '_', robot['name'])


def _film(
    robot: dict[str, Any], page: Path, policy: tuple[str, str] | None, written: list[str]
) -> None:
    """Film a robot on its gait, above stepping; keep what they and a policy cost in its step."""
    step = robot['steps'].get('natural gait', {})
    file = next((file for file in step.get('files', ()) if file.endswith('_natural.yaml')), None)
    if file is None or step['verdict'] == 'not passed':
        return
    speed = step['figures']['speed']
    runs: dict[str, Run] = {}
    walks: dict[str, tuple[str, list[tuple[str, Any]]]] = {
        law: (file, [(f'{law}.speed_limit', 1.03 * speed)]) for law in (NATURAL, STEPPING)
    }
    if policy:  # first: one that is none ends it soon; it moves all joints that were adopted
        given = [('policy.file', policy[0]), ('policy.config', str(policy_path(policy[1])))]
        walks = {POLICY: (robot['summary']['robot'], given), **walks}
    for law, (file, pairs) in walks.items():
        pairs = [('controller', law), (f'{law}.speed', speed), *pairs]
        runs[law] = simulate(load_robot(file, pairs), duration=FILMED)
        steady = summarize(runs[law])['steady'] or {}
        step['figures'][law] = steady.get(WORK) or 'falls'
    path = page.parent / page.stem / f'{_file_name(robot)}.gif'
    path.parent.mkdir(exist_ok=True)
    write_space_film(runs[NATURAL], path, runs[STEPPING], longest=0.5 * FILMED)
    written.append(str(path))
    robot['film'] = f'![{robot["name"]} on its gait]({page.stem}/{path.name})'
