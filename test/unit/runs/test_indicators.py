# SPDX-License-Identifier: Apache-2.0
"""Indicators of a walk against their definitions, by a second route each."""

import numpy as np
import pinocchio as pin
import pytest

from walking_control.runs.indicators import (
    balance_points,
    find_steps,
    observe,
    phases_of,
    series_of,
    signed_distance,
    Walk,
)

HEIGHT, MASS, GRAVITY = 0.8, 5.0, 9.81
LEFT, RIGHT, BOTH, NONE = (True, False), (False, True), (True, True), (False, False)


def walk_of(v, a, contact=BOTH, inertia=1e-9, loads=None):
    """Return a walk of one row: a body at `HEIGHT` over two square soles of 10 cm, 30 cm apart."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'base')
    model.appendBodyToJoint(
        joint, pin.Inertia(MASS, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity()
    )
    frames = [
        model.addFrame(
            pin.Frame(name, joint, pin.SE3(np.eye(3), np.array(at)), pin.FrameType.OP_FRAME)
        )
        for name, at in (
            ('left', [0.0, 0.15, -HEIGHT]),
            ('right', [0.0, -0.15, -HEIGHT]),
            ('trunk', [0.0, 0.0, 0.0]),
        )
    ]
    sole = [[x, y, 0.0] for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    body = model, tuple(frames), np.array([sole, sole]), np.zeros((2, 3))
    q = np.array([[0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0]])
    loads = np.zeros((1, 2, 6)) if loads is None else loads
    still = np.zeros((1, 6))
    return Walk(
        *body, np.zeros(1), q, still + v, still + a, np.array([contact]), loads, np.zeros((1, 6))
    )


def test_distance_to_the_edge_is_that_of_geometry():
    """A point outside a corner, or corners in any order, would be judged wrongly."""
    square = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    points = np.array([[0.5, 0.4], [0.5, -0.2], [2.0, 2.0], [0.0, 0.5], [0.9, 0.5]])
    found = signed_distance(np.repeat(square[None], 5, axis=0), points)
    assert found == pytest.approx([0.4, -0.2, -np.sqrt(2.0), 0.0, 0.1])


@pytest.mark.parametrize('velocity', [(0.6, 0.0), (0.3, -0.4)])
def test_capture_point_and_foot_placement_of_a_point_mass(velocity):
    """The two points would not be where a pendulum, or a body after an impact, comes to rest."""
    walk = walk_of([*velocity, -0.1, 0.0, 0.0, 0.0], np.zeros(6))
    places = balance_points(walk, observe(walk))
    capture = np.array(velocity) * np.sqrt(HEIGHT / GRAVITY)
    assert places['capture_point'][0] == pytest.approx([*capture, 0.0])
    foot = places['foot_placement_estimator'][0]
    leg = np.array([0.0, 0.0, HEIGHT]) - foot
    length = np.linalg.norm(leg)
    along = np.array([*velocity, -0.1]) - (np.array([*velocity, -0.1]) @ leg) * leg / length**2
    assert foot[:2] / np.linalg.norm(foot[:2]) == pytest.approx(
        np.array(velocity) / np.hypot(*velocity)
    )
    # after the impact only the velocity across the leg is left; it takes the mass to the top
    assert 0.5 * along @ along == pytest.approx(GRAVITY * (length - HEIGHT), rel=1e-6)


def test_inertia_moves_the_foot_placement():
    """A body that turns would be caught as if it were a point."""
    still = walk_of([0.5, 0.0, 0.0, 0.0, 0.0, 0.0], np.zeros(6), inertia=0.5)
    turning = walk_of([0.5, 0.0, 0.0, 0.0, 1.0, 0.0], np.zeros(6), inertia=0.5)
    ahead = [
        balance_points(w, observe(w))['foot_placement_estimator'][0, 0] for w in (still, turning)
    ]
    assert ahead[1] > ahead[0] + 0.01


def test_zero_moment_point_and_pressure_agree():
    """The point from motion and that from loads would differ where the loads move the body."""
    force = MASS * np.array([1.0, 0.5, GRAVITY])
    moment = np.cross([0.0, 0.0, HEIGHT], force)  # about the origin, of a force through the mass
    loads = np.zeros((1, 2, 6))
    for i, (share, y) in enumerate(((0.3, 0.15), (0.7, -0.15))):
        loads[0, i, :3] = share * force
        loads[0, i, 3:] = share * moment - np.cross([0.0, y, 0.0], share * force)
    walk = walk_of(np.zeros(6), [1.0, 0.5, 0.0, 0.0, 0.0, 0.0], loads=loads)
    places = balance_points(walk, observe(walk))
    expected = [-HEIGHT * 1.0 / GRAVITY, -HEIGHT * 0.5 / GRAVITY]
    assert places['zero_moment_point'][0, :2] == pytest.approx(expected)
    assert places['center_of_pressure'][0, :2] == pytest.approx(expected)


@pytest.mark.parametrize(
    ('sideways', 'contact', 'past'),
    [
        (0.2, LEFT, 0.2 - 0.2),
        (0.3, LEFT, 0.1),
        (-0.3, LEFT, -0.5),
        (-0.3, RIGHT, 0.1),
        (0.3, BOTH, np.nan),
        (0.3, NONE, np.nan),
    ],
)
def test_fall_over_the_standing_foot_is_seen_on_its_side_alone(sideways, contact, past):
    """A monitor would take a step to the inside for a fall, or a fall outwards for a step."""
    speed = sideways / np.sqrt(HEIGHT / GRAVITY)
    walk = walk_of([0.0, speed, 0.0, 0.0, 0.0, 0.0], np.zeros(6), contact)
    found = series_of(walk, observe(walk))['beyond_foot'][0]
    assert found == pytest.approx(past, abs=1e-9, nan_ok=True)


def test_phases_are_those_after_which_foot_stood_alone():
    """Steps would be counted to the wrong foot, or half steps at the ends with the whole ones."""
    order = [BOTH, RIGHT, BOTH, LEFT, BOTH, RIGHT, NONE, LEFT, BOTH, BOTH]
    contact = np.repeat(np.array(order), 3, axis=0)
    phase = phases_of(contact)[::3]
    assert phase.tolist() == [-1, 1, 3, 0, 2, 1, -1, 0, 2, 2]
    whole, steps = find_steps(contact)
    assert whole == slice(6, 21)
    assert steps == {
        'fl_single': [slice(9, 12)],
        'fr_single': [slice(15, 18)],
        'fl_double': [slice(12, 15)],
        'fr_double': [slice(6, 9)],
    }
    assert find_steps(contact[:8]) == (slice(0, 8), {name: [] for name in steps})
