# SPDX-License-Identifier: Apache-2.0
"""What following the temperatures of all motors costs, a motor and tick.

    python benchmarks/heat.py [--robot walker3d] [--ticks 20000]

Processor time of the watch that the supervisor asks in each tick, at 500 Hz, with thermal data of
each motor: from commanded efforts, then from measured efforts and temperatures.
"""

import argparse
from dataclasses import replace
import time

import numpy as np

from walking_control.loading import load_robot
from walking_control.models import MotorThermal, Robot
from walking_control.models.own_signals import read_signals
from walking_control.models.signals import Measurement
from walking_control.safety.heat import HeatWatch

MEASURED = {'degrees': {'kind': 'temperature'}, 'torque': {'kind': 'effort'}}


def cost(robot: Robot, ticks: int) -> float:
    """Return processor time, s a motor and tick."""
    watch, values = HeatWatch(robot, 25.0, 25.0), Measurement(robot).values
    effort = 0.1 * robot.effort_limits
    begin = time.process_time()
    for _ in range(ticks):
        if robot.signals:
            watch.hear(values)
        watch.watch(effort, 0.002)
    return (time.process_time() - begin) / ticks / len(robot.actuators)


def main() -> None:
    """Print the cost of a tick, the median of nine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', default='walker3d')
    parser.add_argument('--ticks', type=int, default=20000)
    options = parser.parse_args()
    robot = load_robot(options.robot).robot
    robot = replace(robot, thermal=dict.fromkeys(robot.actuators, MotorThermal()))
    rows = read_signals(MEASURED, robot.joints, robot.actuators, set(), set())
    for name, signals in (('commanded', {}), ('measured', rows)):
        costs = [cost(replace(robot, signals=signals), options.ticks // 9) for _ in range(9)]
        print(f'{name}: {1e6 * float(np.median(costs)):.2f} us a motor and tick')


if __name__ == '__main__':
    main()
