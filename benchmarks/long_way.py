# SPDX-License-Identifier: Apache-2.0
"""How far odometry is off after a long way with turns, without force sensors in the feet.

walker3d walks with `stepping` and the noise of a lab over strips of 0.3 m that are up to 5 mm
higher or lower: curves to both sides, 24 m out, then a turn about to the left, and so on. Turns are
commanded over time, so that what the odometry says does not change the way.

Run: python benchmarks/long_way.py [seconds=128] [speed=0.8] [seed=5] [forces=motors]
"""

import math
import sys

import numpy as np
import pinocchio as pin
from walking_envelope import tiled

import walking_control as wc
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.sensors import noise_overrides

STRIPS, ROUGH = 110, 0.005  # how many; m
OUT, TURN, CURVE = 24.0, 0.3, 12.0  # m; rad/s; s of a curve to both sides
START, SHOWN = 2.0, 5.0  # s until it walks; between two lines


def command(speed, time):
    """Return velocity ahead, to the left and of turning at a time."""
    out = OUT / speed
    within = time % (out + math.pi / TURN)
    turn = TURN * math.sin(math.tau * within / CURVE) if within < out else TURN
    return np.array([speed * min(time / START, 1.0), 0.0, turn * (time > START)])


def walk(seconds, speed, seed, forces):
    """Walk and print every few seconds what the odometry is off by; return the fault."""
    settings = [*noise_overrides('lab'), ('sensors.seed', seed), ('robot.foot_forces', forces)]
    robot_file = wc.load_robot('walker3d', [*settings, ('controller', 'stepping')])
    loop, plant = wc.ControlLoop(robot_file), wc.make_plant(robot_file)
    heights = ROUGH * np.random.default_rng((seed, 7)).uniform(-1.0, 1.0, STRIPS)
    heights[[0, -1]] = 0.0
    plan_disturbances(plant, tiled(np.append(0.0, heights)))
    ticks, begun, squares = round(seconds / loop.period), [], []

    def lead(measurement):
        loop.reference.velocity = command(speed, measurement.stamp)

    def look():
        true, base = plant.truth.q, loop.state.base
        if not begun:
            begun.extend((true[:3].copy(), base.position.copy(), 0.0, true[:2].copy(), 0))
            return False
        begun[4] += 1
        if begun[4] % 250 == 0:
            begun[2] += math.dist(true[:2], begun[3])
            begun[3] = true[:2].copy()
            off = (base.position - begun[1] - true[:3] + begun[0])[:2]
            turned = pin.log3(base.rotation @ pin.Quaternion(true[3:7]).matrix().T)[2]
            known = loop.state.covariance
            squares.append(
                (off @ np.linalg.solve(known[6:8, 6:8], off) / 2.0, turned**2 / known[2, 2])
            )
            if round(begun[4] * loop.period / SHOWN, 6).is_integer():
                place, heading = np.mean(squares, axis=0)
                print(
                    f'{begun[4] * loop.period:.0f} s, {begun[2]:.1f} m: off {np.hypot(*off):.2f} m,'
                    f' {math.degrees(turned):.1f} degrees; NEES so far {place:.2f} and'
                    f' {heading:.2f}',
                    flush=True,
                )
        return False

    march = wc.Walk(plant, loop, robot_file.start, ticks, lead)
    march.go(ticks, until=look)
    return loop.fault


def main(words):
    """Walk a long way."""
    given = {'seconds': 128.0, 'speed': 0.8, 'seed': 5, 'forces': 'motors'}
    told = dict(word.split('=', 1) for word in words)
    given |= {name: type(given[name])(value) for name, value in told.items()}
    fault = walk(**given)
    print(f'fault {fault and fault.code}')


if __name__ == '__main__':
    main(sys.argv[1:])
