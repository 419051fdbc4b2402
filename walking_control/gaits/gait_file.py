# SPDX-License-Identifier: Apache-2.0
"""Gait files: a gait as YAML, with the robot it belongs to and where it came from.

The file is refused where it does not fit: another version, other coordinates, another skeleton or
masses, another floor. Polynomials are stored by their values at Chebyshev points of each phase.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from walking_control import __version__
from walking_control.exceptions import refusing, require, writing_to
from walking_control.gaits.gait import Gait, GaitError, Phase
from walking_control.models import (
    load_yaml,
    NEARLY,
    require_equal_legs,
    Robot,
    RobotFile,
    step_parameters,
    World,
)

VERSION = 1
TOLERANCE = 1e-6  # relative, of masses, springs and gravity
SLOPE_TOLERANCE = 1e-6  # rad
SAME = 1e-6  # m/s and m: places in a family closer than that are one
KINDS = {'robot': Mapping, 'world': Mapping, 'phases': list}
FAMILY = 'walking_control_gaits'  # first line of a file of gaits at several speeds
FIND_ONE = 'find one for this robot: walking_control gait cycle ROBOT --out DIR, or gait search'


class GaitFileError(GaitError):
    """A gait file cannot be read or does not fit the robot."""


def gait_document(
    robot_file: RobotFile, gait: Gait, found: dict[str, Any], provenance: Any
) -> dict[str, Any]:
    """Return a gait as a tree of plain values.

    Args:
        robot_file: The `RobotFile` with all adapted parameters applied.
        found: Figures of the search, name -> number.
        provenance: How it was found, name -> value.
    """
    robot, world = robot_file.robot, robot_file.values(World)
    phases = [phase_document(phase, robot.coordinates) for phase in gait.phases]
    return {
        'walking_control_gait': VERSION,
        'robot': {
            'name': robot.name,
            'coordinates': list(robot.coordinates),
            'feet': list(robot.feet),
            'joints': list(robot.joints),
            'parameters': step_parameters(robot, world.gravity, world.slope).tolist(),
        },
        'world': {'slope': world.slope, 'gravity': world.gravity},
        'overrides': provenance.pop('overrides', {}),
        'found': found,
        'provenance': {
            'walking_control': __version__,
            'written': datetime.now(timezone.utc).isoformat(timespec='seconds'),
            **provenance,
        },
        'phases': phases,
    }


def plane_family(
    members: Sequence[Mapping[str, Any]], holes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return documents of one robot's gaits at several speeds, and places without one, as one."""
    head = {
        name: value
        for name, value in members[0].items()
        if name not in ('walking_control_gait', 'found', 'phases')
    }
    return {
        FAMILY: VERSION,
        **head,
        'holes': list(holes),
        'members': [{'found': one['found'], 'phases': one['phases']} for one in members],
    }


def _member(path: Path | str, speed: str, clearance: str) -> dict[str, Any]:
    """Return the document of a gait at a speed, blended from its neighbours in a family."""
    family = read_document(path, FAMILY, {'robot': Mapping, 'world': Mapping, 'members': list})
    with refusing(
        (KeyError, TypeError, ValueError),
        f'gait file {path}',
        limit='has a broken member: {error!r}',
        error=GaitFileError,
    ):
        wanted = float(speed)
        every = [
            (float(one['found']['speed']), float(one['found']['required_clearance']), one)
            for one in family['members']
        ]
        height = float(clearance) if clearance else min(row[1] for row in every)
        rows = sorted((v, one) for v, h, one in every if abs(h - height) < SAME)
        holes = [
            float(hole['speed'])
            for hole in family['holes']
            if abs(float(hole['required_clearance']) - height) < SAME
        ]
        below = [row for row in rows if row[0] <= wanted + SAME]
        above = [row for row in rows if row[0] >= wanted - SAME]
        if not below or not above or any(below[-1][0] < v < above[0][0] for v in holes):
            known = ', '.join(f'{v:.4g}' for v, _ in rows)
            raise GaitFileError(
                'speed of the gait',
                value=wanted,
                limit=f'{path} has gaits of {known} m/s and none that meet there',
                remedy='choose a speed between two without a hole',
            )
        (low, one), (high, other) = below[-1], above[0]
        share = (wanted - low) / (high - low) if high - low > SAME else 0.0
        phases = [_blend(a, b, share) for a, b in zip(one['phases'], other['phases'], strict=True)]
    return {**family, 'found': one['found'], 'phases': phases}


def _blend(one: Any, other: Any, share: float) -> Any:
    """Return what lies between two phases of a file: numbers in proportion, words of the first."""
    if isinstance(one, Mapping):
        return {name: _blend(value, other[name], share) for name, value in one.items()}
    if isinstance(one, list):
        return [_blend(a, b, share) for a, b in zip(one, other, strict=True)]
    return one if isinstance(one, str) else (1.0 - share) * one + share * other


def phase_document(phase: Phase, names: Sequence[str]) -> dict[str, Any]:
    """Return a phase as a tree of plain values, its coordinates by these names."""
    return {
        'duration': phase.duration,
        'held': [names[i] for i in phase.held],
        'values': {
            name: [float(value) for value in phase.values[:, i]] for i, name in enumerate(names)
        },
    }


def write_gait(document: Mapping[str, Any], path: Path) -> Path:
    """Write a gait document as YAML; return the path.

    Raises:
        InvalidInput: The file cannot be written.
    """
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=99)
    with writing_to(path.parent):
        path.write_text(
            '# A gait of walking_control: polynomials by their values at Chebyshev '
            'points of each phase, rad.\n' + text,
            encoding='utf-8',
        )
    return path


def read_document(
    path: Path | str, key: str = 'walking_control_gait', kinds: Mapping[str, type] = KINDS
) -> Mapping[str, Any]:
    """Return the document of a file of gaits, checked for its version and parts.

    Args:
        path: Of the file.
        key: What its first line says it is.
        kinds: What it must hold, and of which type.

    Raises:
        GaitFileError: Unreadable, not such a file, or of another version.
    """
    try:
        document = load_yaml(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        mark = getattr(error, 'problem_mark', None)
        reason = (
            f'not YAML in line {mark.line + 1}'
            if mark
            else getattr(error, 'strerror', None) or 'not YAML in UTF-8'
        )
        raise GaitFileError(
            f'gait file {path}',
            limit=f'cannot be read: {reason}',
            remedy='find one with walking_control gait cycle ROBOT --out DIR, or gait search',
        ) from error
    held = document if isinstance(document, Mapping) else {}
    require(
        FAMILY not in held or key == FAMILY,
        f'gait file {path}',
        limit='holds gaits of several speeds',
        remedy=f'name one: {path}@SPEED',
        error=GaitFileError,
    )
    require(
        key in held,
        f'gait file {path}',
        limit='is not a gait file'
        if key == 'walking_control_gait'
        else 'is not a file of gaits in space',
        remedy='make one with walking_control gait cycle ROBOT --out DIR, or gait search',
        error=GaitFileError,
    )
    require(
        held[key] == VERSION,
        f'gait file {path}',
        value=held[key],
        limit=f'is of another version than {VERSION}',
        remedy='find the gait again',
        error=GaitFileError,
    )
    for name, kind in kinds.items():
        require(
            isinstance(held.get(name), kind) and held[name],
            f'gait file {path}',
            limit=f'has no {name}',
            error=GaitFileError,
        )
    return held


def read_gait(path: Path | str) -> Mapping[str, Any]:
    """Return a gait file's document; `GaitFileError`: unreadable, no gait, another version.

    Of a file of several gaits the path ends in ``@SPEED`` or ``@SPEED,CLEARANCE``, m/s and m.
    """
    file, _, place = str(path).rpartition('@')
    document = (
        _member(file, *place.partition(',')[::2])
        if file and not Path(path).exists()
        else read_document(path)
    )
    for name in ('slope', 'gravity'):
        value = document['world'].get(name)
        require(
            type(value) in (int, float) and math.isfinite(value),
            f'world.{name} of gait file {path}',
            value=value,
            limit='must be a finite number',
            error=GaitFileError,
        )
    return document


def overrides_of(document: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the pairs (name, value) a robot file needs before the gait fits it."""
    return list((document.get('overrides') or {}).items())


def load_gait(path: Path | str, robot_file: RobotFile) -> Gait:
    """Return the `Gait` of a file, checked against the robot and its floor.

    Args:
        path: Of the gait file.
        robot_file: The `RobotFile`; `overrides_of` tells what it needs where the mechanics were
            adapted.

    Raises:
        GaitFileError: It does not fit; says what differs.
    """
    return fit_gait(read_gait(path), path, robot_file.robot, robot_file.values(World))


def fit_gait(
    document: Mapping[str, Any],
    path: Path | str,
    robot: Robot,
    world: World,
    any_slope: bool = False,
) -> Gait:
    """Return the `Gait` of a document, checked against the robot and its floor.

    Args:
        document: Of `read_gait`.
        path: Of the gait file, for errors.
        any_slope: Whether the gait may be of another slope, as laws that follow it can bear.

    Raises:
        GaitFileError: It does not fit; says what differs.
    """
    given = document['robot']
    for name, mine in (
        ('name', robot.name),
        ('coordinates', list(robot.coordinates)),
        ('feet', list(robot.feet)),
        ('joints', list(robot.joints)),
    ):
        require(
            given.get(name) == mine,
            f'gait file {path}',
            value=given.get(name),
            limit=f'belongs to a robot with another {name}: here {mine}',
            remedy=FIND_ONE,
            error=GaitFileError,
        )
    require(
        any_slope or abs(document['world']['slope'] - world.slope) <= SLOPE_TOLERANCE,
        f'gait file {path}',
        value=document['world']['slope'],
        limit=f'is for another slope than {world.slope:.6g} rad',
        remedy='set world.slope or search again',
        error=GaitFileError,
    )
    require(
        abs(document['world']['gravity'] - world.gravity) <= TOLERANCE * world.gravity,
        f'gravity of gait file {path}',
        value=document['world']['gravity'],
        limit=f'the world has {world.gravity:g} m/s^2',
        remedy='set world.gravity or find a gait for this world',
        error=GaitFileError,
    )
    own = step_parameters(robot, world.gravity, document['world']['slope'])
    theirs = _numbers(given.get('parameters', []), 'parameters', path)
    adapted = ', '.join(f'{name}={value:.6g}' for name, value in overrides_of(document))
    require(
        theirs.shape == own.shape and np.allclose(theirs, own, TOLERANCE, 1e-9),
        f'gait file {path}',
        limit='was found for other masses, springs or rotors',
        remedy=f'set {adapted}' if adapted else FIND_ONE,
        error=GaitFileError,
    )
    require_equal_legs(robot, f'gait file {path} on {robot.name}', NEARLY)
    return Gait(tuple(read_phase(phase, robot.coordinates, path) for phase in document['phases']))


def _numbers(values: object, name: str, path: Path | str) -> np.ndarray:
    """Return an array of finite numbers."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    require(
        np.isfinite(array).all(),
        f'gait file {path}',
        limit=f'has {name} that are not finite numbers',
        error=GaitFileError,
    )
    return array


def read_phase(entry: Mapping[str, Any], names: Sequence[str], path: Path | str) -> Phase:
    """Return the `Phase` that an entry of a gait file says, its coordinates by these names."""
    with refusing(
        (KeyError, TypeError, ValueError),
        f'gait file {path}',
        limit='has a broken phase: {error!r}',
        error=GaitFileError,
    ):
        values = np.array([entry['values'][name] for name in names], dtype=float).T
        held = tuple(names.index(name) for name in entry['held'])
        duration = float(entry['duration'])
    require(
        values.ndim == 2
        and len(values) >= 2
        and np.isfinite(values).all()
        and 0.0 < duration < math.inf,
        f'gait file {path}',
        limit='has a phase without finite values',
        error=GaitFileError,
    )
    return Phase(duration, values, held)
