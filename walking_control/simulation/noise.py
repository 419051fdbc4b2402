# SPDX-License-Identifier: Apache-2.0
"""Noise presets: files that say how good the sensors of a simulated robot are."""

from collections.abc import Mapping
import math
from pathlib import Path
from typing import Any

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import InvalidInput
from walking_control.models.resources import noise_path
from walking_control.models.yaml_text import read_yaml
from walking_control.simulation.sensors import SensorParameters

OWN = 'seed'   # what no preset decides


def read_preset(name_or_path: str | Path) -> dict[str, Any]:
    """Return name -> value of `SensorParameters` but the seed; what the file leaves out is off.

    Args:
        name_or_path: Name of a shipped preset, or path of a file of the same kind.

    Raises:
        InvalidInput: There is none, it cannot be read, or holds a parameter that is none or a bad
            value.
    """
    path = noise_path(name_or_path)
    what = f'noise preset {name_or_path}'
    values = read_yaml(path, what)
    if not isinstance(values, Mapping):
        raise InvalidInput(what, limit='must be a list of parameters of sensors, name: value')
    if OWN in values:
        raise InvalidInput(f'{OWN} in {what}', value=values[OWN],
                           limit='is not part of a preset', remedy='give --seed')
    preset = vars(SensorParameters.read(values)).copy()
    del preset[OWN]
    return preset


def noise_overrides(name_or_path: str | Path | None) -> list[tuple[str, Any]]:
    """Return a preset as overrides for `load_robot`, none of None.

    The sensors are to have these errors, and the estimator is to expect them.
    """
    if name_or_path is None:
        return []
    preset = read_preset(name_or_path)
    return [*((f'{SensorParameters.section}.{name}', value) for name, value in preset.items()),
            *((f'{EstimatorParameters.section}.{name}', value)
              for name, value in expected_errors(SensorParameters(**preset)).items())]


def expected_errors(sensors: SensorParameters) -> dict[str, Any]:
    """Return the parameters of the estimator that say how good sensors are."""
    scale, step = sensors.scale, sensors.position_resolution
    position = math.hypot(sensors.position_noise, step / math.sqrt(12.0))
    # an encoder's difference over the time constant of its low-pass
    rate = 2.0 * math.pi * sensors.velocity_cutoff * position
    orientation = math.hypot(sensors.orientation_noise, sensors.orientation_bias,
                             sensors.orientation_drift)
    return {'gyro_sigma': scale * sensors.gyro_noise, 'gyro_bias_sigma': scale * sensors.gyro_bias,
            'acceleration_sigma': scale * sensors.acceleration_noise,
            'acceleration_bias_sigma': scale * sensors.acceleration_bias,
            'orientation_sigma': scale * orientation, 'position_sigma': scale * position,
            'velocity_sigma': scale * math.hypot(sensors.velocity_noise, rate),
            'tachometers': sensors.velocity_cutoff == 0.0,
            'velocity_lag': 0.0 if sensors.velocity_cutoff == 0.0 else
            min(1.0 / (2.0 * math.pi * sensors.velocity_cutoff), 0.1)}
