# SPDX-License-Identifier: Apache-2.0
"""The equations of a step in space agree with Pinocchio's, in any posture and motion."""

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

from walking_control.gaits.step_judgement import Standing  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.models import step_parameters  # noqa: E402
from walking_control.models.contact import project_velocity  # noqa: E402
from walking_control.models.friction import motor_efforts  # noqa: E402
from walking_control.models.space_equations import space_equations  # noqa: E402


@pytest.fixture(scope='module')
def case():
    """Return equations, their numbers, Pinocchio's robot and a random motion."""
    robot = load_robot('walker3d').robot
    motion = np.random.default_rng(1).normal(0.0, 0.4, (3, 12))
    return space_equations(robot), step_parameters(robot, 9.81, 0.0), Standing(robot, 9.81), motion


def test_inverse_dynamics(case):
    """Wrong efforts or floor forces would make a cheap gait of one that is not."""
    equations, theta, standing, motion = case
    effort, wrench = (np.array(part).ravel() for part in equations.dynamics(*motion, theta))
    for ours, theirs in zip((effort, wrench), standing.forces(*motion), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_gears(case):
    """A search would price gaits without what their gears lose, and their judge with it."""
    sets = [
        (f'robot.actuators.{side}_{joint}.efficiency', 0.8)
        for side in ('left', 'right')
        for joint in ('hip_yaw', 'hip_roll', 'hip_pitch', 'knee', 'ankle_pitch', 'ankle_roll')
    ]
    robot, (_, theta, standing, motion) = load_robot('walker3d', sets).robot, case
    q, v, a = motion[0], 10.0 * motion[1], 30.0 * motion[2]
    effort = np.array(space_equations(robot).dynamics(q, v, a, theta)[0]).ravel()
    torque = standing.forces(q, v, a)[0]
    exact = motor_efforts(robot, torque, v, a, 1e-6)
    busy = np.abs((torque - 0.01 * a) * v) > 2.0  # W into gears: there nothing has faded
    assert busy.sum() > 4
    np.testing.assert_allclose(effort[busy], exact[busy], rtol=2e-3)
    assert np.abs(exact / torque - 1.0)[busy].max() > 0.2


def test_kinematics(case):
    """A swing foot elsewhere than it is lands where no floor is."""
    equations, _, standing, (q, v, _) = case
    dynamics = standing.dynamics
    full = standing.place(q)
    dynamics.place(full)
    places, turns = (np.array(part) for part in equations.poses(q))
    np.testing.assert_allclose(places[:, 0], dynamics.foot_position('right_sole'), atol=1e-12)
    np.testing.assert_allclose(turns[:, :3], dynamics.foot_rotation('right_sole'), atol=1e-12)
    np.testing.assert_allclose(places[:, 1], full[:3], atol=1e-12)
    V = standing.move(full, v)
    np.testing.assert_allclose(
        np.array(equations.swing_twist(q, v)).ravel(), standing.jacobian(full, 1) @ V, atol=1e-12
    )


def test_touchdown(case):
    """The joints keep their momenta about the landing foot, as in the plants' own impact map."""
    equations, theta, standing, (q, v, twist) = case
    full = standing.place(q)
    J = standing.jacobian(full, 0)
    before = np.concatenate([np.linalg.solve(J[:, :6], twist[:6] - J[:, 6:] @ v), v])
    M = standing.dynamics.mass_matrix(full)
    after = project_velocity(M, J.T, before)
    gained, impulse = (
        np.array(part).ravel() for part in equations.impact(q, twist[:6], v, after[6:], theta)
    )
    np.testing.assert_allclose(gained, 0.0, atol=1e-10)
    np.testing.assert_allclose(J[:, :6].T @ impulse, (M @ (after - before))[:6], atol=1e-10)


def test_mirror(case):
    """Left and right change places twice and everything is as before; reflected axes agree."""
    equations, _, standing, (q, _, _) = case
    np.testing.assert_array_equal(equations.mirror @ equations.mirror, np.eye(12))
    dynamics, reflection = standing.dynamics, np.diag([1.0, -1.0, 1.0])
    dynamics.place(dynamics.configuration(q))
    left = pin.SE3(
        dynamics.foot_rotation('left_sole').copy(), np.array(dynamics.foot_position('left_sole'))
    )
    dynamics.place(dynamics.configuration(equations.mirror @ q))
    np.testing.assert_allclose(
        reflection @ left.translation, dynamics.foot_position('right_sole'), atol=1e-12
    )
    np.testing.assert_allclose(
        reflection @ left.rotation @ reflection, dynamics.foot_rotation('right_sole'), atol=1e-12
    )
