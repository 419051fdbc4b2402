# SPDX-License-Identifier: Apache-2.0
"""The walker with all mass in the hip, advanced from event to event: arrays and motion.

Equations and simplifications: `models.pendulum`. The swing leg has no mass: it turns as fast as it
is told to. A leg that would have to pull lets go, and the hip flies until that leg, which keeps
pointing at its foot, is pressed again or the other foot comes down.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.models import (
    array_function,
    find_landing,
    inner,
    leg_angles,
    leg_direction,
    settle,
    step_over,
    swing,
    tension,
)
from walking_control.simulation.rigid.model import (
    CHATTERED,
    DONE,
    FELL,
    LOSS,
    MAX_FRICTION,
    MEMOS,
    MIN_NORMAL,
    STANCE,
    STEP_LENGTH,
    STEPPED,
    STEPS,
    SUPPORT,
    TIME,
    WORK,
)

PUSH_OFF = 4  # place in PointState.effort; before it the speeds, foot by foot, pitch, roll
MOST_EVENTS = 100  # within one tick
LOOKS = 16  # at a flight within one tick
INSTANT = 1e-13  # s
TOUCHING = 1e-12  # m/s: slower, a foot does not leave the floor


class PointModel(NamedTuple):
    """Constants of one robot on one floor.

    Attributes:
        mass: kg.
        length: Of the legs, m.
        gravity: Floor axes, m/s^2, ``(3,)``.
        lower: Limits of pitch and roll, rad, by foot, ``(2, 2)``.
        upper: Likewise.
        drops: Level of the next foothold below the present one at each step, m; the last entry
            serves all further steps.
        fall_height: Height of the hip above the stance foot below which it has fallen, m.
    """

    mass: float
    length: float
    gravity: np.ndarray
    lower: np.ndarray
    upper: np.ndarray  # likewise
    # level of the next foothold below the present one at each step, m; the last entry serves all
    # further steps
    drops: np.ndarray
    fall_height: float


class PointState(NamedTuple):
    """What changes.

    Attributes:
        y: Hip as seen from the stance foot, in flight from where it stood last, ``(6,)``.
        angles: Pitch and roll of each leg, rad, ``(2, 2)``.
        anchor: Place of that foot, floor frame, m, ``(3,)``.
        effort: Speeds of pitch and roll by foot, rad/s, then of the push-off, m/s, ``(5,)``.
        mode: `SUPPORT`, `STANCE` (0 in flight) and `STEPS`.
        memo: Places as in `rigid.model`.
    """

    y: np.ndarray
    angles: np.ndarray
    anchor: np.ndarray  # place of that foot, floor frame, m, ``(3,)``
    # speeds of pitch and roll by foot, rad/s, then of the push-off, m/s, ``(5,)``
    effort: np.ndarray
    mode: np.ndarray
    memo: np.ndarray


def make_point_state() -> PointState:
    """Return a `PointState` of zeros."""
    return PointState(
        np.zeros(6),
        np.zeros((2, 2)),
        np.zeros(3),
        np.zeros(PUSH_OFF + 1),
        np.zeros(4, np.int64),
        np.zeros(MEMOS),
    )


@array_function
def advance_point(model: PointModel, state: PointState, duration: float, stop_at_step: bool) -> int:
    """Move on with held commands.

    Args:
        state: `PointState`, changed in place.
        duration: s.
        stop_at_step: Whether to return just after the next touchdown of the other foot.

    Returns:
        ``DONE``, ``STEPPED``, ``FELL`` or ``CHATTERED`` of `rigid.model`.
    """
    remaining = duration
    for _ in range(MOST_EVENTS):
        if remaining <= INSTANT:
            return DONE
        steps = state.mode[STEPS]
        remaining -= _go_on(model, state, remaining)
        if state.mode[STEPS] != steps and stop_at_step:
            return STEPPED
        if state.y[2] < model.fall_height:
            return FELL
    return CHATTERED


@array_function
def _rates(
    model: PointModel, state: PointState, foot: int, duration: float, out: np.ndarray
) -> None:
    """Fill the rates of a leg that follows its servos and stops at its limits."""
    for i in range(2):
        angle = state.angles[foot, i]
        out[i] = min(
            max(state.effort[2 * foot + i], (model.lower[foot, i] - angle) / duration),
            (model.upper[foot, i] - angle) / duration,
        )


@array_function
def _next_floor(model: PointModel, state: PointState) -> float:
    """Return the level of the next foothold over the present one, m."""
    return float(-model.drops[min(state.mode[STEPS] + 1, model.drops.shape[0] - 1)])


@array_function
def _go_on(model: PointModel, state: PointState, duration: float) -> float:
    """Stand or fly until the other foot lands, the stance leg lets go or is pressed again.

    Returns:
        For how long, s: the duration, unless something happens before.
    """
    support, stands = state.mode[SUPPORT], state.mode[STANCE] == 1
    other = 1 - support
    rates, after = np.zeros(2), np.zeros(6)
    _rates(model, state, other, duration, rates)
    pressed = -1.0 if stands else _find_pressure(model, state.y, duration)
    time = duration if pressed < 0.0 else pressed
    landing = find_landing(
        state.y,
        model.gravity,
        model.length,
        stands,
        state.angles[other],
        rates,
        _next_floor(model, state),
        time,
        after,
    )
    if landing >= 0.0:
        time = landing
    if stands and tension(after, model.gravity) < 0.0:
        time, landing = _find_release(model, state.y, time, after), -1.0
        state.mode[STANCE] = 0
    state.angles[other] += rates * time
    state.y[:] = after
    if stands:
        _note_load(model, state)
    if landing >= 0.0:
        _step(model, state, state.effort[PUSH_OFF] if stands else 0.0)
    else:
        _point_at_foot(state, support)
        if pressed >= 0.0:
            along = inner(state.y[:3], state.y[3:]) / model.length
            state.memo[LOSS] += 0.5 * model.mass * along * along
            state.mode[STANCE] = 1
            settle(model.length, state.y)
    state.memo[TIME] += time
    return time


@array_function
def _find_release(model: PointModel, y: np.ndarray, time: float, out: np.ndarray) -> float:
    """Return when the leg would begin to pull; fills the state then."""
    low, high = 0.0, time
    while high - low > INSTANT:
        middle = 0.5 * (low + high)
        swing(y, model.gravity, model.length, True, middle, out)
        if tension(out, model.gravity) < 0.0:
            high = middle
        else:
            low = middle
    swing(y, model.gravity, model.length, True, high, out)
    return high


@array_function
def _point_at_foot(state: PointState, foot: int) -> None:
    """Turn the stance leg towards its foot."""
    leg_angles(-state.y[:3], state.angles[foot])


@array_function
def _note_load(model: PointModel, state: PointState) -> None:
    """Remember the least normal force and the most friction of the stance foot."""
    y, memo = state.y, state.memo
    memo[MIN_NORMAL] = min(memo[MIN_NORMAL], model.mass * tension(y, model.gravity) * y[2])
    memo[MAX_FRICTION] = max(
        memo[MAX_FRICTION], math.sqrt(y[0] * y[0] + y[1] * y[1]) / max(y[2], 1e-9)
    )


@array_function
def _step(model: PointModel, state: PointState, push_off: float) -> None:
    """Let the other foot, which is on the floor, take over, with a push-off of the stance leg."""
    support = state.mode[SUPPORT]
    other = 1 - support
    direction = np.zeros(3)
    leg_direction(state.angles[other, 0], state.angles[other, 1], direction)
    shift = state.y[:3] + model.length * direction
    state.anchor[:] += shift
    _point_at_foot(state, support)
    push = max(push_off, 0.0)
    impact = step_over(state.y, direction, push)
    state.memo[WORK] += 0.5 * model.mass * push * push
    state.memo[LOSS] += 0.5 * model.mass * max(impact, 0.0) ** 2
    state.memo[STEP_LENGTH] = math.sqrt(shift[0] * shift[0] + shift[1] * shift[1])
    state.mode[SUPPORT] = other
    state.mode[STANCE] = 1 if impact > -TOUCHING else 0
    state.mode[STEPS] += 1
    if state.mode[STANCE] == 1:
        settle(model.length, state.y)
        _note_load(model, state)


@array_function
def _find_pressure(model: PointModel, y: np.ndarray, duration: float) -> float:
    """Return when a flying hip comes back to the leg that stood last, s, or -1.

    The leg has no mass and keeps pointing at its foot, which it can press but not pull.
    """
    begin = 0.0
    for i in range(LOOKS):
        end = duration * (i + 1) / LOOKS
        if _reach(model, y, end) <= 0.0:
            while end - begin > INSTANT:
                middle = 0.5 * (begin + end)
                if _reach(model, y, middle) > 0.0:
                    begin = middle
                else:
                    end = middle
            return end
        begin = end
    return -1.0


@array_function
def _reach(model: PointModel, y: np.ndarray, time: float) -> float:
    """Return how far beyond the leg's length a flying hip is, squared, m^2."""
    hip = y[:3] + time * (y[3:] + 0.5 * time * model.gravity)
    return inner(hip, hip) - model.length**2


@array_function
def push_point(model: PointModel, state: PointState, impulse: np.ndarray) -> None:
    """Add an impulse to the hip at once, N s, ``(3,)``; the leg holds against being pressed."""
    state.y[3:] += impulse / model.mass
    if state.mode[STANCE] != 1:
        return
    along = inner(state.y[:3], state.y[3:])
    if along > TOUCHING * model.length:
        state.mode[STANCE] = 0
    else:
        settle(model.length, state.y)
