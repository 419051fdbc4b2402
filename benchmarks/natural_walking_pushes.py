# SPDX-License-Identifier: Apache-2.0
"""Push natural walking from every side at every part of a step, with one size.

Run as ``python benchmarks/natural_walking_pushes.py SIZE SPEED [lab] [NAME=VALUE ...]``; SIZE in
N s/kg, ``lab`` adds the noise of a laboratory and 10 ms of delay that the law knows. 12 directions,
8 parts of a step, walker3d, or ``--robot FILE`` such as bring-up writes, in MuJoCo. A cell counts
as survived when the robot walks 20 s afterwards, or for ``--settled`` seconds (5) on its gait
without leaving it; with ``--whole`` all walk 20 s. The last line gives the energy that a push costs
at the supply beyond the mean power of the steps before it, until the walk ends: mean and worst, of
the cells that stay on their gait and of those that leave it.

``--transfer A`` adds to the law what [DS09] (5.18) does in the plane: energy of the motion across
the gait goes to the motion along it, without work. With the speed v along and the velocity r across
beyond the gait's, the force m A (r^2, -v r) comes from the pressure under the sole, within the
sole; r is taken as w times the deviation, and A in 1/m.
"""

import argparse
from contextlib import nullcontext
from functools import partial
import sys
import time
from unittest.mock import patch

import yaml

from walking_control.controllers.natural_walking import gait_tracking
from walking_control.lab.experiments.branches import Branches
from walking_control.lab.experiments.envelope import _Trial, Cell, even_grid, PRICE, Trial
from walking_control.loading import load_robot
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.sensors import noise_overrides

SETTLED = 5.0
DELAY = 0.01
FALL = 3.6  # 1/s, of walker3d


class _Pushed(_Trial):
    """A push that ends early where the robot is back on its gait."""

    whole, spell, power = False, SETTLED, 0.0

    def attempt(self, trial):
        """Return why it fell or None, when it was on its gait for good, s, if it left, extra J."""
        walk, law = self._walk, self._loop.controller
        before, truth = walk.plant.time, walk.plant.truth
        drawn = truth.electrical_energy
        plan_disturbances(walk.plant, [self.disturbance(trial.cell, trial.size)])
        self._since, left = before, []

        def settled():
            now = walk.plant.time
            if not law.on_gait:
                left.append(now)
            if not law.on_gait or now < before + 1.5 * self._step_time:
                self._since = now
            return not self.whole and now - self._since > self.spell

        walk.go(self._ticks(self.duration - before), until=settled)
        if walk.fault is not None:
            return str(walk.fault), walk.plant.time - before, True, 0.0
        stood = walk.plant.time - self._touchdowns.last
        reason = 'stands still' if stood > 4.0 * self._step_time else None
        drawn = truth.electrical_energy - drawn - self.power * (walk.plant.time - before)
        return reason, self._since - before, bool(left), drawn


def transferring(share, speed):
    """Return the law's shift of pressure with energy that goes from across the gait to along it.

    With w the rate of the fall, r = w delta is what the deviation across would be if all of it were
    velocity, and the pressure moves by -force / (m w^2).

    Args:
        share: A, 1/m.
        speed: v, m/s.
    """
    plain = gait_tracking.pressure_shift

    def shift(deviation, *given):
        across = float(deviation[1])
        moved = plain(deviation, *given)
        moved[0] -= share * across**2
        moved[1] += share * speed * across / FALL
        return moved

    return shift


def _parse():
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('size', type=float)
    parser.add_argument('speed', type=float)
    parser.add_argument('sets', nargs='*', metavar='NAME=VALUE')
    parser.add_argument('--robot', default='walker3d', help='robot file, or name of one')
    parser.add_argument('--whole', action='store_true')
    parser.add_argument('--settled', type=float, default=SETTLED, help='s on the gait')
    parser.add_argument('--directions', type=int, default=12)
    parser.add_argument('--phases', type=int, default=8)
    parser.add_argument('--cells', default='', help='DEGREES/PHASE,... these alone')
    parser.add_argument('--part', default='0/1', help='I/N: every N-th cell from the I-th on')
    parser.add_argument('--processes', type=int, default=1)
    parser.add_argument('--transfer', type=float, default=0.0, metavar='A')
    return parser.parse_args()


def main():
    """Print every cell, and what did not survive."""
    given = _parse()
    shift = transferring(given.transfer, given.speed)
    with patch.object(gait_tracking, 'pressure_shift', shift) if given.transfer else nullcontext():
        push(given)


def push(given):
    """Push as asked for."""
    lab = 'lab' in given.sets
    pairs = [
        (name, yaml.safe_load(value))
        for name, value in (pair.split('=', 1) for pair in given.sets if pair != 'lab')
    ]
    delay = [('sensors.command_delay', DELAY), ('natural_walking.delay', DELAY)] if lab else []
    robot_file = load_robot(
        given.robot,
        [
            ('controller', 'natural_walking'),
            ('natural_walking.speed', given.speed),
            *noise_overrides('lab' if lab else None),
            *delay,
            *pairs,
        ],
    )
    grid = even_grid(given.directions, given.phases)
    begun, trial = time.time(), _Pushed(robot_file, 'push', grid)
    trial.whole, trial.spell = given.whole, given.settled
    steady = trial.settle()
    known = steady[PRICE] is not None  # of motors without a winding it is not
    trial.power = (steady[PRICE] or 0.0) * steady['nominal_speed'] * robot_file.scale.mass * 9.81
    print(
        {name: value and round(value, 4) for name, value in steady.items()},
        'on the gait:',
        trial._loop.controller.on_gait,
        flush=True,
    )
    cells = [Cell(phase, direction, []) for phase in grid.phases for direction in grid.directions]
    if given.cells:
        wanted = [tuple(map(float, cell.split('/'))) for cell in given.cells.split(',')]
        cells = [
            cell for cell in cells if (round(cell.summary()['direction_deg']), cell.phase) in wanted
        ]
    first, every = map(int, given.part.split('/'))
    cells = cells[first::every]
    failed, times, extra = [], [], {True: [], False: []}  # by whether it left the gait
    tasks = ((cell, partial(trial.attempt, Trial(cell, given.size, True))) for cell in cells)
    with Branches(given.processes) as branches:
        for cell, (reason, took, left, drawn) in branches.work(tasks):
            name = f'{cell.summary()["direction_deg"]:.0f}/{cell.phase:g}'
            if reason is None:
                times.append((took, name))
                extra[left].append(drawn)
            else:
                failed.append(name)
            more = f', {drawn:.1f} J more' if known else ''
            print(f'{name}: {reason or f"{took:.1f} s{more}"}', flush=True)
    print(
        f'{given.size:g} N s/kg at {given.speed:g} m/s {" ".join(given.sets)}: survived '
        f'{len(cells) - len(failed)} of {len(cells)}, {len(extra[False])} without leaving the '
        f'gait; back on it within '
        f'{max(times, default=(0.0, ""))[0]:.1f} s ({max(times, default=(0, ""))[1]}); '
        f'{time.time() - begun:.0f} s',
        flush=True,
    )
    for left, joules in extra.items():
        if joules and known:
            name, mean = 'left' if left else 'stayed on', sum(joules) / len(joules)
            print(f'{name} its gait: {mean:.1f} J more on average, {max(joules):.1f} at most')
    sys.exit(bool(failed))


if __name__ == '__main__':
    main()
