# SPDX-License-Identifier: Apache-2.0
"""Worked examples of rigid contact: tip of a two-link arm, rocking closet, bars on two blocks."""

import numpy as np
import pytest
from two_contacts import choose_contacts

from walking_control.models import contact


def two_link_tip():
    """Return M, A and the joint torque of [DS09] example 3.13, all derived here anew."""
    q1, q2 = np.pi / 4, np.pi / 2
    c2 = np.cos(q2)
    M = np.array([[1.5 + c2, 0.25 + 0.5 * c2], [0.25 + 0.5 * c2, 0.25]])

    def jacobian(fraction):
        """Columns d(x, y)/dq of the point at a fraction of the second link."""
        a, b = q1, q1 + q2
        return np.array(
            [
                [-np.sin(a) - fraction * np.sin(b), -fraction * np.sin(b)],
                [np.cos(a) + fraction * np.cos(b), fraction * np.cos(b)],
            ]
        )

    # the example measures q1 from the vertical: rotate the picture by a quarter turn
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    tip, middle = quarter @ jacobian(1.0), quarter @ jacobian(0.5)
    return M, tip.T, middle.T @ np.array([1.0, 0.0])


def test_tip_of_two_link_arm():
    """If it failed, release would be judged by the force's sign and the tip would sink in."""
    M, A, torque = two_link_tip()
    assert torque == pytest.approx([-np.sqrt(2) / 4, np.sqrt(2) / 4], abs=1e-14)
    force = contact.constraint_forces(M, A, torque, np.zeros(2))
    assert force == pytest.approx([-0.75, -0.25], abs=1e-13)
    free = contact.contact_acceleration(M, A, torque, np.zeros(2))
    assert free == pytest.approx([1.4, -0.6], abs=1e-13)
    # the floor would have to pull, yet the free tip accelerates into it: contact stays
    assert force[1] < 0.0 and free[1] < 0.0


def closet(w, h, J, angle, m=1.0):
    """Return M, A_left, A_right of [DS09] example 3.15 at a tilt."""
    M = np.diag([m, m, J])
    c, s = np.cos(angle), np.sin(angle)
    left = np.array([[1, 0], [0, 1], [w * s + h * c, -w * c + h * s]])
    right = np.array([[1, 0], [0, 1], [-w * s + h * c, w * c + h * s]])
    return M, left, right


def turning_about_left(M, left, omega):
    """Return the velocity of the closet turning clockwise about its left foot."""
    r = left[2]
    return np.array([r[0] * omega, r[1] * omega, -omega])


def momentum_map(M, A):
    """Return the operator that maps the momentum before impact to that after ([DS09] (3.44))."""
    return np.transpose([M @ contact.project_velocity(M, A, v) for v in np.linalg.inv(M)])


@pytest.mark.parametrize('w, h, J', [(0.4, 1.0, 0.1), (1.0, 0.6, 0.05), (0.3, 0.5, 0.2)])
def test_closet_projection_and_rebound(w, h, J):
    """If it failed, the impulse of the striking foot would not stop that foot alone."""
    M, left, right = closet(w, h, J, 0.0)
    D = J + h * h + w * w
    printed = np.array([[h * h, h * w, -h], [h * w, w * w, -w], [-J * h, -J * w, J]]) / D
    P = momentum_map(M, right)
    assert P == pytest.approx(printed, abs=1e-12)
    assert P @ P == pytest.approx(P, abs=1e-12)
    omega = 0.7
    v = turning_about_left(M, left, omega)
    left_after = left.T @ contact.project_velocity(M, right, v)
    assert left_after == pytest.approx([0.0, 2 * w * (J + h * h - w * w) / D * omega], abs=1e-12)


@pytest.mark.parametrize('shape, limit', [('point', 1.0), ('homogeneous', np.sqrt(0.5))])
def test_closet_rocks_above_a_limit_height(shape, limit):
    """If it failed, a wide closet would rock or a tall one would stop dead."""
    w = 1.0
    for ratio, rocks in ((0.999, False), (1.001, True)):
        h = ratio * limit * w
        J = 1e-6 if shape == 'point' else (4 * h * h + 4 * w * w) / 12
        M, left, right = closet(w, h, J, 0.0)
        v = turning_about_left(M, left, 1.0)
        after, instantaneous = contact.impact_of_second_foot(M, left, right, v)
        assert instantaneous is rocks
        if not rocks:
            assert after == pytest.approx(np.zeros(3), abs=1e-8)


def bar(points, push=None):
    """Return M, contacts, force and drifts of a bar of 10 N on two blocks, planar, length 2 m."""
    g = 10.0
    M = np.diag([1.0, 1.0, 4.0 / 12.0])
    contacts = [np.array([[1.0, 0.0], [0.0, 1.0], [0.0, x]]) for x in points]
    force = np.array([0.0, -g, 0.0])
    if push is not None:
        force = force + np.array([0.0, 11.0, 11.0 * push])
    return M, contacts, force, [np.zeros(2), np.zeros(2)]


@pytest.mark.parametrize(
    'points, push, active',
    [
        ((-0.8, 0.8), None, (True, True)),
        ((-0.8, 0.8), 0.0, (False, False)),
        ((-0.8, -0.3), None, (False, True)),
        ((-0.8, -0.3), 1.0, (True, False)),
    ],
)
def test_bars_on_two_blocks(points, push, active):
    """If it failed, a bar of [DS09] Fig. 3.21 would stay on the wrong blocks."""
    assert choose_contacts(*bar(points, push)) == active
    # numbering the blocks the other way round must not change the physics
    M, contacts, force, drifts = bar(points[::-1], push)
    assert choose_contacts(M, contacts, force, drifts) == active[::-1]


def random_contact(seed, n=6, m=3):
    """Return a random mass matrix, constraint matrix, velocity and force."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return (
        root @ root.T + n * np.eye(n),
        rng.normal(size=(n, m)),
        rng.normal(size=n),
        rng.normal(size=n),
    )


@pytest.mark.parametrize('seed', range(5))
def test_impact_stops_contact_and_loses_what_it_says(seed):
    """If it failed, an impact would leave contact velocity or lose other energy than (3.45)."""
    M, A, v, _ = random_contact(seed)
    after = contact.project_velocity(M, A, v)
    assert A.T @ after == pytest.approx(np.zeros(3), abs=1e-12)
    lost = 0.5 * after @ M @ after - 0.5 * v @ M @ v
    assert -0.5 * v @ contact.loss_matrix(M, A) @ v == pytest.approx(lost, rel=1e-12, abs=1e-12)
    assert M @ after == pytest.approx(momentum_map(M, A) @ M @ v, abs=1e-11)


def test_constraint_forces_hold_contact_and_decay_errors():
    """If it failed, contact points would accelerate or drift away instead of coming to rest."""
    M, A, v, force = random_contact(1)
    drift = np.array([0.3, -0.2, 0.5])
    forces = contact.constraint_forces(M, A, force, drift)
    a = A.T @ contact.acceleration(M, force, A, forces) + drift
    assert a == pytest.approx(np.zeros(3), abs=1e-12)
    beta = 7.0
    forces = contact.constraint_forces(M, A, force, drift, v, beta)
    a = A.T @ contact.acceleration(M, force, A, forces) + drift
    assert a == pytest.approx(-beta * A.T @ v, abs=1e-12)


def test_dependent_contacts_share_load_by_compliance():
    """If it failed, doubled constraint directions would give no or arbitrary contact forces."""
    M, A, v, force = random_contact(2)
    doubled = np.hstack((A, A[:, :1]))
    after = contact.project_velocity(M, doubled, v)
    assert after == pytest.approx(contact.project_velocity(M, A, v), abs=1e-10)
    single = contact.constraint_forces(M, A, force, np.zeros(3))
    shared = contact.constraint_forces(
        M, doubled, force, np.zeros(4), compliance=[1.0, 1.0, 1.0, 3.0]
    )
    assert shared[1:3] == pytest.approx(single[1:], abs=1e-10)
    # the stiff one of the pair takes three quarters
    assert shared[[0, 3]] == pytest.approx(single[0] * np.array([0.75, 0.25]), abs=1e-10)
