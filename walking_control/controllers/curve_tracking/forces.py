# SPDX-License-Identifier: Apache-2.0
"""The forces of port-based curve tracking ([DS09] section 5.2), by projection, and its tank.

Notation: M mass matrix, ``e = w / |w|`` the desired direction of unit length in the metric M,
``m = M e`` the desired momentum direction, ``nu = m . v`` the speed along it, ``r = v - nu e`` the
undesired rest of the velocity and ``b = D_v e`` how fast e turns along the motion. The effort
``M b nu - m (b^T M r)`` decouples and returns as much power as it takes. It equals (5.12) with one
choice of the free skew matrix Z, and needs no basis (doc/controllers/curve_tracking_derivation.md).
(5.27) multiplies the field w, a velocity; an effort is a covector, so m takes its place.
"""

import math

import numpy as np

from walking_control.models import array_function, form, inner, multiply

DAMPING, TRANSFER = 0, 1


@array_function
def split_velocity(
    M: np.ndarray, w: np.ndarray, v: np.ndarray, e: np.ndarray, m: np.ndarray, r: np.ndarray
) -> tuple[float, float, float]:
    """Fill desired direction e, momentum direction m = M e and rest r; return speeds.

    Args:
        M: Mass matrix, ``(n, n)``.
        w: Desired field, ``(n,)``, not zero.
        v: Rates, ``(n,)``.
        e: Filled, ``(n,)``.
        m: Filled.
        r: Filled.

    Returns:
        ``(nu, rho, length)``: speed along e, size of r and length of w, all in the metric M.
    """
    multiply(M, w, m)
    length = math.sqrt(inner(w, m))
    e[:], m[:] = w / length, m / length
    nu = inner(m, v)
    r[:] = v - nu * e
    return nu, math.sqrt(max(form(r, M, r), 0.0)), length


@array_function
def turn_of(
    turning: np.ndarray, length: float, e: np.ndarray, m: np.ndarray, out: np.ndarray
) -> None:
    """Fill ``M b``: the part of ``M D_v w / |w|`` that is orthogonal to e.

    Args:
        turning: ``M D_v w``, i.e. M dw/dt plus the velocity forces c(v, w), ``(n,)``.
        length: Length of w.
        e: Desired direction.
        m: Desired momentum direction.
        out: Filled, ``(n,)``; may be ``turning``.
    """
    out[:] = (turning - m * inner(e, turning)) / length


@array_function
def nominal_force(
    turn: np.ndarray, m: np.ndarray, nu: float, r: np.ndarray, out: np.ndarray
) -> None:
    """Fill the decoupling effort (5.12), power-continuous: both kinetic energies stay apart.

    Args:
        turn: M times the covariant rate of e, ``(n,)``.
        m: Desired momentum direction M e, ``(n,)``.
        nu: Speed along e, J^0.5.
        r: Undesired rates, rad/s, ``(n,)``.
        out: Filled, N m, ``(n,)``.
    """
    out[:] = turn * nu - m * inner(turn, r)


@array_function
def potential_force(gradient: np.ndarray, e: np.ndarray, m: np.ndarray, out: np.ndarray) -> None:
    """Fill the partial compensation (5.25): the potential no longer drives the rest r.

    Args:
        gradient: Of the potential energy, N m, ``(n,)``.
        e: Desired direction, of unit length in M, ``(n,)``.
        m: M e, ``(n,)``.
        out: Filled, N m, ``(n,)``.
    """
    out[:] = gradient - m * inner(e, gradient)


@array_function
def convergence(nu: float, rho: float, a0: float, a1: float, bandwidth: float) -> float:
    """Return a of (5.18), by (5.21), limited so that r decays no faster than bandwidth, 1/s.

    Args:
        nu: Speed along the desired direction, J^0.5.
        rho: Size of the undesired rates, J^0.5.
        a0: Of (5.21), J^-0.5 s^-1.
        a1: Of (5.21), J^0.5.
        bandwidth: Fastest decay asked for, 1/s.
    """
    a = a0 / (rho + a1)
    return min(a, bandwidth / max(nu * nu, 1e-12))


@array_function
def asymptotic_force(
    M: np.ndarray,
    m: np.ndarray,
    r: np.ndarray,
    nu: float,
    rho: float,
    method: int,
    a: float,
    rate: float,
    out: np.ndarray,
) -> float:
    """Fill the effort that drives r to zero.

    TRANSFER moves its energy irreversibly into the desired motion (5.18); power-continuous.
    DAMPING dissipates it (5.17), and takes over where the motion runs against the field, for
    there a transfer would speed up the wrong way.

    Args:
        M: Mass matrix.
        m: Desired momentum direction.
        r: Undesired rates.
        nu: Desired speed.
        rho: Size of r.
        method: DAMPING or TRANSFER.
        a: Of (5.18).
        rate: R of (5.17) per unit of Mbar, 1/s.
        out: Filled, ``(n,)``.

    Returns:
        Rate at which r decays, 1/s.
    """
    multiply(M, r, out)
    if method == TRANSFER and nu > 0.0:
        out[:] = a * nu * (m * rho * rho - out * nu)
        return a * nu * nu
    out[:] = -rate * out
    return rate


@array_function
def relieve(
    total: np.ndarray,
    direction_of: np.ndarray,
    m: np.ndarray,
    e: np.ndarray,
    r: np.ndarray,
    rho: float,
    most: float,
    out: np.ndarray,
) -> None:
    """Fill the best effort of the free skew matrix Z of (5.12): it lessens the total effort.

    ``Z Mbar^-1 alpha2`` may be any momentum orthogonal to both e and r. Among these the one
    that lessens the size of the total effort (metric M^-1) most is taken, bounded by a rate times
    rho so that it vanishes with r. It does no work. In two dimensions there is none.

    Args:
        total: Effort so far, ``(n,)``.
        direction_of: ``M^-1 total``, ``(n,)``.
        m: Desired momentum direction.
        e: Desired direction.
        r: Undesired rates.
        rho: Size of r.
        most: Largest rate at which the direction of r may be turned, 1/s.
        out: ``M r`` on entry, filled, ``(n,)``.
    """
    along = inner(e, total)
    across = inner(r, total) / (rho * rho) if rho > 1e-9 else 0.0
    squared = inner(total, direction_of) - along * along - (across * rho) ** 2
    size = math.sqrt(max(squared, 0.0))
    share = min(1.0, most * rho / size) if rho > 1e-9 and size > 1e-12 else 0.0
    out[:] = -share * (total - m * along - out * across)


@array_function
def integrate_error(integral: float, error: float, dt: float, limit: float) -> float:
    """Return the integral of the energy error, bounded, J s.

    Args:
        integral: So far, J s.
        error: Energy that is lacking, J.
        dt: Time since the last tick, s.
        limit: Largest size, J s.
    """
    return min(max(integral + error * dt, -limit), limit)


@array_function
def energy_force(
    error: float,
    integral: float,
    proportional: float,
    integral_gain: float,
    m: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill the effort that brings the energy to its desired value.

    Args:
        error: Desired minus present energy, J.
        integral: Integral of the error, J s.
        proportional: Kp, 1/(s J^0.5).
        integral_gain: Ki, 1/(s^2 J^0.5).
        m: Desired momentum direction, ``(n,)``.
        out: Filled, ``(n,)``.
    """
    out[:] = (proportional * error + integral_gain * integral) * m


@array_function
def draw(tank: float, work: float, capacity: float) -> float:
    """Return the tank level after the controller did work on the robot, J.

    Work taken from the robot fills the tank up to its capacity; more is lost. A period may inject
    a little more than foreseen at its begin: that stays as a debt, to be absorbed before anything
    is injected again.

    Args:
        tank: Level before, J.
        work: Done on the robot, J; below 0 it is taken back.
        capacity: Largest level, J.
    """
    return min(tank - work, capacity)


@array_function
def tank_share(tank: float, work: float) -> float:
    """Return the part of an effort the tank can pay for, 0 to 1.

    Args:
        tank: Level, J.
        work: Energy the effort will inject, J; absorbing is always allowed.
    """
    if work <= max(tank, 0.0):
        return 1.0
    return max(tank, 0.0) / work
