# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of an invariant Kalman filter: how state and error move and are corrected.

The state is the orientation of the body, columns in the floor frame (velocity, position, a place
for every foot) and two biases, of gyroscope and accelerometer, in body axes. The error is the
right-invariant one, ``X_estimated X_true^-1 = exp(xi)`` of [HJGE20], that of the biases
their difference. Its order is that of the covariance: turn, velocity, position, feet, gyroscope,
accelerometer, three entries each. doc/estimation_evidence.md derives all that stands here.
"""

from typing import NamedTuple

import numpy as np

from walking_control.estimation.turns import fill_cross, fill_exponential, fill_product
from walking_control.models.array_functions import (
    array_function,
    factorise_spd,
    inner,
    multiply,
    solve_spd,
)

TURN, VELOCITY, POSITION, FEET = 0, 3, 6, 9  # first entries of the error
GYRO, ACCELEROMETER, BIASES = -6, -3, 6  # the biases come last


class FilterState(NamedTuple):
    """What the filter knows, changed in place.

    Attributes:
        rotation: Body to floor frame, ``(3, 3)``.
        columns: Velocity (m/s), position and feet (m) in the floor frame, ``(2 + n_feet, 3)``.
        bias: Of gyroscope (rad/s) and accelerometer (m/s^2) in body axes, ``(2, 3)``.
        P: Covariance of the error, ``(n, n)``.
        free: Which entries of the error the robot has, 1 or 0, ``(n,)``.
        standing: Which feet have a place in the state, 1 or 0, ``(n_feet,)``.
    """

    rotation: np.ndarray  # body to floor frame, ``(3, 3)``
    # velocity (m/s), position and feet (m) in the floor frame, ``(2 + n_feet, 3)``
    columns: np.ndarray
    bias: np.ndarray
    P: np.ndarray
    free: np.ndarray
    standing: np.ndarray


def make_filter_state(free: np.ndarray) -> FilterState:
    """Return a `FilterState` of a robot that has these entries of the error."""
    n_feet = (len(free) - FEET - BIASES) // 3
    return FilterState(
        np.eye(3),
        np.zeros((2 + n_feet, 3)),
        np.zeros((2, 3)),
        np.zeros((len(free),) * 2),
        free,
        np.zeros(n_feet, dtype=np.int8),
    )


@array_function
def move(
    state: FilterState,
    rate: np.ndarray,
    force: np.ndarray,
    gravity: np.ndarray,
    dt: float,
    halfway: np.ndarray,
    push: np.ndarray,
) -> None:
    """Move the state on by one sample of the IMU.

    Args:
        rate: Angular velocity as measured, mean over the sample, body axes, rad/s.
        force: Specific force as measured, mean over the sample, in the axes halfway, m/s^2.
        gravity: Floor frame, m/s^2.
        dt: Length of the sample, s.
        halfway: Written: the rotation in the middle of the sample, ``(3, 3)``.
        push: Written: the specific force in the floor frame, m/s^2.
    """
    rotation, columns, bias = state.rotation, state.columns, state.bias
    turn, along, start = np.empty((3, 3)), np.empty((3, 3)), rotation.copy()
    fill_exponential(0.5 * dt * (rate - bias[0]), turn, along)
    fill_product(start, turn, halfway)
    fill_product(halfway, turn, rotation)
    multiply(halfway, force - bias[1], push)
    acceleration = push + gravity
    columns[1] += columns[0] * dt + 0.5 * dt * dt * acceleration
    columns[0] += acceleration * dt


@array_function
def spread(
    state: FilterState,
    halfway: np.ndarray,
    push: np.ndarray,
    gravity: np.ndarray,
    dt: float,
    rate_noise: np.ndarray,
    force_noise: float,
    walks: np.ndarray,
) -> None:
    """Carry the covariance along with `move` and add the noise of the sample.

    Args:
        state: The `FilterState` after `move`.
        halfway: See `move`.
        push: See `move`.
        gravity: See `move`.
        dt: See `move`.
        rate_noise: Covariance of the mean angular velocity, body axes, ``(3, 3)``, rad^2/s^2.
        force_noise: Variance of the mean specific force along each axis, m^2/s^4.
        walks: Variance that every entry of the error gains in this sample, ``(n,)``.
    """
    P, columns = state.P, state.columns
    n, known = len(P), len(P) - BIASES
    turning, cross, point = -dt * halfway, np.empty((3, 3)), np.empty(3)
    by_rate = np.zeros((known, 3))  # what a wrong rate does: it turns the columns, too
    weighted = np.empty((known, 3))
    by_rate[:3] = turning
    for i in range(1, known // 3):
        point[:] = columns[i - 1]
        if i == 1:
            point -= 0.5 * dt * push
        elif i == 2:
            point -= 0.25 * dt * dt * push
        fill_cross(point, cross)
        fill_product(cross, turning, by_rate[3 * i : 3 * i + 3])
    fill_cross(gravity, cross)
    # from the back, so that every line still finds what it needs as it was
    _mix(P, POSITION, TURN, cross, 0.5 * dt * dt)
    _mix(P, POSITION, VELOCITY, np.eye(3), dt)
    _mix(P, POSITION, n + ACCELEROMETER, turning, 0.5 * dt)
    _mix(P, VELOCITY, TURN, cross, dt)
    _mix(P, VELOCITY, n + ACCELEROMETER, turning, 1.0)
    for i in range(known // 3):
        _mix(P, 3 * i, n + GYRO, by_rate[3 * i : 3 * i + 3], 1.0)
    # noise of a sensor acts as its bias does
    for i in range(known):
        for a in range(3):
            weighted[i, a] = (
                by_rate[i, 0] * rate_noise[0, a]
                + by_rate[i, 1] * rate_noise[1, a]
                + by_rate[i, 2] * rate_noise[2, a]
            )
    for i in range(known):
        for j in range(known):
            P[i, j] += (
                weighted[i, 0] * by_rate[j, 0]
                + weighted[i, 1] * by_rate[j, 1]
                + weighted[i, 2] * by_rate[j, 2]
            )
    pulse = force_noise * dt * dt
    for a in range(3):
        v, p = VELOCITY + a, POSITION + a
        P[v, v] += pulse
        P[v, p] += 0.5 * dt * pulse
        P[p, v] += 0.5 * dt * pulse
        P[p, p] += 0.25 * dt * dt * pulse
    for i in range(n):
        P[i, i] += walks[i]
    _balance(P)
    restrict(state)


@array_function
def _mix(P: np.ndarray, target: int, source: int, M: np.ndarray, scale: float) -> None:
    """Let three entries of the error gain ``scale M`` times three others."""
    n = len(P)
    for a in range(3):
        for b in range(3):
            factor = scale * M[a, b]
            for j in range(n):
                P[target + a, j] += factor * P[source + b, j]
    for j in range(n):
        for a in range(3):
            P[j, target + a] += scale * (
                M[a, 0] * P[j, source] + M[a, 1] * P[j, source + 1] + M[a, 2] * P[j, source + 2]
            )


@array_function
def restrict(state: FilterState) -> None:
    """Take out of the covariance what the robot cannot do and feet that do not stand."""
    P, free = state.P, state.free
    n, n_feet = len(P), len(state.standing)
    for i in range(n):
        foot = (i - FEET) // 3
        if free[i] > 0.0 and (foot < 0 or foot >= n_feet or state.standing[foot]):
            continue
        P[i] = P[:, i] = 0.0


@array_function
def correct(
    state: FilterState, residual: np.ndarray, H: np.ndarray, noise: np.ndarray, gate: float
) -> bool:
    """Correct state and covariance by residuals, unless they surprise too much.

    The surprise is the squared residual over its covariance: chi-squared if both are honest. The
    covariance is updated in Joseph's form, whose every term is a covariance.

    Args:
        residual: ``(m,)``, ``H xi`` plus noise.
        H: Derivative of the residual by the error, ``(m, n)``.
        noise: Covariance of the residual's noise, ``(m, m)``.
        gate: Largest surprise.

    Returns:
        Whether it was taken.
    """
    P = state.P
    n, m = len(P), len(residual)
    PH, S, L = np.zeros((n, m)), noise.copy(), np.zeros((m, m))
    weighted, gain = np.empty(m), np.empty((n, m))
    for k in range(n):  # rows of H are nearly empty
        for i in range(m):
            if H[i, k] != 0.0:
                for j in range(n):
                    PH[j, i] += H[i, k] * P[j, k]
    for i in range(m):
        for k in range(n):
            if H[i, k] != 0.0:
                for j in range(m):
                    S[i, j] += H[i, k] * PH[k, j]
    factorise_spd(S, L)
    solve_spd(L, residual, weighted)
    if not inner(residual, weighted) <= gate:
        return False
    for i in range(n):
        solve_spd(L, PH[i], gain[i])
    _shrink(P, PH, H, noise, gain)
    xi = np.empty(n)
    multiply(PH, -weighted, xi)
    shift(state, xi)
    return True


@array_function
def _shrink(
    P: np.ndarray, PH: np.ndarray, H: np.ndarray, noise: np.ndarray, gain: np.ndarray
) -> None:
    """Fill ``P = (I - K H) P (I - K H)' + K N K'``."""
    n, m = gain.shape
    for i in range(n):
        for k in range(m):
            for j in range(n):
                P[i, j] -= gain[i, k] * PH[j, k]
    rest, turned = np.zeros((n, m)), np.ascontiguousarray(gain.T)
    for i in range(n):
        for k in range(m):
            for j in range(m):
                rest[i, j] += gain[i, k] * noise[k, j]
    for k in range(n):
        for j in range(m):
            if H[j, k] != 0.0:
                for i in range(n):
                    rest[i, j] -= P[i, k] * H[j, k]
    for i in range(n):
        for k in range(m):
            for j in range(n):
                P[i, j] += rest[i, k] * turned[k, j]
    _balance(P)


@array_function
def _balance(P: np.ndarray) -> None:
    """Make a matrix that is symmetrical but for rounding exactly so."""
    for i in range(len(P)):
        for j in range(i):
            P[i, j] = P[j, i] = 0.5 * (P[i, j] + P[j, i])


@array_function
def shift(state: FilterState, xi: np.ndarray) -> None:
    """Change the state by an error: ``X <- exp(xi) X``, biases by the difference.

    Args:
        xi: ``(n,)``.
    """
    n, columns = len(xi), state.columns
    turn, along, old = np.empty((3, 3)), np.empty((3, 3)), state.rotation.copy()
    turned, gained = np.empty(3), np.empty(3)
    fill_exponential(xi[:3], turn, along)
    fill_product(turn, old, state.rotation)
    for i in range(len(columns)):
        multiply(turn, columns[i], turned)
        multiply(along, xi[3 + 3 * i : 6 + 3 * i], gained)
        columns[i] = turned + gained
    state.bias[:] += xi[n + GYRO :].copy().reshape(2, 3)
