# SPDX-License-Identifier: Apache-2.0
"""Laws that follow a gait, and the plain hip PD, as array functions for the compiled walk.

What such a law knows is frozen into the function; what it remembers lives in the array ``values``
that the walk hands to it, so that a walk can be stored and taken up again.
"""

import numpy as np

from walking_control.controllers.curve_tracking.controller import build_pieces, load_gait
from walking_control.controllers.curve_tracking.tick import (
    follow,
    make_memory,
    make_report,
    TrackerMemory,
)
from walking_control.controllers.hip_switching import clamped_pd, find_hip
from walking_control.controllers.time_pd import build_playback, play
from walking_control.models.efforts import effort_limits

NAMES = ('curve_tracking', 'hip_pd', 'time_pd')
NOBODY = -1.0   # no foot has stood yet


def make_gait_law(robot, name, parameters, world, terms, generated):
    """Return (array function, values) of a law in `NAMES`.

    Args:
        robot: The `Robot`.
        name: Name of the controller.
        parameters: Its validated parameter values.
        world: Validated values of `WORLD`.
        terms: Function of the support terms.
        generated: Their parameters; None where Pinocchio serves.
    """
    if name == 'hip_pd':
        return _hip_law(robot, parameters)
    gait = load_gait(robot, parameters, world)
    if name == 'time_pd':
        return _time_law(build_playback(robot, parameters, world, gait, generated), terms,
                         1.0 / parameters.rate)
    return _tracking_law(*build_pieces(robot, parameters, world, gait, generated), terms,
                         1.0 / parameters.rate)


def _tracking_law(pieces, masks, coordinate_of, terms, period):
    """Values: scalars of the memory, q, force, then the foot that stood last."""
    memory = make_memory(pieces[0])
    n, scalars = len(memory.q), len(memory.scalars)
    report_size, parts_shape = (part.shape for part in make_report(pieces[0]))
    last = scalars + n + len(memory.effort)

    def law(values, stance, held, q, v, effort):
        kept = TrackerMemory(values[:scalars], values[scalars:scalars + n],
                             values[scalars + n:last])
        fresh = stance != values[last]
        values[last] = stance
        follow(terms, pieces, masks, coordinate_of, kept, stance, held, True, fresh, q, v,
               period, effort, np.zeros(report_size), np.zeros(parts_shape))
    return law, np.concatenate((*memory, [NOBODY]))


def _time_law(data, terms, period):
    """Values: time since touchdown, and the foot that stood last."""
    def law(values, stance, held, q, v, effort):
        values[0] = values[0] + period if stance == values[1] else 0.0
        values[1] = stance
        play(terms, data, stance, values[0], q, v, effort)
    return law, np.array([0.0, NOBODY])


def _hip_law(robot, parameters):
    """Values: nothing."""
    joint, i = find_hip(robot, 'hip_pd')
    signs = np.array([robot.supports[foot][i, 1 + joint] for foot in robot.feet])
    gains = parameters.hip_angle, parameters.hip_stiffness, parameters.hip_damping, \
        effort_limits(robot)[0]

    def law(values, stance, held, q, v, effort):
        effort[:] = 0.0
        effort[0] = signs[stance] * clamped_pd(q[i], v[i], gains[0], gains[1], gains[2], gains[3])
    return law, np.zeros(1)
