# SPDX-License-Identifier: Apache-2.0
"""Closed forms of the book against the URDF by way of Pinocchio: compass gait and Dribbel."""

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models import contact
from walking_control.models.dynamics import Dynamics
from walking_control.models.support.dynamics import SupportDynamics

GRAVITY, SLOPE = 9.81, 0.1


def support_dynamics(name, *overrides):
    """Return the `SupportDynamics` of a shipped robot on a slope."""
    robot = load_robot(name, overrides).robot
    return SupportDynamics(Dynamics(robot, GRAVITY, SLOPE))


def parts(model, q, v, support=0):
    """Return the support terms as a dictionary."""
    return model.layout.split(model.terms(support, np.asarray(q, float), np.asarray(v, float)))


def feet(terms):
    """Return the constraint matrices (A1, A2) of stance and swing foot in support coordinates."""
    n = len(terms['bias'])
    A1 = np.eye(n)[:, :2]
    return A1, np.vstack((np.eye(2), terms['jacobian'].T))


@pytest.mark.parametrize('m, m_hip', [(1.0, 5.0), (2.3, 0.7), (0.4, 9.0)])
@pytest.mark.parametrize('support', [0, 1])
def test_compass_mass_matrix_and_gravity(m, m_hip, support):
    """If it failed, the compass URDF would not be the robot of (4.6), (4.7)."""
    model = support_dynamics('compass', ('leg_mass', m), ('hip_mass', m_hip))
    for q3, q4 in ((0.2, -0.4), (-0.3, 0.7), (0.05, 1.2)):
        terms = parts(model, [q3, q4], [0, 0], support)
        c = np.cos(q4)
        printed = [
            [m_hip + 1.5 * m - m * c, 0.25 * m * (1 - 2 * c)],
            [0.25 * m * (1 - 2 * c), 0.25 * m],
        ]
        assert terms['mass'][2:, 2:] == pytest.approx(np.array(printed), abs=1e-12)
        # derivative of (4.7), q1 and q2 first
        total, s = 2 * m + m_hip, np.sin
        swing = 0.5 * m * s(q3 + q4 - SLOPE)
        gradient = GRAVITY * np.array(
            [
                -total * s(SLOPE),
                total * np.cos(SLOPE),
                -(1.5 * m + m_hip) * s(q3 - SLOPE) + swing,
                swing,
            ]
        )
        assert terms['bias'] == pytest.approx(gradient, abs=1e-12 * total * GRAVITY)


def test_compass_foot_and_relabelling():
    """If it failed, swing foot or exchange of feet would differ from (4.4), (4.8), (4.10)."""
    model = support_dynamics('compass')
    q = np.array([0.3, -0.8])
    terms = parts(model, q, [0, 0])
    a, b = q[0], q.sum()
    assert terms['foot'] == pytest.approx(
        [-np.sin(a) + np.sin(b), np.cos(a) - np.cos(b)], abs=1e-14
    )
    assert terms['jacobian'] == pytest.approx(
        np.array([[np.cos(b) - np.cos(a), np.cos(b)], [np.sin(b) - np.sin(a), np.sin(b)]]),
        abs=1e-14,
    )
    S = model.relabel(0)
    assert S == pytest.approx(np.array([[1, 1], [0, -1]]), abs=1e-15)


@pytest.mark.parametrize('name', ['compass', 'dribbel'])
def test_relabelling_twice_is_nothing(name):
    """If it failed, left and right would not be the same robot after two steps."""
    model = support_dynamics(name)
    assert model.relabel(1) @ model.relabel(0) == pytest.approx(np.eye(model.layout.n), abs=1e-14)


def printed_projection(q3, m, mh):
    """Return the matrix of (4.13): velocities before to velocities after, q4 = -2 q3."""
    c, s = np.cos, np.sin
    D = 3 * m + 4 * mh - 2 * m * c(4 * q3)
    return (
        np.array(
            [
                [2 * (m + mh) * (c(5 * q3) - c(q3)), -m * c(3 * q3)],
                [2 * (2 * mh * c(2 * q3) - m + 2 * (m + mh) * c(4 * q3)) * s(q3), -m * s(3 * q3)],
                [-m - 2 * m * c(2 * q3) + 4 * (m + mh) * c(4 * q3), -2 * m * c(2 * q3)],
                [8 * (m + mh) * (1 + 2 * c(2 * q3)) * s(q3) ** 2, -m + 2 * m * c(2 * q3)],
            ]
        )
        / D
    )


@pytest.mark.parametrize('m, mh', [(1.0, 5.0), (2.0, 1.0)])
@pytest.mark.parametrize('q3', [-0.1, -0.25, -0.5])
def test_compass_impact_map(m, mh, q3):
    """If it failed, the impact would differ from (4.13) and, relabelled, from (4.15)."""
    model = support_dynamics('compass', ('leg_mass', m), ('hip_mass', mh))
    terms = parts(model, [q3, -2 * q3], [0, 0])
    A1, A2 = feet(terms)
    M = terms['mass']
    columns = np.array([contact.project_velocity(M, A2, e) for e in np.eye(4)[2:]]).T
    assert columns == pytest.approx(printed_projection(q3, m, mh), abs=1e-12)
    c, s = np.cos, np.sin
    D = -3 * m - 4 * mh + 2 * m * c(4 * q3)
    reset = (
        np.array(
            [
                [m - 2 * (m + 2 * mh) * c(2 * q3), m],
                [8 * (m + mh) * (1 + 2 * c(2 * q3)) * s(q3) ** 2, 2 * m * c(2 * q3) - m],
            ]
        )
        / D
    )
    assert model.relabel(0) @ columns[2:] == pytest.approx(reset, abs=1e-12)
    # (4.14): does the old stance foot lift off at once?
    for v in ([-1.0, -0.3], [-1.0, 4.0], [0.5, -3.0]):
        v = np.array([0.0, 0.0, *v])
        _, instantaneous = contact.impact_of_second_foot(M, A1, A2, v)
        printed = 2 * (s(5 * q3) - s(q3)) * v[2] - m / (m + mh) * s(3 * q3) * (2 * v[2] + v[3])
        assert instantaneous is bool(printed > 0)


def test_compass_energy_loss_without_leg_mass():
    """If it failed, a massless-legged compass would not lose sin^2 of the step angle (4.18)."""
    model = support_dynamics('compass', ('leg_mass', 1e-7))
    for q4 in (0.3, 0.8, np.pi / 2):
        terms = parts(model, [-q4 / 2, q4], [0, 0])
        D = contact.loss_matrix(terms['mass'], feet(terms)[1])[2:, 2:]
        assert D == pytest.approx(np.diag([5.0 * np.sin(q4) ** 2, 0.0]), abs=1e-5)


def test_lossless_and_lossy_directions_share_the_energy():
    """If it failed, more than all or less than none of the energy could be lost at impact."""
    model = support_dynamics('compass')
    for q4 in (0.1, 0.5, 1.2):
        terms = parts(model, [-q4 / 2, q4], [0, 0])
        M = terms['mass'][2:, 2:]
        D = contact.loss_matrix(terms['mass'], feet(terms)[1])[2:, 2:]
        sizes = np.linalg.eigvals(np.linalg.solve(M, D))
        assert np.all(sizes.real > -1e-12) and np.all(sizes.real < 1 + 1e-12)


def dribbel_without_rotor():
    """Return Dribbel as chapter 4 models it: no motor inertia."""
    return support_dynamics('dribbel', ('rotor_inertia', 0.0))


@pytest.mark.parametrize('q5', [-0.4, 0.1, 0.6])
def test_dribbel_knee_impact(q5):
    """If it failed, knee strike would not follow (4.27), corrected to cos^2 q5."""
    terms = parts(dribbel_without_rotor(), [-0.1, 0.0, q5, 0.0], np.zeros(4))
    keep = [2, 4, 5]  # q3, q5, q6: stance knee locked
    M = terms['mass'][np.ix_(keep, keep)]
    A = np.array([[0.0], [0.0], [1.0]])
    P = np.array([contact.project_velocity(M, A, e) for e in np.eye(3)]).T
    c = np.cos(q5)
    D = 3.254 - c * c
    assert P[:, :2] == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), abs=1e-13)
    assert P[0, 2] == pytest.approx(0.0516 * c / D, rel=2e-3)
    assert P[1, 2] == pytest.approx((0.999 - 0.0516 * c - 0.237 * c * c) / D, rel=2e-3)


@pytest.mark.parametrize('q3, q5', [(-0.1, 0.3), (-0.3, 0.5), (0.2, -0.2)])
def test_dribbel_knee_impact_keeps_the_foot_down(q3, q5):
    """If it failed, knee strike would lift the stance foot other than (4.28), corrected, says."""
    terms = parts(dribbel_without_rotor(), [q3, 0.0, q5, 0.0], np.zeros(4))
    keep = [0, 1, 2, 4, 5]
    M = terms['mass'][np.ix_(keep, keep)]
    A = np.eye(5)[:, 4:]
    lift = contact.project_velocity(M, A, np.eye(5)[4])[1]
    printed = (0.106 * np.sin(q3 - q5) - 0.0378 * np.sin(q3 + q5)) / (
        9.391 - 0.488 * np.cos(2 * q5)
    )
    assert lift == pytest.approx(printed, abs=4e-5)


def test_dribbel_stance_knee_would_buckle():
    """If it failed, the lock of the stance knee would seem unnecessary (after (4.28))."""
    for q5 in (-0.3, 0.2, 0.6):
        terms = parts(dribbel_without_rotor(), [-0.1, 0.0, q5, 0.0], np.zeros(4))
        M = terms['mass'][2:, 2:]
        buckle = contact.project_velocity(M, np.eye(4)[:, 3:], np.eye(4)[3])[1]
        c = np.cos(q5)
        assert buckle == pytest.approx(0.111 * c / (3.071 - c * c), rel=4e-3)


def test_dribbel_relabelling():
    """If it failed, Dribbel's feet would not exchange as in (4.29)."""
    model = dribbel_without_rotor()
    q = np.array([-0.2, 0.0, 0.35, 0.0])
    terms = parts(model, q, np.zeros(4))
    assert terms['foot'] == pytest.approx(
        0.9 * np.array([-np.sin(q[0]) + np.sin(q[0] + q[2]), np.cos(q[0]) - np.cos(q[0] + q[2])]),
        abs=1e-14,
    )
    assert model.relabel(0) @ q == pytest.approx([q[0] + q[2], 0.0, -q[2], 0.0], abs=1e-15)


def test_generated_terms_equal_pinocchio():
    """If it failed, sweeps on generated code would walk another robot than the URDF."""
    ca = pytest.importorskip('casadi')
    from walking_control.models.support import symbolic

    rng = np.random.default_rng(7)
    for model in (
        support_dynamics('compass', ('stiffness', 3.0), ('rest', 0.2), ('damping', 0.5)),
        support_dynamics('dribbel'),
    ):
        n = model.layout.n
        functions, values = symbolic.support_terms(model.dynamics)
        for support, function in enumerate(functions):
            scope = {'math': __import__('math')}
            exec(symbolic.write_python(function, 'terms'), scope)
            out = np.zeros(model.layout.size)
            for _ in range(5):
                q, v = rng.uniform(-1, 1, n), rng.uniform(-3, 3, n)
                scope['terms'](q, v, values, out)
                assert out == pytest.approx(model.terms(support, q, v), abs=1e-12)
                exact = np.array(function(q, v, values)).ravel()
                assert np.array_equal(out, exact), ca.__version__
