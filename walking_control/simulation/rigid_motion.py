# SPDX-License-Identifier: Apache-2.0
"""Integration of the rigid walker from event to event.

Dormand and Prince's embedded pair of order 5(4) with local error control; events are located by
repeating the step with a shorter length until the signal vanishes, so that the state at an event has
the full order of the method.
"""

import math

import numpy as np

from walking_control.simulation.rigid_events import (
    FIRST_JOINT, LANDING, RELEASE, TOUCHDOWN, ZERO, arm_locks, happen, is_ahead, signals)
from walking_control.simulation.rigid_forces import accelerate, find_reactions
from walking_control.simulation.rigid_model import (
    ANCHOR_Z, CHATTERED, DIVERGED, DONE, FELL, FIRST_STOP, MAX_FRICTION, MIN_NORMAL, STANCE,
    STEP_SIZE, STEPPED, STEPS, TIME)
from walking_control.simulation.shared import shared

# Dormand and Prince (1980), stages 2 to 7 and the error weights
_A = np.array([
    [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
    [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]])
_E = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
SMALLEST = 1e-12   # s: shorter steps and brackets count as an instant


@shared
def rates(terms, model, y, mode, effort, work, out):
    """Write dy/dt."""
    size = model.n + 2
    accelerate(terms, model, y, mode, effort, work)
    for i in range(size):
        out[i] = y[size + i]
        out[size + i] = work.acceleration[i]


@shared
def step(terms, model, state, work, h):
    """Write the state after h into ``work.trial``, given ``work.start`` and its rates k[0].

    Returns:
        The local error over the tolerance.
    """
    k, y0, trial = work.k, work.start, work.trial
    count = trial.shape[0]
    for stage in range(6):
        for i in range(count):
            total = 0.0
            for j in range(stage + 1):
                total += _A[stage, j] * k[j, i]
            trial[i] = y0[i] + h * total
        rates(terms, model, trial, state.mode, state.effort, work, k[stage + 1])
    find_reactions(model, state.mode, work)
    worst = 0.0
    for i in range(count):
        total = 0.0
        for j in range(7):
            total += _E[j] * k[j, i]
        error = abs(h * total) / (model.tolerance * (1.0 + abs(trial[i])))
        if error > worst or error != error:   # a NaN stays the worst
            worst = error
    return worst


@shared
def crosses(before, after):
    """Return whether a signal goes through zero from above."""
    return before >= -ZERO and after < -ZERO


@shared
def dips(g0, slope0, g1, slope1, h):
    """Return whether a signal that ends positive was negative in between (cubic Hermite)."""
    if not (g0 > -ZERO and g1 > 0.0 and slope0 < 0.0 and slope1 > 0.0):
        return False
    for i in range(1, 8):
        s = i / 8.0
        u = 1.0 - s
        value = u * u * (1.0 + 2.0 * s) * g0 + s * s * (3.0 - 2.0 * s) * g1 \
            + h * s * u * (u * slope0 - s * slope1)
        if value < -ZERO:
            return True
    return False


@shared
def locate(terms, model, state, work, event, h):
    """Return when within the step of length h an event's signal vanishes, s.

    Bracketed false position (Illinois) with a bisection every third round; the state of the last
    trial is not that of the returned time.
    """
    low, high, g_low, g_high = 0.0, h, work.g0[event], work.g1[event]
    for round_ in range(100):
        if high - low <= SMALLEST:
            break
        if g_low <= 0.0 or round_ % 3 == 2:
            middle = 0.5 * (low + high)
        else:
            middle = low + (high - low) * g_low / (g_low - g_high)
        step(terms, model, state, work, middle)
        signals(model, state, work.trial, work, work.s_trial, work.slope_trial)
        g = work.s_trial[event]
        if abs(g) <= 1e-15:
            return middle
        if g > 0.0:
            low, g_low, g_high = middle, g, 0.5 * g_high
        else:
            high, g_high, g_low = middle, g, 0.5 * g_low
    return high


@shared
def first_event(terms, model, state, work, h):
    """Return (event, time) of the first event within a step, (-1, h) without one.

    The trial state is that of the returned time.
    """
    first, earliest, moved = -1, h, False
    for event in range(work.g0.shape[0]):
        if not crosses(work.g0[event], work.g1[event]):
            continue
        moved = True
        time = locate(terms, model, state, work, event, h)
        if event == TOUCHDOWN:
            step(terms, model, state, work, time)
            if not is_ahead(model, state, work):
                continue
        if first < 0 or time < earliest:
            first, earliest = event, time
    if moved:
        step(terms, model, state, work, earliest)
        signals(model, state, work.trial, work, work.g1, work.s1)
    return first, earliest


@shared
def prepare(terms, model, state, work):
    """Compute rates and signals of the present state and let overdue releases happen."""
    for _ in range(20):
        rates(terms, model, state.y, state.mode, state.effort, work, work.k[0])
        signals(model, state, state.y, work, work.g0, work.s0)
        due = -1
        if work.g0[RELEASE] < -ZERO:
            due = RELEASE
        for joint in range(model.n_joints):
            for event in range(FIRST_JOINT + 2 * joint, FIRST_JOINT + 2 * joint + 2):
                if state.mode[FIRST_STOP + joint] != 0 and work.g0[event] < -ZERO:
                    due = event
        if due < 0:
            return
        happen(model, state, work, due)


@shared
def accept(model, state, work, h):
    """Make the trial state the present one and book the floor's force."""
    memo = state.memo
    for i in range(state.y.shape[0]):
        state.y[i] = work.trial[i]
    memo[TIME] += h
    if state.mode[STANCE] == 1:
        normal = work.reactions[1]
        memo[MIN_NORMAL] = min(memo[MIN_NORMAL], normal)
        if normal > 0.0:
            memo[MAX_FRICTION] = max(memo[MAX_FRICTION], abs(work.reactions[0]) / normal)


@shared
def carry_on(state, work, h, error):
    """Hand the end of an accepted step on to the next one and choose its length."""
    memo = state.memo
    for i in range(state.y.shape[0]):
        work.k[0, i] = work.k[6, i]
    for i in range(work.g0.shape[0]):
        work.g0[i], work.s0[i] = work.g1[i], work.s1[i]
    longer = h * (5.0 if error == 0.0 else min(5.0, 0.9 * error ** -0.2))
    # a step cut short by the end of the tick says nothing against the longer one before it
    memo[STEP_SIZE] = max(memo[STEP_SIZE], longer) if h < memo[STEP_SIZE] else longer


@shared
def advance(terms, model, state, work, duration, stop_at_step):
    """Move the walker on, effort and armed locks held.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        model: `RigidModel`.
        state: `RigidState`, changed in place.
        work: `Workspace`.
        duration: s.
        stop_at_step: Whether to return just after the next step's touchdown.

    Returns:
        DONE, STEPPED, FELL (the base is below the fall height), DIVERGED or CHATTERED.
    """
    memo, y = state.memo, state.y
    end, steps, events = memo[TIME] + duration, state.mode[STEPS], 0
    arm_locks(terms, model, state, work)
    prepare(terms, model, state, work)
    while end - memo[TIME] > SMALLEST:
        h = min(memo[STEP_SIZE], model.max_step, end - memo[TIME])
        for i in range(y.shape[0]):
            work.start[i] = y[i]
        error = step(terms, model, state, work, h)
        if not error <= 1.0:
            if h <= 1e-10 or not math.isfinite(work.k[0, 0]):
                return DIVERGED
            shrink = 0.2 if not math.isfinite(error) else max(0.2, 0.9 * error ** -0.2)
            memo[STEP_SIZE] = h * shrink
            continue
        signals(model, state, work.trial, work, work.g1, work.s1)
        if h > 1e-6 and _dips_unseen(model, state, work, h):
            memo[STEP_SIZE] = 0.5 * h
            continue
        event, time = first_event(terms, model, state, work, h)
        accept(model, state, work, time)
        if y[1] + work.terms[work.terms.shape[0] - 1] - memo[ANCHOR_Z] < model.fall_height:
            return FELL
        if event < 0:
            carry_on(state, work, h, error)
            continue
        events += 1
        if events > 1000:
            return CHATTERED
        happen(model, state, work, event)
        prepare(terms, model, state, work)
        if stop_at_step and state.mode[STEPS] > steps:
            return STEPPED
    return DONE


@shared
def _dips_unseen(model, state, work, h):
    """Return whether a foot went below the floor and came back within one step."""
    ahead = is_ahead(model, state, work)
    return (ahead and dips(work.g0[TOUCHDOWN], work.s0[TOUCHDOWN], work.g1[TOUCHDOWN],
                           work.s1[TOUCHDOWN], h)) \
        or dips(work.g0[LANDING], work.s0[LANDING], work.g1[LANDING], work.s1[LANDING], h)
