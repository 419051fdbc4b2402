# SPDX-License-Identifier: Apache-2.0
"""What feet say to an invariant Kalman filter: they rest, come down, slip or are in the air."""

import math
from typing import NamedTuple

import numpy as np

from walking_control.estimation.invariant import (
    ACCELEROMETER,
    BIASES,
    correct,
    FEET,
    FilterState,
    GYRO,
    move,
    POSITION,
    restrict,
    spread,
    TURN,
    VELOCITY,
)
from walking_control.estimation.turns import fill_cross, fill_cross_product, fill_product
from walking_control.models.array_functions import array_function, inner, multiply

RESTS, TOUCHED, SLIPS, OFF = range(4)  # what became of a foot
LATER, AT_TOUCHDOWN, NOW = range(3)  # when the height of a foothold counts
BELIEVED = 9.0  # squared error over variance: more is not believed
UNEVEN = 0.003  # rad: how far a sole on a level floor is from level
_TINY = 1e-14  # m^2, (m/s)^2: a leg may not move in every direction


class Noise(NamedTuple):
    """Standard deviations of one sample, and what counts as a slip.

    Attributes:
        gyro: Of the gyroscope, rad/s.
        accelerometer: m/s^2.
        gyro_walk: Of the change of its bias in a second, rad/s.
        accelerometer_walk: Likewise, m/s^2.
        encoder: Of joint positions, rad (of sliding joints m).
        velocity: Of joint velocities, rad/s.
        rest: Of the velocity of a foot at rest: rolling, sole and floor giving way, m/s.
        persistence: How long such a motion goes on, s.
        floor: Of the height of a foothold against the floor's plane, m.
        tachometers: Whether joint velocities are measured apart from positions.
        gate: Largest squared surprise of the place of a resting foot.
        gate_velocity: Likewise of its velocity.
        gate_both: Likewise of both.
    """

    gyro: float
    accelerometer: float
    gyro_walk: float
    accelerometer_walk: float
    encoder: float
    velocity: float
    rest: float
    persistence: float
    floor: float
    tachometers: bool
    gate: float
    gate_velocity: float
    gate_both: float


class Sample(NamedTuple):
    """One set of measurements in body axes.

    Attributes:
        rate: Angular velocity, rad/s.
        last_rate: The one before.
        force: Specific force, mean since the last sample, in the axes halfway, m/s^2.
        places: Of the feet from the body's origin, m, ``(n_feet, 3)``.
        speeds: Of the feet by the joints alone, m/s, ``(n_feet, 3)``.
        grams: ``J J^T`` of the Jacobians of the feet by the joints, ``(n_feet, 3, 3)``.
        turns: From the axes of the feet, ``(n_feet, 3, 3)``.
        turn_grams: As `grams`, of how the joints turn the feet.
        verdicts: Written: what became of each foot, ``(n_feet,)``.
        floor: Rise of the floor over x and y, as the feet feel it, and height of its level part
            that the robot walks on, m; the last is written, ``(3,)``.
    """

    rate: np.ndarray
    last_rate: np.ndarray
    force: np.ndarray
    places: np.ndarray
    speeds: np.ndarray
    grams: np.ndarray
    turns: np.ndarray
    turn_grams: np.ndarray
    verdicts: np.ndarray  # written: what became of each foot, ``(n_feet,)``
    # rise of the floor over x and y, as the feet feel it; height of its level part that the robot
    # walks on, m, which is written; rise that the newest foothold alone says, ``(5,)``
    floor: np.ndarray
    heights: np.ndarray  # when the height of each foot counts, ``(n_feet,)``


def make_sample(n_feet: int) -> Sample:
    """Return a `Sample` of zeros."""
    grams, turns, turn_grams = np.zeros((3, n_feet, 3, 3))
    return Sample(
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.zeros((n_feet, 3)),
        np.zeros((n_feet, 3)),
        grams,
        turns,
        turn_grams,
        np.zeros(n_feet, dtype=np.int64),
        np.zeros(5),
        np.full(n_feet, AT_TOUCHDOWN),
    )


@array_function
def predict(
    state: FilterState, sample: Sample, noise: Noise, gravity: np.ndarray, dt: float
) -> None:
    """Move state and covariance on by one sample of the IMU.

    Args:
        gravity: Floor frame, m/s^2.
        dt: Time since the last sample, s.
    """
    rate, last_rate, n = sample.rate, sample.last_rate, len(state.P)
    walks, halfway, push = np.zeros(n), np.empty((3, 3)), np.empty(3)
    # a rate that jumps within the sample, nobody knows when, has the mean of both +- this
    rate_noise = np.outer(rate - last_rate, rate - last_rate) / 12.0 + noise.gyro**2 * np.eye(3)
    walks[n + GYRO : n + ACCELEROMETER] = noise.gyro_walk**2 * dt
    walks[n + ACCELEROMETER :] = noise.accelerometer_walk**2 * dt
    walks[FEET : n - BIASES] = noise.rest**2 * noise.persistence * dt
    move(state, 0.5 * (rate + last_rate), sample.force, gravity, dt, halfway, push)
    spread(state, halfway, push, gravity, dt, rate_noise, noise.accelerometer**2, walks)


@array_function
def take_feet(
    state: FilterState, sample: Sample, contact: np.ndarray, noise: Noise, dt: float
) -> None:
    """Correct the state by the feet that touch the floor, forget the others.

    Args:
        contact: Which feet touch the floor, ``(n_feet,)``.
        dt: Time since the last sample, s.
    """
    n, places, verdicts = len(state.P), sample.places, sample.verdicts
    residual, H, N = np.zeros(6), np.zeros((6, n)), np.zeros((6, 6))
    # velocities that are differentiated positions say nothing new
    rows = 6 if noise.tachometers else 3
    gate = noise.gate_both if noise.tachometers else noise.gate
    # a motion that persists says less than as many that do not
    rest = noise.rest * math.sqrt(max(1.0, noise.persistence / dt))
    for i in range(len(places)):
        if not contact[i]:
            continue
        fill_foot_noise(state, sample, i, noise, rest, N)
        if state.standing[i]:
            fill_foot_rows(state, sample, i, residual, H)
            verdicts[i] = RESTS
            if not correct(
                state, residual[:rows], H[:rows], np.ascontiguousarray(N[:rows, :rows]), gate
            ):
                verdicts[i] = SLIPS
                set_foot(state, places[i], N, i)
            elif sample.heights[i] == NOW:
                _take_height(state, i, sample.floor, noise)
            continue
        state.standing[i] = True
        verdicts[i] = TOUCHED
        set_foot(state, places[i], N, i)
        if sample.heights[i] == AT_TOUCHDOWN:
            _take_height(state, i, sample.floor, noise)
        if noise.tachometers:
            fill_foot_rows(state, sample, i, residual, H)
            correct(
                state, residual[3:], H[3:], np.ascontiguousarray(N[3:, 3:]), noise.gate_velocity
            )
    arm = np.empty(3)
    for i in range(len(places)):
        if not contact[i]:
            state.standing[i] = False
            verdicts[i] = OFF
            multiply(state.rotation, places[i], arm)
            state.columns[2 + i] = state.columns[1] + arm
    restrict(state)


@array_function
def fill_foot_rows(
    state: FilterState, sample: Sample, foot: int, residual: np.ndarray, H: np.ndarray
) -> None:
    """Fill what a resting foot says: residuals of its place and of its velocity, and their rows.

    Args:
        foot: Which one.
        residual: Written, ``(6,)``, m and m/s.
        H: Written, ``(6, n)``.
    """
    columns, place, own = state.columns, sample.places[foot], FEET + 3 * foot
    n, swept, seen = len(state.P), np.empty(3), np.empty(3)
    cross, lever = np.empty((3, 3)), np.empty((3, 3))
    multiply(state.rotation, place, seen)
    residual[:3] = seen - columns[2 + foot] + columns[1]
    fill_cross_product(sample.rate - state.bias[0], place, swept)
    multiply(state.rotation, swept + sample.speeds[foot], seen)
    residual[3:] = columns[0] + seen
    fill_cross(place, cross)
    fill_product(state.rotation, cross, lever)
    H[:] = 0.0
    for a in range(3):
        H[a, POSITION + a], H[a, own + a], H[3 + a, VELOCITY + a] = 1.0, -1.0, 1.0
    H[3:, n + GYRO : n + ACCELEROMETER] = lever


@array_function
def fill_foot_noise(
    state: FilterState, sample: Sample, foot: int, noise: Noise, rest: float, N: np.ndarray
) -> None:
    """Fill the covariance of the residuals of `fill_foot_rows`, ``(6, 6)``.

    Args:
        foot: Which one.
        rest: Standard deviation of the velocity of a foot at rest, m/s.
        N: Written.
    """
    place, gram, body = sample.places[foot], sample.grams[foot], np.empty((3, 3))
    turn, by_encoders = np.empty((3, 3)), noise.encoder**2 * gram
    _fill_congruence(state.rotation, by_encoders, N[:3, :3])
    fill_cross(sample.rate - state.bias[0], turn)
    _fill_congruence(turn, by_encoders, body)
    body += noise.velocity**2 * gram
    body -= np.outer(noise.gyro**2 * place, place)
    square = place[0] * place[0] + place[1] * place[1] + place[2] * place[2]
    body += noise.gyro**2 * square * np.eye(3)
    _fill_congruence(state.rotation, body, N[3:, 3:])
    for a in range(3):
        N[a, a] += _TINY
        N[3 + a, 3 + a] += rest * rest + _TINY


@array_function
def _fill_congruence(A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out = A B A^T`` of three rows and columns each."""
    half = np.empty((3, 3))
    fill_product(A, B, half)
    fill_product(half, A.T, out)


@array_function
def set_foot(state: FilterState, place: np.ndarray, N: np.ndarray, foot: int) -> None:
    """Put a foot where the leg says it is, and its covariance with it, as in [HJGE20].

    Args:
        place: Of the foot from the body's origin, body axes, m.
        N: See `fill_foot_noise`.
        foot: Which one.
    """
    P, columns, own, arm = state.P, state.columns, FEET + 3 * foot, np.empty(3)
    multiply(state.rotation, place, arm)
    # the foot is at p + R h: its error is that of p, and the leg's on top
    columns[2 + foot] = columns[1] + arm
    P[own : own + 3] = P[POSITION : POSITION + 3]
    P[:, own : own + 3] = P[:, POSITION : POSITION + 3]
    P[own : own + 3, own : own + 3] += N[:3, :3]


@array_function
def _take_height(state: FilterState, foot: int, floor: np.ndarray, noise: Noise) -> None:
    """Correct the state by the height of a foothold: a floor is level, or made of levels.

    A floor that leans by more than orientation and soles may be wrong says nothing of heights, and
    a foothold that is clearly off the last level begins another.
    """
    place, P = state.columns[2 + foot], state.P
    steep = max(floor[0] ** 2 + floor[1] ** 2, floor[3] ** 2 + floor[4] ** 2)
    if steep > BELIEVED * (P[TURN, TURN] + P[TURN + 1, TURN + 1] + 2.0 * UNEVEN**2) or (
        place[2] - floor[2]
    ) ** 2 > BELIEVED * (noise.floor**2 + P[FEET + 3 * foot + 2, FEET + 3 * foot + 2]):
        floor[2] = place[2]
        return
    H, N, residual = np.zeros((1, len(state.P))), np.empty((1, 1)), np.empty(1)
    N[0, 0] = noise.floor**2 + _TINY
    residual[0] = place[2] - floor[2]
    H[0, TURN], H[0, TURN + 1], H[0, FEET + 3 * foot + 2] = place[1], -place[0], 1.0
    correct(state, residual, H, N, noise.gate_velocity)


@array_function
def begin(
    state: FilterState, sample: Sample, support: int, initial: np.ndarray, noise: Noise
) -> None:
    """Begin on a foot that rests where the state has it: place and velocity follow from it.

    Args:
        state: The `FilterState`; orientation, biases and the foot's place are kept.
        support: The foot.
        initial: Standard deviations of orientation, gyroscope bias, accelerometer bias.
    """
    P, columns, n = state.P, state.columns, len(state.P)
    residual, H, N = np.zeros(6), np.zeros((6, n)), np.zeros((6, 6))
    state.standing[:] = False
    state.standing[support] = True
    fill_foot_noise(state, sample, support, noise, noise.rest, N)
    fill_foot_rows(state, sample, support, residual, H)
    # of second order in a turn that may be wrong by far more than the leg
    place = sample.places[support]
    for a in range(3):
        N[a, a] += inner(place, place) * initial[0] ** 4
    P[:] = 0.0
    for a in range(3):
        columns[1, a] -= residual[a]
        columns[0, a] -= residual[3 + a]
        P[TURN + a, TURN + a] = initial[0] ** 2
        P[n + GYRO + a, n + GYRO + a] = initial[1] ** 2
        P[n + ACCELEROMETER + a, n + ACCELEROMETER + a] = initial[2] ** 2
    # where the place is known but not the turn, the error of the place is that of the turn about
    # the origin; the velocity follows from the rate, and its error from that of the bias
    own, cross = FEET + 3 * support, np.empty((3, 3))
    fill_cross(columns[2 + support], cross)
    for a in range(3):
        for b in range(3):
            square = inner(cross[a], cross[b]) * initial[0] ** 2
            for i in (POSITION, own):
                P[i + a, TURN + b] = P[TURN + b, i + a] = initial[0] ** 2 * cross[a, b]
                for j in (POSITION, own):
                    P[i + a, j + b] = square
            P[POSITION + a, POSITION + b] += N[a, b]
            P[VELOCITY + a, VELOCITY + b] = N[3 + a, 3 + b] + initial[1] ** 2 * inner(
                H[3 + a, n + GYRO : n + ACCELEROMETER], H[3 + b, n + GYRO : n + ACCELEROMETER]
            )
            P[VELOCITY + a, n + GYRO + b] = P[n + GYRO + b, VELOCITY + a] = (
                -(initial[1] ** 2) * H[3 + a, n + GYRO + b]
            )
    restrict(state)


@array_function
def write_base(
    state: FilterState,
    rate: np.ndarray,
    imu: np.ndarray,
    gyro: float,
    position: np.ndarray,
    velocity: np.ndarray,
    covariance: np.ndarray,
) -> None:
    """Write place and velocity of the base, and how well they are known.

    Args:
        rate: Angular velocity as measured, body axes, rad/s.
        imu: Origin of the body in base axes, m.
        gyro: Standard deviation of the gyroscope, rad/s.
        position: Of the base's origin, floor frame, m; written.
        velocity: Likewise, m/s; written.
        covariance: Of turn, velocity and position of the base, estimate less truth in the floor
            frame, ``(9, 9)``; written.
    """
    P, n = state.P, len(state.P)
    arm, sweep, swept = np.empty(3), np.empty(3), np.empty(3)
    cross, lever = np.empty((3, 3)), np.empty((3, 3))
    multiply(state.rotation, imu, arm)
    fill_cross_product(rate - state.bias[0], imu, sweep)
    multiply(state.rotation, sweep, swept)
    position[:] = state.columns[1] - arm
    velocity[:] = state.columns[0] - swept
    # x_estimated - x = xi + turn times x, and a wrong rate moves the far end of the arm
    G = np.eye(9, n)
    fill_cross(velocity, cross)
    G[3:6, :3] -= cross
    fill_cross(position, cross)
    G[6:, :3] -= cross
    fill_cross(imu, cross)
    fill_product(state.rotation, cross, lever)
    G[3:6, n + GYRO : n + ACCELEROMETER] -= lever
    covariance[:] = G @ P @ G.T
    covariance[3:6, 3:6] += gyro**2 * lever @ lever.T
