# SPDX-License-Identifier: Apache-2.0
"""Nominal steps of the walker with all mass in the hip: one cycle (5.39) of [DS09] per speed.

At touchdown the legs span a vertical plane across which the hip moves on as it came, so a cycle is
symmetric about its middle, where the hip is highest and moves straight ahead. With pitch a and roll
b of the legs at touchdown given, two numbers are left: how far beside the stance foot the hip
passes, and how fast. They follow from the place at touchdown after half the time of a step.
"""

from typing import NamedTuple

import numpy as np

from walking_control.models import array_function, leg_direction, push_off_speed, swing, tension

ROUNDS, SMALL, TINY = 30, 1e-7, 1e-13
SPACING = 0.05  # m/s between the speeds of a table


class NominalSteps(NamedTuple):
    """Nominal steps on level floor by speed, seen from the right foot; each entry ``(k,)``.

    Attributes:
        speed: m/s, rising from 0.
        duration: Of a step, s.
        pitch: Of the swing leg ahead of the vertical at touchdown, rad.
        energy: Half the squared speed of the hip minus gravity times its place, J/kg.
        ahead: Forward speed at touchdown, m/s.
        across: Lateral speed at touchdown, towards the new foot, m/s.
        beside: Distance to the left of the stance foot at mid-step, m.
        middle: Speed at mid-step, m/s.
        push_off: That keeps the energy, m/s.
    """

    speed: np.ndarray
    duration: np.ndarray
    pitch: np.ndarray
    energy: np.ndarray
    ahead: np.ndarray
    across: np.ndarray
    beside: np.ndarray
    middle: np.ndarray
    push_off: np.ndarray


@array_function
def find_nominal_step(
    pitch: float, roll: float, duration: float, gravity: np.ndarray, length: float, out: np.ndarray
) -> bool:
    """Find the cycle of given legs and step time by Newton's method.

    Args:
        pitch: Of both legs from the vertical at touchdown, rad, 0 for stepping in place.
        roll: Likewise.
        duration: Of a step, s.
        gravity: Of level floor, m/s^2, ``(3,)``.
        length: Of the legs, m.
        out: Filled: distance beside the foot and speed at mid-step, forward and lateral speed at
            touchdown, energy, push-off that keeps it, ``(6,)``.

    Returns:
        Whether it was found and the stance leg presses all the time.
    """
    goal, foot = np.zeros(3), np.zeros(3)
    leg_direction(pitch, -roll, goal)  # opposite to the hip seen from the stance foot
    rate = (-gravity[2] / length) ** 0.5
    half = 0.5 * duration
    beside = -length * goal[1] / np.cosh(rate * half)
    middle = -length * goal[0] * rate / np.sinh(rate * half)
    y, end, shifted = np.zeros(6), np.zeros(6), np.zeros((2, 6))
    for _ in range(ROUNDS):
        _pass_middle(beside, middle, gravity, length, half, y, end)
        miss_x, miss_y = -length * goal[0] - end[0], -length * goal[1] - end[1]
        if abs(miss_x) + abs(miss_y) < TINY * length:
            break
        _pass_middle(beside + SMALL, middle, gravity, length, half, y, shifted[0])
        _pass_middle(beside, middle + SMALL, gravity, length, half, y, shifted[1])
        a, b = (shifted[0, 0] - end[0]) / SMALL, (shifted[1, 0] - end[0]) / SMALL
        c, d = (shifted[0, 1] - end[1]) / SMALL, (shifted[1, 1] - end[1]) / SMALL
        determinant = a * d - b * c
        beside += (d * miss_x - b * miss_y) / determinant
        middle += (a * miss_y - c * miss_x) / determinant
        beside = min(max(beside, -0.5 * length), 0.5 * length)
    _pass_middle(beside, middle, gravity, length, half, y, end)
    leg_direction(-pitch, roll, foot)
    out[0], out[1], out[2], out[3] = beside, middle, end[3], end[4]
    out[4] = 0.5 * middle * middle - gravity[2] * y[2]
    out[5] = push_off_speed(end, foot, 0.0)
    found = abs(-length * goal[0] - end[0]) + abs(-length * goal[1] - end[1]) < 1e-9 * length
    return found and tension(end, gravity) > 0.0 and beside > 0.0


@array_function
def _pass_middle(
    beside: float,
    middle: float,
    gravity: np.ndarray,
    length: float,
    half: float,
    y: np.ndarray,
    end: np.ndarray,
) -> None:
    y[:] = 0.0
    y[1], y[2], y[3] = beside, (length * length - beside * beside) ** 0.5, middle
    swing(y, gravity, length, True, half, end)


@array_function
def fill_nominal_steps(
    steps: NominalSteps,
    pitch: float,
    roll: float,
    longest: float,
    gravity: np.ndarray,
    length: float,
) -> int:
    """Fill the table of `NominalSteps` from the lowest speed on; return how many there are.

    Args:
        steps: With ``speed`` given, the rest is filled.
        pitch: Of the legs at touchdown, rad, unless steps would take longer than:
        longest: s.
        roll: Of the legs at touchdown, rad.
        gravity: Of level floor, m/s^2, ``(3,)``.
        length: Of the legs, m.
    """
    out = np.zeros(6)
    reach = 2.0 * length * np.sin(pitch) * np.cos(roll)
    for i in range(steps.speed.shape[0]):
        speed = steps.speed[i]
        step = min(reach, speed * longest)
        duration = longest if step < reach else step / speed
        steps.duration[i] = duration
        steps.pitch[i] = np.arcsin(0.5 * step / (length * np.cos(roll)))
        if not find_nominal_step(steps.pitch[i], roll, duration, gravity, length, out):
            return i
        steps.beside[i], steps.middle[i], steps.ahead[i] = out[0], out[1], out[2]
        steps.across[i], steps.energy[i], steps.push_off[i] = out[3], out[4], out[5]
    return int(steps.speed.shape[0])
