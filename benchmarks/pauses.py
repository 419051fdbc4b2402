# SPDX-License-Identifier: Apache-2.0
"""Which pause in a walk ends in a fall: one walk, and a copy of it for each moment of a pause.

In the pause nobody hears the sensors. The last command stays, as ros2_control holds it; or, to see
whether that would be better, the law goes on by itself: with samples that are predicted (joints and
base go on at their rates), or in drives with stiffness along the position and velocity it last
wished. Says of each moment whether the robot still walks some time later.

    python benchmarks/pauses.py walker3d [--controller natural_walking] [--speed 0.6]
        [--pause 0.06] [--first 0.01] [--last 1.27] [--every 0.03] [--after 0.7] [--noise none]
        [--meanwhile hold predict coast] [--drive impedance]
"""

import argparse
import os
import sys

import numpy as np
import pinocchio as pin

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models import Command, Measurement
from walking_control.models.signals import whole_nanoseconds
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

MEANWHILE = 'hold', 'predict', 'coast'
LIMP = 0.015  # s without torque after the robot is let go, as in mujoco_ros2_control


class Walk:
    """A walk that is continued piece by piece.

    Args:
        robot_file: The `RobotFile`.
    """

    def __init__(self, robot_file):
        self._plant, self.loop = make_plant(robot_file), ControlLoop(robot_file)
        self._plant.reset(robot_file.start)
        self._measurement, self._told = Measurement(robot_file.robot), Measurement(robot_file.robot)
        self._command, self._limp = Command(robot_file.robot), Command(robot_file.robot)
        self._random = np.random.default_rng(0)

    def walk_to(self, end, begin=np.inf, pause=0.0, meanwhile='hold'):
        """Walk until a time, s, or a fault; nobody hears sensors in a pause, s, from its begin on.

        `meanwhile`: what the robot gets, see above.
        """
        plant, loop, measurement = self._plant, self.loop, self._measurement
        while plant.time < end and loop.fault is None:
            plant.measure(measurement)
            measurement.stamp = whole_nanoseconds(measurement.stamp)
            if not begin < plant.time <= begin + pause:
                self._answer(measurement)
            elif meanwhile == 'predict':
                self._predict()
            elif meanwhile == 'coast':
                command = self._command
                command.position += loop.period * command.velocity
                command.velocity += loop.period * loop.command.acceleration
            plant.step(self._limp if plant.time < LIMP else self._command, loop.period)

    def _answer(self, measurement):
        command = self.loop.tick(measurement)
        self._command.numbers[:], self._command.lock[:] = command.numbers, command.lock
        told = self._told
        told.stamp, told.values[:] = measurement.stamp, measurement.values
        told.locked[:] = measurement.locked

    def _predict(self):
        """Answer what would be measured now if all went on at its rate."""
        told, period = self._told, self.loop.period
        told.stamp = whole_nanoseconds(told.stamp + period)
        told.position += period * told.velocity
        turned = pin.Quaternion(told.orientation) * pin.Quaternion(
            pin.exp3(period * told.angular_velocity)
        )
        told.orientation[:] = turned.normalized().coeffs()
        # sensors that repeat themselves to the last digit are a fault
        told.values[:] += 1e-7 * self._random.normal(size=told.values.shape)
        self._answer(told)


def main():
    """Print a line for each pause, and how many ended in a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', help='name or robot file')
    parser.add_argument('--controller', default='natural_walking')
    parser.add_argument('--speed', default='0.6', help='m/s; none: the law has none')
    parser.add_argument('--pause', type=float, default=0.06, help='s')
    parser.add_argument('--first', type=float, default=0.01, help='begin of the first pause, s')
    parser.add_argument('--last', type=float, default=1.27, help='of the last, s')
    parser.add_argument('--every', type=float, default=0.03, help='between two begins, s')
    parser.add_argument('--after', type=float, default=0.7, help='walked from a begin on, s')
    parser.add_argument('--noise', default='none')
    parser.add_argument('--meanwhile', nargs='+', default=['hold'], choices=MEANWHILE)
    parser.add_argument('--drive', default='effort', help='of all motors')
    options = parser.parse_args()
    noise = [] if options.noise == 'none' else noise_overrides(options.noise)
    law = options.controller
    told = [*noise, ('controller', law)]
    if options.speed != 'none':
        told.append((f'{law}.speed', float(options.speed)))
    motors = load_robot(options.robot, told).robot.actuators
    told += [(f'robot.actuators.{motor}.drive', options.drive) for motor in motors]
    walk, fell = Walk(load_robot(options.robot, told)), dict.fromkeys(options.meanwhile, 0)
    begins = np.arange(options.first, options.last + 0.5 * options.every, options.every)
    for begin in begins:
        walk.walk_to(begin)
        for meanwhile in options.meanwhile:
            sys.stdout.flush()
            copy = os.fork()
            if not copy:
                walk.walk_to(begin + options.after, begin, options.pause, meanwhile)
                fault = walk.loop.fault
                print(f'{begin:.3f} s, {meanwhile}: {fault or "walks on"}', flush=True)
                os._exit(fault is not None)
            fell[meanwhile] += os.waitpid(copy, 0)[1] != 0
    for meanwhile, count in fell.items():
        print(f'{meanwhile}: {count} of {len(begins)} pauses ended in a fault')
    return 0


if __name__ == '__main__':
    sys.exit(main())
