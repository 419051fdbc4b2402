# SPDX-License-Identifier: Apache-2.0
"""Closest points of bodies and the spring between them, by finite differences and by search."""

import math

from contact_kinematics.closest import ClosestPair, move
from contact_kinematics.over_plane import (
    disc_over_plane,
    ellipsoid_over_plane,
    point_over_plane,
    Pose,
    Twist,
)
from contact_kinematics.spring import check_spring, contact_wrench, interconnection, spring_energy
from contact_kinematics.surface import ellipsoid, plane, sine_floor, Surface
import numpy as np
import pytest

from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.reports.reproduction.contacts import ball_on_plane
from walking_control.models.contact import deform, deforming_motions, SpringModel, undeformed


def somewhere(seed):
    """Return a pose over a floor and a twist."""
    rng = np.random.default_rng(seed)
    turned = move(Pose(np.eye(3), np.zeros(3)), Twist(rng.normal(size=3), np.zeros(3)), 1.0)
    return Pose(turned.rotation, np.array([0.3, -0.2, 1.5])), Twist(
        rng.normal(size=3), rng.normal(size=3)
    )


BODIES = {
    'point': lambda pose, twist: point_over_plane(pose, twist, [0.1, -0.2, -0.3]),
    'disc': lambda pose, twist: disc_over_plane(pose, twist, 0.4),
    'ellipsoid': lambda pose, twist: ellipsoid_over_plane(pose, twist, [0.2, 0.5, 0.3]),
    'ellipse': lambda pose, twist: ellipsoid_over_plane(pose, twist, [0.2, 0.5, 1.0], axis=1),
}


@pytest.mark.parametrize('body', BODIES)
@pytest.mark.parametrize('seed', range(3))
def test_rates_are_derivatives(body, seed):
    """If it failed, a law would be told another motion of the contact point than there is."""
    pose, twist = somewhere(seed)
    here, h = BODIES[body](pose, twist), 1e-6
    before, after = (BODIES[body](move(pose, twist, sign * h), twist) for sign in (-1.0, 1.0))
    for point, rate in (('on_plane', 'plane_rate'), ('on_body', 'body_rate')):
        change = (getattr(after, point) - getattr(before, point)) / (2.0 * h)
        assert getattr(here, rate) == pytest.approx(change, abs=1e-7)


def test_closest_points_are_closest():
    """If it failed, contact would be found late, or at another place of the body."""
    pose, twist = somewhere(4)
    radii, turn = np.array([0.2, 0.5, 0.3]), np.linspace(-math.pi, math.pi, 721)
    found = ellipsoid_over_plane(pose, twist, radii)
    a, b = np.meshgrid(turn, 0.5 * turn)
    shell = radii * np.stack((np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)), -1)
    assert found.distance == pytest.approx((shell @ pose.rotation[2] + 1.5).min(), abs=1e-5)
    # the cross product of the scaled axes, as printed in (3.7)
    x, y = pose.rotation.T[:, 0] / radii, pose.rotation.T[:, 1] / radii
    printed = radii * np.cross(y, x) / np.linalg.norm(np.cross(y, x))
    assert found.on_body == pytest.approx(printed, abs=1e-12)
    edge = 0.4 * np.stack((np.cos(turn), np.sin(turn), 0.0 * turn), -1)
    assert disc_over_plane(pose, twist, 0.4).distance == pytest.approx(
        (edge @ pose.rotation[2] + 1.5).min(), abs=1e-5
    )


@pytest.mark.parametrize('surface', [sine_floor(0.05, 1.0), ellipsoid([0.2, 0.3, 0.4])])
def test_surfaces_have_their_derivatives(surface):
    """If it failed, the differential kinematics would run along another surface."""
    u, h = np.array([0.13, -0.21]), 1e-6
    for function, derivative in (
        (surface.point, surface.tangents),
        (surface.tangents, surface.bends),
        (surface.normal, surface.normal_rates),
    ):
        for k in range(2):
            step = h * np.eye(2)[k]
            change = (function(u + step) - function(u - step)) / (2.0 * h)
            assert derivative(u)[..., k] == pytest.approx(change, abs=1e-8)
    assert surface.normal(u) @ surface.tangents(u) == pytest.approx([0.0, 0.0], abs=1e-14)


def test_gauss_map_of_the_sine_floor_is_the_printed_one():
    """If it failed, (3.10) or (3.11) would not be what the general form gives."""
    A, f, u = 0.05, 1.3, np.array([0.4, 0.21])
    floor, wave = sine_floor(A, f), 2.0 * math.pi * f
    slope = A * wave * math.cos(wave * u[1])
    assert floor.normal(u) == pytest.approx(np.array([0.0, -slope, 1.0]) / math.hypot(1.0, slope))
    factor = 4.0 * math.pi**2 * A * f**2 / (1.0 + slope**2) ** 1.5
    # as printed, but for the sign of the first entry, with which the normal would change its length
    printed = factor * np.array(
        [0.0, math.sin(wave * u[1]), math.pi * A * f * math.sin(2.0 * wave * u[1])]
    )
    assert floor.curvature(u) @ [0.0, 1.0, slope] == pytest.approx(printed, abs=1e-12)


@pytest.mark.parametrize('correct, largest', [(True, 1e-6), (False, 1e-4)])
def test_theorem_tracks_the_closest_points_found_globally(correct, largest):
    """If it failed, the contact point would wander off the closest point in a motion."""
    pair = ClosestPair(sine_floor(0.05, 0.7), ellipsoid([0.2, 0.3, 0.25]))
    pose = Pose(np.eye(3), np.array([0.1, -0.25, 0.45]))
    twist = Twist(np.array([0.8, -0.5, 0.4]), np.array([0.1, 0.2, -0.05]))
    pair.find(pose)
    for tick in range(60):
        pose = pair.follow(pose, twist, 0.01, correct)
        if tick % 20 == 19:
            other = ClosestPair(pair.fixed, pair.moving)
            other.find(pose)
            for here, there in zip(pair.points(pose), other.points(pose)):
                assert here == pytest.approx(there, abs=largest)


def test_points_are_followed_into_the_floor():
    """If it failed, the depth of a contact would be lost at touchdown."""
    pair, radius = ClosestPair(plane(1.0), ellipsoid([0.2, 0.2, 0.2])), 0.2
    pose = Pose(np.eye(3), np.array([0.0, 0.0, 0.25]))
    assert pair.find(pose) == pytest.approx(0.05)
    for _ in range(8):
        pose = pair.follow(pose, Twist(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])), 0.01)
    assert pair.distance(pose) == pytest.approx(pose.place[2] - radius, abs=1e-12)
    assert pair.distance(pose) < -0.02


def test_surfaces_without_an_answer_are_refused():
    """If it failed, a cone's tip or two planes would give a normal or a point by chance."""
    cone = Surface(
        'cone',
        lambda u: np.array([*u, math.hypot(*u)]),
        lambda u: np.zeros((3, 2)),
        lambda u: np.zeros((3, 2, 2)),
        ((-1.0, 1.0), (-1.0, 1.0)),
    )
    with pytest.raises(InvalidInput, match=r'cone at \[0.0, 0.0\]: has no normal'):
        cone.normal(np.zeros(2))
    down = plane(1.0)
    down = Surface('sole', down.point, down.tangents, down.bends, down.domain, -1.0)
    pose = Pose(np.eye(3), np.array([0.0, 0.0, 0.1]))
    with pytest.raises(NotAchieved, match='bend alike'):
        ClosestPair(plane(1.0), down).rates(pose, Twist(np.ones(3), np.ones(3)), np.zeros(4))
    with pytest.raises(InvalidInput, match='must be apart'):
        ClosestPair(plane(1.0), ellipsoid([0.2] * 3)).find(
            Pose(np.eye(3), np.array([0.0, 0.0, 0.1]))
        )
    with pytest.raises(InvalidInput, match='translation of the contact spring is 0.0'):
        check_spring(SpringModel(0.0, 1.0))


def test_spring_and_transformer_keep_the_power():
    """If it failed, the interconnection (3.20), (3.27) or the spring (3.34) would make energy."""
    spring = SpringModel(2e4, 30.0, relief=3.0, most_slide=0.002, most_twist=0.1, share=0.3)
    rng, state = np.random.default_rng(6), undeformed()
    scale = np.array([1.0, 1.0, 1.0, 0.02, 0.02, 0.02])
    for _ in range(20):
        state = deform(spring, state, scale * rng.normal(size=6), 0.01)
    twist = scale * rng.normal(size=6)
    X = deforming_motions(spring, state, twist)
    wrench = contact_wrench(spring, state, np.zeros(6))
    h = 1e-6
    gained = (
        spring_energy(spring, deform(spring, state, twist, h)) - spring_energy(spring, state)
    ) / h
    assert wrench @ X @ twist == pytest.approx(gained, rel=1e-4)
    matrix = interconnection(-1e-3)
    assert np.array_equal(matrix, -matrix.T) and not interconnection(1e-3).any()
    damped = contact_wrench(spring._replace(damping=5.0), state, X @ twist) - wrench
    assert damped @ X @ twist > 0.0


def test_ball_penetrates_slides_and_rolls_as_in_the_figure():
    """If it failed, deformations would not behave as [DS09] Fig. 3.10 describes."""
    down, slid, rolled = ball_on_plane()
    assert down == pytest.approx([0.0, 0.0, 0.0, -0.001], abs=1e-12)
    # a slide of ten times the limit saturates; 1 rad of rolling relieves it by exp(-beta)
    assert slid[1] == pytest.approx(0.001 * (1.0 - math.exp(-10.0)), rel=1e-3)
    assert rolled[1] == pytest.approx(0.001 * math.exp(-4.0), rel=1e-2)
    assert rolled[3] == down[3]
