# SPDX-License-Identifier: Apache-2.0
"""Integration of the rigid walker from event to event.

An explicit method of order eight with local error control ([HNW93]). An event is located by
repeating the step with a shorter length until its signal vanishes, so that the state at an event
has the full order of the method.
"""

import math

import numpy as np

from walking_control.models import array_function, Terms
from walking_control.models.dormand_prince import A, E3, E5
from walking_control.simulation.rigid.events import (
    happen,
    is_ahead,
    LANDING,
    lock_due,
    overdue,
    signals,
    TOUCHDOWN,
    TRIP,
    ZERO,
)
from walking_control.simulation.rigid.forces import accelerate, find_reactions
from walking_control.simulation.rigid.model import (
    AHEAD,
    AHEAD_HEIGHT,
    AHEAD_RATE,
    AHEAD_SPEED,
    ANCHOR_Z,
    BEHIND_HEIGHT,
    BEHIND_RATE,
    CHATTERED,
    DEPTH_AHEAD,
    DIVERGED,
    DONE,
    FELL,
    FOOT_DEPTH,
    MAX_FRICTION,
    MIN_NORMAL,
    RigidModel,
    RigidState,
    SCUFF_REACH,
    STANCE,
    STEP_SIZE,
    STEPPED,
    STEPS,
    SWING,
    TIME,
    TRIPPED,
    Workspace,
)

STAGES = 12
SMALLEST = 1e-12  # s: shorter steps and brackets count as an instant
FLAT = 1e-13  # a signal this small is at its zero
MOST_EVENTS = 1000
MOST_TRIALS = 10 * MOST_EVENTS  # of steps, and as many more as steps of this length would take:
SHORTEST_MEAN = 2e-6  # s
SHORT = 0.004  # s: a foot's path within a shorter step is known by its ends
PARTS = 8  # of a longer one
NOTHING, RETRY = -1, -2
# places in Workspace.bracket
LOW, HIGH, G_LOW, G_HIGH, RAISED, ROUNDS = range(6)


@array_function
def step(
    terms: Terms, model: RigidModel, state: RigidState, work: Workspace, first_stage: int, h: float
) -> None:
    """Compute stages of a step of length h from ``work.start``.

    Args:
        first_stage: 0 computes only the rates at the start; 1 the step, given those rates.
        h: s.

    Leaves the new state in ``work.trial``, its rates in the last row of ``work.k``.
    """
    k, start, trial = work.k, work.start, work.trial
    count, size = trial.shape[0], work.M.shape[0]
    last = STAGES if first_stage > 0 else 0
    for stage in range(first_stage, last + 1):
        trial[:] = 0.0
        for j in range(stage):
            weight = h * A[stage, j]
            if weight != 0.0:
                for i in range(count):
                    trial[i] += weight * k[j, i]
        trial += start
        accelerate(terms, model, trial, state.mode, state.effort, work)
        k[stage, :size], k[stage, size:] = trial[size:], work.acceleration
    find_reactions(model, state.mode, work)


@array_function
def error_of(model: RigidModel, work: Workspace, h: float) -> float:
    """Return the local error of a step over the tolerance; NaN where the state is not finite."""
    k, trial = work.k, work.trial
    count = trial.shape[0]
    fifth, third = 0.0, 0.0
    for i in range(count):
        e5, e3 = 0.0, 0.0
        for j in range(STAGES):
            e5 += E5[j] * k[j, i]
            e3 += E3[j] * k[j, i]
        scale = 1.0 / (model.tolerance * (1.0 + abs(trial[i])))
        fifth += (e5 * scale) ** 2
        third += (e3 * scale) ** 2
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return h * fifth / math.sqrt((fifth + 0.01 * third) * count)


@array_function
def dips(g0: float, slope0: float, g1: float, slope1: float, h: float) -> bool:
    """Return whether a signal that ends positive was negative in between (cubic Hermite).

    Args:
        g0: Value at the start.
        slope0: Rate there, 1/s.
        g1: Value at the end.
        slope1: Rate there, 1/s.
        h: Length of the step, s.
    """
    if not (g0 > -ZERO and g1 > 0.0 and slope0 < 0.0 and slope1 > 0.0):
        return False
    for i in range(1, PARTS):
        if between(g0, slope0, g1, slope1, h, i / PARTS) < -ZERO:
            return True
    return False


@array_function
def between(g0: float, slope0: float, g1: float, slope1: float, h: float, s: float) -> float:
    """Return a value at a share s of a step by its values and rates at both ends (Hermite).

    Args:
        g0: Value at the start.
        slope0: Rate there, 1/s.
        g1: Value at the end.
        slope1: Rate there, 1/s.
        h: Length of the step, s.
        s: Share of the step, 0 to 1.
    """
    u = 1.0 - s
    return (
        u * u * (1.0 + 2.0 * s) * g0
        + s * s * (3.0 - 2.0 * s) * g1
        + h * s * u * (u * slope0 - s * slope1)
    )


@array_function
def path_between(work: Workspace, h: float, s: float) -> tuple[float, float]:
    """Return how far the swing foot is ahead and its height there, at a share s of a step."""
    a, b = work.foot0, work.foot1
    ahead = between(a[AHEAD], a[AHEAD_SPEED], b[AHEAD], b[AHEAD_SPEED], h, s)
    if ahead > 0.0:
        return ahead, between(a[AHEAD_HEIGHT], a[AHEAD_RATE], b[AHEAD_HEIGHT], b[AHEAD_RATE], h, s)
    return ahead, between(a[BEHIND_HEIGHT], a[BEHIND_RATE], b[BEHIND_HEIGHT], b[BEHIND_RATE], h, s)


@array_function
def trips_unseen(model: RigidModel, state: RigidState, work: Workspace, h: float) -> bool:
    """Return whether the swing foot was inside the floor, ahead, in the middle of a step alone."""
    if state.mode[SWING] == 1 or h <= SHORT or work.g0[TRIP] <= 0.0 or work.g1[TRIP] <= 0.0:
        return False
    first = max(model.scuff, 0.0)
    for i in range(1, PARTS):
        ahead, height = path_between(work, h, i / PARTS)
        if ahead > first and height < -model.scuff_depth:
            return True
    return False


@array_function
def book_foot(model: RigidModel, state: RigidState, work: Workspace, h: float) -> None:
    """Book how deep under the floor the swing foot was in a step, and how far ahead there."""
    memo = state.memo
    if state.mode[SWING] == 1:
        return
    parts = PARTS if h > SHORT else 1
    for i in range(1, parts + 1):
        ahead, height = path_between(work, h, i / parts)
        if -height > memo[FOOT_DEPTH]:
            memo[FOOT_DEPTH], memo[DEPTH_AHEAD] = -height, ahead
        if height < -model.scuff_depth:
            memo[SCUFF_REACH] = max(memo[SCUFF_REACH], ahead)


@array_function
def dips_unseen(model: RigidModel, state: RigidState, work: Workspace, h: float) -> bool:
    """Return whether a foot went below the floor and came back within one step."""
    g0, g1, s0, s1 = work.g0, work.g1, work.s0, work.s1
    return (
        (
            is_ahead(model, state, work)
            and dips(g0[TOUCHDOWN], s0[TOUCHDOWN], g1[TOUCHDOWN], s1[TOUCHDOWN], h)
        )
        or dips(g0[LANDING], s0[LANDING], g1[LANDING], s1[LANDING], h)
        or trips_unseen(model, state, work, h)
    )


@array_function
def crossing(work: Workspace) -> int:
    """Return the signal that fell through zero most steeply within the trial step, or -1."""
    first, share = -1, 2.0
    for event in range(work.g0.shape[0]):
        before, after = work.g0[event], work.g1[event]
        if before >= -ZERO and after < -ZERO:
            fraction = max(before, 0.0) / (max(before, 0.0) - after)
            if fraction < share:
                first, share = event, fraction
    return first


@array_function
def go_on(state: RigidState, work: Workspace, h: float) -> None:
    """Make the trial state the present one."""
    state.y[:], work.start[:], work.k[0] = work.trial, work.trial, work.k[STAGES]
    work.g0[:], work.s0[:] = work.g1, work.s1
    state.memo[TIME] += h


@array_function
def accept(model: RigidModel, state: RigidState, work: Workspace, h: float) -> None:
    """Make the trial state the present one; book the floor's force and the swing foot's path."""
    book_foot(model, state, work, h)
    go_on(state, work, h)
    memo = state.memo
    work.foot0[:] = work.foot1
    if state.mode[STANCE] == 1:
        normal = work.reactions[1]
        memo[MIN_NORMAL] = min(memo[MIN_NORMAL], normal)
        if normal > 0.0:
            memo[MAX_FRICTION] = max(memo[MAX_FRICTION], abs(work.reactions[0]) / normal)


@array_function
def trial_length(
    model: RigidModel, state: RigidState, work: Workspace, target: int, last: float, left: float
) -> float:
    """Return the length of the next trial step: up to `left`, or towards the zero of `target`.

    Within a bracket this is Newton's step from the last trial where the signal's slope is known,
    else false position (Illinois); the middle where these leave the bracket or take too long.
    """
    if target < 0:
        return float(min(state.memo[STEP_SIZE], model.max_step, left))
    bracket = work.bracket
    low, high, g_low, g_high = bracket[LOW], bracket[HIGH], bracket[G_LOW], bracket[G_HIGH]
    if bracket[ROUNDS] < 12 or bracket[ROUNDS] % 2 == 0:
        if work.s1[target] < 0.0:
            newton = last - work.g1[target] / work.s1[target]
            if low < newton < high:
                return float(newton)
        if g_low > FLAT:  # from a zero, as of a joint that leaves its stop, it would not get away
            return float(low + (high - low) * g_low / (g_low - g_high))
    return float(0.5 * (low + high))


@array_function
def watch(model: RigidModel, state: RigidState, work: Workspace, target: int, h: float) -> int:
    """Look for events in the trial step; return the one to close in on, NOTHING or RETRY.

    Args:
        target: The event closed in on so far, or NOTHING.
        h: Length of the trial, s.
    """
    signals(model, state, work.trial, work, work.g1, work.s1, work.foot1)
    if target < 0 and h > 1e-6 and dips_unseen(model, state, work, h):
        return RETRY
    return close_in(work, target, h, 0.5)


@array_function
def close_in(work: Workspace, target: int, h: float, doubt: float) -> int:
    """Return the event to close in on within the trial step, or NOTHING, and narrow its bracket.

    Args:
        target: The event closed in on so far, or NOTHING.
        h: Length of the trial, s.
        doubt: Factor of the signal at an end of the bracket that has stayed twice: 0.5 as in the
            Illinois rule, 1 for the plain rule of false position.
    """
    bracket, found = work.bracket, crossing(work)
    if found >= 0 and found != target:
        bracket[LOW], bracket[HIGH], bracket[RAISED], bracket[ROUNDS] = 0.0, h, 0.0, 0.0
        bracket[G_LOW], bracket[G_HIGH] = work.g0[found], work.g1[found]
        target = found
    elif target >= 0 and work.g1[target] > 0.0:
        bracket[G_HIGH] *= doubt if bracket[RAISED] > 0.0 else 1.0
        bracket[LOW], bracket[G_LOW], bracket[RAISED] = h, work.g1[target], 1.0
    elif target >= 0:
        bracket[G_LOW] *= 1.0 if bracket[RAISED] > 0.0 else doubt
        bracket[HIGH], bracket[G_HIGH], bracket[RAISED] = h, work.g1[target], 0.0
    bracket[ROUNDS] += 1.0
    return target


@array_function
def is_located(work: Workspace, target: int) -> bool:
    """Return whether the trial state is that of the event."""
    bracket = work.bracket
    return bool(
        abs(work.g1[target]) <= FLAT
        or bracket[HIGH] - bracket[LOW] <= SMALLEST
        or bracket[ROUNDS] >= 100.0
    )


@array_function
def shorten(memo: np.ndarray, h: float, error: float) -> None:
    """Choose a shorter step after one that missed the tolerance.

    Args:
        memo: Of the `RigidState`, with the length of the next step.
        h: Of the step that missed, s.
        error: Over the tolerance.
    """
    factor = 0.9 * error**-0.125 if math.isfinite(error) else 0.2
    memo[STEP_SIZE] = h * max(0.2, factor)


@array_function
def lengthen(memo: np.ndarray, h: float, error: float) -> None:
    """Choose the next step after one within the tolerance.

    Args:
        memo: Of the `RigidState`, with the length of the next step.
        h: Of the step that met it, s.
        error: Over the tolerance.
    """
    longer = h * (6.0 if error == 0.0 else min(6.0, 0.9 * error**-0.125))
    # a step cut short by the end of the tick says nothing against the longer one before it
    memo[STEP_SIZE] = max(memo[STEP_SIZE], longer) if h < memo[STEP_SIZE] else longer


@array_function
def begin(model: RigidModel, state: RigidState, work: Workspace) -> int:
    """Make the present state the start of a step; return what is overdue, or NOTHING."""
    signals(model, state, work.trial, work, work.g1, work.s1, work.foot1)
    work.foot0[:] = work.foot1
    work.g0[:], work.s0[:] = work.g1, work.s1
    return overdue(model, state, work)


@array_function
def has_fallen(model: RigidModel, state: RigidState, work: Workspace) -> bool:
    """Return whether the base has sunk below the fall height."""
    base = work.terms[work.terms.shape[0] - 1]
    return bool(state.y[1] + base - state.memo[ANCHOR_Z] < model.fall_height)


@array_function
def advance(
    terms: Terms,
    model: RigidModel,
    state: RigidState,
    work: Workspace,
    duration: float,
    stop_at_step: bool,
) -> int:
    """Move the walker on, effort and armed locks held.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        state: `RigidState`, changed in place.
        duration: s.
        stop_at_step: Whether to return just after the next step's touchdown.

    Returns:
        DONE, STEPPED, FELL (the base is below the fall height), TRIPPED (the swing foot has met the
        floor from the side), DIVERGED or CHATTERED.
    """
    memo = state.memo
    end, steps, events = memo[TIME] + duration, state.mode[STEPS], 0
    first, trials = memo[TIME], 0
    event, target = lock_due(model, state), NOTHING
    fresh, h, error = True, 0.0, 0.0  # fresh: rates and signals of the present state are wanted
    while True:
        # One call each of step and happen keeps the compiled code small.
        if fresh:
            work.start[:] = state.y
        elif target < 0 and end - memo[TIME] <= SMALLEST:
            return DONE
        else:
            h = trial_length(model, state, work, target, h, end - memo[TIME])
        trials += 1
        if trials > MOST_TRIALS + (memo[TIME] - first) / SHORTEST_MEAN:
            return CHATTERED  # as between two feet in one place, where forces are rounding
        step(terms, model, state, work, 0 if fresh else 1, h)
        if fresh and event < 0:
            event = begin(model, state, work)
            fresh = event >= 0
            if not fresh and stop_at_step and state.mode[STEPS] > steps:
                return STEPPED
        elif not fresh:
            if target < 0:
                error = error_of(model, work, h)
                if not error <= 1.0:
                    if h <= 1e-10 or not math.isfinite(work.k[0, 0]):
                        return DIVERGED
                    shorten(memo, h, error)
                    continue
            target = watch(model, state, work, target, h)
            if target == RETRY:
                memo[STEP_SIZE], target = 0.5 * h, NOTHING
            elif target < 0:
                accept(model, state, work, h)
                if has_fallen(model, state, work):
                    return FELL
                lengthen(memo, h, error)
            elif is_located(work, target):
                accept(model, state, work, h)
                event, target = target, NOTHING
                if event == TOUCHDOWN and not is_ahead(model, state, work):
                    work.g0[TOUCHDOWN], event = -1.0, NOTHING  # passes through the floor
        if event == TRIP:
            return TRIPPED
        if event >= 0:
            events += 1
            if events > MOST_EVENTS:
                return CHATTERED
            happen(model, state, work, event)
            event, fresh = NOTHING, True
