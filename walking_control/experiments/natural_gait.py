# SPDX-License-Identifier: Apache-2.0
"""The passive gait of a planar walker as samples that controllers can follow.

The gait is walked until it repeats, then integrated as a smooth motion of the walker fixed at its
stance foot: before the begin of the step and past its touchdown too, so that the path a controller
follows goes on where a floor lies lower or higher than expected.
"""

import numpy as np
from scipy.integrate import solve_ivp

from walking_control.exceptions import NotAchieved
from walking_control.gaits.return_map import polish, Stride
from walking_control.gaits.samples import GaitSamples
from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.robot_file import WORLD
from walking_control.models.support import SupportDynamics
from walking_control.simulation.compiled import CompiledWalker
from walking_control.simulation.rigid_model import STEPPED, TIME
from walking_control.simulation.rigid_plant import RIGID


def passive_stride(robot_file):
    """Return the stride function of a robot without control, for `gaits.return_map`."""
    walker = CompiledWalker(robot_file.robot, robot_file.values(WORLD), robot_file.values(RIGID))
    n = walker.model.n

    def stride(x):
        walker.start(robot_file.robot.feet.index(robot_file.start.support), x[:n], x[n:])
        if walker.advance(5.0, True) != STEPPED:
            return None
        y = walker.state.y
        return Stride(np.concatenate((y[2:n + 2], y[n + 4:])), float(walker.state.memo[TIME]), 0.0)
    return stride


def find_passive_gait(robot_file, samples=60, before=0.15, after=0.25, warm_up=200):
    """Return the `GaitSamples` of the stable passive gait a robot's start leads to.

    Args:
        robot_file: The `RobotFile`; no locks, no actuation.
        samples: Intervals within the step.
        before: How far the path goes on backwards, as a fraction of the period.
        after: And forwards.
        warm_up: Steps walked to come near the gait.

    Raises:
        NotAchieved: The robot falls, or does not come to a periodic gait.
    """
    robot, world = robot_file.robot, robot_file.values(WORLD)
    stride, n = passive_stride(robot_file), len(robot_file.robot.coordinates)
    x = np.concatenate((robot_file.start.q, robot_file.start.v))
    for _ in range(warm_up):
        end = stride(x)
        if end is None:
            raise NotAchieved(f'passive gait of {robot.name}', limit='it falls from its start')
        x = end.x
    x = polish(stride, x)
    if x is None:
        raise NotAchieved(f'passive gait of {robot.name}', limit='its steps do not settle')
    period = stride(x).period
    step = period / samples
    rows = int(round(before * samples)), samples + int(round(after * samples))
    support = SupportDynamics(PlanarDynamics(robot, world.gravity, world.slope))
    foot = robot.feet.index(robot_file.start.support)

    def rates(time, x):
        parts = support.layout.split(support.terms(foot, x[:n], x[n:]))
        return np.concatenate((x[n:], np.linalg.solve(parts['mass'][2:, 2:], -parts['bias'][2:])))

    forward = solve_ivp(rates, (0.0, step * rows[1]), x, 'DOP853', step * np.arange(rows[1] + 1),
                        rtol=1e-12, atol=1e-12).y.T
    backward = solve_ivp(rates, (0.0, -step * rows[0]), x, 'DOP853',
                         -step * np.arange(1, rows[0] + 1), rtol=1e-12, atol=1e-12).y.T
    path = np.concatenate((backward[::-1], forward))
    return GaitSamples(robot.name, robot.coordinates, world.slope, world.gravity, period,
                       step * np.arange(-rows[0], rows[1] + 1), path[:, :n], path[:, n:])
