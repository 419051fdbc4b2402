# SPDX-License-Identifier: Apache-2.0
"""Start and stop the biped in space many times, then steer it at random: does it fall?

    python benchmarks/stepping.py [--starts 50] [--soak 60] [--seed 0] [--minutes 30]

All in one run, plant mujoco. A start asks for a random velocity within the limits of the law for
2 s, a stop for none for 4 s: 0.7 s to slow down from 1 m/s, 1.5 s for 5 steps, 0.8 s to come to
rest, and 1 s at rest. The soak asks for another velocity every 1 to 4 s, a fifth of the time for
none. Exits with status 1 if the robot falls, or a stop takes more than 5 steps or does not stand
still: within 2 cm over the last second.
"""

import argparse
import sys
import time

import numpy as np

import walking_control as wc
from walking_control.simulation.sensors import noise_overrides

WALK, STOP, STILL = 2.0, 4.0, 1.0  # s
STEPS, DRIFT = 5, 0.02  # the most steps to a stand; m


class Walk:
    """One walk, steered on the way.

    Args:
        options: Of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        robot = wc.load_robot(
            options.robot, [*noise_overrides(options.noise), ('sensors.seed', options.seed)]
        )
        self.plant, self.loop = wc.make_plant(robot), wc.ControlLoop(robot)
        self.plant.reset(robot.start)
        self.law = self.loop.controller
        self._measurement = wc.Measurement(robot.robot)
        self.time = 0.0

    def go(self, duration: float, velocity: np.ndarray) -> bool:
        """Walk on; return whether nothing happened."""
        self.loop.reference.velocity = velocity
        for _ in range(round(duration / self.loop.period)):
            self.plant.measure(self._measurement)
            command = self.loop.tick(self._measurement)
            if self.loop.fault is not None:
                return False
            self.plant.step(command, self.loop.period)
            self.time += self.loop.period
        return True

    @property
    def place(self) -> np.ndarray:
        """Where the base is on the floor, m, ``(2,)``."""
        return self.plant.truth.base.position[:2].copy()


def stop(walk: Walk) -> tuple[bool, int, float, bool]:
    """Ask to stop; return whether it is up, steps, drift while standing (m), whether it stands."""
    steps = walk.law.engine.steps
    up = walk.go(STOP - STILL, np.zeros(3))
    place = walk.place
    up = up and walk.go(STILL, np.zeros(3))
    return (
        up,
        walk.law.engine.steps - steps,
        float(np.hypot(*(walk.place - place))),
        not walk.law.engine.walking,
    )


def main() -> int:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robot', default='walker3d', help='on soles, for points do not stand')
    parser.add_argument('--noise', default='lab')
    parser.add_argument('--starts', type=int, default=50)
    parser.add_argument('--soak', type=float, default=60.0, help='s')
    parser.add_argument('--seed', type=int, default=0, help="of velocities and sensors' errors")
    parser.add_argument(
        '--minutes',
        type=float,
        default=30.0,
        help='of the clock, after which no start or velocity is begun',
    )
    options = parser.parse_args()
    deadline = time.monotonic() + 60.0 * options.minutes
    random, walk = np.random.default_rng(options.seed), Walk(options)
    limits = np.array(walk.law.velocity_limits())
    stops = []
    up = walk.go(0.5, np.zeros(3))
    while up and len(stops) < options.starts and time.monotonic() < deadline:
        up = walk.go(WALK, random.uniform(-limits, limits))
        if up:
            stops.append(stop(walk))
            up = stops[-1][0]
    kept = sum(
        fine and stands and steps <= STEPS and drift < DRIFT for fine, steps, drift, stands in stops
    )
    print(f'starts and stops kept: {kept} of {options.starts}, {len(stops)} tried')
    if stops:
        print(f'most steps to a stand: {max(steps for _, steps, _, _ in stops)}')
        print(f'farthest drift while standing: {max(drift for _, _, drift, _ in stops):.4f} m')
    begun = walk.time
    while up and walk.time - begun < options.soak and time.monotonic() < deadline:
        wanted = random.uniform(-limits, limits) * (random.random() > 0.2)
        left = options.soak - (walk.time - begun)
        up = walk.go(min(random.uniform(1.0, 4.0), left + walk.loop.period), wanted)
    print(f'steered at random: {walk.time - begun:.0f} s of {options.soak:.0f} s')
    way = f'{walk.time:.0f} s, {walk.law.engine.steps} steps'
    print(f'fell: {"no" if up else walk.loop.fault.message}, after {way}')
    return 0 if up and kept == options.starts else 1


if __name__ == '__main__':
    sys.exit(main())
