# SPDX-License-Identifier: Apache-2.0
"""Controllers and settings that are compared, as lists in files."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from walking_control.controllers import CONTROLLERS
from walking_control.exceptions import InvalidInput, require, require_known, WalkingControlError
from walking_control.loading import load_robot
from walking_control.models import gait_beside, read_yaml, RobotFile, share_directory
from walking_control.models.robot_file import GAIT


@dataclass(frozen=True)
class Variant:
    """One walk of a comparison.

    Args:
        name: What to call it.
        controller: Name of the controller.
        settings: name -> value of its parameters, over those of the robot file.
    """

    name: str
    controller: str
    # name -> value of its parameters, over those of the robot file
    settings: dict[str, Any] = field(default_factory=dict)


def variants_path(robot: str) -> Path:
    """Return the path of the shipped variants of a robot.

    Raises:
        InvalidInput: There are none.
    """
    path = share_directory() / 'config' / 'comparisons' / f'{robot}.yaml'
    require(
        path.is_file(),
        f'comparison of {robot}',
        limit='no variants ship for this robot',
        remedy='give --variants FILE',
    )
    return path


def read_variants(path: Path | str) -> list[Variant]:
    """Return the `Variant` list of a file.

    Raises:
        InvalidInput: It cannot be read, or is not a list of name, controller and settings.
    """
    what = f'variants {path}'
    entries = read_yaml(path, what)
    require(
        isinstance(entries, list) and entries,
        what,
        limit='must be a list of entries with name, controller and, if need be, settings',
    )
    variants = [
        _read_variant(entry, f'entry {i + 1} of {what}', path) for i, entry in enumerate(entries)
    ]
    names = [variant.name for variant in variants]
    for name in names:
        require(names.count(name) <= 1, f'name in {what}', value=name, limit='is given twice')
    return variants


def _read_variant(entry: Any, what: str, path: Path | str) -> Variant:
    require(isinstance(entry, dict), what, value=entry, limit='must hold name and controller')
    for key in entry:
        require_known(key, ('name', 'controller', 'settings'), f'{key} in {what}')
    for key in ('name', 'controller'):
        require(
            isinstance(entry.get(key), str) and entry[key],
            f'{key} in {what}',
            value=entry.get(key),
            limit='must be a text',
        )
    settings = {} if entry.get('settings') is None else entry['settings']
    require(
        isinstance(settings, dict),
        f'settings in {what}',
        value=settings,
        limit='must hold name: value pairs',
    )
    if isinstance(settings.get(GAIT), str):
        settings[GAIT] = gait_beside(path, settings[GAIT])
    return Variant(entry['name'], entry['controller'], settings)


def load_variant(
    robot: str, variant: Variant, overrides: Sequence[tuple[str, Any]] = ()
) -> RobotFile:
    """Return the `RobotFile` of a variant.

    Raises:
        InvalidInput: A bad controller or setting; says of which variant.
    """
    try:
        CONTROLLERS.find(variant.controller)
        settings = [
            (f'{variant.controller}.{name}', value) for name, value in variant.settings.items()
        ]
        robot_file = load_robot(robot, [*overrides, *settings])
        return replace(robot_file, controller=variant.controller)
    except WalkingControlError as error:
        raise of_variant(variant, error) from error


def of_variant(variant: Variant, error: WalkingControlError) -> InvalidInput:
    """Return an error that says whose it is."""
    return InvalidInput(
        f'variant {variant.name}: {error.what}',
        value=error.value,
        limit=error.limit,
        remedy=error.remedy,
    )
