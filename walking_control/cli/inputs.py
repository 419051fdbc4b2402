# SPDX-License-Identifier: Apache-2.0
"""From the options of a verb to what the rooms take."""

from __future__ import annotations

import math
from typing import Any, TYPE_CHECKING

from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from walking_control.models.robot_file import RobotFile


def make_folder(options: Namespace) -> None:
    """Make the folder a verb writes to; better now than after a long run."""
    if options.out is None:
        return
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f'folder {options.out}', limit=f'cannot be made: {error.strerror}',
                           remedy='choose another --out') from error


def requested_robot(options: Namespace) -> RobotFile:
    """Return the `RobotFile` a verb is about, overrides applied; make its output folder."""
    make_folder(options)
    from walking_control.loading import load_robot
    from walking_control.models.resources import gait_path
    # first, so that the end of a name means a parameter of what was chosen
    overrides = [(name, chosen) for name in ('controller', 'plant')
                 if (chosen := getattr(options, name, None)) is not None]
    overrides += [*noise_settings(options), *options.set]
    if options.slope_deg is not None:
        overrides.append(('world.slope', math.radians(options.slope_deg)))
    robot_file = load_robot(options.robot, overrides)
    _check_seed(options, robot_file)
    if getattr(options, 'gait', None) is None:
        return robot_file
    name = _check_gait(robot_file, options.gait, options.controller)
    overrides.append((name, str(gait_path(options.gait).resolve())))
    return load_robot(options.robot, overrides)


def noise_settings(options: Namespace) -> list[tuple[str, Any]]:
    """Return the overrides that --noise and --seed stand for; --set may change them."""
    from walking_control.simulation.noise import noise_overrides
    seed = getattr(options, 'noise_seed', None)
    return noise_overrides(getattr(options, 'noise', None)) \
        + ([] if seed is None else [('sensors.seed', seed)])


def _check_seed(options: Namespace, robot_file: RobotFile) -> None:
    """Refuse a seed of errors that the sensors do not make."""
    seed = getattr(options, 'noise_seed', None)
    if seed is None:
        return
    from walking_control.simulation.sensors import SENSORS
    perfect = vars(SENSORS.validate({'seed': seed}))
    if vars(robot_file.values(SENSORS)) == perfect:
        raise InvalidInput('option --seed', value=seed, limit='has no effect: sensors are perfect',
                           remedy='choose --noise lab, or --set of a parameter of sensors')


def _check_gait(robot_file: RobotFile, path: Path, controller: str | None) -> str:
    """Return the name of the parameter that takes a gait file, once the gait is known to fit."""
    from walking_control.controllers.registry import CONTROLLERS
    from walking_control.gaits.samples import read_samples
    from walking_control.models.resources import gait_path
    from walking_control.models.robot_file import WORLD
    law = CONTROLLERS.find(controller or robot_file.controller)
    if 'gait' not in law.parameters.parameters:
        followers = sorted(name for name, other in CONTROLLERS.items()
                           if 'gait' in other.parameters.parameters)
        raise InvalidInput('option --gait', value=str(path),
                           limit=f'controller {law.name} follows no gait',
                           remedy='choose --controller ' + ' or '.join(followers))
    read_samples(gait_path(path), robot_file.robot, robot_file.values(WORLD))
    return f'{law.parameters.section}.gait'


def require_rigid(options: Namespace) -> None:
    """Refuse a plant other than rigid."""
    if options.plant not in (None, 'rigid'):
        raise InvalidInput('plant', value=options.plant, limit='this verb runs on plant rigid')
