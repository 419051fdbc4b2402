# SPDX-License-Identifier: Apache-2.0
"""Healthy walks, and how often a sensor is called a liar there.

    python benchmarks/false_names.py [--robots walker3d] [--walks flat stairs ...] [--seeds 2]
        [--first 1] [--duration 10] [--noise lab]

Walker3d in MuJoCo with natural_walking and stepping: on the level floor, ramps, strips, tiles and
stairs, on ice, and pushed. Other robots walk in the plant of their file, planar ones pushed ahead
or back. What a check says is noted and changes nothing, so that one walk tells of each check. A
fault that says a sensor lies is a false name; those of the last second before a fall stand apart.
Names of one code within a second are one.
"""

import argparse
from contextlib import nullcontext
from itertools import product
import math
import re
from typing import NamedTuple
from unittest.mock import patch

from natural_walking import edges, leaning

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.safety.faults import FALL
from walking_control.safety.supervisor import Supervisor
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

NAMES = (
    'accelerometer',
    'contradiction',
    'foot_force',
    'gyroscope',
    'imu_frozen',
    'imu_gravity',
    'jump',
    'orientation',
    'stuck_contact',
)
BEFORE = 1.0  # s before a fall, and between two names
SLOW, FAST = 0.5, 0.8  # m/s
PUSHES = 0.2, 0.5, 0.8, 2.0  # N s/kg


class Walk(NamedTuple):
    """A walk.

    Attributes:
        words: Disturbances for a seed.
        lean: Of the floor across, rad.
        sets: Values of the robot file beside those of all walks.
    """

    words: object = lambda seed: []
    lean: float = 0.0
    sets: tuple = ()


def _ramp(degrees):
    return Walk(lambda seed: [f'slope_change={-math.radians(degrees):.6f}@0.6m'])


def _edges(kind, height):
    return Walk(lambda seed: edges(kind, height, seed))


def _pushes(size):
    """Return pushes every two seconds, each from another side."""
    return Walk(
        lambda seed: [
            f'push={size}@{when}s:direction={(137 * (when + 7 * seed)) % 360}'
            for when in range(2, 20, 2)
        ]
    )


def _ahead_or_back(direction):
    return f'direction={0 if math.cos(math.radians(int(direction[1]))) > 0.0 else 180}'


WALKS = {
    'flat': Walk(),
    **{f'ramp {degrees:+d}': _ramp(degrees) for degrees in (-8, -5, 5, 8)},
    'cross 5': Walk(lambda seed: ['step_up=0.0000001@1'], math.radians(5.0)),
    **{f'strips {100 * h:g} cm': _edges('strips', h) for h in (0.02, 0.05)},
    'tiles 3 cm': _edges('tiles', 0.03),
    **{f'stairs {100 * h:g} cm': _edges('stairs', h) for h in (0.03, 0.05)},
    'ice': Walk(sets=(('world.friction', 0.3),)),
    **{f'pushes {size:g}': _pushes(size) for size in PUSHES},
}
# robot: law: speeds, m/s; None: as the robot file has it
ROBOTS = {
    'walker3d': {'natural_walking': (SLOW, FAST), 'stepping': (0.3,)},
    'walker3d_built': {'natural_walking': (SLOW,)},
    'dribbel': {'hip_switching': (None,)},
    'humanoid': {'static_torque': (None,)},
}


def listen(walk, law, speed, seed, duration, noise='lab', robot='walker3d'):
    """Return for how long a robot walked, s, names, and whether it fell.

    A name: stamp, code, words, and whether it stood within `BEFORE` of a fall.

    Args:
        walk: The `Walk`.
        law: Name of the controller.
        speed: m/s; None: that of the robot file.
        seed: Of floor and sensors.
        duration: s.
        noise: Of the sensors.
        robot: Its name.
    """
    heard, catch = [], Supervisor.latch

    def latch(supervisor, code, message, stamp, stands=None):
        if code in NAMES:
            heard.append((stamp, code, message))
        else:
            catch(supervisor, code, message, stamp, stands)

    sets = [('sensors.seed', seed), *noise_overrides(noise), *walk.sets]
    if speed is not None:
        sets.append((f'{law}.speed', speed))
    robot_file = load_robot(robot, sets, controller=law)
    with (
        patch.object(Supervisor, 'latch', latch),
        leaning(walk.lean) if walk.lean else nullcontext(),
    ):
        plant = make_plant(robot_file)
        words = walk.words(seed)
        if robot_file.robot.is_planar:
            words = [re.sub(r'direction=(\d+)', _ahead_or_back, word) for word in words]
        plan_disturbances(plant, words)
        run = run_plant(plant, ControlLoop(robot_file), robot_file.start, duration)
    fell = run.fault is not None and run.fault.code == FALL
    end = run.time[-1] - (BEFORE if fell else 0.0)
    names, last = [], {}
    for stamp, code, words in heard:
        if stamp - last.get(code, -math.inf) > BEFORE:
            names.append((stamp, code, words, stamp > end))
        last[code] = stamp
    return max(end, 0.0), names, fell


def main():
    """Print a row for each walk."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--walks', nargs='+', default=[*WALKS], choices=[*WALKS])
    parser.add_argument('--robots', nargs='+', default=['walker3d'], choices=[*ROBOTS])
    parser.add_argument('--laws', nargs='+', help='all that the robot has unless told')
    parser.add_argument('--speeds', nargs='+', type=float, help='of each law')
    parser.add_argument('--seeds', type=int, default=2)
    parser.add_argument('--first', type=int, default=1, help='seed')
    parser.add_argument('--duration', type=float, default=10.0)
    parser.add_argument('--noise', default='lab')
    options = parser.parse_args()
    print('| robot | walk | law | walked, s | falls | false names | before a fall |')
    print('|---|---|---|---|---|---|---|')
    total, count = 0.0, 0
    for robot, name in product(options.robots, options.walks):
        for law in options.laws or ROBOTS[robot]:
            rows = [
                listen(WALKS[name], law, speed, seed, options.duration, options.noise, robot)
                for speed in options.speeds or ROBOTS[robot][law]
                for seed in range(options.first, options.first + options.seeds)
            ]
            walked, names = sum(row[0] for row in rows), [each for row in rows for each in row[1]]
            early = sum(not falling for *_, falling in names)
            total, count = total + walked, count + early
            falls = sum(row[2] for row in rows)
            print(
                f'| {robot} | {name} | {law} | {walked:.0f} | {falls} | {early} '
                f'| {len(names) - early} |',
                flush=True,
            )
            for stamp, code, words, falling in names:
                when = ', before a fall' if falling else ''
                print(f'  {stamp:.2f} s{when}: {code}: {words}', flush=True)
    print(
        f'{count} false names in {total:.0f} s of walking: {3600.0 * count / total:.1f} in an hour'
    )


if __name__ == '__main__':
    main()
