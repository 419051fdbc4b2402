# SPDX-License-Identifier: Apache-2.0
"""Events of the rigid walker: touchdown, lift-off, trips, joint stops, locks.

Each event has a signal that is positive while nothing happens: foot heights, distances to joint
limits, for closed stops the acceleration that keeps them closed ([DS09] section 3.3.4), and for
contacts what `firmness` says. Signals 0 to 3: swing foot height, reference foot height in flight,
contact, room before a trip; then upper and lower stop of each joint; then each lock's approach.

The floor is solid. Where footholds differ in level, the edge lies where it does least harm: between
two of them the floor is the lower of both. Straight legs scuff when they pass each other, which is
forgiven behind the stance foot and up to `scuff` ahead of it. A swing foot further ahead that is
deeper than `scuff_depth` is inside the floor: it has met it from the side, and tripped.
"""

import math

import numpy as np

from walking_control.models import array_function, form, multiply, terms_places
from walking_control.simulation.rigid.forces import (
    along_joint,
    collide,
    firmness,
    hold_parts,
    solve_constrained,
    swing_along,
    swing_normal,
)
from walking_control.simulation.rigid.model import (
    AHEAD,
    AHEAD_HEIGHT,
    AHEAD_RATE,
    AHEAD_SPEED,
    ANCHOR_X,
    ANCHOR_Z,
    BEHIND_HEIGHT,
    BEHIND_RATE,
    BEHIND_X,
    BEHIND_Z,
    FIRST_STOP,
    LOSS,
    RigidModel,
    RigidState,
    STANCE,
    STEP_LENGTH,
    STEPS,
    SUPPORT,
    SWING,
    Workspace,
)

TOUCHDOWN, LANDING, RELEASE, TRIP, FIRST_JOINT = 0, 1, 2, 3, 4
ZERO = 1e-10  # signals closer to zero than this count as zero


@array_function
def lock_of(model: RigidModel, joint: int) -> int:
    """Return the index of a joint's lock, -1 without one."""
    for i in range(model.n_locks):
        if model.lock_joint[i] == joint:
            return i
    return -1


@array_function
def height_above_floor(
    model: RigidModel, state: RigidState, x: float, z: float, steps: int
) -> tuple[float, float]:
    """Return height over the floor and the floor's tangent at a number of steps.

    Args:
        model: `RigidModel`.
        state: `RigidState`.
        x: Place ahead of the reference foot, m.
        z: Height over it, m.
        steps: The present number; one less: the floor of the last foothold; one more: of the next.
    """
    now, memo = state.mode[STEPS], state.memo
    tilt = math.tan(model.tilts[min(steps, model.tilts.shape[0] - 1)])
    drop = model.drops[min(steps, model.drops.shape[0] - 1)] if steps > now else 0.0
    ahead, above = x - memo[ANCHOR_X], z - memo[ANCHOR_Z]
    if steps < now:
        ahead, above = x - memo[BEHIND_X], z - memo[BEHIND_Z]
    return above + drop + tilt * ahead, tilt


@array_function
def signals(
    model: RigidModel,
    state: RigidState,
    y: np.ndarray,
    work: Workspace,
    g: np.ndarray,
    slope: np.ndarray,
    foot: np.ndarray,
) -> None:
    """Write all event signals and, for feet, their rates; after `accelerate` at y."""
    _foot_signals(model, state, y, work, g, slope, foot)
    _trip_signal(model, foot, g, slope)
    g[RELEASE] = _release_signal(model, state, work)
    for joint in range(model.lower.shape[0]):
        _stop_signals(model, state.mode, y, work, joint, g)
    for i in range(model.n_locks):
        _lock_signal(model, state, y, i, g)


@array_function
def _foot_signals(
    model: RigidModel,
    state: RigidState,
    y: np.ndarray,
    work: Workspace,
    g: np.ndarray,
    slope: np.ndarray,
    foot: np.ndarray,
) -> None:
    size, mode = work.M.shape[0], state.mode
    places = terms_places(size - 2)
    g[TOUCHDOWN], slope[TOUCHDOWN], g[LANDING], slope[LANDING] = 1.0, 0.0, 1.0, 0.0
    foot[:] = 0.0
    if mode[SWING] == 0:
        x, z = y[0] + work.terms[places.foot], y[1] + work.terms[places.foot + 1]
        g[TOUCHDOWN], tilt = height_above_floor(model, state, x, z, mode[STEPS] + 1)
        along = swing_along(work, y[size:], 0)
        rise = swing_normal(model, work, y[size:], False)
        slope[TOUCHDOWN] = rise + tilt * along
        foot[AHEAD], foot[AHEAD_SPEED] = work.terms[places.foot], along - y[size]
        # between two footholds the floor is the lower one's, so the height is the larger one
        height, tangent = height_above_floor(model, state, x, z, mode[STEPS])
        foot[AHEAD_HEIGHT], foot[AHEAD_RATE] = height, rise + tangent * along
        foot[BEHIND_HEIGHT], foot[BEHIND_RATE] = height, rise + tangent * along
        if g[TOUCHDOWN] > height:
            foot[AHEAD_HEIGHT], foot[AHEAD_RATE] = g[TOUCHDOWN], slope[TOUCHDOWN]
        last, tangent = height_above_floor(model, state, x, z, max(mode[STEPS] - 1, 0))
        if last > height:
            foot[BEHIND_HEIGHT], foot[BEHIND_RATE] = last, rise + tangent * along
    if mode[STANCE] == 0:
        g[LANDING], tilt = height_above_floor(model, state, y[0], y[1], mode[STEPS])
        slope[LANDING] = y[size + 1] + tilt * y[size]


def foot_heights(model: RigidModel, state: RigidState, work: Workspace) -> tuple[float, float]:
    """Return heights of reference and swing foot over the floor there, m; after `evaluate`."""
    mode, y, foot = state.mode, state.y, np.zeros(6)
    g, slope = np.empty(FIRST_JOINT), np.empty(FIRST_JOINT)
    _foot_signals(model, state, y, work, g, slope, foot)
    reference = 0.0 if mode[STANCE] == 1 else float(g[LANDING])
    swing = float(foot[AHEAD_HEIGHT if foot[AHEAD] > 0.0 else BEHIND_HEIGHT])
    return reference, 0.0 if mode[SWING] == 1 else swing


@array_function
def _trip_signal(model: RigidModel, foot: np.ndarray, g: np.ndarray, slope: np.ndarray) -> None:
    """A foot trips where it is both too deep and too far ahead; see the module."""
    over = foot[AHEAD_HEIGHT] + model.scuff_depth
    before = max(model.scuff, 0.0) - foot[AHEAD]
    if over > before:
        g[TRIP], slope[TRIP] = over, foot[AHEAD_RATE]
    else:
        g[TRIP], slope[TRIP] = before, -foot[AHEAD_SPEED]


@array_function
def _release_signal(model: RigidModel, state: RigidState, work: Workspace) -> float:
    least = 1.0
    if state.mode[STANCE] == 1:
        least = firmness(model, state, work, STANCE)
        if state.mode[SWING] == 1:
            least = min(least, firmness(model, state, work, SWING))
    return least


@array_function
def _stop_signals(
    model: RigidModel, mode: np.ndarray, y: np.ndarray, work: Workspace, joint: int, g: np.ndarray
) -> None:
    upper, lower = FIRST_JOINT + 2 * joint, FIRST_JOINT + 2 * joint + 1
    g[upper], g[lower] = 1.0, 1.0
    lock = lock_of(model, joint)
    if lock >= 0 and mode[FIRST_STOP + model.lower.shape[0] + lock] == 1:
        return
    stop = mode[FIRST_STOP + joint]
    if stop != 0:
        mode[FIRST_STOP + joint] = 0
        k = hold_parts(model, mode, work, mode[SWING] == 1)
        start = 2 if mode[STANCE] == 1 else 0
        solve_constrained(model, work, work.force, work.acceleration, start, k)
        mode[FIRST_STOP + joint] = stop
        g[upper if stop > 0 else lower] = stop * along_joint(model, mode, work.acceleration, joint)
        return
    angle = along_joint(model, mode, y, joint)
    g[upper] = model.upper[joint] - angle
    g[lower] = angle - model.lower[joint]


@array_function
def _lock_signal(
    model: RigidModel, state: RigidState, y: np.ndarray, i: int, g: np.ndarray
) -> None:
    """A lock takes a joint that turns back within its reach."""
    at, joint, mode = FIRST_JOINT + 2 * model.lower.shape[0] + i, model.lock_joint[i], state.mode
    g[at] = 1.0
    if state.armed[i] == 0 or mode[FIRST_STOP + model.lower.shape[0] + i] == 1:
        return
    distance = model.lock_angle[i] - along_joint(model, mode, y, joint)
    if ZERO < abs(distance) <= model.lock_capture[i]:
        rate = along_joint(model, mode, y[model.relabel.shape[1] + 2 :], joint)
        g[at] = rate if distance > 0.0 else -rate


@array_function
def kinetic_energy(model: RigidModel, state: RigidState, work: Workspace) -> float:
    """Return the kinetic energy, J; the support terms must be those of the present state."""
    v = state.y[work.M.shape[0] : 2 * work.M.shape[0]]
    return 0.5 * form(v, work.M[:], v)


@array_function
def happen(model: RigidModel, state: RigidState, work: Workspace, event: int) -> None:
    """Let an event happen at the present state, whose terms and forces are in `work`."""
    mode = state.mode
    locks = FIRST_JOINT + 2 * model.lower.shape[0]
    if event == RELEASE:
        _release(model, state, work)
        return
    if event >= FIRST_JOINT and event < locks:
        joint, side = (event - FIRST_JOINT) // 2, 1 - 2 * ((event - FIRST_JOINT) % 2)
        if mode[FIRST_STOP + joint] == side:
            mode[FIRST_STOP + joint] = 0
            return
        _close_stop(model, state, joint, side)
    elif event >= locks:
        mode[FIRST_STOP + model.lower.shape[0] + event - locks] = 1
    elif event == LANDING:
        mode[STANCE] = 1
    before = kinetic_energy(model, state, work)
    work.impulse[:] = 0.0
    collide(model, state, work, work.impulse, event == TOUCHDOWN)
    state.memo[LOSS] += before - kinetic_energy(model, state, work)
    if event == TOUCHDOWN:
        _count_step(model, state, work)


@array_function
def _count_step(model: RigidModel, state: RigidState, work: Workspace) -> None:
    """Book a touchdown; pass support on if the old stance foot has left the floor."""
    size, y, memo = work.M.shape[0], state.y, state.memo
    foot = terms_places(size - 2).foot
    x, z = work.terms[foot], work.terms[foot + 1]
    if x > 0.0:
        state.mode[STEPS] += 1
        memo[STEP_LENGTH] = math.sqrt(x * x + z * z)
        memo[BEHIND_X], memo[BEHIND_Z] = memo[ANCHOR_X], memo[ANCHOR_Z]
        memo[ANCHOR_X], memo[ANCHOR_Z] = y[0] + x, y[1] + z
    if state.mode[STANCE] == 0:
        change_support(model, state, work)


@array_function
def _close_stop(model: RigidModel, state: RigidState, joint: int, side: int) -> None:
    """Let a joint arrive at a stop, or at the armed lock that lies there."""
    mode = state.mode
    limit = model.upper[joint] if side > 0 else model.lower[joint]
    lock = lock_of(model, joint)
    if lock >= 0 and state.armed[lock] == 1 and abs(model.lock_angle[lock] - limit) < 1e-9:
        mode[FIRST_STOP + model.lower.shape[0] + lock] = 1
    else:
        mode[FIRST_STOP + joint] = side


@array_function
def change_support(model: RigidModel, state: RigidState, work: Workspace) -> None:
    """Take the swing foot as the reference foot ([DS09] (4.10))."""
    size, y, mode = work.M.shape[0], state.y, state.mode
    n, old = model.relabel.shape[1], mode[SUPPORT]
    places = terms_places(n)
    for i in range(2):
        rate = swing_along(work, y[size:], i)
        y[i] += work.terms[places.foot + i]
        y[size + i] = 0.0 if mode[SWING] == 1 else rate
    for half in (0, size):
        q = y[half + 2 : half + 2 + n]
        multiply(model.relabel[old], q, work.trial[2 : n + 2])
        q[:] = work.trial[2 : n + 2]
    mode[SUPPORT] = 1 - old
    mode[STANCE], mode[SWING] = mode[SWING], mode[STANCE]


@array_function
def _release(model: RigidModel, state: RigidState, work: Workspace) -> None:
    """Open the contact that holds least."""
    mode = state.mode
    if mode[SWING] == 1 and firmness(model, state, work, SWING) <= firmness(
        model, state, work, STANCE
    ):
        mode[SWING] = 0
        return
    stays = mode[SWING] == 1
    mode[STANCE] = 0
    if stays:
        change_support(model, state, work)


@array_function
def lock_due(model: RigidModel, state: RigidState) -> int:
    """Open locks that are not armed; return the event of an armed one that must close, or -1.

    An armed lock closes at once when its joint rests, or turns away, within its reach.
    """
    mode, first = state.mode, FIRST_STOP + model.lower.shape[0]
    for i in range(model.n_locks):
        if state.armed[i] == 0:
            mode[first + i] = 0
        elif mode[first + i] == 0:
            joint = model.lock_joint[i]
            distance = model.lock_angle[i] - along_joint(model, mode, state.y, joint)
            rate = along_joint(model, mode, state.y[model.relabel.shape[1] + 2 :], joint)
            approaches = (rate if distance > 0.0 else -rate) > 1e-12 and abs(distance) > ZERO
            if abs(distance) <= model.lock_capture[i] and not approaches:
                mode[FIRST_STOP + joint] = 0
                return int(FIRST_JOINT + 2 * model.lower.shape[0] + i)
    return -1


@array_function
def overdue(model: RigidModel, state: RigidState, work: Workspace) -> int:
    """Return what the present state demands at once, or -1; after `signals` into ``work.g0``."""
    if work.g0[TRIP] < -ZERO:
        return TRIP
    if work.g0[RELEASE] < -ZERO:
        return RELEASE
    for joint in range(model.lower.shape[0]):
        for event in range(FIRST_JOINT + 2 * joint, FIRST_JOINT + 2 * joint + 2):
            if state.mode[FIRST_STOP + joint] != 0 and work.g0[event] < -ZERO:
                return event
    return -1


@array_function
def is_ahead(model: RigidModel, state: RigidState, work: Workspace) -> bool:
    """Return whether the swing foot is far enough ahead to touch down."""
    return bool(work.terms[terms_places(work.M.shape[0] - 2).foot] >= model.scuff)
