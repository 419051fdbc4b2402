# SPDX-License-Identifier: Apache-2.0
"""Momentum coordinates: snakeboard, a closed loop, and quasi-velocities of a rigid body."""

from momenta import momentum
import numpy as np
import pytest
from snakeboard import J_TORSO, J_WHEELS, M_BODY, R, Snakeboard
from snakeboard import main as run_example

from walking_control.models import contact


def test_snakeboard_basis_encodes_the_constraints():
    """If it failed, the reduced momentum would let the wheels slip sideways."""
    rng = np.random.default_rng(3)
    for q in rng.uniform(-1.2, 1.2, (5, 5)):
        S, A = Snakeboard.basis(q), Snakeboard.constraints(q)
        assert A.T @ np.linalg.solve(Snakeboard.M, S) == pytest.approx(np.zeros((2, 3)), abs=1e-13)
        assert momentum.reduced_mass(Snakeboard.M, S) == pytest.approx(
            np.diag([1.0, J_TORSO, J_WHEELS]), abs=1e-12
        )
        general = momentum.compatible_momenta(Snakeboard.M, A)
        assert general.shape == (5, 3)
        assert A.T @ np.linalg.solve(Snakeboard.M, general) == pytest.approx(
            np.zeros((2, 3)), abs=1e-13
        )


def test_snakeboard_equations():
    """If it failed, torso torque would not drive the board as (2.110), (2.111) say."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, alpha = rng.uniform(-1, 1, 5), rng.uniform(-1, 1, 3)
        u1, u2 = rng.uniform(-1, 1, 2)
        S = Snakeboard.basis(q)
        dq, dalpha = momentum.momentum_rates(
            Snakeboard.M,
            S,
            Snakeboard.slope(q, alpha),
            np.zeros(5),
            alpha,
            np.array([0, 0, 0, u1, u2]),
        )
        theta, phi = q[2], q[4]
        beta = np.sqrt(M_BODY * R * R - J_TORSO * np.sin(phi) ** 2)
        a1, a2, a3 = alpha[0], alpha[1] / J_TORSO, alpha[2] / J_WHEELS
        assert dq == pytest.approx(
            [
                R / beta * np.cos(theta) * np.cos(phi) * a1,
                R / beta * np.sin(theta) * np.cos(phi) * a1,
                np.sin(phi) / beta * a1,
                -np.sin(phi) / beta * a1 + a2,
                a3,
            ],
            abs=1e-12,
        )
        # the sign of the first input follows from the power balance; (2.111) prints it positive
        assert dalpha == pytest.approx([-np.sin(phi) / beta * u1, u1, u2], abs=1e-8)
        assert alpha @ np.diag([1, 1 / J_TORSO, 1 / J_WHEELS]) @ dalpha == pytest.approx(
            u1 * dq[3] + u2 * dq[4], abs=1e-8
        )


def test_snakeboard_against_constraint_forces():
    """If it failed, reduced coordinates and explicit constraint forces would move differently."""
    rng = np.random.default_rng(5)
    M = Snakeboard.M
    for _ in range(5):
        q, alpha = rng.uniform(-1, 1, 5), rng.uniform(-1, 1, 3)
        effort = np.concatenate((np.zeros(3), rng.uniform(-1, 1, 2)))
        S = Snakeboard.basis(q)
        dq, dalpha = momentum.momentum_rates(
            M, S, Snakeboard.slope(q, alpha), np.zeros(5), alpha, effort
        )
        dp = Snakeboard.slope(q, alpha) @ dq + S @ dalpha
        A = Snakeboard.constraints(q)
        step = 1e-6
        dA = Snakeboard.constraints(q + step * dq) - Snakeboard.constraints(q - step * dq)
        drift = dA.T @ dq / (2 * step)
        forces = contact.constraint_forces(M, A, effort, drift)
        assert dp == pytest.approx(effort + A @ forces, abs=1e-7)


@pytest.mark.long
def test_snakeboard_moves_by_its_torso_alone(capsys):
    """The example would slip, or gain energy that its torques do not give."""
    figures = run_example()
    assert figures['slip'] < 1e-9 and figures['energy'] < 1e-6
    assert np.hypot(*figures['place']) > 0.3
    assert figures['gearwheels'] < 1e-9 and figures['reduced inertia'] == pytest.approx(0.05)
    assert figures['ball joint'] < 1e-8 and figures['spinning body'] < 1e-8
    assert 'm on' in capsys.readouterr().out


def two_link(q):
    """Return mass matrix and tip Jacobian of two unit rods with unit tip masses."""
    c = np.cos(q[1])
    M = np.array([[3 + 2 * c, 1 + c], [1 + c, 1.0]])
    a, b = q[0], q[0] + q[1]
    J = np.array([[-np.sin(a) - np.sin(b), -np.sin(b)], [np.cos(a) + np.cos(b), np.cos(b)]])
    return M, J


def test_closed_loop_moves_as_with_constraint_forces():
    """If it failed, a tip kept on a circle (a four-bar) would leave it or gain energy."""
    center, radius = np.array([0.6, -0.4]), 1.3

    def tip(q):
        return np.array([np.cos(q[0]) + np.cos(q.sum()), np.sin(q[0]) + np.sin(q.sum())])

    def constraint(q):
        return (two_link(q)[1].T @ (tip(q) - center))[:, None]

    def basis(q):
        A = constraint(q)[:, 0]
        return two_link(q)[0] @ np.array([[A[1]], [-A[0]]])

    q = np.array([0.3, 0.0])
    # close the loop: find q2 on the circle by bisection
    low, high = 0.1, 3.0
    for _ in range(80):
        q[1] = 0.5 * (low + high)
        inside = np.linalg.norm(tip(q) - center) < radius
        low, high = (low, q[1]) if inside else (q[1], high)
    alpha, step = np.array([0.4]), 1e-6

    def difference(function):
        return np.array(
            [(function(q + e) - function(q - e)) / (2 * step) for e in step * np.eye(2)]
        )

    M, S = two_link(q)[0], basis(q)
    slope = difference(lambda x: basis(x) @ alpha).T
    gradient = difference(
        lambda x: 0.5 * (alpha @ basis(x).T @ np.linalg.solve(two_link(x)[0], basis(x) @ alpha))
    )
    effort = np.array([0.2, -0.5])
    dq, dalpha = momentum.momentum_rates(M, S, slope, gradient, alpha, effort)
    A = constraint(q)
    assert A.T @ dq == pytest.approx([0.0], abs=1e-12)
    # same acceleration from explicit constraint forces in Lagrangian form
    dM = np.moveaxis(difference(lambda x: two_link(x)[0]), 0, -1)
    coriolis = dM @ dq @ dq - 0.5 * np.einsum('ijk,i,j->k', dM, dq, dq)
    dA = np.moveaxis(difference(constraint), 0, -1) @ dq
    forces = contact.constraint_forces(M, A, effort - coriolis, (dA.T @ dq))
    ddq = contact.acceleration(M, effort - coriolis, A, forces)
    dp = slope @ dq + S @ dalpha
    assert dp == pytest.approx(M @ ddq + dM @ dq @ dq, abs=1e-7)


def test_rigid_body_in_quasi_velocities_obeys_euler():
    """If it failed, a spinning body in body rates would not precess as Euler's equations say."""
    inertia = np.diag([1.0, 2.0, 3.5])

    def body_rates(q):
        """V = S(q) dq/dt for roll-pitch-yaw angles."""
        r, p = q[0], q[1]
        return np.array(
            [
                [1, 0, -np.sin(p)],
                [0, np.cos(r), np.sin(r) * np.cos(p)],
                [0, -np.sin(r), np.cos(r) * np.cos(p)],
            ]
        )

    q, v, u = np.array([0.3, -0.4, 0.7]), np.array([0.5, -1.1, 0.8]), np.array([0.1, 0.2, -0.3])
    p, step = inertia @ v, 1e-6
    slope = np.array(
        [(body_rates(q + e).T @ p - body_rates(q - e).T @ p) / (2 * step) for e in step * np.eye(3)]
    ).T
    dq, dp = momentum.quasi_velocity_rates(body_rates(q), slope, np.zeros(3), v, u)
    assert body_rates(q) @ dq == pytest.approx(v, abs=1e-13)
    assert dp == pytest.approx(np.cross(p, v) + u, abs=1e-8)
