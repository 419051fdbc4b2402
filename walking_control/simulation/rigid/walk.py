# SPDX-License-Identifier: Apache-2.0
"""A rigid walker under a sampled control law, tick by tick, plain or compiled.

The law is an array function; knee locks follow the phases of `controllers.knee_locks`. The state
is taken as known: what an estimator adds (debounce, delay) is not part of this loop.
"""

from typing import NamedTuple

import numpy as np

from walking_control.controllers.hip_switching import clamped_pd, find_hip
from walking_control.controllers.knee_locks import ARMED, holds, next_lock_phase
from walking_control.controllers.knee_locks import STANCE as STANCE_PHASE
from walking_control.exceptions import IncompatibleController
from walking_control.models.array_functions import array_function
from walking_control.models.small_algebra import multiply
from walking_control.simulation.rigid.events import joint_angle
from walking_control.simulation.rigid.forces import joint_rate
from walking_control.simulation.rigid.gait_laws import make_gait_law, NAMES
from walking_control.simulation.rigid.model import (
    DONE,
    FIRST_STOP,
    SQUARED_EFFORT,
    STANCE,
    STEPPED,
    SUPPORT,
    SWING,
    TIME,
    WORK,
)
from walking_control.simulation.rigid.motion import advance

NO_TICKS = 1e9   # s: nothing to control


class LawData(NamedTuple):
    """What a control law knows, as plain arrays.

    Attributes:
        values: The law's parameters.
        lock_foot: Foot of each lock.
        phases: Phase of each lock.
        flexed: Flexion that counts as flexed, rad.
        period: Control period, s.
    """

    values: np.ndarray
    lock_foot: np.ndarray
    phases: np.ndarray
    flexed: float
    period: float


@array_function
def no_law(values, stance, held, q, v, effort):
    """No effort."""
    for i in range(effort.shape[0]):
        effort[i] = 0.0


@array_function
def hip_law(values, stance, held, q, v, effort):
    """The hip law of [DS09] (5.29) at a fixed set point; values by `hip_values`."""
    hip = int(values[0])
    current = clamped_pd(q[hip], v[hip], values[1], values[2], values[3], values[4])
    effort[0] = values[5 + stance] * current


def hip_values(robot, parameters):
    """Return the parameters of `hip_law`: coordinate, set point, gains, limit, signed N kt."""
    joint, coordinate = find_hip(robot, 'hip_switching')
    motor = robot.actuators[robot.joints[joint]]
    signs = [robot.supports[foot][coordinate, 1 + joint] for foot in robot.feet]
    return np.array([coordinate, parameters.set_point, parameters.proportional_gain,
                     parameters.derivative_gain, motor.current_limit,
                     *(sign * motor.torque_per_ampere for sign in signs)])


def make_law(robot, name, parameters, world=None, terms=None, generated=None):
    """Return (array function, `LawData`) of a controller by name.

    Args:
        robot: The `Robot`.
        name: Name of the controller.
        parameters: Its validated parameter values.
        world: Validated values of `WORLD`, for laws that follow a gait.
        terms: Function of the support terms, for the same.
        generated: Parameters of these; None where Pinocchio serves.

    Raises:
        IncompatibleController: It has no array function.
    """
    if name == 'none':
        law, values = no_law, np.zeros(1)
    elif name == 'hip_switching':
        law, values = hip_law, hip_values(robot, parameters)
    elif name in NAMES:
        law, values = make_gait_law(robot, name, parameters, world, terms, generated)
    else:
        raise IncompatibleController(f'controller {name}', limit='has no array function',
                                     remedy='choose one of '
                                     + ', '.join(('none', 'hip_switching', *NAMES)))
    if name == 'none' and not robot.locks:
        period = NO_TICKS
    else:
        period = 1.0 / parameters.rate
    feet = [robot.feet.index(lock.foot) for lock in robot.locks] or [-1]
    return law, LawData(values, np.array(feet), np.full(len(feet), STANCE_PHASE),
                        parameters.knee_flexed, period)


@array_function
def control(law, model, state, data):
    """Fill effort and armed locks for the next tick."""
    n, mode = model.relabel.shape[1], state.mode
    support = mode[SUPPORT]
    held = np.zeros(model.n_locks, np.bool_)
    for i in range(model.n_locks):
        foot, joint = data.lock_foot[i], model.lock_joint[i]
        contact = mode[STANCE] == 1 if foot == support else mode[SWING] == 1
        phase = next_lock_phase(data.phases[i], foot == support, contact,
                                joint_angle(model, mode, state.y, joint) - model.lock_angle[i],
                                joint_rate(model, mode, state.y[n + 2:], joint), data.flexed)
        data.phases[i] = phase
        state.armed[i] = 1 if phase == STANCE_PHASE or phase == ARMED else 0
        engaged = mode[FIRST_STOP + model.n_joints + i] == 1
        held[i] = holds(phase, foot == support, engaged)
    law(data.values, support, held, state.y[2:n + 2], state.y[n + 4:], state.effort)


@array_function
def actuated_work(model, effort, support, q):
    """Return the work held efforts would do from zero angles to q on a foot, J."""
    total = 0.0
    for i in range(effort.shape[0]):
        for j in range(q.shape[0]):
            total += effort[i] * model.inputs[support, j, i] * q[j]
    return total


@array_function
def walk(terms, law, model, state, work, data, duration, stop_at_step):
    """Walk under a control law.

    Args:
        terms: Function of the support terms.
        law: Function (values, stance, holding locks, q, v, effort).
        model: `RigidModel`.
        state: `RigidState`, changed in place.
        work: `Workspace`.
        data: `LawData`.
        duration: s, rounded to whole control periods.
        stop_at_step: Whether to return just after the next touchdown; the control clock starts
            anew there.

    Returns:
        A status of `rigid_motion.advance`.
    """
    period = min(data.period, duration)
    n = model.relabel.shape[1]
    before = np.zeros(n)
    for _ in range(int(round(duration / period))):
        control(law, model, state, data)
        support, time = state.mode[SUPPORT], state.memo[TIME]
        before[:] = state.y[2:n + 2]
        status = advance(terms, model, state, work, period, stop_at_step)
        if state.mode[SUPPORT] != support:
            # the angles of the new stance foot, lest its renaming count as turning
            support = state.mode[SUPPORT]
            multiply(model.relabel[1 - support], before.copy(), before)
        state.memo[WORK] += actuated_work(model, state.effort, support, state.y[2:n + 2]) \
            - actuated_work(model, state.effort, support, before)
        for i in range(state.effort.shape[0]):
            state.memo[SQUARED_EFFORT] += state.effort[i] ** 2 * (state.memo[TIME] - time)
        if status != DONE:
            return status
    return DONE


@array_function
def stride_many(terms, law, model, state, work, data, count, longest):
    """Make a number of strides in a row; return how many succeeded before one failed."""
    for i in range(count):
        if walk(terms, law, model, state, work, data, longest, True) != STEPPED:
            return i
    return count
