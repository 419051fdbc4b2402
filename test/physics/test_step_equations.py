# SPDX-License-Identifier: Apache-2.0
"""The equations an optimiser sees are those of the robot."""

import numpy as np
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

from walking_control.loading import load_robot  # noqa: E402
from walking_control.models import REFLECTION, step_parameters  # noqa: E402
from walking_control.models.contact import project_velocity  # noqa: E402
from walking_control.models.dynamics import Dynamics  # noqa: E402
from walking_control.models.robot_file import World  # noqa: E402
from walking_control.models.step_equations import step_equations  # noqa: E402
from walking_control.models.support.dynamics import SupportDynamics  # noqa: E402

CASES = [('compass', [('stiffness', 3.0), ('damping', 0.2), ('rest', 0.1)]), ('dribbel', [])]


def column(value):
    """Return a CasADi result as a flat array."""
    return np.array(value).ravel()


def random_motion(n, seed=3):
    """Return coordinates, rates and accelerations."""
    return 0.5 * np.random.default_rng(seed).normal(size=(3, n))


@pytest.mark.parametrize('name, overrides', CASES)
def test_planar_forces(name, overrides):
    """Torques and contact forces must be Pinocchio's, springs and rotors included."""
    robot_file = load_robot(name, [*overrides, ('slope', 0.05)])
    robot, world = robot_file.robot, robot_file.values(World)
    equations = step_equations(robot)
    theta = step_parameters(robot, world.gravity, world.slope)
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    q, v, a = random_motion(equations.n)
    parts = support.layout.split(support.terms(0, q, v))
    total = parts['mass'] @ np.concatenate(([0.0, 0.0], a)) + parts['bias']
    np.testing.assert_allclose(column(equations.effort(q, v, a, theta)), total[2:], atol=1e-12)
    np.testing.assert_allclose(column(equations.force(q, v, a, theta)), total[:2], atol=1e-11)
    np.testing.assert_allclose(column(equations.foot(q)), parts['foot'], atol=1e-14)
    np.testing.assert_allclose(
        column(equations.foot_velocity(q, v)), parts['jacobian'] @ v, atol=1e-14
    )


@pytest.mark.parametrize('name', ['compass', 'dribbel'])
def test_planar_impact(name):
    """The jump at touchdown must be the projection (4.12) followed by the relabelling (4.10)."""
    robot_file = load_robot(name)
    robot, world = robot_file.robot, robot_file.values(World)
    equations = step_equations(robot)
    theta = step_parameters(robot, world.gravity, world.slope)
    support = SupportDynamics(Dynamics(robot, world.gravity, world.slope))
    q, v, _ = random_motion(equations.n)
    parts = support.layout.split(support.terms(0, q, v))
    A = np.vstack((np.eye(2), parts['jacobian'].T))
    after = project_velocity(parts['mass'], A, np.concatenate(([0.0, 0.0], v)))
    v_new = support.relabel(0) @ after[2:]
    mismatch, impulse, left = equations.impact(q, v, v_new, theta)
    np.testing.assert_allclose(column(mismatch), 0.0, atol=1e-12)
    # seen from the new stance foot the old one moves as it does after the projection
    np.testing.assert_allclose(column(left), after[:2], atol=1e-12)
    spread = np.linalg.solve(A.T @ np.linalg.solve(parts['mass'], A), A.T)
    np.testing.assert_allclose(
        column(impulse), -spread @ np.concatenate(([0.0, 0.0], v)), atol=1e-11
    )


# -- the idealised spatial walker against the formulas of section 4.4 -----------------------------


def limb(a, b):
    """Return the direction of a limb turned by a about y, then by b about its x."""
    return np.array([np.sin(a) * np.cos(b), -np.sin(b), np.cos(a) * np.cos(b)])


def masses_at(q):
    """Return positions of the stance foot, hip, swing foot and head, (4.33)."""
    hip = limb(q[0], q[1])
    return np.array([np.zeros(3), hip, hip - limb(q[2], q[3]), hip + limb(q[4], q[5])])


def slopes(q, step=1e-6):
    """Return d(positions)/dq, ``(12, 6)``."""
    moved = [(masses_at(q + d) - masses_at(q - d)).ravel() / (2 * step) for d in step * np.eye(6)]
    return np.array(moved).T


@pytest.fixture(scope='module')
def walker():
    """Return the walker's equations, theta and point masses."""
    robot_file = load_robot('walker3d_point', [('hip_mass', 4.0), ('head_mass', 2.0)])
    theta = step_parameters(robot_file.robot, 9.81, 0.0)
    return step_equations(robot_file.robot), theta, np.repeat([1.0, 4.0, 1.0, 2.0], 3)


def test_spatial_foot(walker):
    """The swing foot must be where (4.33) puts it and at floor height where (4.35) says."""
    equations, _, _ = walker
    q, v, _ = random_motion(6)
    np.testing.assert_allclose(column(equations.foot(q)), masses_at(q)[2], atol=1e-14)
    np.testing.assert_allclose(
        column(equations.foot(q))[2], np.cos(q[0]) * np.cos(q[1]) - np.cos(q[2]) * np.cos(q[3])
    )
    np.testing.assert_allclose(
        column(equations.foot_velocity(q, v)), (slopes(q) @ v)[6:9], atol=1e-8
    )


def test_spatial_relabelling(walker):
    """S must be (4.34)."""
    q = random_motion(6)[0]
    np.testing.assert_allclose(
        np.array(walker[0].relabel) @ q, [q[2], -q[3], q[0], -q[1], q[4], -q[5]]
    )


def test_spatial_torques(walker):
    """Torques must do the power that kinetic and potential energy of the point masses gain."""
    equations, theta, masses = walker
    q, v, a = random_motion(6)
    heights = masses_at(q)[:, 2]

    def energy(t):
        position, rate = q + v * t + a * t * t / 2, v + a * t
        moving = slopes(position) @ rate
        return 0.5 * moving @ (masses * moving) + 9.81 * masses[::3] @ masses_at(position)[:, 2]

    power = column(equations.effort(q, v, a, theta)) @ v
    np.testing.assert_allclose(power, (energy(1e-4) - energy(-1e-4)) / 2e-4, rtol=1e-6)
    kinetic, potential = (float(part) for part in equations.energy(q, v, theta))
    moving = slopes(q) @ v
    np.testing.assert_allclose(kinetic, 0.5 * moving @ (masses * moving), rtol=1e-8)
    np.testing.assert_allclose(potential, 9.81 * masses[::3] @ heights, rtol=1e-12)


def test_spatial_impact(walker):
    """Touchdown must be the projection on the left foot alone, seen in a mirror."""
    equations, theta, masses = walker
    q, v, _ = random_motion(6)
    # base coordinates: the old stance foot's position, then q
    J = np.hstack((np.tile(np.eye(3), (4, 1)), slopes(q)))
    M = J.T @ (masses[:, None] * J)
    after = project_velocity(M, J[6:9].T, np.concatenate((np.zeros(3), v)))
    mismatch, _, left = equations.impact(q, v, np.array(equations.relabel) @ after[3:], theta)
    np.testing.assert_allclose(column(mismatch), 0.0, atol=1e-7)
    np.testing.assert_allclose(column(left), REFLECTION @ after[:3], atol=1e-7)
