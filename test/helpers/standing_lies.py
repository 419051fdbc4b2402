# SPDX-License-Identifier: Apache-2.0
"""Forty lies that a sensor tells from a moment on while a robot stands or walks.

Beside the control loop that is lied to runs its twin, which hears the truth about the same robot.
A lie is named rightly when a fault says the sensor that lies before the efforts of the two differ
by more than a share of a joint's limit. Before it walks somebody sways the robot by hand, and
``check --live`` judges what the same lie makes of that: what it names never comes to an effort.

python test/helpers/standing_lies.py ROBOT [--noise lab] [--at 1.0] [--seconds 3] [--only WORD]
    [--swing: that alone]
"""

import argparse
from collections import deque
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from sensor_lies import in_a_copy, Twins
from swung import swung

from walking_control.loading import load_robot
from walking_control.models.signals import Measurement, whole_nanoseconds
from walking_control.ros.ros2_control.live import judge_record, LiveRecord, RECORDED
from walking_control.simulation.sensors import noise_overrides

G = 9.81
SHARE = 0.3  # of a joint's limit
LATE = 0.05  # s
# robot: what it is told, and when it begins to be lied to, s
WALKS = {
    'walker3d': ([('controller', 'natural_walking'), ('natural_walking.speed', 0.6)], 2.0),
    'dribbel': ([], 2.0),
    'humanoid': ([], 2.0),
}


def turned_imu(matrix):
    """Return what mounts the IMU otherwise: its axes from those it should have."""

    def spoil(m, past):
        x, y, z, w = m.orientation
        r = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        m.orientation[:] = pin.Quaternion(matrix @ r @ matrix.T).coeffs()
        m.angular_velocity[:] = matrix @ m.angular_velocity
        m.linear_acceleration[:] = matrix @ m.linear_acceleration

    return spoil


def scaled(part, factors):
    """Return what multiplies a part of a measurement."""

    def spoil(m, past):
        getattr(m, part)[:] *= np.asarray(factors)

    return spoil


def offset(part, values):
    """Return what adds to a part of a measurement."""

    def spoil(m, past):
        getattr(m, part)[:] += np.asarray(values)

    return spoil


def swapped(part, i, j):
    """Return what swaps two numbers, or rows, of a part."""

    def spoil(m, past):
        values = getattr(m, part)
        values[[i, j]] = values[[j, i]]

    return spoil


def late(*parts):
    """Return what tells parts as they were `LATE` ago."""

    def spoil(m, past):
        old = next((row for row in past if row.stamp >= m.stamp - LATE - 1e-6), past[0])
        for part in parts:
            getattr(m, part)[:] = getattr(old, part)

    return spoil


def frozen(*parts, index=slice(None)):
    """Return what repeats parts as they were when the lie began."""

    def spoil(m, past):
        for part in parts:
            getattr(m, part)[index] = getattr(past[-1].first, part)[index]

    return spoil


class Past(NamedTuple):
    """What was true."""

    stamp: float
    position: np.ndarray
    velocity: np.ndarray
    orientation: np.ndarray
    angular_velocity: np.ndarray
    linear_acceleration: np.ndarray
    foot_force: np.ndarray
    first: object


PARTS = Past._fields[1:-1]
IMU = ('orientation', 'angular_velocity', 'linear_acceleration')


def kept(m, first):
    """Return the truth to remember."""
    return Past(m.stamp, *(getattr(m, part).copy() for part in PARTS), first)


def lies_about(robot):
    """Return name -> (what lies, words of which one must stand in the fault)."""
    n, joints = len(robot.joints), robot.joints
    acc, gyro, imu = 'linear_acceleration', 'angular_velocity', 'orientation'
    says = {'a': ('acceler', 'specific force'), 'g': ('gyroscope',), 'o': ('orientation', 'quat')}
    first = next((i for i, j in enumerate(joints) if 'hip_roll' in j or j == 'hip'), 0)
    knee = next(i for i, j in enumerate(joints) if 'knee' in j)
    free = robot.is_free
    e_first, e_knee = np.eye(n)[first], np.eye(n)[knee]
    rows = {
        'acc in g': (scaled(acc, 1 / G), 'a'),
        'acc free of gravity': (lambda m, past: subtract_gravity(m), 'a'),
        'acc z inverted': (scaled(acc, (1, 1, -1)), 'a'),
        'acc x inverted': (scaled(acc, (-1, 1, 1)), 'a'),
        'acc all inverted': (scaled(acc, -1), 'a'),
        'acc x and z swapped': (swapped(acc, 0, 2), 'a'),
        'acc x offset 5': (offset(acc, (5, 0, 0)), 'a'),
        'acc z gain 2': (scaled(acc, (1, 1, 2)), 'a'),
        'acc frozen': (frozen(acc), 'a'),
        'acc late': (late(acc), 'a'),
        'acc x dead': (scaled(acc, (0, 1, 1)), 'a'),
        'gyro y dead': (scaled(gyro, (1, 0, 1)), 'g'),
        'gyro y inverted': (scaled(gyro, (1, -1, 1)), 'g'),
        'gyro in degrees': (scaled(gyro, 180 / math.pi), 'g'),
        'gyro frozen': (frozen(gyro), 'g'),
        'gyro y gain 3': (scaled(gyro, (1, 3, 1)), 'g'),
        'gyro y offset 0.5': (offset(gyro, (0, 0.5, 0)), 'g'),
        'gyro late': (late(gyro), 'g'),
        'gyro y and z swapped': (swapped(gyro, 1, 2), 'g'),
        'orientation inverse': (scaled(imu, (-1, -1, -1, 1)), 'o'),
        'orientation wxyz': (lambda m, past: roll(m.orientation), 'o'),
        'orientation frozen': (frozen(imu), 'o'),
        'orientation late': (late(imu), 'o'),
        'IMU turned 180 z': (turned_imu(np.diag((-1.0, -1.0, 1.0))), 'i'),
        'IMU turned 180 x': (turned_imu(np.diag((1.0, -1.0, -1.0))), 'i'),
        'IMU late': (late(*IMU), 'i'),
        'IMU frozen': (frozen(*IMU), 'i'),
        f'{joints[first]} frozen': (frozen('position', 'velocity', index=first), joints[first]),
        f'{joints[first]} inverted': (both(1 - 2 * e_first), joints[first]),
        f'{joints[knee]} inverted': (both(1 - 2 * e_knee), joints[knee]),
        f'{joints[knee]} in degrees': (both(1 + (180 / math.pi - 1) * e_knee), joints[knee]),
        f'{joints[knee]} velocity inverted': (scaled('velocity', 1 - 2 * e_knee), joints[knee]),
        f'{joints[first]} velocity dead': (scaled('velocity', 1 - e_first), joints[first]),
        f'{joints[knee]} offset -0.3': (offset('position', -0.3 * e_knee), joints[knee]),
        'encoders late': (late('position', 'velocity'), 'e'),
        'feet swapped': (swapped('foot_force', 0, 1), 'f'),
        'feet frozen': (frozen('foot_force'), 'f'),
        'first foot frozen': (frozen('foot_force', index=0), 'f0'),
        'first foot inverted': (scaled('foot_force', [[-1] * 3] + [[1] * 3]), 'f0'),
        'first foot dead': (scaled('foot_force', [[0] * 3] + [[1] * 3]), 'f0'),
    }
    if free:
        rows['acc x and y swapped'] = (swapped(acc, 0, 1), 'a')
        rows['gyro x inverted'] = (scaled(gyro, (-1, 1, 1)), 'g')
        rows['gyro x dead'] = (scaled(gyro, (0, 1, 1)), 'g')
        for name in ('acc x and z swapped', 'gyro y offset 0.5', 'acc all inverted'):
            del rows[name]
    says.update(
        i=('imu', 'IMU'),
        e=('encoder', 'joint'),
        f=('foot', 'feet', 'contact'),
        f0=(robot.feet[0], 'foot', 'contact'),
    )
    return {name: (spoil, says.get(who, (who,))) for name, (spoil, who) in rows.items()}


def judge_swung(robot_file, spoil, says, rows):
    """Return what `check --live` says of a robot that is swayed, and whether it names who lies."""
    record, past, first = LiveRecord(), deque(maxlen=1000), None
    for truth in rows:
        m = Measurement(robot_file.robot)
        m.stamp, m.values[:] = truth.stamp, truth.values
        row = kept(truth, first)
        first = first or row
        past.append(row._replace(first=first))
        spoil(m, past)
        record.time.append(m.stamp)
        for name in RECORDED:
            getattr(record, name).append(getattr(m, name))
    problems = judge_record(robot_file, record)[0]
    # what is said to be wrong, not what it is compared with; an IMU is more than one of its parts
    named = [
        f'{problem.what} {problem.remedy if problem.what.startswith("sole") else ""}'.replace(
            'angular velocity', 'gyroscope'
        )
        for problem in problems
    ]
    words = [word for word in says if word != 'IMU']
    whole = 'imu' in says and bool(named) and all(each.startswith('IMU ') for each in named)
    return '; '.join(map(str, problems)), whole or bool(named) and all(
        any(word in each for word in words) for each in named
    )


def both(factors):
    """Return what multiplies positions and velocities."""

    def spoil(m, past):
        m.position[:] *= factors
        m.velocity[:] *= factors

    return spoil


def roll(orientation):
    """Write a quaternion with w first."""
    orientation[:] = np.roll(orientation, 1)


def subtract_gravity(m):
    """Tell the acceleration without gravity."""
    x, y, z, w = m.orientation
    up = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
    m.linear_acceleration[:] -= G * up


class Outcome(NamedTuple):
    """What came of a lie."""

    lie: str
    after: float  # s from the lie to the fault, nan: none
    code: str
    words: str
    passed: float  # s from the lie until the efforts differed by more than `SHARE`
    right: bool
    swung: str = ''  # what `check --live` said before the walk
    before: bool = False  # whether that named it rightly

    @property
    def walking(self):
        """Whether it was named rightly and in time while the robot stood or walked."""
        return self.right and not self.after > self.passed + 1e-9

    @property
    def good(self):
        """Whether it was named rightly before the efforts differed."""
        return self.before or self.walking

    def __str__(self):
        when = 'no fault' if math.isnan(self.after) else f'{self.after:.3f} s'
        verdict = 'right' if self.right else 'wrong' if self.code else 'unnamed'
        late = f' effort passed at {self.passed:.3f} s' if math.isfinite(self.passed) else ''
        by = ' and '.join(
            name for name, named in (('swayed', self.before), ('walking', self.walking)) if named
        )
        swayed = f' | swayed: {self.swung[:90]}' if self.swung else ''
        return (
            f'{self.lie:28s} by {by or "nobody":18s} {verdict:8s}{when:10s}{late} {self.code}: '
            f'{self.words[:90]}{swayed}'
        )


def tell(twins, spoil, says, seconds, lie='', before=()):
    """Lie from now on; return the `Outcome`.

    A warning that names the sensor counts: a foot that is dead is borne, and said.
    """
    begin, passed, past = twins.plant.time, math.inf, deque(before, maxlen=1000)
    first, loop, warned, when = None, twins.loop, '', math.nan
    known = {'gyroscope': 'gyroscope', 'accelerometer': 'acceler', 'orientation': 'orientation'}
    while twins.plant.time < begin + seconds and loop.fault is None:
        truth, told = twins.truth, twins.told
        twins.plant.measure(truth)
        truth.stamp = told.stamp = whole_nanoseconds(truth.stamp)
        told.values[:], told.locked[:] = truth.values, truth.locked
        row = kept(truth, first)
        first = first or row
        past.append(row._replace(first=first))
        spoil(told, past)
        command, honest = loop.tick(told), twins.honest.tick(truth)
        change = float(np.abs((command.effort - honest.effort) / twins.limits).max(initial=0.0))
        if change > SHARE and loop.fault is None:
            passed = min(passed, twins.plant.time - begin)
        warning = loop.supervisor.warning
        if not warned and any(word in warning for word in says):
            warned, when = warning, twins.plant.time - begin
        twins.plant.step(command, loop.period)
    if warned and (loop.fault is None or loop.fault.code == 'fall'):
        return Outcome(lie, when, 'warning', warned, passed, True)
    if loop.fault is None:
        return Outcome(lie, math.nan, '', '', passed, False)
    code, words = loop.fault.code, loop.fault.message
    text = f'{known.get(code, code)} {words}'
    right = code != 'fall' and any(word in text for word in says)
    return Outcome(lie, twins.plant.time - begin, code, words, passed, right)


def try_standing_lies(robot, noise='lab', at=None, seconds=3.0, only=''):
    """Yield the `Outcome` of each standing lie about a robot.

    Args:
        robot: Name of a robot of `WALKS`.
        noise: Name of its sensors' noise.
        at: When to begin, s; None takes that of `WALKS`.
        seconds: For how long.
        only: Part of the names of the lies that are told.
    """
    overrides, usual = WALKS[robot]
    robot_file = load_robot(robot, [*noise_overrides(noise), *overrides])
    twins, past = Twins(robot_file), deque(maxlen=1000)
    while twins.plant.time < (usual if at is None else at) - 0.5 * twins.loop.period:
        twins.tick()
        past.append(kept(twins.truth, None))
        assert twins.loop.fault is None, twins.loop.fault
    rows = swung(robot_file, noise)
    for lie, (spoil, says) in lies_about(robot_file.robot).items():
        if only in lie:
            outcome = in_a_copy(lambda: tell(twins, spoil, says, seconds, lie, past))
            swayed, before = judge_swung(robot_file, spoil, says, rows)
            yield outcome._replace(swung=swayed, before=before)


def try_swung_lies(robot, noise='lab', only='', seed=0):
    """Yield each lie, what `check --live` says of it, and whether that is right.

    Args:
        robot: Name of a robot of `WALKS`.
        noise: Name of its sensors' noise.
        only: Part of the names of the lies that are told.
        seed: Of the noise.
    """
    robot_file = load_robot(robot)
    rows = swung(robot_file, noise, seed)
    yield 'nothing', judge_swung(robot_file, lambda m, past: None, (), rows)[0], False
    for lie, (spoil, says) in lies_about(robot_file.robot).items():
        if only in lie:
            yield lie, *judge_swung(robot_file, spoil, says, rows)


def main():
    """Print what came of each lie, and how many were named rightly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', choices=WALKS)
    parser.add_argument('--noise', default='lab')
    parser.add_argument('--at', type=float)
    parser.add_argument('--seconds', type=float, default=3.0)
    parser.add_argument('--only', default='')
    parser.add_argument('--swing', action='store_true')
    options = parser.parse_args()
    if options.swing:
        for lie, words, right in try_swung_lies(options.robot, options.noise, options.only):
            print(f'{lie:28s} {"right" if right else "-":6s} {words[:200]}', flush=True)
        return
    rows = []
    for row in try_standing_lies(
        options.robot, options.noise, options.at, options.seconds, options.only
    ):
        rows.append(row)
        print(row, flush=True)
    right = sum(row.right for row in rows)
    named = sum(bool(row.code) for row in rows)
    print(
        f'{options.robot} {options.noise}: {len(rows)} lies, {right} named rightly '
        f'while it walks ({sum(row.walking for row in rows)} before the effort passed {SHARE:g}), '
        f'{named - right} otherwise, {len(rows) - named} unnamed; '
        f'{sum(row.before for row in rows)} by being swayed before; '
        f'{sum(row.good for row in rows)} by either in time'
    )


if __name__ == '__main__':
    main()
