# SPDX-License-Identifier: Apache-2.0
"""Time of one tick of the estimator against forward kinematics of the same robot, in one run.

Compared are bare Pinocchio (placements and velocities of all frames), the estimator that takes IMU
and stance leg for exact, and the Kalman filter, all called from Python as a control loop does.
Times are of the thread, least of several rounds, so that other load on the machine counts little.

Run: python benchmarks/estimator.py [ROBOT ...]
"""

import sys
import time

import numpy as np

from walking_control.estimation.estimator import make_estimator
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement
from walking_control.simulation.sensors import noise_overrides

ROUNDS, CALLS = 20, 500
TARGET = 60e-6  # s: a tick of the filter on a humanoid


def least(function):
    """Return the time of a call, s: the least of the means of several rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.thread_time()
        for _ in range(CALLS):
            function()
        times.append((time.thread_time() - begin) / CALLS)
    return min(times)


def ticking(robot_file, kind):
    """Return a function that gives an estimator its next measurement of a robot on both feet."""
    robot = robot_file.robot
    estimator = make_estimator(
        load_robot(robot.name, [*noise_overrides('lab'), ('estimator.kind', kind)])
    )
    measurement, start = Measurement(robot), robot_file.start
    measurement.position[:] = (
        start.posture if start.posture is not None else robot.joint_lifts[start.support] @ start.q
    )
    measurement.foot_force[:, 2], measurement.linear_acceleration[2] = 300.0, 9.81
    estimator.reset(start.support)

    def tick():
        measurement.stamp += 0.002
        estimator.update(measurement)

    for _ in range(100):  # contacts take their time to be believed
        tick()
    return tick


def main(robots):
    """Print the table; return whether the filter keeps its target."""
    kept = True
    for name in robots:
        robot_file = load_robot(name)
        dynamics = Dynamics(robot_file.robot)
        q, v = dynamics.configuration(np.zeros(len(dynamics.joints))), np.zeros(dynamics.nv)
        bare = least(lambda: dynamics.move(q, v))
        print(f'{name + ": forward kinematics":>40}: {1e6 * bare:7.1f} us    1.0')
        for kind in ('kinematic', 'filter'):
            spent = least(ticking(robot_file, kind))
            print(f'{name + ": estimator " + kind:>40}: {1e6 * spent:7.1f} us {spent / bare:6.1f}')
        kept &= name != 'humanoid' or spent < TARGET
    print(
        f'a tick of the filter on the humanoid, under {1e6 * TARGET:g} us: '
        f'{"yes" if kept else "NO"}'
    )
    return kept


if __name__ == '__main__':
    main(sys.argv[1:] or ['humanoid', 'dribbel'])
