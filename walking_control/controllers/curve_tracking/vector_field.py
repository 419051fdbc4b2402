# SPDX-License-Identifier: Apache-2.0
"""Desired vector fields w(q): which way to move from every posture ([DS09] section 5.2.3).

Two fields. ``closest``: along the gait at the nearest point plus an attraction towards it, in any
number of coordinates. ``surface``: the direction angle as a polynomial of degree four of two
coordinates, [DS09] eq. (5.28). Both give w and its rate along v, which the law needs to stay on
the field without lag. Where the floor is late the path goes on by free motion, or reaches for it
(doc/controllers/curve_tracking_derivation.md).

Domain. ``closest`` is smooth and never zero as long as the state is nearer to the gait than the
gait's centre of curvature; ``margin`` is 1 on the gait and 0 there. ``surface`` is trusted while
its angle lies within the fitted range widened by a right angle; ``margin`` falls to 0 at the edge.
The law fades out between the margins `FULL` and `NONE`: zero effort is the fallback.
"""

from collections.abc import Sequence
from dataclasses import replace
import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from walking_control.exceptions import require
from walking_control.gaits.curve import closest_point, Curve, evaluate, nearest_knot
from walking_control.gaits.samples import Piece
from walking_control.models import array_function, form, SupportDynamics

CLOSEST, SURFACE = 0, 1
STANDSTILL = 1e-9  # rad/s: a field this short has no direction
FULL, NONE = 0.3, 0.1  # margin from which the law acts fully, and below which not at all


class Field(NamedTuple):
    """A vector field as plain arrays.

    Attributes:
        kind: CLOSEST or SURFACE.
        curve: `Curve` of the gait.
        attraction: kappa, rate at which the gap to the gait is to close, 1/s.
        surface: Coefficients a_ij of (5.28) in the order of its double sum, ``(15,)``.
        middle: Middle of the trusted angles, rad.
        reach: Their half width, rad.
        leads: 1 for coordinates that may run ahead of the rest along the gait, ``(n,)``.
        end: Parameter of the gait's end, s; from there on nothing runs ahead.
    """

    kind: int
    curve: Curve
    attraction: float
    surface: np.ndarray
    middle: float
    reach: float
    leads: np.ndarray
    end: float


def make_field(
    kind: str,
    curve: Curve,
    attraction: float,
    offset: float = 0.2,
    leads: np.ndarray | None = None,
    end: float = math.inf,
) -> Field:
    """Return the `Field` of a gait.

    Args:
        kind: ``'closest'`` or ``'surface'``.
        curve: `Curve` of the gait.
        attraction: kappa, 1/s.
        offset: Distance of the parallel curves of the surface, rad.
        leads: See `Field`; None for none.
        end: See `Field`.

    Raises:
        InvalidInput: A surface for other than two coordinates, or an unknown kind.
    """
    ahead = np.zeros(len(curve.metric)) if leads is None else leads
    end = min(end, curve.knots[-1])
    if kind == 'closest':
        return Field(CLOSEST, curve, attraction, np.zeros(15), 0.0, 1.0, ahead, end)
    require(kind == 'surface', 'field', value=kind, limit='must be closest or surface')
    require(
        curve.metric.shape[0] == 2,
        'field surface',
        value=curve.metric.shape[0],
        limit='is defined for two coordinates',
        remedy='choose field closest',
    )
    coefficients, angles = fit_surface(curve, attraction, offset)
    middle, half = 0.5 * (angles.max() + angles.min()), 0.5 * np.ptp(angles)
    return Field(SURFACE, curve, attraction, coefficients, middle, half + 0.5 * math.pi, ahead, end)


def monomials(q: np.ndarray) -> np.ndarray:
    """Return the monomials of [DS09] eq. (5.28) at points ``(..., 2)``, shape ``(..., 15)``."""
    q = np.asarray(q)
    return np.stack(
        [q[..., 0] ** (i - j) * q[..., 1] ** j for i in range(5) for j in range(i + 1)], axis=-1
    )


def fit_surface(
    curve: Curve,
    attraction: float,
    offset: float,
    stations: Sequence[float] = (0.1, 0.5, 0.9),
    points: int = 61,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit the direction angle around a planar gait ([DS09] Fig. 5.9).

    Six reference curves, as in the book: the gait, one parallel curve on either side, and three
    curves across it. The Euclidean metric serves, as there; the angle counts from the second
    axis, positive towards the negative first one.

    Args:
        curve: `Curve` in two coordinates.
        attraction: Rate at which the gap closes along the wanted direction, 1/s.
        offset: Distance of the parallel curves, and reach of those across, rad.
        stations: Where the curves across lie, as fractions of the gait.
        points: Points on each reference curve.

    Returns:
        ``(coefficients (15,), angles)``, the latter of all reference points, rad.
    """
    point, first, second = np.zeros(2), np.zeros(2), np.zeros(2)
    places: list[np.ndarray] = []
    angles: list[float] = []

    def add(s: float, distance: float) -> None:
        evaluate(curve, s, point, first, second)
        speed = np.hypot(*first)
        left = np.array([-first[1], first[0]]) / speed
        wanted = first - attraction * distance * left
        angle = math.atan2(-wanted[0], wanted[1])
        if angles and len(places) % points:
            angle += 2.0 * math.pi * round((angles[-1] - angle) / (2.0 * math.pi))
        places.append(point + distance * left)
        angles.append(angle)

    for distance in (0.0, -offset, offset):
        for s in np.linspace(curve.knots[0], curve.knots[-1], points):
            add(s, distance)
    for station in stations:
        s = curve.knots[0] + station * (curve.knots[-1] - curve.knots[0])
        for distance in np.linspace(-offset, offset, points):
            add(s, distance)
    coefficients = np.linalg.lstsq(monomials(np.array(places)), np.array(angles), rcond=None)[0]
    return coefficients, np.array(angles)


@array_function
def surface_angle(a: np.ndarray, x: float, y: float, dx: float, dy: float) -> tuple[float, float]:
    """Return the polynomial (5.28) at (x, y) and its rate along (dx, dy).

    Args:
        a: Coefficients of the polynomial of degree four, ``(15,)``.
        x: First coordinate, rad.
        y: Second coordinate, rad.
        dx: Rate of the first, rad/s.
        dy: Rate of the second, rad/s.
    """
    value, rate, k = 0.0, 0.0, 0
    for i in range(5):
        for j in range(i + 1):
            power = i - j
            value += a[k] * x**power * y**j
            if power > 0:
                rate += a[k] * power * x ** (power - 1) * y**j * dx
            if j > 0:
                rate += a[k] * x**power * j * y ** (j - 1) * dy
            k += 1
    return value, rate


@array_function
def apply_field(
    field: Field,
    q: np.ndarray,
    v: np.ndarray,
    s: float,
    w: np.ndarray,
    dw: np.ndarray,
    lead: float = 0.0,
) -> tuple[float, float, float]:
    """Fill w(q) and its rate along v; return parameter, margin, and distance to the gait.

    Args:
        q: Coordinates, ``(n,)``.
        v: Their rates.
        s: Parameter found last; not finite to search anew.
        w: Filled, ``(n,)``, rad/s.
        dw: Filled, derivative of w along v.
        lead: How far the coordinates that may are to run ahead, s; taken as constant.

    Returns:
        ``(s, margin, distance)``; the distance in the field's metric.
    """
    n, curve = q.shape[0], field.curve
    point, first, second = np.zeros(n), np.zeros(n), np.zeros(n)
    if not math.isfinite(s):
        s = nearest_knot(curve, q)
    s = closest_point(curve, q, s, point, first, second)
    gap = q - point
    speed, advance = form(first, curve.metric, first), form(first, curve.metric, v)
    bend, squared = form(gap, curve.metric, second), form(gap, curve.metric, gap)
    margin = 1.0 - bend / speed
    if field.kind == SURFACE:
        angle, rate = surface_angle(field.surface, q[0], q[1], v[0], v[1])
        w[0], w[1] = -math.sin(angle), math.cos(angle)
        dw[0], dw[1] = -rate * w[1], rate * w[0]
        margin = 1.0 - abs(angle - field.middle) / field.reach
    else:
        rate = advance / max(speed - bend, NONE * speed)
        w[:] = first - field.attraction * gap
        dw[:] = second * rate - field.attraction * (v - first * rate)
        if lead > 0.0 and s < field.end:
            run_ahead(field, s, rate, lead, w, dw)
    return s, margin if is_direction(w, dw) else 0.0, math.sqrt(max(squared, 0.0))


@array_function
def run_ahead(
    field: Field, s: float, rate: float, lead: float, w: np.ndarray, dw: np.ndarray
) -> None:
    """Draw the coordinates that may run ahead to where the gait will have them by then.

    The lead shrinks in proportion to what is left of the gait, so that all arrive together.

    Args:
        s: Parameter on the gait, before its end.
        rate: At which it changes.
        lead: At the begin of the gait, s.
        w: Field without lead, changed, ``(n,)``.
        dw: Its rate, changed.
    """
    n = w.shape[0]
    here, there, first, ahead, spare = (
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
    )
    left = min(1.0 - s / field.end, 1.0)
    shrinks = lead / field.end if left < 1.0 else 0.0
    evaluate(field.curve, s, here, first, spare)
    evaluate(field.curve, s + lead * left, there, ahead, spare)
    pull = field.attraction * field.leads
    w += pull * (there - here)
    dw += pull * rate * (ahead * (1.0 - shrinks) - first)


@array_function
def is_direction(w: np.ndarray, dw: np.ndarray) -> bool:
    """Return whether w gives a direction; where not, fill one to compute with and no rate.

    Args:
        w: Direction, ``(n,)``; changed where it is none.
        dw: Its rate, ``(n,)``; zero then.
    """
    if np.abs(w).max() > STANDSTILL and math.isfinite((w + dw).sum()):
        return True
    w[:], dw[:], w[0] = 0.0, 0.0, 1.0
    return False


@array_function
def trust_of(margin: float) -> float:
    """Return how far the law may act at a margin: 1 inside the domain, 0 outside."""
    return min((margin - NONE) / (FULL - NONE), 1.0) if margin > NONE else 0.0


PRECISE = 1e-10  # tolerance of the integration


def reach_on(
    piece: Piece, support: SupportDynamics, hip: int, reach: float, blend: float, after: float = 0.5
) -> Piece:
    """Return a piece whose path, past its end, reaches for a floor that is late.

    The hip's rate turns, with a time constant, into a multiple of the rate at which the stance leg
    tips; all other coordinates go on by free motion. The hip's acceleration leaves that of the free
    motion smoothly, within one time constant.

    Args:
        piece: `Piece` that ends with touchdown.
        support: `SupportDynamics` of the robot.
        hip: Coordinate of the hip.
        reach: Rate of the hip per rate of the stance leg.
        blend: Time constant, s.
        after: How long it goes on, in durations of the piece.
    """
    count = int(np.count_nonzero(piece.time <= piece.end))
    step = piece.time[count - 1] - piece.time[count - 2]
    n, layout = piece.q.shape[1], support.layout
    moving = np.array([i for i in range(n) if i not in piece.held])
    at_hip, others = int(np.flatnonzero(moving == hip)[0]), moving[moving != hip]
    lean = support.robot.supports[support.robot.feet[0]][:, 0]
    leg = int(np.flatnonzero(lean)[0])

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        parts = layout.split(support.terms(0, x[:n], x[n:]))
        out = np.zeros(2 * n)
        out[:n] = x[n:]
        mass, bias = parts['mass'][2:, 2:], parts['bias'][2:]
        free = np.linalg.solve(mass[np.ix_(moving, moving)], -bias[moving])[at_hip]
        wanted = (reach * lean[leg] * x[n + leg] - x[n + hip]) / blend
        share = min(t / blend, 1.0) ** 3
        out[n + hip] = (1.0 - share) * free + share * wanted
        out[n + others] = np.linalg.solve(
            mass[np.ix_(others, others)], -bias[others] - mass[others, hip] * out[n + hip]
        )
        return out

    times = step * np.arange(1, int(after * (piece.end - piece.start) / step) + 1)
    solution = solve_ivp(
        rates,
        (0.0, times[-1]),
        np.concatenate((piece.q[count - 1], piece.v[count - 1])),
        'DOP853',
        times,
        rtol=PRECISE,
        atol=PRECISE,
    )
    q, v = solution.y[:n].T, solution.y[n:].T
    return replace(
        piece,
        time=np.concatenate((piece.time[:count], piece.end + times[: len(q)])),
        q=np.concatenate((piece.q[:count], q)),
        v=np.concatenate((piece.v[:count], v)),
    )


def join_curves(first: Curve, second: Curve, at: float) -> Curve:
    """Return the first curve up to a parameter and the second from there.

    A curve of acceleration continuous everywhere bends a little before it has to; so the gait stays
    what it is without the reach, to the last digit, and the accelerations of both meet within the
    error of the interpolation.

    Args:
        second: `Curve` with the same knots up to the joint.
        at: A knot of both.
    """
    joint = int(np.searchsorted(first.knots, at))
    return Curve(
        second.knots,
        np.concatenate((first.coefficients[:joint], second.coefficients[joint:])),
        second.metric,
    )
