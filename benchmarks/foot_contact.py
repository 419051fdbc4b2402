# SPDX-License-Identifier: Apache-2.0
"""How often contacts are right that motors and IMU tell, and how late touchdowns are.

A robot walks without force sensors in its feet, with the noise of a lab, drives that rub by a share
of their largest effort and a body that is heavier, neither of which the law and its observer know.
Right is what the plant says: a foot touches that bears more than a hundredth of the weight. A
touchdown is one after at least 50 ms in the air; it is late or early by the time to the first tick
of contact that the estimator tells, within 50 ms before it and until the foot leaves.

Run: python benchmarks/foot_contact.py [ROBOT] [speed=0.5] [seconds=10] [seed=1] [friction=0.05]
[mass=0.05] [forces=motors] [law=LAW]
"""

from dataclasses import replace
import sys

import numpy as np

import walking_control as wc
from walking_control.models.actuators import JointFriction
from walking_control.models.urdf import scale_masses
from walking_control.simulation.sensors import noise_overrides

AIR, IN_TIME = 0.05, 0.008  # s
BEGIN = 1.0  # s: until it walks


def walk(robot, speed, seconds, seed, friction, mass, forces, law=None):
    """Return period, true and estimated contacts ``(T, n_feet)``, and the fault of a walk."""
    settings = [*noise_overrides('lab'), ('robot.foot_forces', forces), ('sensors.seed', seed)]
    known = wc.load_robot(robot, settings)
    body = known.robot
    rubs = {
        joint: JointFriction(0.0, friction * body.limits[joint].effort) for joint in body.actuators
    }
    real = replace(
        known,
        robot=replace(body, urdf=scale_masses(body.urdf, 1.0 + mass), friction=rubs),
    )
    loop, plant, true, told = wc.ControlLoop(known, law), wc.make_plant(real), [], []
    loop.reference.velocity = np.array([speed, 0.0, 0.0])
    least = 0.01 * known.scale.mass * 9.81

    def look():
        true.append(np.linalg.norm(plant.truth.foot_force, axis=1) > least)
        told.append(loop.state.contact.copy())
        return False

    ticks = round(seconds / loop.period)
    walk = wc.Walk(plant, loop, known.start, ticks)
    walk.go(ticks, until=look)
    return loop.period, np.array(true), np.array(told), walk.fault


def delays(true, told, period):
    """Return by how much the touchdowns of one foot are told late, s; inf: never."""
    air, ticks = 0, round(AIR / period)
    found = []
    for tick in range(1, len(true)):
        air = 0 if true[tick - 1] else air + 1
        if true[tick] and not true[tick - 1] and air >= ticks and tick * period > BEGIN:
            left = np.flatnonzero(~true[tick:])
            end = tick + (int(left[0]) if len(left) else len(true) - tick)
            begin = tick - ticks + (np.flatnonzero(~told[tick - ticks : tick])[-1:] + 1)
            first = int(begin[0]) if len(begin) else tick - ticks
            seen = np.flatnonzero(told[first:end])
            found.append(period * (first + int(seen[0]) - tick) if len(seen) else np.inf)
    return found


def main(words):
    """Walk and print what came of it."""
    given = {'speed': 0.5, 'seconds': 10.0, 'seed': 1, 'friction': 0.05, 'mass': 0.05}
    told = dict(word.split('=', 1) for word in words if '=' in word)
    names = [word for word in words if '=' not in word]
    how = {'forces': told.pop('forces', 'motors'), 'law': told.pop('law', None)}
    given |= {name: type(given[name])(value) for name, value in told.items()}
    period, true, known, fault = walk(names[0] if names else 'walker3d', **how, **given)
    rows = slice(round(BEGIN / period), None)
    late = np.array(sum((delays(*feet, period) for feet in zip(true.T, known.T)), []))
    print(
        f'contact right in {100.0 * np.mean((true == known)[rows]):.1f} % of ticks and feet; '
        f'{np.mean(np.abs(late) <= IN_TIME + 1e-9):.0%} of {len(late)} touchdowns within 8 ms, '
        f'median {1e3 * np.median(late):.0f} ms late; fault {fault and fault.code}'
    )


if __name__ == '__main__':
    main(sys.argv[1:])
