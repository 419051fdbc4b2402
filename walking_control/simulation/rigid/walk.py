# SPDX-License-Identifier: Apache-2.0
"""A rigid walker under a sampled control law, tick by tick, plain or compiled.

The law is an array function; knee locks follow the phases of `controllers.knee_locks`. The state
is taken as known: what an estimator adds (debounce, delay) is not part of this loop.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from walking_control.controllers.controller import ArrayLaw, Controller, LawFunction
from walking_control.controllers.knee_locks import ARMED, holds, next_lock_phase
from walking_control.controllers.knee_locks import STANCE as STANCE_PHASE
from walking_control.exceptions import given, IncompatibleController, require
from walking_control.models import array_function, form, inner, multiply, Robot, Terms
from walking_control.simulation.rigid.forces import along_joint
from walking_control.simulation.rigid.model import (
    DONE,
    FIRST_STOP,
    RigidModel,
    RigidState,
    SQUARED_EFFORT,
    STANCE,
    STEPPED,
    SUPPORT,
    SWING,
    TIME,
    WORK,
    Workspace,
)

Motion = Callable[..., int]  # `motion.advance`

NO_TICKS = 1e9  # s: nothing to control


class LawData(NamedTuple):
    """What a control law remembers, and what opens and closes knee locks, as plain arrays.

    Attributes:
        memory: The law's memory, see `ArrayLaw`.
        lock_foot: Foot of each lock.
        phases: Phase of each lock.
        flexed: Flexion that counts as flexed, rad.
        period: Control period, s.
    """

    memory: np.ndarray
    lock_foot: np.ndarray
    phases: np.ndarray
    flexed: float
    period: float


def make_law(robot: Robot, controller: Controller) -> tuple[ArrayLaw, LawData]:
    """Return (`ArrayLaw`, `LawData`) of a controller.

    Args:
        controller: A `Controller` built for it.

    Raises:
        IncompatibleController: It has no array law, or a motor is limited by its speed.
    """
    for joint, motor in robot.actuators.items():
        require(
            motor.supply_voltage <= 0.0,
            f'compiled walk of {robot.name}',
            value=f'supply_voltage of {joint}',
            limit='the limit of a motor by its speed is known to runs alone',
            remedy='leave supply_voltage away, or use simulate',
            error=IncompatibleController,
        )
    law = given(
        controller.array_law(),
        f'controller {controller.name}',
        limit='has no array law',
        remedy='choose a law that walks on the rigid plant',
        error=IncompatibleController,
    )
    idle = law.passive and not robot.locks
    feet = [robot.feet.index(lock.foot) for lock in robot.locks] or [-1]
    return law, LawData(
        law.memory,
        np.array(feet),
        np.full(len(feet), STANCE_PHASE),
        law.knee_flexed,
        NO_TICKS if idle else 1.0 / controller.values.rate,
    )


@array_function
def control(
    terms: Terms,
    law: LawFunction,
    knowledge: Any,
    model: RigidModel,
    state: RigidState,
    data: LawData,
) -> None:
    """Fill effort and armed locks for the next tick."""
    n, mode = model.relabel.shape[1], state.mode
    support = mode[SUPPORT]
    held = np.zeros(model.n_locks, np.bool_)
    for i in range(model.n_locks):
        foot, joint = data.lock_foot[i], model.lock_joint[i]
        contact = mode[STANCE] == 1 if foot == support else mode[SWING] == 1
        phase = next_lock_phase(
            data.phases[i],
            foot == support,
            contact,
            along_joint(model, mode, state.y, joint) - model.lock_angle[i],
            along_joint(model, mode, state.y[n + 2 :], joint),
            data.flexed,
        )
        data.phases[i] = phase
        state.armed[i] = 1 if phase == STANCE_PHASE or phase == ARMED else 0
        engaged = mode[FIRST_STOP + model.n_joints + i] == 1
        held[i] = holds(phase, foot == support, engaged)
    # slices: numba compiles anew for arrays of a record, whose sizes are part of their types
    law(
        terms,
        knowledge,
        data.memory[:],
        support,
        held,
        state.y[2 : n + 2],
        state.y[n + 4 :],
        state.effort[:],
    )


@array_function
def walk(
    advance: Motion,
    terms: Terms,
    law: LawFunction,
    knowledge: Any,
    model: RigidModel,
    state: RigidState,
    work: Workspace,
    data: LawData,
    duration: float,
    stop_at_step: bool,
) -> int:
    """Walk under a control law.

    Args:
        advance: `motion.advance`: compiled by itself, the laws of a robot share its code.
        terms: Function of the support terms.
        law: Function of an `ArrayLaw`.
        knowledge: What it knows.
        state: `RigidState`, changed in place.
        duration: s, rounded to whole control periods.
        stop_at_step: Whether to return just after the next touchdown; the control clock starts
            anew there.

    Returns:
        A status of `motion.advance`.
    """
    period = min(data.period, duration)
    n = model.relabel.shape[1]
    before = np.zeros(n)
    for _ in range(int(round(duration / period))):
        control(terms, law, knowledge, model, state, data)
        support, time = state.mode[SUPPORT], state.memo[TIME]
        before[:] = state.y[2 : n + 2]
        status = advance(terms, model, state, work, period, stop_at_step)
        if state.mode[SUPPORT] != support:
            # the angles of the new stance foot, lest its renaming count as turning
            support = state.mode[SUPPORT]
            multiply(model.relabel[1 - support], before.copy(), before)
        # what held efforts do from zero angles to here, less what they did to there
        inputs, reached = model.inputs[support].T, state.y[2 : n + 2]
        state.memo[WORK] += form(state.effort, inputs, reached) - form(state.effort, inputs, before)
        squared = inner(state.effort, state.effort)
        state.memo[SQUARED_EFFORT] += squared * (state.memo[TIME] - time)
        if status != DONE:
            return status
    return DONE


@array_function
def stride_many(
    advance: Motion,
    terms: Terms,
    law: LawFunction,
    knowledge: Any,
    model: RigidModel,
    state: RigidState,
    work: Workspace,
    data: LawData,
    count: int,
    longest: float,
) -> int:
    """Make a number of strides in a row; return how many succeeded before one failed."""
    for i in range(count):
        if walk(advance, terms, law, knowledge, model, state, work, data, longest, True) != STEPPED:
            return i
    return count


class WalkRows(NamedTuple):
    """A walk, one row a tick, filled by `record_walk`.

    Attributes:
        y: State, ``(T, 2 (n + 2))``, see `RigidState`.
        mode: Discrete state.
        memo: Time, work and other measures.
        effort: Inputs held from this row to the next, ``(T, n_inputs)``.
    """

    y: np.ndarray
    mode: np.ndarray
    memo: np.ndarray
    effort: np.ndarray


@array_function
def record_walk(
    advance: Motion,
    terms: Terms,
    law: LawFunction,
    knowledge: Any,
    model: RigidModel,
    state: RigidState,
    work: Workspace,
    data: LawData,
    interval: float,
    y: np.ndarray,
    mode: np.ndarray,
    memo: np.ndarray,
    effort: np.ndarray,
) -> tuple[int, int]:
    """Walk and fill `WalkRows` at whole control periods; return how many, and the status."""
    y[0], mode[0], memo[0] = state.y, state.mode, state.memo
    for row in range(1, y.shape[0]):
        status = walk(advance, terms, law, knowledge, model, state, work, data, interval, False)
        y[row], mode[row], memo[row] = state.y, state.mode, state.memo
        effort[row - 1], effort[row] = state.effort, state.effort
        if status != DONE:
            return row + 1, status
    return y.shape[0], DONE
