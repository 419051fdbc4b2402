# SPDX-License-Identifier: Apache-2.0
"""Worked examples of rigid contact: tip of a two-link arm, rocking closet, bars on two blocks."""

import numpy as np
import pytest
from two_contacts import arm_tip, bar, choose_contacts, closet, momentum_map, turning_about_left
from two_contacts import main as run_example

from walking_control.models import contact


def test_tip_of_two_link_arm():
    """If it failed, release would be judged by the force's sign and the tip would sink in."""
    M, A, torque = arm_tip()
    assert torque == pytest.approx([-np.sqrt(2) / 4, np.sqrt(2) / 4], abs=1e-14)
    force = contact.constraint_forces(M, A, torque, np.zeros(2))
    assert force == pytest.approx([-0.75, -0.25], abs=1e-13)
    free = contact.contact_acceleration(M, A, torque, np.zeros(2))
    assert free == pytest.approx([1.4, -0.6], abs=1e-13)
    # the floor would have to pull, yet the free tip accelerates into it: contact stays
    assert force[1] < 0.0 and free[1] < 0.0


@pytest.mark.parametrize('w, h, J', [(0.4, 1.0, 0.1), (1.0, 0.6, 0.05), (0.3, 0.5, 0.2)])
def test_closet_projection_and_rebound(w, h, J):
    """If it failed, the impulse of the striking foot would not stop that foot alone."""
    M, left, right = closet(w, h, J)
    D = J + h * h + w * w
    printed = np.array([[h * h, h * w, -h], [h * w, w * w, -w], [-J * h, -J * w, J]]) / D
    P = momentum_map(M, right)
    assert P == pytest.approx(printed, abs=1e-12)
    assert P @ P == pytest.approx(P, abs=1e-12)
    omega = 0.7
    v = turning_about_left(left, omega)
    left_after = left.T @ contact.project_velocity(M, right, v)
    assert left_after == pytest.approx([0.0, 2 * w * (J + h * h - w * w) / D * omega], abs=1e-12)


@pytest.mark.parametrize('shape, limit', [('point', 1.0), ('homogeneous', np.sqrt(0.5))])
def test_closet_rocks_above_a_limit_height(shape, limit):
    """If it failed, a wide closet would rock or a tall one would stop dead."""
    w = 1.0
    for ratio, rocks in ((0.999, False), (1.001, True)):
        h = ratio * limit * w
        J = 1e-6 if shape == 'point' else (4 * h * h + 4 * w * w) / 12
        M, left, right = closet(w, h, J)
        v = turning_about_left(left, 1.0)
        after, instantaneous = contact.impact_of_second_foot(M, left, right, v)
        assert instantaneous is rocks
        if not rocks:
            assert after == pytest.approx(np.zeros(3), abs=1e-8)


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


def test_complementarity_closes_the_same_contacts(capsys):
    """The example would show another choice of contacts than the problem it is to solve."""
    figures = run_example()
    assert figures['arm'][2] == pytest.approx(np.zeros(2), abs=1e-12)
    assert figures['differ'] == 0 and figures['worst'] < 1e-9
    assert all(chosen == pressed for chosen, pressed in figures['bars'])
    assert figures['rocks above'] == pytest.approx((1.0, np.sqrt(0.5)), abs=2e-3)
    assert max(map(abs, figures['rocking'])) < 1e-9  # (3.62): neither slips nor gains energy
    assert 'it stays' in capsys.readouterr().out


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
