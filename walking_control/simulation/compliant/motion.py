# SPDX-License-Identifier: Apache-2.0
"""Integration of the walker on a compliant floor.

The explicit method of order eight with local error control that plant rigid has. Contacts make the
equations stiff for some milliseconds after each touchdown alone; then the spring is at rest under
its load, and steps are as long as the stability of the method lets them. An implicit method would
take longer ones, but its damping is not the contact's: energies would not add up.

Where a foot meets or leaves the floor, and where joints reach stops and locks, steps end: forces
jump there. Sticking and slipping need no event, see `forces`.
"""

import math

import numpy as np

from walking_control.models import array_function, multiply, Terms, terms_places
from walking_control.models.dormand_prince import A
from walking_control.simulation.compliant.forces import (
    accelerate_softly,
    FEET,
    Feet,
    Floor,
    GAP,
    GAP_RATE,
    INSIDE,
    LAST,
    OUTSIDE,
    PASSING,
    PLACE,
)
from walking_control.simulation.rigid.events import FIRST_JOINT, happen, lock_due, overdue, signals
from walking_control.simulation.rigid.model import (
    CHATTERED,
    DIVERGED,
    DONE,
    FELL,
    RigidModel,
    RigidState,
    STEP_SIZE,
    STEPS,
    TIME,
    TRIPPED,
    Workspace,
)
from walking_control.simulation.rigid.motion import (
    close_in,
    error_of,
    go_on,
    is_located,
    lengthen,
    MOST_EVENTS,
    NOTHING,
    shorten,
    SMALLEST,
    STAGES,
    trial_length,
)

LIFTED = 0.0005  # m: the floor's step under a foot moves while the foot is higher than this


@array_function
def step(
    terms: Terms,
    model: RigidModel,
    floor: Floor,
    state: RigidState,
    feet: Feet,
    work: Workspace,
    first_stage: int,
    h: float,
) -> None:
    """Compute stages of a step of length h from ``work.start``; see `rigid.motion.step`."""
    k, start, trial = work.k, work.start, work.trial
    count, size = trial.shape[0], work.M.shape[0]
    for stage in range(first_stage, (STAGES if first_stage > 0 else 0) + 1):
        multiply(k[:stage, :count].T, A[stage, :stage], trial)
        trial[:] = start + h * trial
        accelerate_softly(
            terms, model, floor, feet, trial, state.mode, state.effort, work, k[stage, 2 * size :]
        )
        k[stage, :size], k[stage, size : 2 * size] = trial[size : 2 * size], work.acceleration


@array_function
def watch_signals(
    model: RigidModel, state: RigidState, feet: Feet, y: np.ndarray, work: Workspace
) -> None:
    """Write the signals of plant rigid for joints, and each foot's way to or out of the floor."""
    signals(model, state, y, work, work.g1, work.s1, work.foot1)
    work.g1[FEET:FIRST_JOINT] = 1.0
    for foot in range(FEET):
        side = 1.0 if feet.flags[foot] == OUTSIDE else -1.0
        work.g1[foot] = side * feet.touch[foot, GAP]
        work.s1[foot] = side * feet.touch[foot, GAP_RATE]


@array_function
def touch(model: RigidModel, state: RigidState, feet: Feet, foot: int) -> None:
    """Let a foot enter or leave the floor; count the step if it comes down ahead of the other."""
    flags = feet.flags
    if flags[foot] != OUTSIDE:
        flags[foot] = OUTSIDE
        return
    ahead = feet.touch[foot, PLACE] - feet.touch[1 - foot, PLACE]
    flags[foot] = INSIDE if foot == flags[LAST] or ahead >= model.scuff else PASSING
    if flags[foot] == INSIDE and foot != flags[LAST] and ahead > 0.0:
        flags[LAST] = foot
        state.mode[STEPS] += 1


@array_function
def is_stuck(model: RigidModel, floor: Floor, state: RigidState, feet: Feet) -> bool:
    """Bring the floor's step under each lifted foot; return whether one is in it, and ahead.

    The edge between two footholds lies where it does least harm, as on the other plants: between
    them the floor is the lower one's.
    """
    steps, last = state.mode[STEPS], floor.levels.shape[0] - 1
    for foot in range(FEET):
        gap = feet.touch[foot, GAP]
        ahead = feet.touch[foot, PLACE] - feet.touch[1 - foot, PLACE]
        if (
            feet.flags[foot] == PASSING
            and ahead > max(model.scuff, 0.0)
            and gap < -model.scuff_depth
        ):
            return True
        if foot == feet.flags[LAST] or feet.flags[foot] != OUTSIDE or gap < LIFTED:
            continue
        over = gap + feet.level[foot]  # above level zero
        other = floor.levels[min(steps + 1, last)]
        if ahead <= 0.0:
            other = floor.levels[max(min(steps - 1, last), 0)]
        level = min(floor.levels[min(steps, last)], other)
        if ahead > 0.0 and over > other:
            level = other
        if level > over + model.scuff_depth and ahead > 0.0:
            return True
        if over > level:
            feet.level[foot] = level
    return False


@array_function
def has_sunk(model: RigidModel, state: RigidState, feet: Feet, work: Workspace) -> bool:
    """Return whether the base is below the fall height over the foot that landed last."""
    places = terms_places(work.M.shape[0] - 2)
    foot = 0.0 if feet.flags[LAST] == 0 else work.terms[places.foot + 1]
    return bool(work.terms[places.base + 1] - foot < model.fall_height)


@array_function
def advance(
    terms: Terms,
    model: RigidModel,
    floor: Floor,
    state: RigidState,
    feet: Feet,
    work: Workspace,
    duration: float,
) -> int:
    """Move the walker on, effort and armed locks held.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        state: `RigidState` of `make_soft_state`, changed in place.
        feet: `Feet`, likewise.
        work: `Workspace` of `make_soft_workspace`.
        duration: s.

    Returns:
        DONE, FELL, TRIPPED (a foot has met the floor from the side), DIVERGED or CHATTERED.
    """
    memo = state.memo
    end, events = memo[TIME] + duration, 0
    event, target = lock_due(model, state), NOTHING
    fresh, h, error = True, 0.0, 0.0  # fresh: rates and signals of the present state are wanted
    while True:
        if fresh:
            work.start[:] = state.y
        elif target < 0 and end - memo[TIME] <= SMALLEST:
            return DONE
        else:
            h = trial_length(model, state, work, target, h, end - memo[TIME])
        step(terms, model, floor, state, feet, work, 0 if fresh else 1, h)
        if fresh:
            watch_signals(model, state, feet, work.trial, work)
            work.g0[:], work.s0[:] = work.g1, work.s1
            if event < 0:
                event = overdue(model, state, work)
                fresh = event >= 0
        else:
            if target < 0:
                error = error_of(model, work, h)
                if not error <= 1.0:
                    if h <= 1e-11 or not math.isfinite(work.k[0, 0]):
                        return DIVERGED
                    shorten(memo, h, error)
                    continue
            watch_signals(model, state, feet, work.trial, work)
            target = close_in(work, target, h, 1.0)
            if target < 0 or is_located(work, target):
                go_on(state, work, h)
                if has_sunk(model, state, feet, work):
                    return FELL
                if is_stuck(model, floor, state, feet):
                    return TRIPPED
                if target < 0:
                    lengthen(memo, h, error)
                event, target = target, NOTHING
        if event >= 0:
            events += 1
            if events > MOST_EVENTS:
                return CHATTERED
            if event < FEET:
                touch(model, state, feet, event)
                memo[STEP_SIZE] = min(memo[STEP_SIZE], 1e-4)
            else:
                happen(model, state, work, event)
            event, fresh = NOTHING, True
