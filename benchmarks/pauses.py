# SPDX-License-Identifier: Apache-2.0
"""Which pause in a walk ends in a fall: one walk, and a copy of it for each moment of a pause.

In the pause nobody answers the sensors, and the last command stays, as ros2_control holds it. Says
of each moment whether the robot still walks some time later.

    python benchmarks/pauses.py walker3d [--controller natural_walking] [--speed 0.6]
        [--pause 0.06] [--first 0.01] [--last 1.27] [--every 0.03] [--after 0.7] [--noise none]
"""

import argparse
import os
import sys

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models import Command, Measurement
from walking_control.models.signals import whole_nanoseconds
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

LIMP = 0.015  # s without torque after the robot is let go, as in mujoco_ros2_control


class Walk:
    """A walk that is continued piece by piece.

    Args:
        robot_file: The `RobotFile`.
    """

    def __init__(self, robot_file):
        self._plant, self.loop = make_plant(robot_file), ControlLoop(robot_file)
        self._plant.reset(robot_file.start)
        self._measurement, self._command = Measurement(robot_file.robot), None
        self._limp = Command(robot_file.robot)

    def walk_to(self, end, begin=np.inf, pause=0.0):
        """Walk until a time, s, or a fault; nobody answers in a pause, s, from its begin on."""
        plant, loop, measurement = self._plant, self.loop, self._measurement
        while plant.time < end and loop.fault is None:
            plant.measure(measurement)
            measurement.stamp = whole_nanoseconds(measurement.stamp)
            if not begin < plant.time <= begin + pause:
                self._command = loop.tick(measurement)
            plant.step(self._limp if plant.time < LIMP else self._command, loop.period)


def main():
    """Print a line for each pause; return how many ended in a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', help='name or robot file')
    parser.add_argument('--controller', default='natural_walking')
    parser.add_argument('--speed', type=float, default=0.6, help='m/s')
    parser.add_argument('--pause', type=float, default=0.06, help='s')
    parser.add_argument('--first', type=float, default=0.01, help='begin of the first pause, s')
    parser.add_argument('--last', type=float, default=1.27, help='of the last, s')
    parser.add_argument('--every', type=float, default=0.03, help='between two begins, s')
    parser.add_argument('--after', type=float, default=0.7, help='walked from a begin on, s')
    parser.add_argument('--noise', default='none')
    options = parser.parse_args()
    noise = [] if options.noise == 'none' else noise_overrides(options.noise)
    law = options.controller
    told = [('controller', law), (f'{law}.speed', options.speed)]
    walk, fell = Walk(load_robot(options.robot, [*noise, *told])), 0
    begins = np.arange(options.first, options.last + 0.5 * options.every, options.every)
    for begin in begins:
        walk.walk_to(begin)
        sys.stdout.flush()
        copy = os.fork()
        if not copy:
            walk.walk_to(begin + options.after, begin, options.pause)
            print(f'{begin:.3f} s: {walk.loop.fault or "walks on"}', flush=True)
            os._exit(walk.loop.fault is not None)
        fell += os.waitpid(copy, 0)[1] != 0
    print(f'{fell} of {len(begins)} pauses ended in a fault')
    return 0


if __name__ == '__main__':
    sys.exit(main())
