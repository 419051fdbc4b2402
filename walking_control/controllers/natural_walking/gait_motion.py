# SPDX-License-Identifier: Apache-2.0
"""What a gait asks of knee, trunk and feet at an instant: arithmetic alone, plain or compiled.

A *moment* of a step is what both functions take first of all: the part s of the step that is over,
its rate (1/s), the time until touchdown (s, below zero when the floor is late), the time of the
tick (s), the heading (rad) and its rate (rad/s). *Errors* are those of the touchdown: of the place
of the foot, m, and of its turn, rad, heading frame, ``(3,)`` each, which fade; and the way by which
its foothold is moved, m, with its rate, ``(2, 2)``, which goes on by a tick in `move_foot`.
"""

import math

import numpy as np

from walking_control.controllers.natural_walking.felt_floor import AT_REST, bump, fading
from walking_control.controllers.natural_walking.reference import FOOT, FOOT_TURN, KNEE, TURN
from walking_control.models import array_function

FOOT_ERROR, KNEE_ERROR = 0.5, 0.9  # parts of the step over which errors of a touchdown fade
FALLING = 0.6  # part of the step after which a foot goes down to a lower foothold
SMALL = 2.0**-13  # rad: a smaller turn is that of a series, as Pinocchio has it


@array_function
def move_foot(
    row: np.ndarray,
    moment: tuple[float, ...],
    errors: tuple[np.ndarray, ...],
    landing: tuple[np.ndarray, ...],
    floor: tuple[float, bool, float, float],
    leg: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float, float, float],
    out: np.ndarray,
) -> None:
    """Let the foot in the air go where the gait has it, moved to the foothold.

    No farther than its leg is long: one that is too short lands short, for in the air at the gait's
    push-off it would fly.

    Args:
        row: Of the gait.
        moment: Of the step.
        errors: Of the touchdown.
        landing: Foothold, the gait's own, where the fall would end and, for that, where the floor
            presses, from the stance foot, heading frame, m, ``(2,)`` each.
        floor: Rate of the fall, 1/s; whether the floor is rough, how much higher the foot swings
            then, m, and how much lower the foothold may be, m.
        leg: Its first joint, from the stance foot, m, ``(3,)``; turn of its foot, ``(3, 3)``; what
            turns level places into places on the slope, ``(3, 3)``; the foot from the ankle, in its
            own axes, m, ``(3,)``; its greatest length, m; how fast it follows a foothold, 1/s, and
            looks for a late floor, m/s^2.
        out: Filled: place, m, speed and acceleration from the stance foot, floor axes, ``(3, 3)``.
    """
    s, rate, remaining, dt, heading, _ = moment
    foothold, own, capture, center = landing
    growth, rough, higher, drop = floor
    hip, turn, tilted, ankle, longest, follow, deeper = leg
    motion, shift, late = row[FOOT].reshape(3, 3), errors[2], -remaining
    motion = motion * (rate ** np.arange(3.0))[:, None]
    motion += fading(s, 0.0, FOOT_ERROR, rate)[:, None] * errors[0]
    far, due = foothold - own, np.array([min(-late, 0.0)] * 2)  # the fall goes on with a late floor
    if rough:  # it may be higher: aside it is right to land at any time
        motion[:, 2] += bump(s, rate, higher)
        far[1] -= row[FOOT][1] - own[1]
        due = np.minimum(-late - 2.0 / follow, np.array([0.0, math.inf]))  # it follows so late
    if drop > 0.0:
        motion[:, 2] -= drop * (AT_REST - fading(s, FALLING, 1.0, rate))
    if late > 0.0:  # the floor is late: the foot goes after it, ever faster
        motion[0, 2] += motion[1, 2] * late - 0.5 * deeper * late**2
        motion[1, 2] -= deeper * late
        motion[1, :2] = motion[2, :2] = 0.0
        motion[2, 2] = -deeper
    far -= (capture - center) * np.expm1(growth * due)
    jump = follow**2 * (far - shift[0]) - 2.0 * follow * shift[1]
    shift[1] += dt * jump
    shift[0] += dt * shift[1]
    share = AT_REST - fading(s, 0.0, 1.0, rate)
    motion[0, :2] += share[0] * shift[0]
    motion[1, :2] += share[1] * shift[0] + share[0] * shift[1]
    motion[2, :2] += share[2] * shift[0] + 2.0 * share[1] * shift[1] + share[0] * jump
    cosine, sine = math.cos(heading), math.sin(heading)
    out[:, 0] = cosine * motion[:, 0] - sine * motion[:, 1]
    out[:, 1] = sine * motion[:, 0] + cosine * motion[:, 1]
    out[:, 2] = motion[:, 2]
    way = tilted @ out[0] - turn @ ankle - hip
    most = math.sqrt(max(longest**2 - way[2] ** 2, 0.0))
    out[0, :2] -= way[:2] * max(0.0, 1.0 - most / max(math.hypot(way[0], way[1]), 1e-9))


@array_function
def turn_joints(
    row: np.ndarray,
    moment: tuple[float, ...],
    errors: tuple[np.ndarray, ...],
    knee: tuple[float, float],
    bank: np.ndarray,
    base: np.ndarray,
) -> tuple[np.ndarray, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Return how stance knee, trunk and the foot in the air turn.

    That is of the knee its angle (rad), rate and acceleration, ``(3,)``; of the trunk the frame it
    is seen from, its turn to that, ``(3, 3)``, rate and acceleration in the base's axes, ``(3,)``;
    of the foot its turn, ``(3, 3)``, rate and acceleration in floor axes, ``(3,)``.

    Args:
        row: Of the gait.
        moment: Of the step.
        errors: Of the touchdown.
        knee: Its error at touchdown, rad, and by what it is bent more, rad.
        bank: What of the floor's lean the gait does not know, ``(3, 3)``.
        base: Turn of the base, ``(3, 3)``.
    """
    s, rate, remaining, _, heading, turning = moment
    level, trunk = turn_about_z(heading) @ bank, row[TURN]
    spin = level @ trunk[3:6] * rate
    spin[2] += turning
    yaw, fade = heading + turning * max(remaining, 0.0), fading(s, 0.0, FOOT_ERROR, rate)
    landed, way, error = turn_about_z(yaw) @ bank, row[FOOT_TURN], errors[1]
    return (
        row[KNEE] * rate ** np.arange(3.0)
        + (knee[0] * fading(s, 0.0, KNEE_ERROR, rate) + knee[1] * AT_REST),
        (
            level,
            turn_by(trunk[:3]),
            base.T @ spin,
            base.T @ (level @ trunk[6:] * rate**2),
        ),
        (
            landed @ turn_by(error * fade[0]) @ turn_by(way[:3]),
            landed @ (way[3:6] * rate + error * fade[1]),
            landed @ (way[6:] * rate**2 + error * fade[2]),
        ),
    )


@array_function
def turn_by(turn: np.ndarray) -> np.ndarray:
    """Return the rotation by a vector, rad, ``(3, 3)``: to the last bit Pinocchio's `exp3`.

    Args:
        turn: Axis times angle, rad, ``(3,)``.
    """
    x, y, z = turn[0], turn[1], turn[2]
    square = x * x + y * y + z * z
    angle = math.sqrt(square + 2.0**-104)
    if angle > SMALL:
        c, one, two = math.cos(angle), math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    else:
        c, one, two = 1.0 - 0.5 * square, 1.0 - square / 6.0, 0.5 - square / 24.0
    return np.array(
        [
            [two * x * x + c, two * x * y - one * z, two * x * z + one * y],
            [two * y * x + one * z, two * y * y + c, two * y * z - one * x],
            [two * z * x - one * y, two * z * y + one * x, two * z * z + c],
        ]
    )


@array_function
def turn_about_z(angle: float) -> np.ndarray:
    """Return the rotation by an angle in rad about z, ``(3, 3)``: likewise."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0 - c + c]])
