# SPDX-License-Identifier: Apache-2.0
"""A walker whose mass is one point in the hip: a pendulum on its stance leg ([DS09] section 5.4).

The state is ``y = [p, v]``: place of the hip as seen from the stance foot, m, and its velocity,
m/s, floor axes, ``(6,)``. That is (5.31) without its singular postures: along the sphere of the
leg's length the hip moves by gravity, and the leg carries what is left. Massless legs are
directions: a leg at pitch a about y and roll b about its own x points from the hip to
``l [-sin a cos b, sin b, -cos a cos b]``, as in (5.33).

Simplifications: floor and legs are rigid, feet are points that do not slip, impacts inelastic; a
push-off and the impact it comes with take no time.
"""

import math

import numpy as np

from walking_control.models.array_functions import array_function, inner, multiply
from walking_control.models.dormand_prince import A

STAGES = 12
LONGEST = 0.01  # s: a step of the integration; its error is below rounding for legs above 0.1 m
INSTANT = 1e-13  # s, to which an event is located
ROUNDS = 60
GRAZE = 1e-14  # m: a foot this near to the floor is on it


@array_function
def leg_direction(pitch: float, roll: float, out: np.ndarray) -> None:
    """Fill the unit vector from the hip to the foot of a leg, ``(3,)``.

    Args:
        pitch: rad.
        roll: rad.
        out: Filled, ``(3,)``.
    """
    out[0] = -math.sin(pitch) * math.cos(roll)
    out[1] = math.sin(roll)
    out[2] = -math.cos(pitch) * math.cos(roll)


@array_function
def leg_angles(direction: np.ndarray, out: np.ndarray) -> None:
    """Fill pitch and roll of a leg that points along a vector of any length, rad, ``(2,)``.

    Args:
        direction: From the hip to the foot, ``(3,)``.
        out: Filled, rad, ``(2,)``.
    """
    x, y, z = direction[0], direction[1], direction[2]
    out[0] = math.atan2(-x, -z)
    out[1] = math.atan2(y, math.sqrt(x * x + z * z))


@array_function
def stand(
    pitch: float, roll: float, pitch_rate: float, roll_rate: float, length: float, y: np.ndarray
) -> None:
    """Fill the state of a stance leg's angles and rates ([DS09] (5.33), (5.34), no push-off).

    Args:
        pitch: Of the stance leg, rad.
        roll: rad.
        pitch_rate: rad/s.
        roll_rate: rad/s.
        length: Of the leg, m.
        y: Filled: place of the hip from the foot, m, and its velocity, m/s, ``(6,)``.
    """
    sa, ca, sb, cb = math.sin(pitch), math.cos(pitch), math.sin(roll), math.cos(roll)
    y[0], y[1], y[2] = length * sa * cb, -length * sb, length * ca * cb
    y[3] = length * (ca * cb * pitch_rate - sa * sb * roll_rate)
    y[4] = -length * cb * roll_rate
    y[5] = -length * (sa * cb * pitch_rate + ca * sb * roll_rate)


@array_function
def leg_rates(y: np.ndarray, out: np.ndarray) -> None:
    """Fill the rates of pitch and roll of the stance leg, rad/s, ``(2,)``.

    Args:
        y: Place of the hip from the foot, m, and its velocity, m/s, ``(6,)``.
        out: Filled, ``(2,)``.
    """
    upright = math.sqrt(y[0] * y[0] + y[2] * y[2])  # l cos b
    out[0] = (y[2] * y[3] - y[0] * y[5]) / (upright * upright)
    out[1] = -y[4] / upright


@array_function
def tension(y: np.ndarray, gravity: np.ndarray) -> float:
    """Return the push of the leg on the hip per mass and leg length, 1/s^2; below 0 it pulls.

    Args:
        y: Place of the hip from the foot, m, and its velocity, m/s, ``(6,)``.
        gravity: m/s^2, ``(3,)``.
    """
    push = -inner(y[3:], y[3:]) - inner(gravity, y[:3])
    return float(push / inner(y[:3], y[:3]))


@array_function
def _rate(y: np.ndarray, gravity: np.ndarray, stands: bool, out: np.ndarray) -> None:
    push = tension(y, gravity) if stands else 0.0
    for i in range(3):
        out[i] = y[3 + i]
        out[3 + i] = gravity[i] + push * y[i]


@array_function
def swing(
    y: np.ndarray,
    gravity: np.ndarray,
    length: float,
    stands: bool,
    duration: float,
    out: np.ndarray,
) -> None:
    """Fill the state after a duration of either sign: on the stance leg, or in free flight.

    Args:
        y: State, ``(6,)``.
        gravity: Floor axes, m/s^2, ``(3,)``.
        length: Of the leg, m.
        stands: Whether the stance foot carries.
        duration: s.
        out: Filled; may be y itself.
    """
    out[:] = y
    count = max(1, int(math.ceil(abs(duration) / LONGEST - 1e-9)))
    h = duration / count
    k, trial = np.zeros((STAGES, 6)), np.zeros(6)
    for _ in range(count):
        for stage in range(STAGES + 1):
            multiply(k[:stage].T, A[stage, :stage], trial)
            trial[:] = out + h * trial
            if stage < STAGES:
                _rate(trial, gravity, stands, k[stage])
        out[:] = trial
    if stands:
        settle(length, out)


@array_function
def settle(length: float, y: np.ndarray) -> None:
    """Put a state back onto the sphere of the leg's length, from which rounding takes it.

    Args:
        length: Of the leg, m.
        y: Changed in place: place of the hip from the foot, m, and its velocity, m/s, ``(6,)``.
    """
    size = math.sqrt(inner(y[:3], y[:3]))
    y[:3] *= length / size
    along = inner(y[:3], y[3:]) / (length * length)
    y[3:] -= along * y[:3]


@array_function
def clearance(y: np.ndarray, pitch: float, roll: float, length: float) -> float:
    """Return the height of a swing foot above the stance foot, m.

    Args:
        y: Place of the hip from the stance foot, m, and its velocity, ``(6,)``.
        pitch: Of the swing leg, rad.
        roll: rad.
        length: Of the leg, m.
    """
    return float(y[2] - length * math.cos(pitch) * math.cos(roll))


@array_function
def find_landing(
    y: np.ndarray,
    gravity: np.ndarray,
    length: float,
    stands: bool,
    angles: np.ndarray,
    rates: np.ndarray,
    floor: float,
    duration: float,
    out: np.ndarray,
) -> float:
    """Return when a swing foot comes down on the floor within a duration, s, or -1.

    It comes down from above while the hip sinks: a straight leg that swings past the other one
    passes through the floor, as the legs of the compass do.

    Args:
        y: State at the begin, ``(6,)``.
        gravity: m/s^2, ``(3,)``.
        length: Of the legs, m.
        stands: Whether the stance foot carries.
        angles: Pitch and roll of the swing leg at the begin, rad, ``(2,)``.
        rates: Their rates, held, rad/s, ``(2,)``.
        floor: Height of the floor where it comes down above the stance foot, m.
        duration: s.
        out: Filled, the state then (without one, at the end).
    """
    begin, now = y.copy(), 0.0
    # what has not been higher has not left the floor, wherever a tick ends
    floor += GRAZE
    height = clearance(begin, angles[0], angles[1], length) - floor
    while now < duration:
        h = min(LONGEST, duration - now)
        if duration - now - h < INSTANT:
            h = duration - now
        swing(begin, gravity, length, stands, h, out)
        end = now + h
        after = (
            clearance(out, angles[0] + rates[0] * end, angles[1] + rates[1] * end, length) - floor
        )
        if height > 0.0 and after <= 0.0:
            low, high, g_low, g_high = 0.0, h, height, after
            for i in range(ROUNDS):
                # regula falsi, every third round a bisection
                share = 0.5 if i % 3 == 2 else g_low / (g_low - g_high)
                middle = low + share * (high - low)
                swing(begin, gravity, length, stands, middle, out)
                there = now + middle
                g = (
                    clearance(
                        out, angles[0] + rates[0] * there, angles[1] + rates[1] * there, length
                    )
                    - floor
                )
                if g > 0.0:
                    low, g_low = middle, g
                else:
                    high, g_high = middle, g
                if high - low < INSTANT or g == 0.0 or abs(g) < 1e-16:
                    high = middle
                    break
            swing(begin, gravity, length, stands, high, out)
            if out[5] < 0.0:
                return now + high
            swing(begin, gravity, length, stands, h, out)
        begin[:] = out
        height, now = after, end
        if duration - now < INSTANT:
            break
    return -1.0


@array_function
def push_off_speed(y: np.ndarray, landing: np.ndarray, gain: float) -> float:
    """Return the speed of push-off that changes the squared speed of the hip by a given amount.

    With a = v.e the speed towards the new foot along the new leg and c = u.e the cosine between
    the legs, push-off and impact change v^2 by ``r^2 - (a + r c)^2``, r the speed of push-off. For
    a gain of 0 the answer is ``-a / (1 + c)``, which is [DS09] (5.37).

    Args:
        y: State just before touchdown, ``(6,)``.
        landing: Unit vector from the hip to the new foot, ``(3,)``.
        gain: Wanted change of v^2, m^2/s^2; the impact alone gives -a^2, and more than a^2 / c^2
            tears the new foot off the floor. What cannot be had is clipped.

    Returns:
        Speed along the old leg, m/s.
    """
    length = math.sqrt(inner(y[:3], y[:3]))
    c, a = -inner(y[:3], landing) / length, -inner(y[3:], landing)
    if a >= 0.0:
        return 0.0
    root = math.sqrt(max(0.0, a * a + (1.0 - c * c) * gain))
    speed = (a * a + gain) / (root - a * c)
    most = -a / c if c > 1e-9 else math.inf
    return min(max(speed, 0.0), most)


@array_function
def step_over(y: np.ndarray, landing: np.ndarray, push_off: float) -> float:
    """Push off along the old leg and let the new one take over ([DS09] (5.36)).

    Args:
        y: State, changed in place: before, seen from the old foot, after, from the new one.
        landing: Unit vector from the hip to the new foot, ``(3,)``.
        push_off: Speed along the old leg, m/s.

    Returns:
        Speed towards the new foot that the impact takes away, m/s; 0 or below: the new foot
        carries nothing, and nothing has been taken.
    """
    length = math.sqrt(inner(y[:3], y[:3]))
    y[3:] += push_off * y[:3] / length
    impact = inner(y[3:], landing)
    y[:3] = -length * landing
    if impact > 0.0:
        y[3:] -= impact * landing
    return impact
