# SPDX-License-Identifier: Apache-2.0
"""Robot files: which URDF, which feet, which coordinates, which motors, which parameters.

A robot file has the ROS 2 parameter-file format, so a node takes it as ``--params-file``. The
section ``robot`` describes the machine; every other section belongs to a class of `Parameters`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
import os
from pathlib import Path
from typing import Any

import yaml

from walking_control.exceptions import (
    Findings,
    ParameterError,
    require,
    require_known,
    RobotFileError,
)
from walking_control.models import (
    gait_beside,
    mapping,
    read_yaml,
    Registry,
    Robot,
    robot_path,
    Scale,
    scale_of,
    Start,
)
from walking_control.models.floor import check_floor
from walking_control.models.parameters import parameter, Parameters, Section
from walking_control.models.robot_section import optional_names, read_robot, read_start, urdf_path
from walking_control.models.urdf import declared_arguments


class World(Parameters, section='world'):
    """Of the floor and gravity."""

    slope: float = parameter(0.0, 'rad', 'Inclination of the floor, downhill positive.', -0.5, 0.5)
    gravity: float = parameter(9.81, 'm/s^2', 'Gravitational acceleration.', 0.1, 30.0)
    friction: float = parameter(
        1.0, '1', 'Coefficient of friction between foot and floor.', 0.01, 10.0
    )
    floor_places: tuple[float, ...] = parameter(
        (),
        'm',
        'Places ahead of the start that have a height, straight in between; none: level.',
        -1e4,
        1e4,
    )
    floor_heights: tuple[float, ...] = parameter(
        (), 'm', 'The height there; 0 at place 0.', -100.0, 100.0
    )

    def check(self) -> None:
        """Refuse a floor that cannot be."""
        check_floor(self)


GAIT = 'gait'  # parameter of controllers that names a gait file

# Keys beside the sections that belong to classes of `Parameters`.
_PLAIN_KEYS = ('robot', 'start', 'controller', 'plant', 'standby')


@dataclass(frozen=True)
class RobotFile:
    """A robot file, read and checked.

    Args:
        path: Where it was read from.
        robot: The `Robot`.
        start: The `Start`.
        controller: Name of the default controller.
        plant: Name of the default plant.
        standby: Name of the controller that stands by to bring the robot to a stand; or empty.
        sections: section -> {name: value} of all parameter sections, as written.
        tree: The whole parameter tree, overrides applied.
    """

    path: Path
    robot: Robot
    start: Start
    controller: str
    plant: str
    standby: str
    sections: dict[str, dict[str, Any]] = field(repr=False)
    tree: dict[str, Any] = field(repr=False)

    def values(self, kind: type[Section]) -> Section:
        """Return the values of a section, defaults that fit the robot filled in."""
        return kind.read(self.sections.get(kind.section, {}), None if kind is World else self.scale)

    def choose(self, registry: Registry, choice: Any) -> 'tuple[RobotFile, str | None]':
        """Return the file with the parameters of a choice in it, and the name of the choice.

        Args:
            registry: Of controllers or plants.
            choice: Name, ``module:Class``, class, class with parameters (`Chosen`) or None.

        Raises:
            InvalidInput: It is unusable, or one of its parameters is.
        """
        name, parameters = registry.choose(choice)
        if name is None or not parameters:
            return self, name
        kind = registry.find(name).parameters
        section = {
            kind.section: {
                **self.sections.get(kind.section, {}),
                **{place.partition('.')[2]: value for place, value in parameters},
            }
        }
        kind.read(section[kind.section], self.scale)
        return replace(
            self, sections={**self.sections, **section}, tree={**self.tree, **section}
        ), name

    @property
    def scale(self) -> Scale:
        """Return the `Scale` of the robot in its world."""
        return scale_of(self.robot, self.values(World).gravity)

    def write(self, path: Path | str) -> None:
        """Write the robot file, overrides applied, so that another process can load it.

        What lies in its folder, or in that above, is named from there: both can be moved.
        """
        urdf = str(urdf_path(self.tree['robot'], self.path))
        tree = {**self.tree, 'robot': {**self.tree['robot'], 'urdf': _near(urdf, path)}}
        for name, section in tree.items():
            if isinstance(section, dict) and isinstance(section.get(GAIT), str):
                tree[name] = {**section, GAIT: _near(section[GAIT], path)}
        document = {'/**': {'ros__parameters': tree}}
        Path(path).write_text(yaml.safe_dump(document, sort_keys=False), encoding='utf-8')


def _near(file: str, path: Path | str) -> str:
    """Return an absolute path from the folder of a robot file, if it is there or one above."""
    here = Path(path).resolve().parent
    if Path(file).is_absolute() and Path(file).resolve().is_relative_to(here.parent):
        return os.path.relpath(Path(file).resolve(), here)
    return file


def read_robot_file(
    name_or_path: str | Path,
    overrides: Iterable[tuple[str, Any]],
    own: Mapping[str, type[Parameters]],
    outside_for: Callable[[Mapping[str, list[Any]]], Mapping[str, type[Parameters]]],
) -> RobotFile:
    """Read a robot file; `walking_control.load_robot` does with those of the whole package.

    Args:
        name_or_path: Name of a shipped robot or path of a robot file. Paths in it are relative
            to its folder.
        overrides: Pairs (name, value); the name is a dotted path or its end. An end means what
            the file writes, before what its own controller and plant could be told. A mapping is
            its entries, one by one. Paths are relative to the working directory.
        own: Section -> its class of `Parameters`, of every section it may hold besides `World`;
            a class is asked for only where the file has the section, or an override needs names.
        outside_for: From the names that stand in the file and its overrides, of each
            ``controller``, ``plant`` and ``section``, to the same of what comes from outside.

    Raises:
        InvalidInput: The file, its URDF or an override is unusable; carries all that was found.
    """
    path = robot_path(name_or_path)
    tree = read_parameters(path)
    for key in ('robot', 'start', 'controller', 'plant'):
        require(key in tree, f'robot file {path}', limit=f'has no {key}', error=RobotFileError)
    tree.setdefault('standby', '')
    for section in tree.values():
        if isinstance(section, dict) and isinstance(section.get(GAIT), str):
            section[GAIT] = gait_beside(path, section[GAIT])
    overrides = [entry for pair in overrides for entry in _leaves(dict([pair]))]
    outside = outside_for(_names(tree, overrides))
    for name, value in overrides:
        kinds: list[type[Parameters]] = [World, *own.values(), *outside.values()]
        _override(tree, name, value, _known_names(tree, path, kinds, outside))
    for name in ('controller', 'plant', 'standby'):
        require(
            isinstance(tree[name], str),
            name,
            value=tree[name],
            limit='must be a name',
            error=RobotFileError,
        )
    sections = {
        name: dict(mapping({} if values is None else values, f'section {name}'))
        for name, values in tree.items()
        if name not in _PLAIN_KEYS
    }
    known = (World.section, *own, *outside)
    for name in sections:
        require_known(name, known, f'section {name} of {path}', RobotFileError)
    findings = Findings()
    robot = findings.attempt(read_robot, tree['robot'], path)
    start = robot and findings.attempt(read_start, tree['start'], robot)
    world = findings.attempt(World.read, sections.get('world', {}))
    scale = None if None in (robot, world) else scale_of(robot, world.gravity)
    for name in (*own, *outside):
        if name in sections:
            kind = own[name] if name in own else outside[name]
            findings.attempt(kind.read, sections[name], scale)
    findings.raise_first()
    return RobotFile(
        path, robot, start, tree['controller'], tree['plant'], tree['standby'], sections, tree
    )


def _names(tree: Mapping[str, Any], overrides: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Return the controllers, plants and sections that a file and its overrides name."""
    names = {
        kind: [tree[kind], *(value for name, value in overrides if name == kind)]
        for kind in ('controller', 'plant')
    }
    names['controller'] += [
        value for name, value in [*tree.items(), *overrides] if name == 'standby' and value
    ]
    sections = [*map(str, tree), *(name.partition('.')[0] for name, _ in overrides if '.' in name)]
    return {
        **names,
        'section': [name for name in sections if name not in (*_PLAIN_KEYS, World.section)],
    }


def read_parameters(path: str | Path) -> dict[str, Any]:
    """Return the parameter tree of a ROS 2 parameter file.

    Raises:
        RobotFileError: Not YAML, or no ``ros__parameters``.
    """
    document = read_yaml(path, f'robot file {path}', RobotFileError)
    require(
        isinstance(document, Mapping),
        f'robot file {path}',
        limit='is not a ROS 2 parameter file',
        remedy="its first line must be '/**:'",
        error=RobotFileError,
    )
    for node in document.values():
        if isinstance(node, Mapping) and isinstance(node.get('ros__parameters'), Mapping):
            return dict(node['ros__parameters'])
    raise RobotFileError(f'robot file {path}', limit='has no ros__parameters')


def _known_names(
    tree: dict[str, Any], path: Path, kinds: Iterable[type[Parameters]], outside: Iterable[str]
) -> tuple[list[str], ...]:
    """Return the dotted names that can be overridden, in groups, the nearest first.

    What the file writes comes first, of the robot, its world, controller and plant before
    estimator and safety and these before the rest; then xacro arguments and the sections of its
    own controller and plant and of those every robot has, then what its joints may have, then
    all other tables. What comes from outside is there because it was named.
    """
    groups: tuple[list[str], list[str], list[str]] = [], [], []
    first = {'robot', 'start', 'world', str(tree.get('controller')), str(tree.get('plant'))}
    for name, _ in _leaves(tree):
        section = name.partition('.')[0]
        groups[
            0
            if section in first or section == name
            else 1
            if section in ('estimator', 'safety')
            else 2
        ].append(name)
    own: list[str] = []
    others: list[str] = []
    robot = tree.get('robot')
    if isinstance(robot, Mapping) and str(robot.get('urdf')).lower().endswith('.xacro'):
        own += [f'robot.xacro_args.{name}' for name in declared_arguments(urdf_path(robot, path))]
    optional = optional_names(robot) if isinstance(robot, Mapping) else []
    near = {
        'world',
        'estimator',
        'safety',
        *outside,
        str(tree.get('controller')),
        str(tree.get('plant')),
    }
    for kind in kinds:
        names = own if kind.section in near else others
        names += [f'{kind.section}.{name}' for name in kind.rows]
    return *groups, own, optional, others


def _override(tree: dict[str, Any], name: str, value: Any, groups: Iterable[list[str]]) -> None:
    known = [key for group in groups for key in group]
    matches = {key for key in known if key == name}
    for group in groups:
        matches = matches or {key for key in group if key.endswith('.' + name)}
    if len(matches) != 1:
        ends = {key.rpartition('.')[2]: key for key in known}
        by_end = [ends[end] for end in get_close_matches(name.rpartition('.')[2], ends)]
        near = sorted(matches) or get_close_matches(name, {*known}, cutoff=0.8) or by_end
        raise ParameterError(
            f'parameter {name}',
            limit='is ambiguous' if matches else 'unknown in this robot file',
            remedy='did you mean ' + ', '.join(near) + '?' if near else None,
        )
    *parents, leaf = matches.pop().split('.')
    if leaf == GAIT and isinstance(value, str):
        value = gait_beside(Path('an override'), value)
    for key in parents:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = tree[key]
    tree[leaf] = value


def _leaves(tree: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


def with_section(robot_file: RobotFile, section: str, values: Mapping[str, Any]) -> RobotFile:
    """Return a `RobotFile` with other values in a section, whose others stay.

    Args:
        robot_file: The `RobotFile`, which stays as it is.
        section: Its name.
        values: name -> value of those that change.
    """
    return replace(
        robot_file,
        sections={
            **robot_file.sections,
            section: {**robot_file.sections.get(section, {}), **values},
        },
    )
