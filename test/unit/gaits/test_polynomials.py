# SPDX-License-Identifier: Apache-2.0
"""Polynomials and quadrature of gait search."""

import numpy as np
import pytest

from walking_control.gaits.gait import evaluation, fine_grid, Gait, lobatto, Phase, points, riemann


@pytest.mark.parametrize('degree', [3, 10, 16])
def test_derivatives(degree):
    """A wrong derivative matrix makes torques of a motion that is not the one shown."""
    s = np.linspace(0.0, 1.0, 7)
    coefficients = np.random.default_rng(0).normal(size=degree + 1)
    polynomial = np.polynomial.Polynomial(coefficients)
    for order in range(3):
        wanted = polynomial.deriv(order)(s) if order else polynomial(s)
        got = evaluation(degree, s, order) @ polynomial(points(degree))
        np.testing.assert_allclose(got, wanted, atol=1e-9 * degree**4)


def test_lobatto_is_exact_to_its_degree():
    """Weights off by a little would let an optimiser buy cost that is not there."""
    nodes, weights = lobatto(6)
    assert nodes[0] == 0.0 and nodes[-1] == 1.0
    for power in range(12):
        np.testing.assert_allclose(weights @ nodes**power, 1.0 / (power + 1), rtol=1e-12)
    assert abs(weights @ nodes**14 - 1.0 / 15.0) > 1e-9


@pytest.mark.parametrize('quadrature', [lobatto, riemann])
def test_both_ends_are_seen(quadrature):
    """A quadrature blind to t = 0 hides a spike of torque there."""
    nodes, weights = quadrature(20)
    spike = np.where(nodes == 0.0, 1.0, 0.0)
    assert weights @ spike > 0.0


def test_fine_grid():
    """The grid that judges a search must be right itself."""
    nodes, weights = fine_grid(50)
    np.testing.assert_allclose(weights @ np.exp(nodes), np.e - 1.0, rtol=1e-12)


def test_motion_of_two_phases():
    """A gait asked for a time in its second phase must answer from the second phase."""
    first = Phase(0.5, np.array([[0.0], [1.0], [2.0]]) * 0.5)
    second = Phase(0.25, np.array([[3.0], [3.0], [3.0]]))
    gait = Gait((first, second))
    assert gait.period == 0.75
    q, v, _ = gait.motion([0.25, 0.6])
    np.testing.assert_allclose(q.ravel(), [0.5, 3.0])
    np.testing.assert_allclose(v.ravel(), [2.0, 0.0], atol=1e-12)
