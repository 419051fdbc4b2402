# SPDX-License-Identifier: Apache-2.0
"""The path of a gait as a smooth curve in any dimension, and the point of it nearest to a state.

Between samples the curve is a polynomial of degree five; position, velocity and acceleration are
continuous. Beyond its ends it goes on straight. All functions marked shared also run compiled.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import require
from walking_control.gaits.gait import GaitError
from walking_control.gaits.samples import Piece
from walking_control.models import array_function, form

ROUNDS = 30
PRECISE = 1e-13  # relative to the range of the parameter: a Newton step this small is the last


class Curve(NamedTuple):
    """A curve in configuration space, as plain arrays.

    Attributes:
        knots: Parameter at the samples (time along the gait, s), ``(k,)``.
        coefficients: Of the polynomials in (s - knot), ``(k - 1, 6, n)``.
        metric: Constant symmetric matrix that measures distance, ``(n, n)``.
    """

    knots: np.ndarray
    coefficients: np.ndarray
    metric: np.ndarray


def make_curve(time: np.ndarray, q: np.ndarray, v: np.ndarray, metric: np.ndarray) -> Curve:
    """Return the `Curve` through samples.

    Args:
        time: Rising, s, ``(k,)``.
        q: Positions, ``(k, n)``.
        v: Their rates.
        metric: Symmetric positive definite, ``(n, n)``.

    Raises:
        GaitError: The curve stands still somewhere, so that it has no direction there, or the
            metric is not positive definite.
    """
    metric = np.array(metric, dtype=float)
    require(
        np.linalg.eigvalsh(0.5 * (metric + metric.T)).min() > 0.0,
        'metric of the gait',
        value=metric.tolist(),
        limit='must be positive definite',
        error=GaitError,
    )
    speed = np.sqrt(np.einsum('ki,ij,kj->k', v, metric, v))
    slow = int(np.argmin(speed))
    require(
        speed[slow] >= 1e-3 * speed.max() and speed.max() > 0.0,
        f'speed of the gait at {time[slow]:.3g} s',
        value=float(speed[slow]),
        limit='a gait that stands still has no direction to follow there',
        remedy='choose another gait',
        error=GaitError,
    )
    a, h = _slopes(time, v), np.diff(time)[:, None]
    d0 = q[1:] - q[:-1] - h * v[:-1] - 0.5 * h * h * a[:-1]
    d1 = h * (v[1:] - v[:-1] - h * a[:-1])
    d2 = h * h * (a[1:] - a[:-1])
    coefficients = np.stack(
        (
            q[:-1],
            v[:-1],
            0.5 * a[:-1],
            (10.0 * d0 - 4.0 * d1 + 0.5 * d2) / h**3,
            (-15.0 * d0 + 7.0 * d1 - d2) / h**4,
            (6.0 * d0 - 3.0 * d1 + 0.5 * d2) / h**5,
        ),
        axis=1,
    )
    return Curve(np.array(time, dtype=float), np.ascontiguousarray(coefficients), metric)


def make_time_curve(pieces: Sequence[Piece]) -> Curve:
    """Return the `Curve` of a whole step over time; rates may jump from piece to piece.

    Args:
        pieces: `samples.Piece` in order; the first one's free motion before touchdown is left out.
    """
    curves = []
    for piece in pieces:
        kept = piece.time >= piece.start if piece is pieces[-1] else piece.inside
        curves.append(
            make_curve(piece.time[kept], piece.q[kept], piece.v[kept], np.eye(piece.q.shape[1]))
        )
    knots = [curve.knots[:-1] for curve in curves[:-1]] + [curves[-1].knots]
    return Curve(
        np.concatenate(knots),
        np.concatenate([curve.coefficients for curve in curves]),
        curves[0].metric,
    )


def _slopes(time: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the slopes at the samples of the cubic spline through v; ends by four samples."""
    h, count = np.diff(time), len(time)
    matrix, right = np.zeros((count, count)), np.zeros_like(v)
    for i in range(1, count - 1):
        share = h[i] / (h[i - 1] + h[i])
        matrix[i, i - 1 : i + 2] = share, 2.0, 1.0 - share
        right[i] = 3.0 * (
            share * (v[i] - v[i - 1]) / h[i - 1] + (1.0 - share) * (v[i + 1] - v[i]) / h[i]
        )
    for i, part in ((0, slice(0, 4)), (count - 1, slice(-4, None))):
        matrix[i, i] = 1.0
        right[i] = np.linalg.solve(np.vander(time[part] - time[i], 4), v[part])[2]
    return np.linalg.solve(matrix, right)


@array_function
def evaluate(
    curve: Curve, s: float, point: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    """Fill position, first and second derivative at parameter s, each ``(n,)``."""
    knots, coefficients = curve.knots, curve.coefficients
    last = knots.shape[0] - 1
    inside = min(max(s, knots[0]), knots[last])
    i = min(max(np.searchsorted(knots, inside, side='right') - 1, 0), last - 1)
    x = inside - knots[i]
    beyond = s - inside
    for j in range(point.shape[0]):
        c0, c1, c2 = coefficients[i, 0, j], coefficients[i, 1, j], coefficients[i, 2, j]
        c3, c4, c5 = coefficients[i, 3, j], coefficients[i, 4, j], coefficients[i, 5, j]
        first[j] = c1 + x * (2.0 * c2 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
        second[j] = 2.0 * c2 + x * (6.0 * c3 + x * (12.0 * c4 + x * 20.0 * c5))
        point[j] = c0 + x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * c5)))) + beyond * first[j]
        if beyond != 0.0:
            second[j] = 0.0


@array_function
def nearest_knot(curve: Curve, q: np.ndarray) -> float:
    """Return the parameter of the sample nearest to q: where a search without memory begins."""
    best, least = 0, np.inf
    gap = np.zeros(q.shape[0])
    for i in range(curve.coefficients.shape[0]):
        gap[:] = q - curve.coefficients[i, 0]
        distance = form(gap, curve.metric, gap)
        if distance < least:
            best, least = i, distance
    return float(curve.knots[best])


@array_function
def closest_point(
    curve: Curve, q: np.ndarray, s: float, point: np.ndarray, first: np.ndarray, second: np.ndarray
) -> float:
    """Return the parameter of the point nearest to q on the branch that s lies on.

    Newton's method on the derivative of the squared distance from the given start, with steps of
    bounded length, so that it cannot leap to another branch. Fills position and derivatives at the
    point found.

    Args:
        q: State, ``(n,)``.
        s: Where to begin: the last result, or that of `nearest_knot`.
        point: Filled, ``(n,)``.
        first: Filled.
        second: Filled.
    """
    span = curve.knots[curve.knots.shape[0] - 1] - curve.knots[0]
    longest = 0.05 * span
    gap = np.zeros(q.shape[0])
    for _ in range(ROUNDS):
        evaluate(curve, s, point, first, second)
        gap[:] = q - point
        down = form(gap, curve.metric, first)
        speed = form(first, curve.metric, first)
        slope = speed - form(gap, curve.metric, second)
        # where the distance is not convex, walk downhill by the slower Gauss-Newton step
        step = down / slope if slope > 0.1 * speed else down / speed
        step = min(max(step, -longest), longest)
        s += step
        if abs(step) <= PRECISE * span:
            break
    evaluate(curve, s, point, first, second)
    return s
