# SPDX-License-Identifier: Apache-2.0
"""A found gait put to the test: its torques, as functions of time, drive a plant for one step.

The plant is the event-driven rigid one (planar robots) or a constrained integration by Pinocchio
(spatial ones): neither shares code with the search. Torques on coordinates without a motor, such
as the stance ankle's, are applied as the search assumed them.
"""

from dataclasses import dataclass

import numpy as np

from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.robot_file import WORLD
from walking_control.models.support.dynamics import SupportDynamics
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.motion import advance
from walking_control.simulation.rigid.plant import build_rigid_model, RIGID, set_start
from walking_control.simulation.rigid.spatial_step import simulate_spatial_step

TICK = 2e-3      # s, for which torques are held; the error falls with its square
FOLLOWS = 2e-3   # largest error of coordinates and rates after a step that counts as following


@dataclass(frozen=True)
class Resimulation:
    """How a plant driven by a gait's torques differs from the gait after one step.

    Attributes:
        follows: Whether the step ended and all errors are below `FOLLOWS`.
        reason: Why not, or None.
        error_q: Largest error of the coordinates just after touchdown, rad.
        error_v: Of their rates, rad/s.
        period: Of the simulated step, s; NaN without touchdown.
        min_normal_force: N.
    """

    follows: bool
    reason: str | None
    error_q: float
    error_v: float
    period: float
    min_normal_force: float


def resimulate(robot_file, gait):
    """Return the `Resimulation` of a gait.

    Args:
        robot_file: The `RobotFile`, adapted parameters applied.
        gait: `Gait`.
    """
    if not robot_file.robot.planar:
        return _compare(gait, *simulate_spatial_step(robot_file, gait))
    return _compare(gait, *_simulate_planar_step(robot_file, gait))


def _compare(gait, reason, q, v, period, normal):
    if reason is not None:
        return Resimulation(False, reason, np.nan, np.nan, np.nan, float(normal))
    q_start, v_start = gait.start
    error_q, error_v = float(np.abs(q - q_start).max()), float(np.abs(v - v_start).max())
    follows = max(error_q, error_v) < FOLLOWS
    reason = None if follows else f'off by {error_q:.2g} rad and {error_v:.2g} rad/s after a step'
    return Resimulation(follows, reason, error_q, error_v, period, float(normal))


def _simulate_planar_step(robot_file, gait):
    """Return (reason, q, v, period, least normal force) of a step on the rigid plant."""
    robot, world = robot_file.robot, robot_file.values(WORLD)
    support = SupportDynamics(PlanarDynamics(robot, world.gravity, world.slope))
    n = support.layout.n
    model = build_rigid_model(support, world, robot_file.values(RIGID))
    # an input on every coordinate instead of on the motors alone, none of them from the floor
    model = model._replace(inputs=np.stack([np.eye(n), np.eye(n)]), n_driven=n)
    state, work = rm.make_state(model), rm.make_workspace(model, support.layout.size)
    q, v = gait.start
    set_start(model, state, 0, q, v)
    _open_locks(robot, model, state, gait)

    def terms(foot, q, v, parameters, out):
        support.terms(foot, q, v, out)

    for phase in gait.phases:
        ticks = max(50, round(phase.duration / TICK))
        h = phase.duration / ticks
        for tick in range(ticks + 60):
            # beyond its end a phase goes on until its event happens
            s = (tick + 0.5) / ticks
            state.effort[:] = generalised_effort(support, phase, s)
            status = advance(terms, model, state, work, h, True)
            if status == rm.STEPPED:
                return (None, state.y[2:n + 2].copy(), state.y[n + 4:].copy(),
                        float(state.memo[rm.TIME]), float(state.memo[rm.MIN_NORMAL]))
            if status != rm.DONE:
                return 'the walker fell', q, v, np.nan, float(state.memo[rm.MIN_NORMAL])
            if phase is not gait.phases[-1] and _struck(robot, state, model):
                break
            if phase is not gait.phases[-1]:
                _arm(model, state, s)
    return (f'no touchdown by {state.memo[rm.TIME]:.3g} s', q, v, np.nan,
            float(state.memo[rm.MIN_NORMAL]))


def _open_locks(robot, model, state, gait):
    """Open the locks of the swing leg where the first phase leaves them open."""
    held = {robot.coordinates[i] for i in gait.phases[0].held}
    for i, lock in enumerate(robot.locks):
        if lock.foot != robot.feet[0] and len(held) < len(robot.locks):
            state.armed[i] = 0
            state.mode[rm.FIRST_STOP + model.n_joints + i] = 0


def _arm(model, state, s):
    """Arm the swing leg's locks once its joints extend, late in the phase."""
    if s > 0.5:
        state.armed[:model.n_locks] = 1


def _struck(robot, state, model):
    first = rm.FIRST_STOP + model.n_joints
    return bool(np.all(state.mode[first:first + model.n_locks] == 1))


def generalised_effort(support, phase, s):
    """Return the forces on the coordinates a phase takes at s, by Pinocchio, ``(n,)``."""
    q, v, a = (part[0] for part in phase.motion([s]))
    parts = support.layout.split(support.terms(0, q, v))
    effort = parts['mass'][2:, 2:] @ a + parts['bias'][2:]
    effort[list(phase.held)] = 0.0
    return effort
