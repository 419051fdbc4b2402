# SPDX-License-Identifier: Apache-2.0
"""Judge learned policies, and our laws beside them, on robots that were adopted: one table.

    python benchmarks/policies.py POLICIES.yaml
        [--on level,lab,delay,ramp,mass,speed,turn,load,grip,step,all,push,tick]
        [--only NAME,NAME] [--drive impedance] [--phases 0,0.5] [--processes 1]

POLICIES.yaml says a row each:

    holosoma G1: {robot: g1/g1.yaml, policy: ppo_g1_29dof.onnx, config: holosoma_g1}
    stepping: {robot: g1/g1.yaml, controller: stepping}

Each walks at `--speed` for `--duration` seconds in MuJoCo, from standing, on a level floor in true
state; with the noise of a laboratory (lab); with 10 ms between command and motor (delay); 5 degrees
up from 1 m on (ramp); with all masses and inertias a tenth larger (mass). Speed, positive
mechanical cost and the integral of the squared efforts over the way are of whole strides in the
second half.

speed: what it reaches of 0.3 and of 0.8 m/s. turn: m/s and rad/s while 0.5 rad/s are asked, too.
load: the largest vertical force on one foot over the weight, as sampled at every tick; the root
mean square effort of the motor that has most of its limit, and which. grip: the lowest friction of
the floor it walks on, in steps of 0.1 down to the first that ends the walk. step: likewise the
highest edge up, 1 m ahead, in steps of 2 cm. all: how many of `--seeds` walks with noise, delay and
mass at once end, and when. With `--drive impedance` each drive adds stiffness and damping itself.

push: from eight directions, at each of `--phases` as parts of a step, by 0.2, 0.4, ... 2.4 N s/kg.
The first size after which it does not walk for 4 s more is found by bisection, see
`walking_control.lab.experiments.envelope`. A cell says the smallest of all directions (which, in
degrees from ahead to the left, and why), the median of all, and how many bore every size. Each
direction's goes to the standard error.

tick: medians of the time of the thread in a tick that asks the network, us: the network alone / the
law beside it / estimator, supervisor and the rest.
"""

import argparse
from dataclasses import replace
import math
from pathlib import Path
import sys
import time

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import NotAchieved
from walking_control.lab.experiments.envelope import even_grid, find_envelope
from walking_control.lab.experiments.margins import find_margin
from walking_control.loading import load_robot
from walking_control.models.resources import policy_path
from walking_control.models.robot_file import World
from walking_control.models.urdf import scale_masses
from walking_control.models.yaml_text import read_yaml
from walking_control.runs.metrics import summarize
from walking_control.runs.quantities import steady_rows
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant, simulate

DELAY = 0.01  # s
HEAVIER = 1.1  # masses and inertias, of those the law knows
LATE = [('sensors.command_delay', DELAY)]
SETS = {
    'lab': noise_overrides('lab'),
    'delay': LATE,
    'turn': [('policy.turn', 0.5)],
    'all': [*noise_overrides('lab'), *LATE],
}
RAMP = f'slope_change={-math.radians(5.0):.6f}@1m'
SPEEDS = 0.3, 0.8  # m/s
EDGES = np.arange(0.02, 0.21, 0.02)  # m
LEAST_GRIP, GRIP_STEP = 0.1, 0.1
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
    robot_file = load_robot(folder / row['robot'], pairs)
    if getattr(given, 'drive', None) is None:
        return robot_file
    motors = robot_file.robot.actuators.items()
    actuators = {name: replace(motor, drive=given.drive) for name, motor in motors}
    return replace(robot_file, robot=replace(robot_file.robot, actuators=actuators))


def walk(row, folder, given, sets=(), disturb=(), heavier=1.0):
    """Return a walk."""
    robot_file = load(row, folder, given, sets)
    if heavier == 1.0:
        return simulate(robot_file, duration=given.duration, disturb=disturb)
    robot = replace(robot_file.robot, urdf=scale_masses(robot_file.robot.urdf, heavier))
    plant = make_plant(replace(robot_file, robot=robot))
    return run_plant(plant, ControlLoop(robot_file), robot_file.start, given.duration)


def ended(summary):
    """Return when and why a walk ended, or None."""
    if summary.fell or summary.fault:
        return f'{summary.duration:.1f} s: {summary.fault or "fell"}'
    return None


def speeds(row, folder, given):
    """Return the speeds reached of `SPEEDS`, m/s."""
    found = []
    for speed in SPEEDS:
        summary = summarize(
            walk(row, folder, argparse.Namespace(**{**vars(given), 'speed': speed}))
        )
        found.append(ended(summary) or f'{summary.steady.speed:.2f}')
    return ', '.join(found)


def load_of(run):
    """Return largest force on a foot over the weight, and rms effort of the most loaded motor."""
    first, last = steady_rows(run)
    robot = run.robot
    force = run.foot_force[first:last, :, 2].max() / (summarize(run).mass * run.world.gravity)
    limits = np.array(robot.effort_limits[: len(robot.actuators)])
    effort = run.effort[first:last, : len(limits)]
    share = np.sqrt(np.mean(effort**2, axis=0)) / limits
    return f'{force:.1f}; {share.max():.2f}, {[*robot.actuators][share.argmax()]}'


def lowest_grip(row, folder, given):
    """Return the lowest friction above the first that ends the walk."""
    robot_file = load(row, folder, given, ())
    usual = robot_file.values(World).friction
    found = find_margin(
        robot_file, 'grip', 1.0 - LEAST_GRIP / usual, GRIP_STEP / usual, 1, given.duration
    )
    survived = [0.0, *(size for size, lives, _ in found.samples if lives)]
    return f'{usual * (1.0 - max(survived)):.1f}'


def highest_edge(row, folder, given):
    """Return the highest edge below the first that ends the walk, cm."""
    highest = 0.0
    for height in EDGES:
        if ended(summarize(walk(row, folder, given, disturb=[f'step_up={height:g}@1m']))):
            break
        highest = height
    return f'{100.0 * highest:.0f}'


def ends_of_all(row, folder, given):
    """Return how many walks with noise, delay and mass end, and when the first and the last do."""
    ends = []
    for seed in range(given.seeds):
        sets = [*SETS['all'], ('sensors.seed', seed)]
        summary = summarize(walk(row, folder, given, sets, heavier=HEAVIER))
        if ended(summary):
            ends.append(ended(summary))
    ends.sort(key=lambda text: float(text.split()[0]))
    return f'{len(ends)} of {given.seeds}' + ''.join(f'; {text}' for text in dict.fromkeys(ends))


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
    clocks = Clock(law.network, 'answer'), Clock(law, 'update'), Clock(loop, 'tick')
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


ALONE = {
    'tick': tick,
    'push': first_push,
    'speed': speeds,
    'grip': lowest_grip,
    'step': highest_edge,
    'all': ends_of_all,
}


def judge(row, folder, given, condition):
    """Return what stands in a cell of the table."""
    if condition in ALONE:
        return ALONE[condition](row, folder, given)
    run = walk(
        row,
        folder,
        given,
        SETS.get(condition, ()),
        [RAMP] if condition == 'ramp' else [],
        HEAVIER if condition == 'mass' else 1.0,
    )
    summary = summarize(run)
    if ended(summary):
        return ended(summary)
    if condition == 'load':
        return load_of(run)
    steady = summary.steady
    if condition == 'turn':
        return f'{steady.speed:.2f}, {steady.turn:.2f}'
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
    parser.add_argument('--drive', help='of every motor (default: as the robot file says)')
    parser.add_argument('--seeds', type=int, default=5, help='of all')
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
