# SPDX-License-Identifier: Apache-2.0
"""Time of one tick of curve tracking against the rigid-body calls it stands for, medians of
one run.

The law evaluates the support terms four times a tick. Compared are: these four evaluations by
Pinocchio as the law would make them; bare Pinocchio calls of the same quantities (one mass matrix,
four bias vectors); the law with limits off, scaled and projected, plain and compiled, near the
gait, where no limit acts, and so fast that the wanted efforts would make the foot slip; and, at
these two states, the small program of `limiting` project by itself.

Run: python benchmarks/curve_tracking.py
"""

import statistics
import time

import numpy as np
import pinocchio as pin

from walking_control.controllers.curve_tracking import tick as tracker
from walking_control.controllers.curve_tracking.controller import build_tracker, load_gait
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.controllers.limits.efforts import foot_limits, nearest_effort
from walking_control.controllers.limits.nearest_point import nearest_allowed
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.support.compiled import compile_law, compile_terms
from walking_control.models.support.dynamics import Mechanics, SupportDynamics

ROUNDS = 400
FAST = np.array([-2.5, 2.0])  # rad/s: the wanted efforts would make the foot slip


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
    robot_file = load_robot('compass')
    robot, world = robot_file.robot, robot_file.values(World)
    values = robot_file.values(CurveTrackingParameters)
    gait = load_gait(robot, values.gait, world)
    dynamics = Dynamics(robot, world.gravity, world.slope)
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
    print(
        f'{"support terms by Pinocchio, four times":>48}: {1e6 * called:8.1f} us '
        f'{called / floor:6.1f}'
    )
    terms, parameters = compile_terms(dynamics)
    compiled = compile_law(tracker.track)
    law = build_tracker(robot, values, world, gait, parameters)
    for state, rates in (('inactive', v), ('active', FAST)):
        for limiting in ('off', 'scale', 'project'):
            for name, function in (('plain', tracker.track), ('compiled', compiled)):
                settings = {**vars(values), 'limiting': limiting}
                data = build_tracker(
                    robot, CurveTrackingParameters.read(settings), world, gait, parameters
                )
                spent = median(one_tick(function, terms, data, q, rates))
                print_row(f'law {name}, limits {limiting}, {state}', spent, floor)
        problem = program_of(support, law, q, rates)
        for name, function in (
            ('plain', nearest_allowed),
            ('compiled', compile_law(nearest_allowed)),
        ):
            spent, moved = time_program(function, problem)
            assert moved == (state == 'active')
            print_row(f'program {name}, {state}', spent, floor)


def print_row(label, spent, floor):
    """Print one row of the table."""
    print(f'{label:>48}: {1e6 * spent:8.1f} us {spent / floor:6.2f}')


def one_tick(function, terms, data, q, v):
    """Return a call of the law at a state, compiled if it is to be."""
    memory, out = tracker.make_memory(data), tracker.make_outcome(np.zeros(2))
    told = tracker.Sensed(0, np.zeros(0, bool), True, True, q, v, 0.002)

    def tick():
        memory.scalars[tracker.TANK] = data.tank.initial
        function(terms, data, memory, told, out)

    tick()
    return tick


def program_of(support, law, q, v):
    """Return (L, A, d, wanted) of the small program at a state."""
    parts = support.layout.split(support.terms(0, q, v))
    L, B = np.linalg.cholesky(parts['mass'][2:, 2:]), law.limits.inputs[0]
    out = tracker.make_outcome(np.zeros(2))
    tracker.track(
        lambda foot, q, v, _, out: support.terms(foot, q, v, out),
        law,
        tracker.make_memory(law),
        tracker.Sensed(0, np.zeros(0, bool), True, True, q, v, 0.002),
        out,
    )
    H, LH, wanted = np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2)
    nearest_effort(L, B, B @ out.parts[tracker.SUM], H, LH, wanted)
    A, d = np.zeros((9, 2)), np.zeros(9)
    M_f, h_f = parts['mass'][:2, 2:].copy(), parts['bias'][:2].copy()
    state = Mechanics(parts['mass'][2:, 2:], L, parts['bias'][2:].copy(), M_f, h_f)
    foot_limits(law.limits, state, B, A, d)
    return LH, A, d, wanted


def time_program(function, problem):
    """Return the median time of the small program, s, and whether it moved the efforts."""
    LH, A, d, wanted = problem
    effort = wanted.copy()

    def solve():
        effort[:] = wanted
        assert function(LH, A, d, effort)

    solve()
    return median(solve), bool(np.abs(effort - wanted).max() > 1e-6)


if __name__ == '__main__':
    main()
