# SPDX-License-Identifier: Apache-2.0
"""Judge learned policies, and our laws beside them, on robots that were adopted: one table.

    python benchmarks/policies.py POLICIES.yaml [--on level,lab,delay,ramp,push,tick]
        [--only NAME,NAME] [--phases 0,0.5] [--processes 1]

POLICIES.yaml says a row each:

    holosoma G1: {robot: g1/g1.yaml, policy: ppo_g1_29dof.onnx, config: holosoma_g1}
    stepping: {robot: g1/g1.yaml, controller: stepping}

Each walks at `--speed` for `--duration` seconds in MuJoCo, from standing, on a level floor in true
state; with the noise of a laboratory (lab); with 10 ms between command and motor (delay); 5 degrees
up from 1 m on (ramp). Speed, positive mechanical cost and the integral of the squared efforts over
the way are of whole strides in the second half.

push: from eight directions, at each of `--phases` as parts of a step, by 0.2, 0.4, ... 2.4 N s/kg.
The first size after which it does not walk for 4 s more is found by bisection, see
`walking_control.lab.experiments.envelope`. A cell says the smallest of all directions (which, in
degrees from ahead to the left, and why), the median of all, and how many bore every size. Each
direction's goes to the standard error.

tick: medians of the time of the thread in a tick that asks the network, us: the network alone / the
law beside it / estimator, supervisor and the rest.
"""

import argparse
import math
from pathlib import Path
import sys
import time

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import NotAchieved
from walking_control.lab.experiments.envelope import even_grid, find_envelope
from walking_control.loading import load_robot
from walking_control.models.resources import policy_path
from walking_control.models.yaml_text import read_yaml
from walking_control.runs.metrics import summarize
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant, simulate

DELAY = 0.01  # s
SETS = {'lab': noise_overrides('lab'), 'delay': [('sensors.command_delay', DELAY)]}
RAMP = f'slope_change={-math.radians(5.0):.6f}@1m'
PUSH, LARGEST = 0.2, 2.4  # N s/kg: distance between sizes, and the last
DIRECTIONS = 8
AFTER = 4.0  # s that it walks after a push


def load(row, folder, given, sets):
    """Return the robot file of a row."""
    law = row.get('controller', 'policy')
    pairs = [('controller', law), (f'{law}.speed', given.speed), *sets]
    if law == 'policy':
        config = row.get('config', '')
        known = policy_path(config) if config else Path()
        pairs += [
            ('policy.file', str(folder / row['policy'])),
            ('policy.config', str(known if known.is_file() else folder / config) if config else ''),
        ]
    return load_robot(folder / row['robot'], pairs)


def walk(row, folder, given, sets=(), disturb=()):
    """Return the summary of a walk."""
    robot_file = load(row, folder, given, sets)
    return summarize(simulate(robot_file, duration=given.duration, disturb=disturb))


def first_push(row, folder, given):
    """Return the first push that fells it: least of all directions, median, how many none fells."""
    grid = even_grid(DIRECTIONS, 1, AFTER)._replace(phases=given.phases)
    robot_file = load(row, folder, given, ())
    try:
        found = find_envelope(robot_file, 'push', LARGEST, PUSH, grid, given.processes)
    except NotAchieved as error:
        return str(error)
    cells = found['cells']
    sizes = [cell['first_failure'] or math.inf for cell in cells]
    print(
        *(f'{c["direction_deg"]:.0f}: {size:.1f}' for c, size in zip(cells, sizes)),
        sep=', ',
        file=sys.stderr,
    )
    least = min(sizes)
    if least == math.inf:
        return f'none up to {LARGEST:g}'
    sides = [f'{c["direction_deg"]:.0f}' for c, size in zip(cells, sizes) if size == least]
    borne, reason = sizes.count(math.inf), found['worst']['reason']
    least = f'{least:.1f} ({", ".join(sides)}: {reason})'
    return f'{least}; {np.median(sizes):.1f}; {borne} of {len(cells)}'


class Clock:
    """Time of the thread that a method of an object has taken since it was last read, s."""

    def __init__(self, owner, name):
        self._method, self._spent = getattr(owner, name), 0.0
        setattr(owner, name, self)

    def __call__(self, *args):
        begin = time.thread_time()
        try:
            return self._method(*args)
        finally:
            self._spent += time.thread_time() - begin

    def read(self):
        """Return the time, and begin anew."""
        spent, self._spent = self._spent, 0.0
        return spent


def tick(row, folder, given):
    """Return the medians of network / law beside it / rest of a tick that asks the network, us."""
    robot_file, rows = load(row, folder, given, ()), []
    loop = ControlLoop(robot_file)
    law = loop.controller
    clocks = Clock(law._network, 'answer'), Clock(law, 'update'), Clock(loop, 'tick')
    run_plant(
        make_plant(robot_file),
        loop,
        robot_file.start,
        given.duration,
        listen=lambda *_: rows.append([clock.read() for clock in clocks]),
    )
    times = np.array(rows)[len(rows) // 4 :]
    times = np.diff(times[times[:, 0] > 0.0], axis=1, prepend=0.0)
    return ' / '.join(f'{1e6 * each:.0f}' for each in np.median(times, axis=0))


def judge(row, folder, given, condition):
    """Return what stands in a cell of the table."""
    if condition == 'tick':
        return tick(row, folder, given)
    if condition == 'push':
        return first_push(row, folder, given)
    ramp = [RAMP] if condition == 'ramp' else []
    summary = walk(row, folder, given, SETS.get(condition, ()), ramp)
    if summary.fell or summary.fault:
        return f'{summary.duration:.1f} s: {summary.fault or "fell"}'
    steady = summary.steady
    if condition != 'level':
        return f'{steady.speed:.2f}, {steady.cost_of_transport_positive:.2f}'
    price = f'{steady.cost_of_transport_positive:.3f} | {steady.squared_effort:.0f}'
    return f'{steady.speed:.2f} | {price}'


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('policies', type=Path)
    parser.add_argument('--on', type=lambda text: text.split(','), default=['level'])
    parser.add_argument('--only', type=lambda text: text.split(','))
    parser.add_argument('--speed', type=float, default=0.5, help='m/s')
    parser.add_argument(
        '--phases', type=lambda text: tuple(map(float, text.split(','))), default=(0.0,)
    )
    parser.add_argument('--processes', type=int, default=1, help='of pushes, at once')
    parser.add_argument('--duration', type=float, default=20.0, help='s')
    given = parser.parse_args()
    heads = {'level': f'm/s of {given.speed:g} | positive cost | N²m² s/m'}
    print('| policy |', ' | '.join(heads.get(each, each) for each in given.on), '|')
    columns = sum(heads.get(each, '').count('|') + 1 for each in given.on)
    print('|---' * (columns + 1) + '|')
    for name, row in read_yaml(given.policies, str(given.policies)).items():
        if given.only is None or name in given.only:
            print(f'| {name} |', end=' ', flush=True)
            for condition in given.on:
                print(judge(row, given.policies.parent, given, condition), '|', end=' ', flush=True)
            print(flush=True)


if __name__ == '__main__':
    main()
