# SPDX-License-Identifier: Apache-2.0
"""Noise presets: files that say how good the sensors of a simulated robot are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from walking_control.exceptions import InvalidInput
from walking_control.models.resources import noise_path
from walking_control.models.yaml_text import load_yaml
from walking_control.simulation.sensors import SENSORS

OWN = 'seed'   # what no preset decides


def read_preset(name_or_path: str | Path) -> dict[str, Any]:
    """Return name -> value of all of `SENSORS` but the seed; what the file leaves out is off.

    Args:
        name_or_path: Name of a shipped preset, or path of a file of the same kind.

    Raises:
        InvalidInput: There is none, it cannot be read, or holds a parameter that is none or a bad
            value.
    """
    path = noise_path(name_or_path)
    what = f'noise preset {name_or_path}'
    try:
        values = load_yaml(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(what, limit=f'cannot be read: {error}') from error
    if not isinstance(values, Mapping):
        raise InvalidInput(what, limit='must be a list of parameters of sensors, name: value')
    if OWN in values:
        raise InvalidInput(f'{OWN} in {what}', value=values[OWN],
                           limit='is not part of a preset', remedy='give --seed')
    preset = vars(SENSORS.validate(values))
    del preset[OWN]
    return preset


def noise_overrides(name_or_path: str | Path | None) -> list[tuple[str, Any]]:
    """Return a preset as overrides for `load_robot`; none of None."""
    if name_or_path is None:
        return []
    return [(f'{SENSORS.section}.{name}', value)
            for name, value in read_preset(name_or_path).items()]
