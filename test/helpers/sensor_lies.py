# SPDX-License-Identifier: Apache-2.0
"""Every number of every sensor lies while a robot walks: a fault, or hardly another effort.

Beside the control loop that is lied to runs its twin, which hears the truth about the same robot;
what their efforts differ by is what the lie does. Each lie is told in a copy of the process, so
that all of them begin in the same instant of the same walk.

python test/helpers/sensor_lies.py ROBOT [--noise lab] [--share 0.1] [--at 1.9 2.0];
doc/sensor_checks.md states the limits.
"""

import argparse
import math
import os
import pickle
import sys
from typing import NamedTuple
import warnings

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement, whole_nanoseconds
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.plausibility import channels_of
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

VALUES = (1e6, 30.0, -30.0, math.nan, 1e300)
LENGTHS = (1, 20)  # messages
AFTER = 0.04  # s after the lie in which its effect counts, too
# robot: what it is told, and moments of its walk, s
WALKS = {
    'dribbel': ([], (3.0, 3.15, 3.3, 3.45)),
    'compass': ([], (1.5, 1.7, 1.9, 2.1)),
    'walker3d': ([('stepping.speed', 0.5)], (2.95, 3.03, 3.11, 3.2)),
    'walker3d_points': ([('stepping.speed', 0.5)], (2.95, 3.03, 3.11, 3.2)),
    'humanoid': ([], (2.0, 6.0, 9.0, 13.0)),
    'walker3d_point': ([], (1.0, 1.2, 1.4, 1.6)),
}


# largest change of effort at any time, and on average, of the limit: doc/sensor_checks.md
LIMITS = {'': (0.1, 0.02), 'foot': (math.inf, 0.1), 'acceleration': (0.4, 0.12)}
FAINT = {
    'dribbel': {'foot': (math.inf, 0.3)},  # 30 N are less than its contact_on
    'humanoid': {'velocity of': (0.13, 0.02)},  # lab noise: the value held is as noisy
    'walker3d': {'foot': (math.inf, 0.2)},  # a foot that seems to meet an edge is lifted over it
    'walker3d_point': dict.fromkeys(LIMITS, (math.inf, math.inf)),
}  # no motors


class Lie(NamedTuple):
    """One number of a measurement, told wrongly for some messages."""

    channel: str
    index: int
    value: float
    length: int

    def __str__(self):
        return f'{self.channel}[{self.index}] = {self.value:g} in {self.length}'


class Outcome(NamedTuple):
    """What came of a lie: code of the fault or '', largest change of effort and its mean over the
    lie and what followed, of the joint's limit, and whether the robot fell within `then` s."""

    lie: Lie
    at: float
    fault: str
    change: float
    mean: float
    fell: bool

    def __str__(self):
        return (
            f'{self.lie} at {self.at:g} s: {self.fault or "no fault"}, '
            f'effort {self.change:.3f}, mean {self.mean:.4f}{", fell" if self.fell else ""}'
        )


def all_lies(robot_file):
    """Return every `Lie` about a robot."""
    channels = channels_of(robot_file.robot, robot_file.values(SafetyParameters))
    return [
        Lie(channel.what, index, value, length)
        for channel in channels
        for index in range(channel.part.start, channel.part.stop)
        for value in VALUES
        for length in LENGTHS
    ]


class Twins:
    """A plant, the loop that drives it, and the twin that hears the truth."""

    def __init__(self, robot_file):
        self.robot_file, self.plant = robot_file, make_plant(robot_file)
        self.loop, self.honest = ControlLoop(robot_file), ControlLoop(robot_file)
        self.limits = np.array(robot_file.robot.effort_limits)
        self.truth, self.told = Measurement(robot_file.robot), Measurement(robot_file.robot)
        self.plant.reset(robot_file.start)
        self.change = 0.0

    def tick(self, lie=None):
        """Go on by a tick; with a `Lie` if there is one."""
        truth, told, plant = self.truth, self.told, self.plant
        plant.measure(truth)
        truth.stamp = told.stamp = whole_nanoseconds(truth.stamp)
        told.values[:], told.locked[:] = truth.values, truth.locked
        if lie is not None:
            told.values[lie.index] = lie.value
        command = self.loop.tick(told)
        honest = self.honest.tick(truth)
        self.change = float(np.abs((command.effort - honest.effort) / self.limits).max(initial=0.0))
        plant.step(command, self.loop.period)

    def tell(self, lie, then):
        """Lie, and return the `Outcome`."""
        at, period = self.plant.time, self.loop.period
        changes, ticks = [], lie.length + round(max(AFTER, then) / period)
        counted = lie.length + round(AFTER / period)
        for tick in range(ticks):
            self.tick(lie if tick < lie.length else None)
            if self.loop.fault is not None:
                break
            if tick < counted:
                changes.append(self.change)
        fault = self.loop.fault.code if self.loop.fault is not None else ''
        return Outcome(
            lie,
            round(at, 4),
            fault,
            max(changes, default=0.0),
            float(np.sum(changes)) / counted,
            fault == 'fall',
        )


def is_borne(robot, outcome):
    """Return whether an `Outcome` is a fault other than a fall, or within the limits."""
    limits = {**LIMITS, **FAINT.get(robot, {})}
    change, mean = limits[
        next(kind for kind in sorted(limits, reverse=True) if kind in outcome.lie.channel)
    ]
    return not outcome.fell and (
        bool(outcome.fault) or outcome.change <= change and outcome.mean <= mean
    )


def in_a_copy(function):
    """Return what a function returns in a copy of this process, which then ends."""
    read, write = os.pipe()
    with warnings.catch_warnings():  # of threads that the copy does not have, nor need
        warnings.simplefilter('ignore', DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            with os.fdopen(write, 'wb') as pipe:
                pickle.dump(function(), pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, 'rb') as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(answer)


def try_lies(robot, noise='none', moments=None, share=1.0, then=0.0, channels='', seed=0):
    """Yield the `Outcome` of each lie about a robot.

    Args:
        robot: Name of a robot of `WALKS`.
        noise: Name of its sensors' noise.
        moments: When to lie, s; None takes those of `WALKS`.
        share: Part of the lies, drawn by the seed, that are told.
        then: How long to look afterwards whether it falls, s.
        channels: Part of the names of the channels that lie.
        seed: Of the draw.
    """
    overrides, usual = WALKS[robot]
    robot_file = load_robot(robot, [*noise_overrides(noise), *overrides])
    twins, rng = Twins(robot_file), np.random.default_rng(seed)
    lies = [lie for lie in all_lies(robot_file) if channels in lie.channel]
    for moment in sorted(moments or usual):
        while twins.plant.time < moment - 0.5 * twins.loop.period:
            twins.tick()
            assert twins.loop.fault is None and twins.change == 0.0, twins.loop.fault
        for lie in lies:
            if rng.random() < share:
                yield in_a_copy(lambda: twins.tell(lie, then))


def main():
    """Print what came of the lies, the worst ones first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', choices=WALKS)
    parser.add_argument('--noise', default='none')
    parser.add_argument('--share', type=float, default=1.0)
    parser.add_argument('--at', type=float, nargs='*')
    parser.add_argument('--then', type=float, default=0.0, help='s to look afterwards')
    parser.add_argument('--channels', default='', help='only what has this in its name')
    options = parser.parse_args()
    outcomes = list(
        try_lies(
            options.robot,
            options.noise,
            options.at,
            options.share,
            options.then,
            channels=options.channels,
        )
    )
    bad = [outcome for outcome in outcomes if not is_borne(options.robot, outcome)]
    silent = sorted((o for o in outcomes if not o.fault), key=lambda o: -o.change)
    print(
        f'{options.robot} {options.noise}: {len(outcomes)} lies, '
        f'{len(outcomes) - len(silent)} faults'
    )
    for outcome in silent[:10]:
        print(' ', outcome)
    print(f'not borne: {len(bad)}')
    for outcome in bad:
        print(' ', outcome)
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main())
