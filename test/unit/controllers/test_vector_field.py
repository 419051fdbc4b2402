# SPDX-License-Identifier: Apache-2.0
"""Gait curves and the vector fields around them."""

import math

import numpy as np
import pytest

from walking_control.controllers.curve_tracking.vector_field import (
    apply_field,
    fit_surface,
    FULL,
    make_field,
    monomials,
    NONE,
    trust_of,
)
from walking_control.exceptions import InvalidInput
from walking_control.gaits.curve import closest_point, evaluate, make_curve, nearest_knot
from walking_control.gaits.gait import GaitError
from walking_control.gaits.samples import read_samples
from walking_control.loading import load_robot
from walking_control.models.resources import share_directory
from walking_control.models.robot_file import World

METRICS = {
    1: np.eye(1),
    2: np.array([[2.0, 0.3], [0.3, 0.7]]),
    3: np.diag([1.0, 2.0, 0.5]),
    5: np.eye(5),
}


def wave(t, n):
    """Return position and rate of a smooth curve in n dimensions."""
    k, phase = 1.0 + 0.3 * np.arange(n), 0.4 * np.arange(n)
    return np.sin(np.outer(t, k) + phase) + 0.3 * np.outer(t, k), k * np.cos(
        np.outer(t, k) + phase
    ) + 0.3 * k


def sample(n, count=61):
    """Return (time, q, v) of the wave."""
    t = np.linspace(0.0, 2.0, count)
    return t, *wave(t, n)


def closest(metric, attraction, **more):
    """Return the field of the wave in three coordinates."""
    return make_field('closest', make_curve(*sample(3), metric), attraction, **more)


def at(curve, s):
    """Return position and derivatives of a curve."""
    n = curve.metric.shape[0]
    point, first, second = np.zeros(n), np.zeros(n), np.zeros(n)
    evaluate(curve, s, point, first, second)
    return point, first, second


@pytest.mark.parametrize('n', [1, 2, 3, 5])
def test_curve_goes_through_the_gait(n):
    """A curve that cuts corners would ask for effort on the gait itself."""
    curve = make_curve(*sample(n), METRICS[n])
    for s in np.linspace(0.0, 2.0, 77):
        q, v = wave(np.array([s]), n)
        point, first, second = at(curve, s)
        assert point == pytest.approx(q[0], abs=1e-8)
        assert first == pytest.approx(v[0], abs=1e-6)
        step = 1e-5
        rates = wave(np.array([s - step, s + step]), n)[1]
        numeric = [(rates[1] - rates[0]) / (2 * step)]
        assert second == pytest.approx(numeric[0], abs=1e-3)


def test_curve_is_smooth_at_samples_and_goes_on_straight():
    """A kink in velocity or a jump in acceleration would kick the walker at every sample."""
    curve = make_curve(*sample(3, 21), METRICS[3])
    for knot in curve.knots[1:-1]:
        for before, after in zip(at(curve, knot - 1e-9), at(curve, knot + 1e-9), strict=True):
            assert before == pytest.approx(after, abs=1e-5)
    end, slope, _ = at(curve, 2.0)
    assert at(curve, 2.7)[0] == pytest.approx(end + 0.7 * slope, abs=1e-12)
    assert at(curve, 2.7)[2] == pytest.approx(np.zeros(3))


@pytest.mark.parametrize('n', [2, 3, 5])
def test_closest_point_against_a_scan(n):
    """A point that is not the closest would attract the walker to the wrong phase."""
    curve, rng = make_curve(*sample(n), METRICS[n]), np.random.default_rng(n)
    fine = np.linspace(0.0, 2.0, 4001)
    path = wave(fine, n)[0]
    for _ in range(20):
        s0 = rng.uniform(0.1, 1.9)
        q = wave(np.array([s0]), n)[0][0] + rng.normal(size=n) * 0.1
        gap = q - path
        distance = np.einsum('ki,ij,kj->k', gap, curve.metric, gap)
        point, first, second = np.zeros(n), np.zeros(n), np.zeros(n)
        s = closest_point(curve, q, nearest_knot(curve, q), point, first, second)
        assert s == pytest.approx(fine[np.argmin(distance)], abs=1e-3)
        assert (q - point) @ curve.metric @ first == pytest.approx(0.0, abs=1e-9)


def test_search_stays_on_its_branch():
    """Where the path comes back near itself a search with memory must not leap across."""
    t = np.linspace(0.0, 6.0, 200)
    q = np.stack((np.sin(t), 0.5 * np.sin(2 * t)), axis=1)  # a figure of eight
    v = np.stack((np.cos(t), np.cos(2 * t)), axis=1)
    curve, s = make_curve(t, q, v, np.eye(2)), 0.3
    out = [np.zeros(2) for _ in range(3)]
    for true in np.linspace(0.3, 5.7, 300):
        near = np.array([np.sin(true), 0.5 * np.sin(2 * true)]) + [0.01, -0.01]
        s = closest_point(curve, near, s, *out)
        assert s == pytest.approx(true, abs=0.03)


@pytest.mark.parametrize(
    'kind, n, lead',
    [
        ('closest', 2, 0.0),
        ('closest', 3, 0.0),
        ('closest', 5, 0.0),
        ('closest', 3, 0.4),
        ('surface', 2, 0.0),
    ],
)
def test_rate_of_the_field(kind, n, lead):
    """A wrong derivative of w makes the decoupling effort leak energy."""
    leads = np.zeros(n)
    leads[1] = 1.0
    field = make_field(kind, make_curve(*sample(n), METRICS[n]), 1.5, leads=leads)
    rng = np.random.default_rng(4)
    w, dw, spare = np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(15):
        q = wave(np.array([rng.uniform(0.1, 1.9)]), n)[0][0] + 0.05 * rng.normal(size=n)
        v, step = rng.normal(size=n), 1e-6
        s, margin, _ = apply_field(field, q, v, math.nan, w, dw, lead)
        rate, sides = dw.copy(), []
        for sign in (1, -1):
            apply_field(field, q + sign * step * v, v, s, w, spare, lead)
            sides.append(w.copy())
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(rate, abs=1e-5)


def test_lead_draws_to_where_the_gait_will_be():
    """If it failed, the swing leg would lead nowhere, or the others be drawn along with it."""
    leads, w, ahead = np.array([0.0, 1.0, 0.0]), np.zeros(3), np.zeros(3)
    field = closest(np.eye(3), 4.0, leads=leads, end=1.6)
    now, later = (wave(np.array([t]), 3)[0][0] for t in (0.8, 0.8 + 0.3 * 0.5))
    for lead, out in ((0.0, w), (0.3, ahead)):  # half of the lead is left halfway
        apply_field(field, now, now, math.nan, out, np.zeros(3), lead)
    assert ahead - w == pytest.approx(4.0 * leads * (later - now), abs=1e-5)
    past = wave(np.array([1.7]), 3)[0][0]
    for lead, out in ((0.0, w), (0.3, ahead)):
        apply_field(field, past, past, math.nan, out, np.zeros(3), lead)
    assert ahead == pytest.approx(w, abs=0.0)


def test_closest_field_points_along_and_towards():
    """On the gait the field is the gait's velocity; beside it the gap must close at the set
    rate."""
    field, w, dw = (
        make_field('closest', make_curve(*sample(3), np.eye(3)), 4.0),
        np.zeros(3),
        np.zeros(3),
    )
    q, v = (x[0] for x in wave(np.array([0.8]), 3))
    s, margin, distance = apply_field(field, q, v, math.nan, w, dw)
    assert w == pytest.approx(v, abs=1e-6) and margin == pytest.approx(1.0, abs=1e-6)
    side = np.cross(v, [0.0, 0.0, 1.0])
    side *= 0.05 / np.linalg.norm(side)
    s, margin, distance = apply_field(field, q + side, v, math.nan, w, dw)
    assert distance == pytest.approx(0.05, rel=1e-2)
    assert side @ w / (side @ side) == pytest.approx(-4.0, rel=1e-2)


def test_domain_ends_at_the_centre_of_curvature():
    """Beyond the gait's centre of curvature the closest point is not unique: no trust there."""
    t = np.linspace(0.0, 2.0, 80)
    q, v = np.stack((np.cos(t), np.sin(t)), axis=1), np.stack((-np.sin(t), np.cos(t)), axis=1)
    field = make_field('closest', make_curve(t, q, v, np.eye(2)), 1.0)
    w, dw = np.zeros(2), np.zeros(2)
    for radius in (1.0, 0.6, 0.25):
        q = radius * np.array([np.cos(1.0), np.sin(1.0)])
        _, margin, _ = apply_field(field, q, np.ones(2), 1.0, w, dw)
        assert margin == pytest.approx(radius, abs=1e-6)
    margins = np.linspace(-0.5, 1.5, 81)
    expected = np.interp(margins, [NONE, FULL], [0.0, 1.0])
    assert [trust_of(margin) for margin in margins] == pytest.approx(expected, abs=1e-12)


def test_distance_is_measured_by_the_metric():
    """The distance reported would not be the one that the nearest point is nearest in."""
    field, rng = (
        make_field('closest', make_curve(*sample(3), METRICS[3]), 1.0),
        np.random.default_rng(1),
    )
    path, w, dw = wave(np.linspace(0.0, 2.0, 20001), 3)[0], np.zeros(3), np.zeros(3)
    for _ in range(5):
        q = path[rng.integers(3000, 17000)] + 0.1 * rng.normal(size=3)
        gap = q - path
        least = math.sqrt(np.einsum('ki,ij,kj->k', gap, METRICS[3], gap).min())
        assert apply_field(field, q, q, math.nan, w, dw)[2] == pytest.approx(least, abs=2e-6)


def test_surface_is_the_polynomial_of_the_book():
    """Coefficients of (5.28) read in another order than they were fitted in point anywhere."""
    rng, w, dw, a = np.random.default_rng(3), np.zeros(2), np.zeros(2), np.zeros((5, 5))
    field = make_field('surface', make_curve(*sample(2), np.eye(2)), 1.0)
    field = field._replace(surface=rng.normal(size=15))
    for k, (i, j) in enumerate((a, b) for a in range(5) for b in range(a + 1)):
        a[i - j, j] = field.surface[k]
    for q in rng.uniform(-1.0, 1.0, (5, 2)):
        apply_field(field, q, q, math.nan, w, dw)
        angle = np.polynomial.polynomial.polyval2d(*q, a)
        assert monomials(q) @ field.surface == pytest.approx(angle, abs=1e-12)
        assert w == pytest.approx([-math.sin(angle), math.cos(angle)], abs=1e-12)


def test_surface_leads_along_a_gait_and_to_it():
    """Fitted with a wrong sign or rate it would lead off the gait, or back too fast."""
    t, v, w, dw = np.linspace(0.0, 1.0, 20), np.array([-1.0, 2.0]), np.zeros(2), np.zeros(2)
    field = make_field(
        'surface', make_curve(t, np.outer(t, v), np.tile(v, (20, 1)), np.eye(2)), 3.0, 0.1
    )
    left = np.array([-v[1], v[0]]) / np.linalg.norm(v)
    for s in (0.1, 0.5, 0.9):
        for gap in (-0.08, 0.0, 0.08):
            apply_field(field, s * v + gap * left, v, math.nan, w, dw)
            pace = v @ v / (w @ v)  # w gives the direction alone; along the gait at its speed
            assert pace * (w @ left) == pytest.approx(-3.0 * gap, abs=0.01)


def test_surface_is_trusted_around_its_angles():
    """A polynomial means nothing where its angle is more than a right angle off those fitted."""
    t, q, v = sample(2)
    field, w, dw = (
        make_field('surface', make_curve(t, q, v, np.eye(2)), 2.0, 0.1),
        np.zeros(2),
        np.zeros(2),
    )
    angles = fit_surface(field.curve, 2.0, 0.1)[1]
    low, high = angles.min() - 0.5 * math.pi, angles.max() + 0.5 * math.pi
    for angle, expected in (
        (low, 0.0),
        (0.75 * low + 0.25 * high, 0.5),
        (0.5 * (low + high), 1.0),
        (high, 0.0),
    ):
        constant = field._replace(surface=angle * np.eye(15)[0])
        assert apply_field(constant, q[0], v[0], math.nan, w, dw)[1] == pytest.approx(
            expected, abs=1e-12
        )


def test_surface_reproduces_its_angle_on_the_gait():
    """The polynomial must give the gait's own direction to the few degrees of [DS09] Fig. 5.9."""
    compass = load_robot('compass')
    (gait,) = read_samples(
        share_directory() / 'config' / 'gaits' / 'compass.yaml',
        compass.robot,
        compass.values(World),
    ).pieces
    q, v = gait.q[gait.inside], gait.v[gait.inside]
    curve = make_curve(gait.time[gait.inside], q, v, np.eye(2))
    coefficients, _ = fit_surface(curve, 2.0, 0.05)
    error = monomials(q) @ coefficients - np.arctan2(-v[:, 0], v[:, 1])
    assert np.sqrt(np.mean(error**2)) < math.radians(3.0)


def test_bad_gaits_are_refused():
    """A gait without direction, a bad metric or a surface in space must not reach a robot."""
    t, q, v = sample(3)
    still = v.copy()
    still[30] = 0.0
    with pytest.raises(GaitError, match='stands still'):
        make_curve(t, q, still, np.eye(3))
    with pytest.raises(GaitError, match='positive definite'):
        make_curve(t, q, v, np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(InvalidInput, match='two coordinates'):
        make_field('surface', make_curve(t, q, v, np.eye(3)), 1.0)
    with pytest.raises(InvalidInput, match='closest or surface'):
        make_field('spiral', make_curve(t, q, v, np.eye(3)), 1.0)
