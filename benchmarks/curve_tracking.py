# SPDX-License-Identifier: Apache-2.0
"""Time of one tick of curve tracking against the rigid-body calls it stands for, medians of
one run.

The law evaluates the support terms four times a tick. Compared are: these four evaluations by
Pinocchio as the law would make them; bare Pinocchio calls of the same quantities (one mass matrix,
four bias vectors); the law with limits off, scaled and projected (none of them active), plain and
compiled.

Run: python benchmarks/curve_tracking.py
"""

import statistics
import time

import numpy as np
import pinocchio as pin

from walking_control.controllers import tracker
from walking_control.controllers.curve_tracking import build_tracker, load_gait, PARAMETERS
from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.generated import compile_law, compile_terms
from walking_control.models.robot_file import load_robot_file, WORLD
from walking_control.models.support import SupportDynamics

ROUNDS = 400


def median(function, rounds=ROUNDS):
    """Return the median time of a call, s."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main():
    """Print the table."""
    robot_file = load_robot_file('compass')
    robot, world = robot_file.robot, robot_file.values(WORLD)
    values = robot_file.values(PARAMETERS)
    gait = load_gait(robot, values, world)
    dynamics = PlanarDynamics(robot, world.gravity, world.slope)
    support = SupportDynamics(dynamics)
    q, v = np.array([0.02, 0.1]), np.array([-0.7, 1.9])
    full_q, full_v = dynamics.base_from_coordinates(robot.feet[0], q, v)
    model, data = dynamics.model, dynamics.data

    def bare():
        pin.crba(model, data, full_q)
        for _ in range(4):
            pin.nonLinearEffects(model, data, full_q, full_v)

    def by_pinocchio():
        for _ in range(4):
            support.terms(0, q, v)
    floor, called = median(bare), median(by_pinocchio)
    print(f'{"bare Pinocchio: 1 crba + 4 nonLinearEffects":>48}: {1e6 * floor:8.1f} us    1.0')
    print(f'{"support terms by Pinocchio, four times":>48}: {1e6 * called:8.1f} us '
          f'{called / floor:6.1f}')
    terms, parameters = compile_terms(dynamics)
    compiled = compile_law(tracker.track)
    for limiting in ('off', 'scale', 'project'):
        for name, function in (('plain', tracker.track), ('compiled', compiled)):
            settings = {**vars(values), 'limiting': limiting}
            law = build_tracker(robot, PARAMETERS.validate(settings), world, gait, parameters)
            memory, (report, parts) = tracker.make_memory(law), tracker.make_report(law)
            effort = np.zeros(2)

            def tick():
                function(terms, law, memory, 0, True, False, q, v, 0.002, effort, report, parts)
            tick()
            spent = median(tick)
            label = f'law {name}, limits {limiting}'
            print(f'{label:>48}: {1e6 * spent:8.1f} us {spent / floor:6.1f}')


if __name__ == '__main__':
    main()
