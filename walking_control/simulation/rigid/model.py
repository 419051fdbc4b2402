# SPDX-License-Identifier: Apache-2.0
"""What the rigid walker is made of: constants, state and working memory as plain arrays.

A state lives in support coordinates ``y = [z, dz/dt]``, ``z`` being x and z of the reference foot
and the minimal coordinates q; the reference foot is the stance foot, or in flight the last one.
``mode`` holds the discrete state.

An uneven floor under the rigid walker: the straight piece that the swing foot is over.

The compiled motion knows a floor by its drop and tilt at each touchdown. Here they are set, tick by
tick, to those of the piece below the swing foot, which is thus the one it lands on. A foot that
gets over another piece within a tick finds it at the next.

Simplifications: whether a swing foot trips is judged by the piece it is over and by that of the
stance foot, drawn on, whichever is lower; after 62 steps that of the stance foot leans as the one
below the swing foot does. A robot in flight lands on the piece of its last foothold.
"""

from collections.abc import Iterable
import math
from typing import NamedTuple

import numpy as np

from walking_control.models import FloorProfile, terms_places
from walking_control.models.array_functions import as_block, Fields

# places in RigidState.mode; joint stops (-1 lower, 0 none, 1 upper) and locks (0, 1) follow
SUPPORT, STANCE, SWING, STEPS, FIRST_STOP = 0, 1, 2, 3, 4
# places in RigidState.memo
TIME, STEP_SIZE, ANCHOR_X, ANCHOR_Z, MIN_NORMAL, MAX_FRICTION, STEP_LENGTH, LOSS, WORK = range(9)
SQUARED_EFFORT, BEHIND_X, BEHIND_Z, FOOT_DEPTH, DEPTH_AHEAD, SCUFF_REACH, MEMOS = range(9, 16)
# places in Workspace.foot0 and foot1: the swing foot's height above the floor ahead of the stance
# foot and behind it, how far ahead it is, and the rate of each
AHEAD_HEIGHT, AHEAD_RATE, BEHIND_HEIGHT, BEHIND_RATE, AHEAD, AHEAD_SPEED = range(6)
ROUNDING = 1e-9  # m: a foot no deeper is not in the floor
# what `advance` reports
DONE, STEPPED, FELL, DIVERGED, CHATTERED, TRIPPED = range(6)


class RigidModel(NamedTuple):
    """Constants of one robot on one floor.

    Attributes:
        n: Number of minimal coordinates.
        n_joints: Number of joints.
        n_locks: Number of joint locks.
        n_driven: Number of efforts at joints; those after them act only while a foot stands.
        parameters: Of the support terms; gravity along x and z first.
        lift: Minimal coordinates to (pitch, joints), by support, ``(2, n, n)``.
        relabel: q of one support to q of the other, by the old support, ``(2, n, n)``.
        inputs: Generalised force on q per effort, by support, ``(2, n, n_inputs)``.
        lower: Lower joint limits, rad, ``(n_joints,)``.
        upper: Upper joint limits.
        lock_joint: Joint of each lock.
        lock_angle: Its angle, rad.
        lock_capture: Distance at which it holds a joint that comes no closer, rad.
        drops: Level of the next foothold below the present one at each step, m; the last entry
            serves all further steps.
        tilts: Inclination of the floor from each step on against that at the start, rad, downhill
            positive.
        scuff: Touchdowns less far ahead of the stance foot pass through the floor, m.
        scuff_depth: A foot deeper under the floor, and further ahead, has tripped, m.
        tolerance: Local error of the integration.
        max_step: Longest integration step, s.
        fall_height: Height of the base above the reference foot below which integration stops, m.
        grip: Coefficient of friction between foot and floor.
        friction: `friction_table` of the joints.
        gears: `gear_table` of the motors.
        fade: Rate below which dry friction and gear losses fade, rad/s.
        rubs: Whether any joint has friction, 0 or 1.
        loses: Whether any gear has losses, 0 or 1.
    """

    n: int
    n_joints: int
    n_locks: int
    n_driven: int
    parameters: np.ndarray
    lift: np.ndarray
    relabel: np.ndarray
    inputs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lock_joint: np.ndarray
    lock_angle: np.ndarray
    lock_capture: np.ndarray  # distance at which it holds a joint that comes no closer, rad
    # level of the next foothold below the present one at each step, m; the last entry serves all
    # further steps
    drops: np.ndarray
    # inclination of the floor from each step on against that at the start, rad, downhill positive
    tilts: np.ndarray
    scuff: float
    scuff_depth: float
    tolerance: float
    max_step: float  # longest integration step, s
    # height of the base above the reference foot below which integration stops, m
    fall_height: float
    grip: float
    friction: np.ndarray
    gears: np.ndarray
    fade: float
    rubs: int
    loses: int


class RigidState(NamedTuple):
    """State of a rigid walker, changed in place.

    Attributes:
        y: ``[z, dz/dt]``, ``(2 (n + 2),)``.
        mode: Discrete state, integers.
        memo: Time, step size, present and last foothold, extremes; see the constants above.
        armed: Armed locks, integers.
        effort: Inputs held, ``(n_inputs,)``.
    """

    y: np.ndarray
    mode: np.ndarray  # discrete state, integers
    # time, step size, present and last foothold, extremes; see the constants above
    memo: np.ndarray
    armed: np.ndarray
    effort: np.ndarray


class Workspace(NamedTuple):
    """Working memory of the integration; holds nothing between calls."""

    terms: np.ndarray
    M: np.ndarray
    L: np.ndarray
    A: np.ndarray
    Y: np.ndarray
    G: np.ndarray
    drift: np.ndarray
    multipliers: np.ndarray
    force: np.ndarray
    acceleration: np.ndarray
    reactions: np.ndarray
    k: np.ndarray
    trial: np.ndarray
    start: np.ndarray
    g0: np.ndarray
    g1: np.ndarray
    s0: np.ndarray
    s1: np.ndarray
    foot0: np.ndarray
    foot1: np.ndarray
    impulse: np.ndarray
    bracket: np.ndarray
    shares: np.ndarray
    applied: np.ndarray


def make_state(model: RigidModel) -> RigidState:
    """Return a `RigidState` at rest in the origin."""
    memo = np.zeros(MEMOS)
    memo[MIN_NORMAL] = np.inf
    forget_depths(memo)
    return RigidState(
        np.zeros(2 * (model.n + 2)),
        np.zeros(FIRST_STOP + model.n_joints + model.n_locks, dtype=np.int64),
        memo,
        np.ones(max(1, model.n_locks), dtype=np.int64),
        np.zeros(model.inputs.shape[2]),
    )


def put_back(arrays: Iterable[np.ndarray], kept: Iterable[np.ndarray]) -> None:
    """Give arrays the values that copies of them have kept."""
    for array, values in zip(arrays, kept, strict=True):
        array[:] = values


def forget_depths(memo: np.ndarray) -> None:
    """Begin anew to book how deep the swing foot goes in the floor."""
    memo[FOOT_DEPTH], memo[DEPTH_AHEAD], memo[SCUFF_REACH] = 0.0, 0.0, -np.inf


def foot_in_floor(memo: np.ndarray) -> dict[str, float | None]:
    """Return what the memo of a rigid walk says of a swing foot inside the floor.

    Returns:
        ``foot_depth``, how deep at most (m); ``foot_depth_ahead``, how far ahead of the stance
        foot it was there (m, negative behind), None where it never was; ``scuff_reach``, how far
        ahead of the stance foot it was still deeper than ``rigid.scuff_depth`` (m), None likewise.
    """
    depth, reach = float(memo[FOOT_DEPTH]), float(memo[SCUFF_REACH])
    depth = depth if depth > ROUNDING else 0.0
    return {
        'foot_depth': depth,
        'foot_depth_ahead': float(memo[DEPTH_AHEAD]) if depth else None,
        'scuff_reach': reach if np.isfinite(reach) else None,
    }


def make_workspace(model: RigidModel, terms_size: int) -> Workspace:
    """Return a `Workspace`."""
    size = model.n + 2
    rows = 4 + model.n_joints + model.n_locks
    events = 4 + 2 * model.n_joints + model.n_locks
    return Workspace(
        np.zeros(terms_size),
        np.zeros((size, size)),
        np.zeros((size, size)),
        np.zeros((rows, size)),
        np.zeros((rows, size)),
        np.zeros((rows, rows)),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(size),
        np.zeros(size),
        np.zeros(4),
        np.zeros((13, 2 * size)),
        np.zeros(2 * size),
        np.zeros(2 * size),
        np.zeros(events),
        np.zeros(events),
        np.zeros(events),
        np.zeros(events),
        np.zeros(6),
        np.zeros(6),
        np.zeros(size),
        np.zeros(6),
        np.zeros(max(1, model.n_driven)),
        np.zeros(size),
    )


def as_record(fields: Fields) -> tuple[np.void, Fields]:
    """Return (record, views): the same data in one block of memory.

    Compiled functions take the record, a single pointer; the views, a tuple of the same kind as
    `fields`, let plain code see and change it.
    """
    block, views = as_block(fields)
    return block[0], views


def lay_ahead(model: RigidModel, state: RigidState, work: Workspace, profile: FloorProfile) -> None:
    """Put the piece of a floor below the swing foot where the next touchdown finds it.

    Args:
        model: Its drops and tilts are changed in place.
        work: With the support terms of the state.
    """
    foot, memo = terms_places(model.n).foot, state.memo
    x, z = state.y[0] + work.terms[foot], state.y[1] + work.terms[foot + 1]
    piece = int(profile.piece(x))
    slope, steps = float(profile.slopes[piece]), int(state.mode[STEPS])
    height = float(profile.height(x))
    # the plane over the next touchdown is z = anchor - drop - tan(tilt) (x - anchor)
    drop = memo[ANCHOR_Z] - height + slope * (x - memo[ANCHOR_X])
    step = min(steps + 1, len(model.drops) - 1)
    before = (
        z - memo[ANCHOR_Z] + model.drops[step] + math.tan(model.tilts[step]) * (x - memo[ANCHOR_X])
    )
    if before > 0.0 >= z - height:
        return  # it is about to land on the piece it comes from
    model.drops[step], model.tilts[step] = drop, -math.atan(slope)
    # the next but one begins as this one goes on, until it is known
    later = slice(step + 1, None)
    model.drops[later], model.tilts[later] = 0.0, -math.atan(slope)


def begin_uneven(model: RigidModel, profile: FloorProfile) -> None:
    """Begin a run on the piece at the start."""
    model.drops[:] = 0.0
    model.tilts[:] = -math.atan(float(profile.slopes[profile.piece(0.0)]))
