# SPDX-License-Identifier: Apache-2.0
"""The largest numbers that sensors say in walks, beside the bounds of safety; see doc/safety.md.

python benchmarks/sensor_extremes.py [--duration S] [ROBOT ...]
"""

import argparse

import numpy as np

from walking_control.loading import load_robot
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.plausibility import channels_of, MEMORY, rotation_between
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

PUSHED = [('stepping.speed', 0.5)], ['push=1.2@8']
# robot, controller, plant, overrides, disturbances
WALKS = [
    ('dribbel', None, None, [], []),
    ('dribbel', None, 'rigid', [], []),
    ('dribbel', 'curve_tracking', None, [], []),
    ('compass', None, None, [], []),
    ('compass', 'curve_tracking', None, [], []),
    ('walker3d', None, None, [], []),
    ('walker3d', None, None, *PUSHED),
    ('walker3d_points', None, None, [], []),
    ('walker3d_points', None, None, *PUSHED),
    ('humanoid', None, None, [], []),
    ('walker3d_point', None, None, [], []),
]


class Extremes:
    """Listens to a walk.

    Args:
        robot_file: The `RobotFile`.
    """

    def __init__(self, robot_file):
        self.robot, self.last, self.most = robot_file.robot, None, {}
        self.n = len(self.robot.joints)
        self.sizes = np.array(self.robot.effort_limits)

    def note(self, what, values):
        """Keep the largest magnitude of some numbers."""
        largest = float(np.abs(values).max(initial=0.0))
        self.most[what] = max(self.most.get(what, 0.0), largest)

    def __call__(self, measurement, command, reference):
        """Take one tick."""
        n, now, stamp = self.n, measurement.values.copy(), measurement.stamp
        parts = {
            'velocity': now[n : 2 * n],
            'gyroscope': measurement.angular_velocity,
            'specific force': measurement.linear_acceleration,
            'foot force': measurement.foot_force,
        }
        for what, values in parts.items():
            self.note(what, values)
        for lock, engaged in zip(self.robot.locks, measurement.locked):
            if engaged:
                self.note('lock off', now[self.robot.joint_index(lock.joint)] - lock.angle)
        if self.last is None:
            self.drift, self.turned = np.zeros(n), np.zeros(3)
        elif stamp > self.last[0]:
            self.compare(now, stamp - self.last[0], command.effort)
        self.last = stamp, now, command.effort.copy()

    def compare(self, now, age, effort):
        """Compare one tick with the one before."""
        n, (_, before, effort_before), kept = self.n, self.last, np.exp(-age / MEMORY)
        imu, gyro = slice(2 * n, 2 * n + 4), slice(2 * n + 4, 2 * n + 7)
        self.note('change of velocity', now[n : 2 * n] - before[n : 2 * n])
        self.note('change of gyroscope', now[gyro] - before[gyro])
        self.note('change of effort, of its limit', (effort - effort_before) / self.sizes)
        self.drift = (
            kept * self.drift
            + 0.5 * age * (now[n : 2 * n] + before[n : 2 * n])
            - (now[:n] - before[:n])
        )
        self.turned = (
            kept * self.turned
            + 0.5 * age * (now[gyro] + before[gyro])
            - rotation_between(before[imu], now[imu])
        )
        self.note('velocity against position', self.drift)
        self.note('gyroscope against orientation', self.turned)


def main():
    """Walk and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robots', nargs='*')
    parser.add_argument('--duration', type=float, default=10.0, help='s of each walk')
    options = parser.parse_args()
    for robot, controller, plant, overrides, disturb in WALKS:
        for noise in ('none', 'lab', 'rough'):
            if options.robots and robot not in options.robots:
                continue
            robot_file = load_robot(robot, [*noise_overrides(noise), *overrides])
            extremes = Extremes(robot_file)
            run = simulate(
                robot_file, controller, plant, options.duration, disturb, listen=extremes
            )
            print(
                f'{robot} {controller or ""} {plant or ""} {noise} {" ".join(disturb)}: '
                f'{run.time[-1]:.1f} s, {run.fault or "no fault"}'
            )
            safety = robot_file.values(SafetyParameters)
            bounds = {
                channel.beyond: channel.upper for channel in channels_of(robot_file.robot, safety)
            }
            for what, value in extremes.most.items():
                print(f'  {what:32} {value:.3g}')
            print('  bounds: ' + ', '.join(f'{code} {most:.3g}' for code, most in bounds.items()))


if __name__ == '__main__':
    main()
