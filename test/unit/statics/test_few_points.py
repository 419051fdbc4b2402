# SPDX-License-Identifier: Apache-2.0
"""Standing on one or two points: balanced when the centre of mass is above them, and only then."""

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.pose import joint_positions
from walking_control.statics.contacts import Contact
from walking_control.statics.distributor import StaticTorque
from walking_control.statics.posture_search import search_posture

FEET = ('left_sole', 'right_sole')


@pytest.fixture(scope='module')
def standing():
    """Return dynamics of the humanoid, its point contacts and a posture balanced on both."""
    file = load_robot('humanoid')
    dynamics = Dynamics(file.robot)
    points = {foot: Contact(foot, 0.0, 0.0, 0.7) for foot in FEET}
    soles = {foot: Contact(foot, 0.2, 0.1, 0.7) for foot in FEET}
    start = joint_positions(
        dict(zip(file.robot.joints, file.start.posture)), dynamics.joints, 'walker'
    )
    posture = search_posture(dynamics, start, soles, dict.fromkeys(FEET, 0.5))
    return dynamics, points, posture


@pytest.mark.parametrize('objective', ['torque', 'force'])
def test_two_points_below_the_centre_of_mass(standing, objective):
    """A robot balanced on two points would be said to fall, or held by forces that do not balance
    it."""
    dynamics, points, posture = standing
    q = dynamics.configuration(posture)
    distributor = StaticTorque(dynamics, points, objective)
    solution = distributor.solve(q)
    assert solution.feasible, solution.reason
    wrenches = np.array([solution.wrenches[foot] for foot in FEET])
    assert wrenches[:, 2].sum() == pytest.approx(dynamics.weight, rel=1e-6)
    assert (wrenches[:, 3:] == 0.0).all() and solution.base_residual < 1e-3
    # torques by the principle of virtual work, from the forces alone
    g = dynamics.gravity_efforts(q)
    J = [dynamics.foot_twist_jacobian(q, foot) for foot in FEET]  # along the floor's axes
    rest = g - sum(j.T @ w for j, w in zip(J, wrenches))
    np.testing.assert_allclose(rest[6:], solution.torque, atol=1e-8)


def test_objective_chooses_the_force_along_the_line(standing):
    """The one force two points leave free would not be chosen by what it costs."""
    dynamics, points, posture = standing
    apart = joint_positions(dict(zip(dynamics.joints, posture)), dynamics.joints, 'walker')
    for side, sign in (('left', 1.0), ('right', -1.0)):  # legs apart, soles level
        apart[dynamics.joints.index(f'{side}_hip_roll')] = 0.2 * sign
        apart[dynamics.joints.index(f'{side}_ankle_roll')] = -0.2 * sign
    q = dynamics.configuration(apart)
    torque, force = (StaticTorque(dynamics, points, name).solve(q) for name in ('torque', 'force'))
    assert np.linalg.norm(torque.torque) < np.linalg.norm(force.torque)
    assert sum(np.linalg.norm(w) for w in force.wrenches.values()) < sum(
        np.linalg.norm(w) for w in torque.wrenches.values()
    )


def test_centre_of_mass_beside_the_line(standing):
    """A robot that topples over the line between its feet would be held."""
    dynamics, points, posture = standing
    lean = np.sin(0.05), np.cos(0.05)
    solution = StaticTorque(dynamics, points).solve(
        dynamics.configuration(posture, (0.0, lean[0], 0.0, lean[1]))
    )
    assert not solution.feasible and solution.torque is None
    assert 'base_equilibrium: left_sole and right_sole cannot balance' in solution.reason


def test_one_point(standing):
    """One point beside the centre of mass would hold the robot."""
    dynamics, points, posture = standing
    solution = StaticTorque(dynamics, points).solve(dynamics.configuration(posture), FEET[:1])
    assert not solution.feasible and 'left_sole' in solution.reason
