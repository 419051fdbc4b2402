# SPDX-License-Identifier: Apache-2.0
"""What feet and soles say to an invariant Kalman filter; a flat sole does not turn.

doc/estimation_evidence.md derives the angle about the floor's normal that says how wrong the
gyroscope's bias is. It is averaged near the beginning and near the end of the time that a sole
rests: a sole that is loaded or unloaded turns with the body, in a curve always the same way. The
gyroscope's noise in the angle is not counted as the same that is in R.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.estimation.foot_updates import Noise, RESTS, Sample
from walking_control.estimation.invariant import ACCELEROMETER, correct, FilterState, GYRO
from walking_control.estimation.turns import fill_product
from walking_control.models.array_functions import array_function, form, inner

PART = 0.03  # s: angles are averaged over it; neither the first nor the last part counts
LONGEST = 0.5  # s: of a rest, after which another begins
GOING, LAST, BEFORE, BEGINNING = range(4)  # parts of a rest


class Soles(NamedTuple):
    """How soles lie against the body, and how they have turned since each came to rest.

    Attributes:
        last: F at the last sample, ``(n_feet, 3, 3)``.
        since: e, by a gyroscope that has no bias, rad, and the time t, 0 of a sole that does not
            rest, s, ``(n_feet, 2)``.
        parts: Of the part that is going on, the last whole one, the one before and the first that
            counts: `since` summed up, and of how many samples, ``(n_feet, 4, 3)``.
    """

    last: np.ndarray
    since: np.ndarray
    parts: np.ndarray


class Grip(NamedTuple):
    """What is counted on of a flat sole.

    Attributes:
        spin: Standard deviation of how fast it turns on the floor, rad/s.
        tilt: Largest angle to the floor at which it is flat, rad.
        gate: Largest squared surprise.
    """

    spin: float
    tilt: float
    gate: float


def make_soles(n_feet: int) -> Soles:
    """Return the `Soles` of so many feet, none of which rests; z of their frames is the normal."""
    return Soles(np.zeros((n_feet, 3, 3)), np.zeros((n_feet, 2)), np.zeros((n_feet, 4, 3)))


@array_function
def take_soles(
    state: FilterState, sample: Sample, soles: Soles, noise: Noise, grip: Grip, dt: float
) -> None:
    """Follow soles that lie flat on the floor and rest; correct the state by those that did.

    Args:
        sample: The `Sample`; the feet have their verdicts.
        dt: Time since the last sample, s.
    """
    normal = state.rotation[2]
    steep = math.sqrt(1.0 + sample.floor[0] ** 2 + sample.floor[1] ** 2)
    for foot in range(len(soles.since)):
        floor = normal - sample.floor[0] * state.rotation[0] - sample.floor[1] * state.rotation[1]
        upright = inner(floor / steep, sample.turns[foot, :, 2])
        rests = sample.verdicts[foot] == RESTS and 1.0 - upright < 0.5 * grip.tilt**2
        if not rests or soles.since[foot, 1] >= LONGEST:
            _take_rest(state, sample, soles, foot, noise, grip, dt)
            soles.since[foot] = 0.0
        if rests:
            _follow(normal, sample, soles, foot, dt)


@array_function
def _follow(normal: np.ndarray, sample: Sample, soles: Soles, foot: int, dt: float) -> None:
    """Follow a sole that rests."""
    turn, since, parts = np.empty((3, 3)), soles.since[foot], soles.parts[foot]
    if since[1] == 0.0:
        parts[:] = 0.0
    else:
        fill_product(soles.last[foot], sample.turns[foot].T, turn)
        for a in range(3):  # the body has turned by a small angle
            b, c = (a + 1) % 3, (a + 2) % 3
            sensed = dt * (sample.rate[a] + sample.last_rate[a])
            since[0] += 0.5 * normal[a] * (sensed - turn[c, b] + turn[b, c])
    soles.last[foot] = sample.turns[foot]
    since[1] += dt
    parts[GOING, :2] += since
    parts[GOING, 2] += 1.0
    if parts[GOING, 2] * dt >= PART:
        parts[BEFORE], parts[LAST] = parts[LAST], parts[GOING]
        parts[GOING] = 0.0
        if parts[BEGINNING, 2] == 0.0 and since[1] > 2.5 * PART:
            parts[BEGINNING] = parts[BEFORE]


@array_function
def _take_rest(
    state: FilterState,
    sample: Sample,
    soles: Soles,
    foot: int,
    noise: Noise,
    grip: Grip,
    dt: float,
) -> None:
    """Correct the state by a sole that rested, if three parts of that are whole."""
    n, normal, parts = len(state.P), state.rotation[2], soles.parts[foot]
    begun, held = parts[BEGINNING, 2], parts[BEFORE, 2]
    if soles.since[foot, 1] == 0.0 or begun == 0.0:
        return
    angle, span = parts[BEFORE, :2] / held - parts[BEGINNING, :2] / begun
    residual, H, N = np.empty(1), np.zeros((1, n)), np.empty((1, 1))
    residual[0] = angle - span * inner(normal, state.bias[0])
    H[0, n + GYRO : n + ACCELEROMETER] = -span * normal
    N[0, 0] = noise.encoder**2 * form(normal, sample.turn_grams[foot], normal) * (
        1.0 / begun + 1.0 / held
    ) + span * (dt * noise.gyro**2 + max(dt, noise.persistence) * grip.spin**2)
    correct(state, residual, H, N, grip.gate)
