# SPDX-License-Identifier: Apache-2.0
"""Efforts within what motors and stance foot bear."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from walking_control.controllers.curve_tracking.forces import draw, energy_force, tank_share
from walking_control.controllers.limits.efforts import (
    foot_limits,
    keep_foot,
    Limits,
    nearest_effort,
    nearest_effort_across,
    OFF,
    scale_effort,
)
from walking_control.controllers.limits.nearest_point import nearest_allowed
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.support.dynamics import (
    effort_map,
    foot_turn,
    Mechanics,
    SupportDynamics,
)


@pytest.fixture(scope='module')
def compass():
    """Return the support dynamics of the compass on its slope."""
    return SupportDynamics(Dynamics(load_robot('compass').robot, slope=0.0524))


def test_projection_is_optimal():
    """At the answer of the program no better allowed effort may exist (Karush-Kuhn-Tucker)."""
    rng, active = np.random.default_rng(1), 0
    for _ in range(60):
        k = int(rng.integers(1, 3))
        H = rng.normal(size=(k, k))
        H = H @ H.T + 0.5 * np.eye(k)
        A, d = rng.normal(size=(8, k)), rng.uniform(0.2, 1.0, 8)
        wanted = 3.0 * rng.normal(size=k)
        tau = wanted.copy()
        assert nearest_allowed(np.linalg.cholesky(H), A, d, tau)
        slack = d - A @ tau
        assert slack.min() > -1e-6
        tight = slack < 1e-6
        active += tight.any()
        pull = H @ (wanted - tau)
        rest = nnls(A[tight].T, pull)[1] if tight.any() else np.linalg.norm(pull)
        assert rest < 1e-5 * (1.0 + np.linalg.norm(pull))
    assert active > 30


def test_impossible_limits_are_reported():
    """When no effort is allowed the wanted one must stay untouched, for the caller to decide."""
    A, d = np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0])
    tau = np.array([0.3])
    assert not nearest_allowed(np.eye(1), A, d, tau)
    assert tau[0] == 0.3
    assert scale_effort(A, d, tau) == 0.0 and tau[0] == 0.0


def test_scaling_is_the_largest_that_is_allowed():
    """Efforts scaled by less would throw away what the foot bears; a linear program says how
    much."""
    rng, scaled = np.random.default_rng(2), 0
    for _ in range(40):
        A, d, tau = rng.normal(size=(9, 2)), rng.uniform(0.0, 2.0, 9), rng.normal(size=2)
        most = linprog([-1.0], A_ub=(A @ tau)[:, None], b_ub=d, bounds=[(0.0, 1.0)]).x[0]
        wanted = tau.copy()
        assert scale_effort(A, d, tau) == pytest.approx(most, abs=1e-9)
        assert tau == pytest.approx(most * wanted, abs=1e-9)
        scaled += most < 1.0
    assert 5 < scaled < 40


def test_foot_forces_against_newton(compass):
    """The rows must be the change of the whole robot's momentum: force = m times com
    acceleration."""
    rng, n, robot, standing = np.random.default_rng(3), 2, compass.robot, 0
    for foot in (0, 1):
        B = effort_map(compass, foot)
        for _ in range(5):
            q, v, tau = rng.uniform(-0.5, 0.5, n), rng.normal(size=n), 5 * rng.normal(size=2)
            parts = compass.layout.split(compass.terms(foot, q, v))
            M, h = parts['mass'][2:, 2:], parts['bias'][2:]
            A, d = np.zeros((9, 2)), np.zeros(9)
            state = Mechanics(
                M,
                np.linalg.cholesky(M),
                h.copy(),
                parts['mass'][:2, 2:].copy(),
                parts['bias'][:2].copy(),
            )
            bounds = Limits(np.array([B, B]), np.full(2, 50.0), 1, OFF, 7.0, 0.6, 0.1)
            fx, fz = foot_limits(bounds, state, B, A, d)
            a = np.linalg.solve(M, B @ tau - h)

            def com_velocity(t):
                place = q + t * v + 0.5 * t * t * a
                base, rate = compass.dynamics.base_from_coordinates(
                    robot.feet[foot], place, v + t * a
                )
                full = compass.dynamics.mass_matrix(base) @ rate
                return full[:2]  # total momentum along x and z

            step = 1e-5
            force = (com_velocity(step) - com_velocity(-step)) / (2 * step)
            gravity = compass.dynamics.model.gravity.linear[[0, 2]] * compass.dynamics.mass
            force -= gravity
            assert fz - A[4] @ tau == pytest.approx(force[1], abs=1e-5)
            assert fx + 0.5 * (A[5] - A[6]) @ tau == pytest.approx(force[0], abs=1e-5)
            effort, free = (
                tau.copy(),
                Limits(np.array([B, B]), np.full(2, 1e3), 1, OFF, 0.0, 1.0, 0.0),
            )
            kept = keep_foot(
                free,
                state,
                B,
                np.eye(2),
                np.zeros(2),
                1.0,
                effort,
            )
            assert kept == pytest.approx([1.0, *force], abs=1e-5) and np.array_equal(effort, tau)
            (x, z), ankle = force, tau[1]
            # 7 N kept, friction 0.6 either way, a foot of 0.1 m either way
            excess = [7.0 - z, x - 0.6 * z, -x - 0.6 * z, ankle - 0.1 * z, -ankle - 0.1 * z]
            rows = slice(4, 9 if fz > 0.0 else 7)
            assert (A @ tau - d)[rows] == pytest.approx(excess[: rows.stop - 4], abs=1e-5)
            standing += fz > 0.0
    assert standing > 5


def test_ground_torque_turns_the_stance_foot(compass):
    """The floor's torque about +y must do work on the rotation of the stance leg and nothing
    else."""
    for foot, expected in ((0, [1.0, 0.0]), (1, [1.0, -1.0])):
        # left foot turns with the pitch; the right leg with pitch - hip (hip axis is -y)
        assert foot_turn(compass, foot) == pytest.approx(expected)
        assert effort_map(compass, foot)[:, 1] == pytest.approx([-1.0, 0.0])


def test_nearest_effort_of_one_motor():
    """With one motor for two coordinates the accelerations must come as close as they can."""
    rng = np.random.default_rng(5)
    M = np.array([[3.0, 0.7], [0.7, 1.2]])
    B, H, LH, tau = np.array([[0.0], [1.0]]), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1)
    for _ in range(5):
        force = rng.normal(size=2)
        nearest_effort(np.linalg.cholesky(M), B, force, H, LH, tau)

        def gap(x):
            e = force - B[:, 0] * x
            return e @ np.linalg.solve(M, e)

        assert gap(tau[0]) < min(gap(tau[0] + 1e-3), gap(tau[0] - 1e-3))


def test_one_motor_short_the_acceleration_across_is_met():
    """A walker with point feet would be led astray by what its motors cannot do along the gait."""
    rng = np.random.default_rng(8)
    n, k = 5, 4
    M = rng.normal(size=(n, n))
    M = M @ M.T + n * np.eye(n)
    L, B = np.linalg.cholesky(M), rng.normal(size=(n, k))
    e = rng.normal(size=n)
    e /= np.sqrt(e @ M @ e)
    H, LH, tau, force = np.zeros((k, k)), np.zeros((k, k)), np.zeros(k), rng.normal(size=n)
    for along, gap in ((1e-8, 1e-6), (1.0, None)):
        nearest_effort_across(L, B, force, e, along, H, LH, tau)
        lacking = np.linalg.solve(M, force - B @ tau)
        across = lacking - e * (e @ M @ lacking)
        size = np.sqrt(across @ M @ across)
        assert size < gap if gap else size > 1e-2
    nearest_effort(L, B, force, H, LH, plain := np.zeros(k))
    assert np.array_equal(plain, tau)
    full = rng.normal(size=(n, n))  # with all motors nothing is left to weigh
    H, LH, tau = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    nearest_effort_across(L, full, force, e, 0.01, H, LH, tau)
    assert full @ tau == pytest.approx(force, abs=1e-9)


def test_tank_bounds_what_is_injected():
    """An empty tank must stop injection; absorbed energy must come back, up to the capacity."""
    assert tank_share(1.0, 1.0) == 1.0 and tank_share(0.5, 1.0) == pytest.approx(0.5)
    assert tank_share(0.0, 1.0) == 0.0 and tank_share(-0.1, 1.0) == 0.0
    assert tank_share(-0.1, 0.0) == 1.0 and tank_share(0.0, -5.0) == 1.0
    assert draw(1.0, 0.4, 2.0) == pytest.approx(0.6) and draw(1.0, -3.0, 2.0) == 2.0
    assert draw(0.1, 0.4, 2.0) == pytest.approx(-0.3)
    out, m = np.zeros(2), np.array([0.6, -0.8])
    energy_force(0.5, 2.0, 3.0, 0.25, m, out)
    assert out == pytest.approx(2.0 * m)
