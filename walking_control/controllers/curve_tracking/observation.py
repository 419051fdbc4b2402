# SPDX-License-Identifier: Apache-2.0
"""A state of a walker as curve tracking sees it: along the field and across, with its energies."""

from __future__ import annotations

import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.controllers.curve_tracking.forces import split_velocity, turn_of
from walking_control.controllers.curve_tracking.vector_field import apply_field
from walking_control.gaits.curve import nearest_knot
from walking_control.models import (
    array_function,
    factorise_spd,
    form,
    inner,
    multiply,
    Terms,
    terms_places,
)
from walking_control.models.support.dynamics import Mechanics, unpack_terms

if TYPE_CHECKING:
    from walking_control.controllers.curve_tracking.tick import TrackerData


# shares of the rates and of the field at which `observe` asks for the support terms
FACTORS = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, -1.0]])


class Motion(NamedTuple):
    """A state as the law sees it, in the free coordinates of a piece.

    Attributes:
        v: Rates, ``(m,)``.
        robot: `Mechanics` of the free coordinates.
        gradient: Of the potential energy, ``(m,)``.
        e: Desired direction, of unit length in M.
        m: Desired momentum direction M e.
        r: Undesired rates.
        turn: M times the covariant rate of e, see `curve_law.turn_of`.
        nu: Speed along e, J^0.5.
        rho: Size of r, J^0.5.
        potential: Potential energy, J.
        wanted: Desired energy, J.
        s: Parameter on the gait, s.
        distance: From the gait, rad.
        margin: See `vector_field.apply_field`.
    """

    v: np.ndarray
    robot: Mechanics
    gradient: np.ndarray
    e: np.ndarray
    m: np.ndarray
    r: np.ndarray
    turn: np.ndarray
    nu: float
    rho: float
    potential: float
    wanted: float
    drive: float  # force along e that the gait takes by itself, J^0.5/s
    s: float
    distance: float
    margin: float


@array_function
def observe(
    terms: Terms, data: TrackerData, support: int, s: float, q: np.ndarray, v: np.ndarray
) -> Motion:
    """Return the `Motion` of a state.

    Args:
        terms: Function (support, q, v, parameters, out) of the support terms.
        support: Index of the stance foot.
        s: Parameter on the gait found last; not finite to search anew.
        q: Minimal coordinates, all of them, ``(n,)``.
        v: Their rates.
    """
    free, n = data.free, data.free.shape[0]
    place, rate, w, dw = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    M, L, M_f, h_f = np.zeros((n, n)), np.zeros((n, n)), np.zeros((2, n)), np.zeros(2)
    e, m, r, turn = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    biases, rates, rows = np.zeros((4, n)), v * 0.0, np.zeros((2, q.shape[0]))
    spare = np.zeros(2)
    buffer = np.zeros(terms_places(q.shape[0]).end)
    place[:], rate[:] = q[free], v[free]
    margin, distance, height, wanted = 0.0, 0.0, 0.0, 0.0
    for call in range(4):  # one call site keeps the compiled code small
        rates[free] = FACTORS[call, 0] * rate + FACTORS[call, 1] * w
        terms(support, q, rates, data.parameters, buffer)
        unpack_terms(buffer, free, M, rows, biases[call], spare if call else h_f)
        if call == 0:
            height = potential(data.parameters, data.spin[support], rows)
            if not math.isfinite(s):
                s = nearest_knot(data.field.curve, place)
            wanted = interpolate(data.field.curve.knots, data.energy, s)
            s, margin, distance = apply_field(
                data.field,
                place,
                rate,
                s,
                w,
                dw,
                lead_of(data, wanted - height - 0.5 * form(rate, M, rate)),
            )
    plus, minus = biases[2], biases[3]
    factorise_spd(M, L)
    nu, rho, length = split_velocity(M, w, rate, e, m, r)
    # M D_v w: velocity forces are quadratic, so those of v and w together by polarisation
    multiply(M, dw, turn)
    turn += 0.25 * (plus - minus)
    turn_of(turn, length, e, m, turn)
    M_f[:] = rows[:, free]
    return Motion(
        rate,
        Mechanics(M, L, biases[0], M_f, h_f),
        biases[1],
        e,
        m,
        r,
        turn,
        nu,
        rho,
        height,
        interpolate(data.field.curve.knots, data.energy, s),
        interpolate(data.field.curve.knots, data.drive, s),
        s,
        distance,
        margin,
    )


@array_function
def lead_of(data: TrackerData, error: float) -> float:
    """Return how far the swing leg is to run ahead, s: by the energy that is amiss, J.

    Free motion conserves that energy, so between impacts the lead is a constant of the field.

    Args:
        data: `TrackerData` of the piece.
        error: Energy that is lacking, J.
    """
    gains = data.gains
    if error > 0.0:
        return min(gains.lead_lacking * error, gains.lead_limit)
    return min(-gains.lead_excess * error, gains.lead_limit)


@array_function
def potential(parameters: np.ndarray, spin: np.ndarray, M_f: np.ndarray) -> float:
    """Return the potential energy relative to the stance foot, J.

    Turning the robot about its foot moves the centre of mass at right angles to its offset, so
    the foot's rows of the mass matrix tell where it is.

    Args:
        parameters: Of the support terms; gravity along x and z first.
        spin: Rates of q when the robot turns about its foot at 1 rad/s, ``(n,)``.
        M_f: Rows of the mass matrix of the foot's directions x, z, ``(2, n)``.
    """
    height, ahead = inner(M_f[0], spin), -inner(M_f[1], spin)
    return float(-parameters[0] * ahead - parameters[1] * height)


@array_function
def interpolate(knots: np.ndarray, values: np.ndarray, s: float) -> float:
    """Return the linear interpolation of values at s, constant beyond the ends.

    Args:
        knots: Rising, ``(k,)``.
        values: At the knots, ``(k,)``.
        s: Where, in the unit of the knots.
    """
    last = knots.shape[0] - 1
    i = min(max(np.searchsorted(knots, s) - 1, 0), last - 1)
    share = min(max((s - knots[i]) / (knots[i + 1] - knots[i]), 0.0), 1.0)
    return float(values[i] + share * (values[i + 1] - values[i]))
