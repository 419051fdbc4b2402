# SPDX-License-Identifier: Apache-2.0
"""A gait as samples of position and velocity over one step, as controllers follow it.

This file is the one place that knows how such a gait is stored.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from walking_control.exceptions import InvalidInput


class GaitError(InvalidInput):
    """A gait cannot be read or does not belong to the robot."""


@dataclass(frozen=True)
class GaitSamples:
    """One step of a gait; samples may go on before its begin and past its touchdown.

    Args:
        robot: Name of the robot.
        coordinates: Names of the minimal coordinates.
        slope: Inclination of the floor it was found on, rad, downhill positive.
        gravity: m/s^2.
        period: Duration of the step, s; it begins at time 0.
        time: s, rising, ``(k,)``.
        q: Minimal coordinates, ``(k, n)``.
        v: Their rates.
    """

    robot: str
    coordinates: tuple
    slope: float
    gravity: float
    period: float
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray


def read_samples(path):
    """Return the `GaitSamples` of a file.

    Raises:
        GaitError: It cannot be read or its entries contradict each other.
    """
    try:
        document = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
        gait = GaitSamples(
            document['robot'], tuple(document['coordinates']), float(document['slope']),
            float(document['gravity']), float(document['period']),
            *(np.array(document[name], dtype=float) for name in ('time', 'q', 'v')))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise GaitError(f'gait {path}', limit=f'cannot be read: {error!r}',
                        remedy='it must hold robot, coordinates, slope, gravity, period, time, q, '
                        'v') from error
    shape = len(gait.time), len(gait.coordinates)
    if gait.q.shape != shape or gait.v.shape != shape or shape[0] < 8:
        raise GaitError(f'gait {path}', value=[*gait.q.shape, *gait.v.shape],
                        limit=f'q and v must each hold {shape[0]} rows of {shape[1]} numbers, '
                        'eight rows or more')
    if not all(np.isfinite(values).all() for values in (gait.time, gait.q, gait.v)) \
            or np.any(np.diff(gait.time) <= 0.0) or not 0.0 < gait.period <= gait.time[-1]:
        raise GaitError(f'gait {path}', limit='numbers must be finite, times rise to the period')
    return gait


def write_samples(gait, path):
    """Write `GaitSamples` to a file."""
    lines = [f'robot: {gait.robot}', f'coordinates: [{", ".join(gait.coordinates)}]',
             *(f'{name}: {getattr(gait, name)!r}' for name in ('slope', 'gravity', 'period')),
             f'time: {np.round(gait.time, 12).tolist()}   # s']
    for name, unit in (('q', 'rad'), ('v', 'rad/s')):
        lines.append(f'{name}:   # {unit}')
        lines += [f'  - {row}' for row in np.round(getattr(gait, name), 12).tolist()]
    Path(path).write_text('\n'.join(lines) + '\n', encoding='utf-8')


def check_fit(gait, robot, gravity, relabel, tolerance=1e-3):
    """Refuse a gait that does not belong to a robot on its floor.

    Args:
        gait: `GaitSamples`.
        robot: The `Robot`.
        gravity: m/s^2.
        relabel: q of the stance foot's end of step to q of the next step, ``(n, n)``.
        tolerance: Gap at touchdown, rad, and difference of gravity, m/s^2, that are allowed.

    Raises:
        GaitError: With the reason.
    """
    if gait.robot != robot.name or tuple(gait.coordinates) != tuple(robot.coordinates):
        raise GaitError('gait', value=f'of {gait.robot} in {list(gait.coordinates)}',
                        limit=f'must be of {robot.name} in {list(robot.coordinates)}')
    if abs(gait.gravity - gravity) > tolerance:
        raise GaitError('gravity of the gait', value=gait.gravity,
                        limit=f'the world has {gravity:g}', remedy='find a gait for this world')
    start, end = (np.array([np.interp(t, gait.time, column) for column in gait.q.T])
                  for t in (0.0, gait.period))
    gap = np.abs(relabel @ end - start).max()
    if gap > tolerance:
        raise GaitError('gap of the gait between touchdown and next step', value=float(gap),
                        limit=f'at most {tolerance:g} rad')
