#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which stability number tells what a walk survives: numbers of the stable cycles of an atlas.

Of each cycle: the largest eigenvalue, the gait sensitivity norm, the mean first passage time at one
roughness, the share of a ball of states that returns, and the first failing step down. Against them
stands the roughness at which half of many random floors of 60 footholds are survived. The last rows
are rank correlations (Spearman) with it, signed so that 1 is a perfect judge.

    python benchmarks/stability_numbers.py [compass|three_link|dribbel_passive|dribbel]
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import sys

import numpy as np
from scipy.stats import spearmanr

from walking_control.exceptions import WalkingControlError
from walking_control.lab.experiments.atlas import find_atlas
from walking_control.lab.experiments.impact import lock_angles, reported_coordinates
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.lab.experiments.stability import cycle, metrics
from walking_control.loading import load_robot
from walking_control.models.robot import Start
from walking_control.models.robot_file import RobotFile

EXAMPLES = Path(__file__).parents[1] / 'examples'
# robot -> file, controller, parameter, ends of its range, largest step down (m)
CASES = {
    'compass': ('compass', 'none', 'slope', (0.015, 0.066), 0.05),
    'three_link': (EXAMPLES / 'three_link_walker.yaml', 'none', 'slope', (0.008, 0.056), 0.03),
    'dribbel_passive': ('dribbel', 'none', 'slope', (0.01, 0.036), 0.03),
    'dribbel': ('dribbel', 'hip_switching', 'set_point', (0.2, 0.35), 0.05),
}
MOST = 9  # cycles of a robot
FLOORS, ROUNDS = 200, 9  # walks at a roughness; halvings of its range
ROUGHEST = 0.03  # of the leg's length
NAMES = ('eigenvalue', 'sensitivity', 'passage', 'attraction', 'step_down')
SIGNS = (-1.0, -1.0, 1.0, 1.0, 1.0)  # what grows with what is survived


def rough_floor(settled: cycle.StableCycle) -> float:
    """Return the roughness, m, at which half of `FLOORS` floors of 60 footholds are survived."""
    low, high = 0.0, ROUGHEST * settled.length_unit
    for _ in range(ROUNDS):
        middle = 0.5 * (low + high)
        walk = metrics._strides_of(settled, middle)
        rng = np.random.default_rng(1)
        survived = sum(not walk(rng, True)[1] for _ in range(FLOORS))
        low, high = (middle, high) if 2 * survived > FLOORS else (low, middle)
    return 0.5 * (low + high)


def numbers(robot_file: RobotFile, controller: str, largest: float) -> tuple[list[float], float]:
    """Return the `NAMES` of a walk and the roughness it survives, m."""
    found = metrics.find_metrics(robot_file, controller=controller, steps=10000, samples=300)
    walker = replace(robot_file, controller=controller)
    down = find_first_failure(walker, 'step_down', largest=largest)
    first = down['first_failure'] if down['first_failure'] is not None else largest
    settled = cycle.StableCycle(robot_file, controller)
    row = [
        abs(found['eigenvalues'][0]),
        found['gait_sensitivity_norm'],
        found['mean_first_passage_steps'] or 1e9,
        found['attraction_share'],
        first,
    ]
    return row, rough_floor(settled)


def walks_of(
    file: object, controller: str, name: str, ends: tuple[float, float]
) -> Iterator[tuple[float, RobotFile]]:
    """Yield the parameter and the robot, started on its cycle, of stable cycles of an atlas."""

    def robot_at(value: float) -> RobotFile:
        return load_robot(file, [(name, float(value)), ('plant', 'rigid')])

    found = find_atlas(robot_at, name, ends, controller, strides=1)
    cycles = [each for branch in found['branches'] for each in branch['cycles'] if each['stable']]
    for each in cycles[:: -(-len(cycles) // MOST)]:
        robot_file = robot_at(each['value'])
        robot = robot_file.robot
        q, v = lock_angles(robot), np.zeros(len(robot.coordinates))
        reported = reported_coordinates(robot)
        q[reported], v[reported] = each['q'], each['v']
        yield each['value'], replace(robot_file, start=Start(robot.feet[0], q, v))


def main() -> None:
    """Print a table and rank correlations for each robot asked for."""
    for key in sys.argv[1:] or CASES:
        file, controller, name, ends, largest = CASES[key]
        print(f'{key}, {name}: {", ".join(NAMES)}, survived roughness (mm)', flush=True)
        rows, survived = [], []
        for value, robot_file in walks_of(file, controller, name, ends):
            try:
                row, rough = numbers(robot_file, controller, largest)
            except WalkingControlError as error:
                print(f'  {value:.4g}: {error}', flush=True)
                continue
            rows.append(row)
            survived.append(rough)
            print(
                f'  {value:.4g}: '
                + ', '.join(f'{number:.4g}' for number in row)
                + f', {1000.0 * rough:.3g}',
                flush=True,
            )
        for column, title, sign in zip(np.array(rows).T, NAMES, SIGNS, strict=True):
            print(f'  {title}: {sign * spearmanr(column, survived).statistic:.2f}', flush=True)


if __name__ == '__main__':
    main()
