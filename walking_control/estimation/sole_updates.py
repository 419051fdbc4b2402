# SPDX-License-Identifier: Apache-2.0
"""What soles say to an invariant Kalman filter that points cannot: a flat one does not turn.

doc/estimation_evidence.md derives the angle about the floor's normal that says how wrong the
gyroscope's bias is. It is taken once a step, when the sole leaves the floor: the noise of encoders
counts at both ends of that time alone. In it the body turns little against the normal, so that n is
that of its beginning; the gyroscope's noise in e is not counted as the same that is in R.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.estimation import correct, fill_exponential, fill_product, FilterState, GYRO
from walking_control.estimation.foot_updates import Noise, RESTS, Sample, take_feet
from walking_control.models.array_functions import array_function, form, inner

SHORTEST, LONGEST = 0.1, 0.5  # s: of a rest that is counted; after the longest another begins


class Soles(NamedTuple):
    """How soles lie against the body, and what has happened since each came to rest.

    Attributes:
        first: F when it came to rest, ``(n_feet, 3, 3)``.
        last: F when it rested last.
        sensed: G, by the gyroscope, until then.
        bias: Of the gyroscope as believed when it came to rest, rad/s, ``(n_feet, 3)``.
        normal: n, likewise, ``(n_feet, 3)``.
        variance: Of the two ends of e by the encoders, each for 1 rad^2, ``(n_feet,)``.
        span: t, 0 of one that does not rest, s, ``(n_feet,)``.
    """

    first: np.ndarray
    last: np.ndarray
    sensed: np.ndarray
    bias: np.ndarray
    normal: np.ndarray
    variance: np.ndarray
    span: np.ndarray


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
    return Soles(*np.zeros((3, n_feet, 3, 3)), *np.zeros((2, n_feet, 3)), *np.zeros((2, n_feet)))


@array_function
def take_contacts(
    state: FilterState,
    sample: Sample,
    soles: Soles,
    contact: np.ndarray,
    noise: Noise,
    grip: Grip,
    dt: float,
) -> None:
    """Correct the state by the feet that touch the floor, and by their soles.

    Args:
        soles: Of no foot where feet are points.
        contact: Which feet touch the floor, ``(n_feet,)``.
        dt: Time since the last sample, s.
    """
    take_feet(state, sample, contact, noise, dt)
    take_soles(state, sample, soles, noise, grip, dt)


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
    turn, along, before = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for foot in range(len(soles.span)):
        floor = normal - sample.floor[0] * state.rotation[0] - sample.floor[1] * state.rotation[1]
        upright = inner(floor / steep, sample.turns[foot, :, 2])
        uncertain = form(normal, sample.turn_grams[foot], normal)
        rests = sample.verdicts[foot] == RESTS and 1.0 - upright < 0.5 * grip.tilt**2
        if soles.span[foot] >= LONGEST or (not rests and soles.span[foot] >= SHORTEST):
            _take_rest(state, soles, foot, noise, grip, dt)
            soles.span[foot] = 0.0
        if not rests:
            soles.span[foot] = 0.0
            continue
        if soles.span[foot] == 0.0:
            soles.first[foot], soles.bias[foot] = sample.turns[foot], state.bias[0]
            soles.normal[foot], soles.variance[foot] = normal, uncertain
            soles.sensed[foot] = np.eye(3)
            soles.span[foot] = 1e-9  # has begun
        else:
            mean_rate = 0.5 * (sample.rate + sample.last_rate)
            fill_exponential(dt * (mean_rate - soles.bias[foot]), turn, along)
            before[:] = soles.sensed[foot]
            fill_product(before, turn, soles.sensed[foot])
            soles.span[foot] += dt
        soles.last[foot] = sample.turns[foot]


@array_function
def _take_rest(
    state: FilterState, soles: Soles, foot: int, noise: Noise, grip: Grip, dt: float
) -> None:
    """Correct the state by a sole that rested."""
    n, span, normal = len(state.P), soles.span[foot], soles.normal[foot]
    residual, H, N = np.zeros(1), np.zeros((1, n)), np.empty((1, 1))
    back, gap = np.empty((3, 3)), np.empty((3, 3))
    fill_product(soles.last[foot], soles.first[foot].T, back)
    fill_product(soles.sensed[foot], back, gap)
    for a in range(3):  # the gap is small
        b, c = (a + 1) % 3, (a + 2) % 3
        # since then the belief may have changed
        residual[0] += normal[a] * (
            0.5 * (gap[c, b] - gap[b, c]) - span * (state.bias[0, a] - soles.bias[foot, a])
        )
        H[0, n + GYRO + a] = -span * normal[a]
    N[0, 0] = 2.0 * soles.variance[foot] * noise.encoder**2 + span * (
        dt * noise.gyro**2 + max(dt, noise.persistence) * grip.spin**2
    )
    correct(state, residual, H, N, grip.gate)
