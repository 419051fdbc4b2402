# SPDX-License-Identifier: Apache-2.0
"""One tick of foot placement and push-off, plain or compiled ([DS09] (5.36) to (5.42)).

All happens in a world mirrored so that the right foot stands ([DS09] (4.34)), in axes along and
across the heading. The law knows the pendulum it controls: it asks where the hip will be at the end
of the tick, so that the reference is that of the moment it is reached, and whether the foot will
land before, so that the push-off is that of the moment of landing.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.controllers.foot_placement.nominal import NominalSteps
from walking_control.models import array_function, inner, Terms
from walking_control.models.pendulum import (
    clearance,
    find_landing,
    GRAZE,
    leg_angles,
    leg_direction,
    push_off_speed,
    stand,
    swing,
)

# what the law wants, in PlacementData.wish
SPEED, HEADING, LATERAL = range(3)
# what it remembers
(
    SUPPORT,
    SINCE,
    FOOT_X,
    FOOT_Y,
    ANCHOR_X,
    ANCHOR_Y,
    OLD_HEADING,
    FORESEEN,
    NEXT_X,
    NEXT_Y,
    SAMPLED,
    MID_RATE,
    MID_BESIDE,
    MID_SPEED,
    PITCH_WANTED,
    ROLL_WANTED,
    PUSH,
    ENERGY,
    ENERGY_WANTED,
    ASIDE,
    MOST_SPEED,
    MEMORIES,
) = range(22)
NOBODY = -1.0
OVER = 2e-3  # of the leg: how high a foot is lifted that has come to lie below the floor
MOST = 0.95  # of the push-off that would tear the new foot off the floor
SHORTEST = 0.5  # of the nominal pitch of the swing leg
SLOWEST = 1e-2  # m/s: below it the hip does not pass the foot


class PlacementData(NamedTuple):
    """What the law knows, as plain arrays and numbers; [DS09]'s names in brackets.

    Attributes:
        period: Control period, s.
        length: Of the legs, m.
        gravity: Floor axes, m/s^2, ``(3,)``.
        sign: Of a leg's roll joint in the coordinates of its support, ``(2,)``.
        efforts: Index of the speeds of pitch and roll of each foot's leg and of the push-off among
            the efforts, ``(5,)``.
        limits: Of these, rad/s and m/s, ``(5,)``.
        steps: `NominalSteps`.
        roll: Nominal roll of the swing leg [q7 nom], rad.
        lateral: Gains [Kl in s, Kp in 1/(m s), Kd in 1/m], the largest roll rate asked for,
            rad/s, and the share of the nominal step's lateral speed that is left out, ``(5,)``.
        range: Least and largest roll of the swing leg, largest size of its pitch, rad, ``(3,)``.
        pitch_gain: Pitch per forward speed beyond the nominal one, rad s/m.
        leap: Largest rise of the speed aimed at from one step to the next, m/s.
        energy_gain: Share of the missing energy that a push-off makes up.
        keeps: Whether the push-off keeps or regulates the energy; else it is the nominal one.
        feedback: Of pitch and roll of the swing leg and of the push-off on what differs at
            mid-step: distance beside the foot (m), speed (m/s), roll rate (rad/s), ``(3, 3)``.
        wish: Speed (m/s), heading (rad), place beside the line (m), ``(3,)``.
    """

    period: float
    length: float
    gravity: np.ndarray
    sign: np.ndarray  # of a leg's roll joint in the coordinates of its support, ``(2,)``
    # index of the speeds of pitch and roll of each foot's leg and of the push-off among the
    # efforts, ``(5,)``
    efforts: np.ndarray
    limits: np.ndarray
    steps: NominalSteps
    roll: float  # nominal roll of the swing leg [q7 nom], rad
    # gains [Kl in s, Kp in 1/(m s), Kd in 1/m], the largest roll rate asked for, rad/s, and the
    # share of the nominal step's lateral speed that is left out, ``(5,)``
    lateral: np.ndarray
    # least and largest roll of the swing leg, largest size of its pitch, rad, ``(3,)``
    range: np.ndarray
    pitch_gain: float
    leap: float
    energy_gain: float
    keeps: bool  # whether the push-off keeps or regulates the energy; else it is the nominal one
    # of pitch and roll of the swing leg and of the push-off on what differs at mid-step: distance
    # beside the foot (m), speed (m/s), roll rate (rad/s), ``(3, 3)``
    feedback: np.ndarray
    wish: np.ndarray


def new_memory() -> np.ndarray:
    """Return what the law remembers before its first tick."""
    memory = np.zeros(MEMORIES)
    memory[SUPPORT] = NOBODY
    return memory


@array_function
def look_up(speeds: np.ndarray, values: np.ndarray, speed: float) -> float:
    """Return the entry of a table at a speed, between its entries linearly.

    Args:
        speeds: Rising, m/s, ``(k,)``.
        values: At these speeds, ``(k,)``.
        speed: m/s.
    """
    last = speeds.shape[0] - 1
    spacing = speeds[1] - speeds[0]
    place = min(max(speed / spacing, 0.0), last * 1.0)
    i = min(int(place), last - 1)
    return float(values[i] + (place - i) * (values[i + 1] - values[i]))


@array_function
def look_back(speeds: np.ndarray, values: np.ndarray, value: float) -> float:
    """Return the speed at which a rising table has a value; its first or last one beyond it.

    Args:
        speeds: Rising, m/s, ``(k,)``.
        values: At these speeds, rising, ``(k,)``.
        value: Looked for.
    """
    last = speeds.shape[0] - 1
    for i in range(last):
        if value < values[i + 1]:
            share = (value - values[i]) / (values[i + 1] - values[i])
            return float(speeds[i] + max(share, 0.0) * (speeds[i + 1] - speeds[i]))
    return float(speeds[last])


@array_function
def place_foot(
    terms: Terms,
    data: PlacementData,
    memory: np.ndarray,
    support: int,
    held: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """The law as an `ArrayLaw`.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        data: `PlacementData`.
        memory: What the law remembers, changed in place, ``(k,)``.
        support: Index of the stance foot.
        held: Which locks hold, ``(n_locks,)``.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled: speeds of the swing leg, rad/s, and of the push-off, m/s, ``(n_efforts,)``.
    """
    length, gravity, period = data.length, data.gravity, data.period
    side = 1.0 if support == 0 else -1.0
    y, after, direction = np.zeros(6), np.zeros(6), np.zeros(3)
    stand(q[0], q[1], v[0], v[1], length, y)
    _notice_step(data, memory, support, q, y)
    heading = side * data.wish[HEADING]
    _notice_turn(data, memory, side, y)
    swing(y, gravity, length, True, period, after)
    _look_at_middle(data, memory, heading, y)
    _choose_place(data, memory, side, heading, after, direction)
    if after[5] < 0.0 and clearance(y, q[2], q[3], length) <= GRAZE:
        _lift(length, after[2], direction)
    angles, rates = np.zeros(2), np.zeros(2)
    leg_angles(direction, angles)
    for i in range(2):
        limit = data.limits[2 * (1 - support) + i]
        rates[i] = min(max((angles[i] - q[2 + i]) / period, -limit), limit)
    push = _foresee_landing(data, memory, side, y, after, q[2:4], rates, direction)
    effort[:] = 0.0
    swinging = 1 - support
    effort[data.efforts[2 * swinging]] = rates[0]
    effort[data.efforts[2 * swinging + 1]] = rates[1] * data.sign[support]
    if data.efforts[4] >= 0:
        effort[data.efforts[4]] = push


@array_function
def _notice_step(
    data: PlacementData, memory: np.ndarray, support: int, q: np.ndarray, y: np.ndarray
) -> None:
    """Begin a step with a new stance foot, whose place is the one foreseen or the one seen."""
    if memory[SUPPORT] == support:
        memory[SINCE] += data.period
        return
    if memory[SUPPORT] != NOBODY:
        if memory[FORESEEN] == 1.0:
            memory[FOOT_X] += memory[NEXT_X]
            memory[FOOT_Y] += memory[NEXT_Y]
        else:
            direction = np.zeros(3)
            leg_direction(q[2], q[3], direction)
            memory[FOOT_X] -= y[0] + data.length * direction[0]
            memory[FOOT_Y] -= (y[1] + data.length * direction[1]) * (1.0 if support == 0 else -1.0)
    memory[SUPPORT], memory[SINCE], memory[SAMPLED], memory[FORESEEN] = support, 0.0, 0.0, 0.0
    energy = 0.5 * inner(y[3:], y[3:]) - inner(data.gravity, y[:3])
    memory[MOST_SPEED] = data.leap + look_back(data.steps.speed, data.steps.energy, energy)


@array_function
def aimed_speed(data: PlacementData, memory: np.ndarray) -> float:
    """Return the speed aimed at: that asked for, or what this step can rise to.

    Args:
        data: `PlacementData`.
        memory: Of the law, see its places.
    """
    return float(min(data.wish[SPEED], memory[MOST_SPEED]))


@array_function
def _notice_turn(data: PlacementData, memory: np.ndarray, side: float, y: np.ndarray) -> None:
    """Let the line to be followed begin where the hip is when the heading changes."""
    if abs(data.wish[HEADING] - memory[OLD_HEADING]) > 1e-12:
        memory[ANCHOR_X] = memory[FOOT_X] + y[0]
        memory[ANCHOR_Y] = memory[FOOT_Y] + side * y[1]
        memory[OLD_HEADING] = data.wish[HEADING]


@array_function
def _look_at_middle(data: PlacementData, memory: np.ndarray, heading: float, y: np.ndarray) -> None:
    """Measure the hip where it passes the foot ([DS09]: at q4 = 0), however long ago."""
    c, s = math.cos(heading), math.sin(heading)
    if memory[SAMPLED] == 1.0 or c * y[0] + s * y[1] < 0.0:
        return
    back, at = 0.0, y.copy()
    for _ in range(4):
        speed = c * at[3] + s * at[4]
        if speed < SLOWEST:
            break
        back = max(back - (c * at[0] + s * at[1]) / speed, -min(memory[SINCE], data.period))
        swing(y, data.gravity, data.length, True, back, at)
    beside = c * at[1] - s * at[0]
    memory[MID_RATE] = -(c * at[4] - s * at[3]) / math.sqrt(data.length**2 - beside**2)
    memory[MID_BESIDE], memory[MID_SPEED] = beside, c * at[3] + s * at[4]
    memory[SAMPLED] = 1.0


@array_function
def _differ(data: PlacementData, memory: np.ndarray, row: int) -> float:
    """Return a feedback on what differs at mid-step; nothing before it."""
    if memory[SAMPLED] == 0.0:
        return 0.0
    steps, speed, gains = data.steps, aimed_speed(data, memory), data.feedback[row]
    return float(
        gains[0] * (memory[MID_BESIDE] - look_up(steps.speed, steps.beside, speed))
        + gains[1] * (memory[MID_SPEED] - look_up(steps.speed, steps.middle, speed))
        + gains[2] * memory[MID_RATE]
    )


@array_function
def _choose_place(
    data: PlacementData,
    memory: np.ndarray,
    side: float,
    heading: float,
    y: np.ndarray,
    direction: np.ndarray,
) -> None:
    """Fill the direction of the swing leg for a state of the hip ([DS09] (5.42))."""
    c, s = math.cos(heading), math.sin(heading)
    steps, speed = data.steps, aimed_speed(data, memory)
    ahead, across = c * y[3] + s * y[4], c * y[4] - s * y[3]
    nominal = look_up(steps.speed, steps.pitch, speed)
    excess = ahead - look_up(steps.speed, steps.ahead, speed)
    # the impact of a long step takes part of what is too fast
    eased = 1.0 + max(excess, 0.0) ** 2 / (-data.gravity[2] * data.length)
    pitch = nominal + data.pitch_gain * excess / eased + _differ(data, memory, 0)
    if ahead > 0.0:  # too slow, not falling back: shorter steps help, none at all do not
        pitch = max(pitch, SHORTEST * nominal)
    pitch = min(max(pitch, -data.range[2]), data.range[2])
    along_x = memory[FOOT_X] + y[0] - memory[ANCHOR_X]
    along_y = memory[FOOT_Y] + side * y[1] - memory[ANCHOR_Y]
    aside = math.cos(data.wish[HEADING]) * along_y - math.sin(data.wish[HEADING]) * along_x
    memory[ASIDE] = aside
    # where steps are shorter than wide the hip may not pass the foot, and the rate at its passing
    # says nothing; there the foot catches the hip sideways as it does forward
    share = min(1.0, nominal / data.roll)
    beyond = across - look_up(steps.speed, steps.across, speed)
    roll = data.roll + _differ(data, memory, 1) + (1.0 - share) * data.pitch_gain * beyond
    if memory[SAMPLED] == 1.0:
        sway = beyond if data.lateral[4] == 1.0 else across
        wanted = data.lateral[1] * side * (aside - data.wish[LATERAL]) + data.lateral[2] * sway
        wanted = min(max(wanted, -data.lateral[3]), data.lateral[3])
        roll += share * data.lateral[0] * (wanted - memory[MID_RATE])
    roll = min(max(roll, data.range[0]), data.range[1])
    memory[PITCH_WANTED], memory[ROLL_WANTED] = pitch, roll
    leg_direction(-pitch, roll, direction)
    x, across = direction[0], direction[1]
    direction[0], direction[1] = c * x - s * across, c * across + s * x


@array_function
def _lift(length: float, height: float, direction: np.ndarray) -> None:
    """Spread a leg whose foot would lie below the floor until it lies above."""
    up = height / length - OVER
    if -direction[2] <= up:
        return
    flat = math.sqrt(direction[0] ** 2 + direction[1] ** 2)
    wide = math.sqrt(max(0.0, 1.0 - up * up))
    if flat < 1e-9:
        direction[1], flat = 1.0, 1.0
    direction[0] *= wide / flat
    direction[1] *= wide / flat
    direction[2] = -up


@array_function
def _foresee_landing(
    data: PlacementData,
    memory: np.ndarray,
    side: float,
    y: np.ndarray,
    after: np.ndarray,
    angles: np.ndarray,
    rates: np.ndarray,
    direction: np.ndarray,
) -> float:
    """Return the push-off of a landing in this tick; if there is none, of one at its end."""
    length = data.length
    landing = find_landing(y, data.gravity, length, True, angles, rates, 0.0, data.period, after)
    memory[FORESEEN] = 0.0
    if landing >= 0.0:
        leg_direction(angles[0] + rates[0] * landing, angles[1] + rates[1] * landing, direction)
        memory[FORESEEN] = 1.0
        memory[NEXT_X] = after[0] + length * direction[0]
        memory[NEXT_Y] = side * (after[1] + length * direction[1])
    squared, place = 0.0, 0.0
    for i in range(3):
        squared += after[3 + i] ** 2
        place -= data.gravity[i] * length * direction[i]
    steps, speed = data.steps, aimed_speed(data, memory)
    memory[ENERGY] = 0.5 * squared - place
    memory[ENERGY_WANTED] = look_up(steps.speed, steps.energy, speed)
    if data.keeps:
        push = push_off_speed(
            after, direction, data.energy_gain * 2.0 * (memory[ENERGY_WANTED] - memory[ENERGY])
        )
    else:
        push = look_up(steps.speed, steps.push_off, speed)
    if data.feedback[2, 0] != 0.0 or data.feedback[2, 1] != 0.0 or data.feedback[2, 2] != 0.0:
        push += _differ(data, memory, 2)
    push = min(push, MOST * push_off_speed(after, direction, 1e9))
    memory[PUSH] = min(max(push, 0.0), data.limits[4])
    return float(memory[PUSH])
