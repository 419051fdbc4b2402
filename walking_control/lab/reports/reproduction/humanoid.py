# SPDX-License-Identifier: Apache-2.0
"""Figures published with a set of measured walks [EB21], computed as their program does.

Where the program does something else than the name of an indicator says, ours follows it, and the
note tells what, and what comes out by the name.
"""

from pathlib import Path
import re
from typing import Any

import numpy as np
import yaml

from walking_control.exceptions import require
from walking_control.lab.experiments.measured_walks import read_body, read_walk
from walking_control.lab.reports.reproduction.row import DIFFERS, REPRODUCED
from walking_control.runs.indicators import (
    balance_points,
    find_steps,
    INDICATORS,
    measure,
    observe,
    series_of,
    signed_distance,
    standing_feet,
    Walk,
)

CLOSE = 0.02  # of each published number
FEET = 'in double support both feet get the left force, and the right force as their moment'
# what the program does: a pattern of names, and words; all that fit are told
SLIPS = (
    ('center_of_pressure.*(double|all)', f'{FEET}; y is that of the left foot'),
    ('ground_reaction.*(double|all)', FEET),
    ('vertical_impact.*(double|all)', f'{FEET}: twice the left one; of all, the mean'),
    ('linear_velocity', 'the angular velocity once more, in rad/s'),
    ('ang_mom_all', 'mean over the axes of each of the first three rows'),
    (
        'integrate',
        'over rows, not time, by the older Simpson rule: the mean of two ways for an even number',
    ),
    ('distance_travelled', 'from the origin, not from the first step'),
    ('bos_dist', 'the support is turned twice into the axes of a foot'),
    (
        'zero_moment|capture|foot_placement|foot_contact|center_of_mass',
        'rates of the log, which are 80 ms late, damped, and zero for the base in acc',
    ),
)


def reproduce_walks(folder: Path) -> list[dict[str, Any]]:
    """Return a row, as `judge` does, of each figure in indicators_RUN.txt of a set of walks.

    Args:
        folder: Of the set, with robot.yaml and runs.

    Returns:
        Rows; ``difference``, the largest of its numbers, relative, besides.

    Raises:
        InvalidInput: A walk cannot be read, or nothing is published of any.
    """
    body, base = read_body(folder / 'robot.yaml')
    rows = []
    for file in sorted(folder.glob('indicators_*.txt')):
        run = folder / 'runs' / file.stem.removeprefix('indicators_')
        ours = _by_program(read_walk(run, body, base, mend=False)[0])
        walk = read_walk(run, body, base)[0]
        named = _flat(walk, series_of(walk, observe(walk)), walk.time)
        blocks = re.split(r'(?m)^== (\w+?)_?\.yaml$', file.read_text('utf-8'))[1:]
        for name, block in zip(blocks[::2], blocks[1::2], strict=True):
            published = np.array(yaml.safe_load(block)['value'], float)
            size = np.where(published == 0.0, 1.0, np.abs(published))
            off = float((np.abs(ours[name] - published) / size).max())
            alike = named[name].shape == published.shape and np.allclose(
                named[name], published, CLOSE, 0.0
            )
            slips = '; '.join(words for pattern, words in SLIPS if re.search(pattern, name))
            rows.append(
                {
                    'id': f'eb21-{run.name}-{name}',
                    'source': 'EB21',
                    'place': f'run {run.name}',
                    'what': name,
                    'unit': next(unit for _, it, unit, _ in INDICATORS if name.startswith(it)),
                    'published': published.tolist(),
                    'ours': ours[name].tolist(),
                    'status': REPRODUCED if off <= CLOSE else DIFFERS,
                    'note': ''
                    if alike
                    else f'{slips}; by its name {named[name].round(4).tolist()}',
                    'command': f'walking_control reproduce --data {folder}',
                    'difference': off,
                }
            )
    require(rows, f'set {folder}', limit='has no indicators_RUN.txt: nothing is published')
    return rows


def _flat(walk: Walk, series: dict[str, np.ndarray], time: np.ndarray) -> dict[str, np.ndarray]:
    """Return name and phase -> numbers as they are published, mean and deviation last."""
    flat, whole = {}, find_steps(walk.contact)[0]
    told = measure(walk, series, time)
    for name, indicator, _, what in INDICATORS:
        for phase, found in told[indicator]['by_phase'].items():
            flat[f'{indicator}_{phase}'] = np.stack((found['mean'], found['deviation']), axis=-1)
        value, rows = np.array(told[indicator]['value'], float), series[name][whole]
        if what in ('average', 'maximum'):
            value = np.stack((rows.mean(axis=0), rows.std(axis=0, ddof=1)), axis=-1)
        flat[indicator] = flat[f'{indicator}_all'] = value
    return flat


def _by_program(walk: Walk) -> dict[str, np.ndarray]:
    """Return what `_flat` does, with all that the program of the set does otherwise."""
    motion, loads = observe(walk), walk.loads.copy()
    both = np.asarray(walk.contact.all(axis=1))
    loads[both, 0, 3:] = loads[both, 1, :3]
    loads[both, 1] = loads[both, 0]
    points = motion['points'].copy()
    points[both, 1, 1] = points[both, 0, 1]
    walk = walk._replace(loads=loads)
    series = series_of(walk, motion)
    rows, (first, other) = np.arange(len(both)), standing_feet(walk.contact)
    turns, places = motion['turns'][rows, first], motion['places'][rows, first]
    level = motion['corners'][rows, other].copy()
    level[both, :, 2] = 0.0
    corners = np.concatenate((motion['corners'][rows, first], level), axis=1)

    def twice(where: np.ndarray) -> np.ndarray:
        """Return places turned into the axes of the foot, and once more instead of back."""
        return np.asarray((where - places[:, None]) @ turns @ turns)[..., :2]

    for name, place in balance_points(walk, {**motion, 'points': points}).items():
        series[name] = signed_distance(twice(corners), twice(place[:, None])[:, 0])
    series['linear_velocity'] = series['angular_velocity']
    whole = find_steps(walk.contact)[0]
    flat = _flat(walk, series, rows.astype(float))
    flat['distance_travelled'] = series['stance'][whole][-1, 0]
    three = series['angular_momentum'][whole][:3]
    for what in ('average', 'integrate'):
        name = f'center_of_mass_{what}_normalized_ang_mom_all'
        flat[name] = np.stack((three.mean(axis=1), three.std(axis=1, ddof=1)), axis=-1)
    return flat
