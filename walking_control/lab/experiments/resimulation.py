# SPDX-License-Identifier: Apache-2.0
"""A found gait put to the test: its torques, as functions of time, drive a plant for one step.

The plant is the event-driven rigid one (in the plane) or a constrained integration by Pinocchio (in
space): neither shares code with the search. The rigid plant holds efforts for a tick; steps with
ticks of half the length each time tell what is left without a hold (Richardson's extrapolation),
and that is judged.
"""

from dataclasses import dataclass, replace
import math
from typing import Any

import numpy as np

from walking_control.gaits.gait import Gait, Phase
from walking_control.models import (
    Dynamics,
    FADE,
    friction_torques,
    require_level,
    Robot,
    RobotFile,
    SupportDynamics,
    World,
)
from walking_control.simulation import RigidParameters
from walking_control.simulation.pinned_step import simulate_pinned_step
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.engine import build_rigid_model, FAILURES, set_start
from walking_control.simulation.rigid.motion import advance

LONGEST_TICK = 8e-3  # s, for which torques are held at first
HALVINGS = (2, 4)  # of the ticks: at least, at most
AGREE = 2e-4  # rad and rad/s: extrapolations closer than this are good enough
INSTANT = 1e-9  # s, to which the strike of a knee is located
SAMPLES = np.linspace(0.0, 1.0, 50)  # of a phase
FOLLOWS = 2e-3  # largest error of coordinates after a step that counts as following, rad


@dataclass(frozen=True)
class Resimulation:
    """How a plant driven by a gait's torques differs from the gait after one step.

    Attributes:
        follows: Whether the step ended and all errors are below `FOLLOWS`, those of rates as shares
            of the gait's fastest where that is above 1 rad/s.
        reason: Why not, or None.
        error_q: Largest error of the coordinates just after touchdown, rad, the error of holding
            efforts for a tick taken out.
        error_v: Of their rates, rad/s.
        period: Of the simulated step, s; NaN without touchdown.
        min_normal_force: N.
        tick: s, for which efforts were held in the finest simulation; 0 where none are.
        hold_error_q: Largest error of the coordinates that this hold alone makes, rad.
        hold_error_v: Of their rates, rad/s.
        foot_depth: How deep in the floor the swing foot was at most, m; this and the following
            None where nothing tells.
        foot_depth_ahead: How far ahead of the stance foot it was there, m.
        scuff_reach: How far ahead it was still deeper than ``rigid.scuff_depth``, m.
    """

    # whether the step ended and all errors are below `FOLLOWS`, those of rates as shares of the
    # gait's fastest where that is above 1 rad/s
    follows: bool
    reason: str | None  # why not, or None
    # largest error of the coordinates just after touchdown, rad, the error of holding efforts for a
    # tick taken out
    error_q: float
    error_v: float
    period: float
    min_normal_force: float
    tick: float = 0.0
    hold_error_q: float = 0.0
    hold_error_v: float = 0.0  # of their rates, rad/s
    # how deep in the floor the swing foot was at most, m; this and the following None where nothing
    # tells
    foot_depth: float | None = None
    foot_depth_ahead: float | None = None  # how far ahead of the stance foot it was there, m
    # how far ahead it was still deeper than ``rigid.scuff_depth``, m
    scuff_reach: float | None = None


def resimulate(robot_file: RobotFile, gait: Gait) -> Resimulation:
    """Return the `Resimulation` of a gait.

    Args:
        robot_file: The `RobotFile`, adapted parameters applied.
    """
    if robot_file.robot.is_planar:
        return _resimulate_rigid(robot_file, gait)
    return _compare(gait, *simulate_pinned_step(robot_file, gait))


def _compare(
    gait: Gait,
    reason: str | None,
    q: np.ndarray,
    v: np.ndarray,
    period: float,
    normal: float,
    *hold: float,
) -> Resimulation:
    if reason is not None:
        return Resimulation(False, reason, np.nan, np.nan, np.nan, float(normal), *hold)
    q_start, v_start = gait.start
    error_q, error_v = float(np.abs(q - q_start).max()), float(np.abs(v - v_start).max())
    fastest = max(np.abs(phase.motion(SAMPLES)[1]).max() for phase in gait.phases)
    follows = error_q < FOLLOWS and error_v < FOLLOWS * max(1.0, fastest)
    reason = None if follows else f'off by {error_q:.2g} rad and {error_v:.2g} rad/s after a step'
    return Resimulation(follows, reason, error_q, error_v, period, float(normal), *hold)


def _resimulate_rigid(robot_file: RobotFile, gait: Gait) -> Resimulation:
    """Return the `Resimulation` on the rigid plant, extrapolated to efforts that are not held."""
    plant = _Step(robot_file, gait)
    least, most = HALVINGS
    limit: np.ndarray | None = None
    before: np.ndarray | None = None
    held: np.ndarray | None = None
    for halvings in range(most + 1):
        reason, q, v, period, normal = plant.walk(halvings)
        tick = LONGEST_TICK / 2**halvings
        if reason is not None:  # a shorter tick may still make the step
            before, limit = None, None
            continue
        held = np.concatenate((q, v, [period]))
        last, limit = limit, None if before is None else held + (held - before) / 3.0
        before = held
        if halvings >= least and last is not None and np.abs(limit - last).max() < AGREE:
            break
    if reason is not None or limit is None or held is None:
        judged = _compare(gait, reason, q, v, period, normal, tick)
        return replace(judged, **plant.foot())
    n = len(q)
    hold = np.abs(limit - held)
    judged = _compare(
        gait,
        None,
        limit[:n],
        limit[n : 2 * n],
        float(limit[-1]),
        normal,
        tick,
        float(hold[:n].max()),
        float(hold[n : 2 * n].max()),
    )
    return replace(judged, **plant.foot())


class _Step:
    """A step on the rigid plant, driven by a gait's torques.

    Args:
        robot_file: The `RobotFile`.
        gait: `Gait`.
    """

    def __init__(self, robot_file: RobotFile, gait: Gait) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_level(world, f'gait of {robot.name} on plant rigid')
        self._robot, self._gait = robot, gait
        self._support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
        model = build_rigid_model(self._support, world, robot_file.values(RigidParameters))
        n = model.n
        # an input on every coordinate instead of on the motors alone, none of them from the floor
        # or through a gear
        self._model = model._replace(inputs=np.stack([np.eye(n), np.eye(n)]), n_driven=n, loses=0)
        self._work = rm.make_workspace(self._model, self._support.layout.size)

    def walk(self, halvings: int) -> tuple[str | None, np.ndarray, np.ndarray, float, float]:
        """Return (reason, q, v, period, least normal force) with ticks halved so many times."""
        model, gait = self._model, self._gait
        self._state = state = rm.make_state(model)
        q, v = gait.start
        set_start(model, state, 0, q, v)
        _open_locks(self._robot, model, state, gait)
        status = rm.DONE
        for phase in gait.phases:
            status = self._walk_phase(phase, phase is gait.phases[-1], halvings)
            if status != rm.DONE:
                break
        memo, n = state.memo, model.n
        reason = (
            None
            if status == rm.STEPPED
            else 'the walker fell'
            if status == rm.FELL
            else 'the swing foot tripped'
            if status == rm.TRIPPED
            else f'no touchdown by {memo[rm.TIME]:.3g} s'
            if status == rm.DONE
            else f'the simulation broke off at {memo[rm.TIME]:.3g} s: {FAILURES[status]}'
        )
        return (
            reason,
            state.y[2 : n + 2].copy(),
            state.y[n + 4 :].copy(),
            float(memo[rm.TIME]),
            float(memo[rm.MIN_NORMAL]),
        )

    def foot(self) -> dict[str, Any]:
        """Return what `foot_in_floor` says of the last walk."""
        return rm.foot_in_floor(self._state.memo)

    def _walk_phase(self, phase: Phase, last: bool, halvings: int) -> int:
        """Walk through a phase; beyond its end it goes on until its event happens."""
        state = self._state
        ticks = max(8, math.ceil(phase.duration / LONGEST_TICK)) * 2**halvings
        h = phase.duration / ticks
        for tick in range(ticks + ticks // 4):
            s = (tick + 0.5) / ticks
            state.effort[:] = generalised_effort(self._support, phase, s, self._model.fade)
            before = [array.copy() for array in state]
            status = self._advance(h)
            if status != rm.DONE:
                return status
            if not last and self._struck():
                self._go_back_to_strike(before, h)
                return rm.DONE
            if not last and s > 0.5:  # the swing leg's locks are armed once its joints extend
                state.armed[: self._model.n_locks] = 1
        return rm.DONE

    def _advance(self, duration: float) -> int:
        def terms(
            foot: int, q: np.ndarray, v: np.ndarray, parameters: np.ndarray, out: np.ndarray
        ) -> None:
            self._support.terms(foot, q, v, out)

        return advance(terms, self._model, self._state, self._work, duration, True)

    def _go_back_to_strike(self, before: list[np.ndarray], high: float) -> None:
        """Put the state to the instant at which the knees, now locked, struck within a tick."""
        low = 0.0
        while high - low > INSTANT:
            middle = 0.5 * (low + high)
            rm.put_back(self._state, before)
            self._advance(middle)
            low, high = (low, middle) if self._struck() else (middle, high)
        rm.put_back(self._state, before)
        self._advance(high)

    def _struck(self) -> bool:
        model = self._model
        first = rm.FIRST_STOP + model.n_joints
        return bool(np.all(self._state.mode[first : first + model.n_locks] == 1))


def _open_locks(robot: Robot, model: rm.RigidModel, state: rm.RigidState, gait: Gait) -> None:
    """Open the locks of the swing leg where the first phase leaves them open."""
    held = {robot.coordinates[i] for i in gait.phases[0].held}
    for i, lock in enumerate(robot.locks):
        if lock.foot != robot.feet[0] and len(held) < len(robot.locks):
            state.armed[i] = 0
            state.mode[rm.FIRST_STOP + model.n_joints + i] = 0


def generalised_effort(
    support: SupportDynamics, phase: Phase, s: float, fade: float = FADE
) -> np.ndarray:
    """Return the forces on the coordinates a phase takes at s, by Pinocchio, ``(n,)``.

    Args:
        s: Share of the phase.
        fade: Rate below which dry friction fades, rad/s.
    """
    q, v, a = (part[0] for part in phase.motion([s]))
    parts = support.layout.split(support.terms(0, q, v))
    joints = support.lift[0][1:]
    effort: np.ndarray = (
        parts['mass'][2:, 2:] @ a
        + parts['bias'][2:]
        + joints.T @ friction_torques(support.robot, joints @ v, fade)
    )
    effort[list(phase.held)] = 0.0
    return effort
