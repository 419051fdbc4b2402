# SPDX-License-Identifier: Apache-2.0
"""The last step of a planar walker: when its legs are held, and how far they are thrown."""

import numpy as np
import pytest

from walking_control.controllers.hip_stop import ARCH, FIRM, HipStop, HipStopParameters
from walking_control.controllers.registry import make_controller
from walking_control.exceptions import IncompatibleController
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command, Reference, WalkerState


class Stopped:
    """The law of Dribbel, and its state in the plane of stance leg and hip."""

    def __init__(self, lean, hip):
        robot_file = load_robot('dribbel', [('hip_stop.hip_damping', 0.0)])
        self.law: HipStop = make_controller(robot_file, 'hip_stop')
        self.state, self.command = WalkerState(robot_file.robot), Command(robot_file.robot)
        self.place(lean, hip)
        self.law.take_over(self.state)

    def place(self, lean, hip, rate=0.0):
        self.state.coordinates[:] = lean, 0.0, hip, 0.0
        self.state.rates[:] = rate, 0.0, 0.0, 0.0

    def torque(self):
        """Return the torque that throws the swing leg ahead, N m, as a share of the stiffness."""
        self.law.update(self.state, Reference(), 0.01, self.command)
        return float(self.command.effort[0]) / self.law.values.hip_stiffness


def test_a_walker_too_slow_to_pass_over_the_foot_spreads_its_legs_and_is_held():
    """If it failed, a walker that could stand on both feet would step on, or fall."""
    robot = Stopped(lean=0.2, hip=-0.4)
    robot.place(0.2, -0.4, rate=-0.1)
    assert robot.torque() == pytest.approx(-FIRM * (ARCH - 0.4)) and robot.command.lock.all()
    robot.place(0.25, 0.58)  # it rocks back onto its rear foot
    assert robot.torque() == pytest.approx(FIRM * (ARCH - 0.58)) and robot.command.lock.all()


def test_a_walker_that_passes_over_the_foot_takes_another_step():
    """If it failed, a fast walker would go over its front leg with the other one behind."""
    robot = Stopped(lean=0.2, hip=-0.4)
    robot.place(0.2, -0.4, rate=-2.0)
    angles = robot.law.values
    assert robot.torque() == pytest.approx(angles.swing_angle + 0.4)
    robot.state.locked[:] = True
    robot.place(-0.1, 0.6, rate=-1.0)
    assert robot.torque() == pytest.approx(FIRM * (angles.hip_angle - 0.6)), 'over the foot'


def test_a_knee_that_is_nearly_straight_is_carried_through():
    """If it failed, a leg thrown ahead would keep its knee bent, and give way where it lands."""
    robot = Stopped(lean=-0.1, hip=0.5)
    angles = robot.law.values
    for bent, angle in ((0.6, angles.hip_angle), (0.1, angles.swing_angle)):
        robot.state.position[1:] = 0.0, -bent
        assert robot.torque() == pytest.approx(angle - 0.5)


def test_whether_it_passes_is_told_by_its_energy_when_held():
    """If it failed, the momentum of a thrown leg would be lost, and a fall taken for a stand."""
    robot = Stopped(lean=0.2, hip=-0.4)
    dynamics = Dynamics(load_robot('dribbel').robot)
    q, v = dynamics.base_from_coordinates('outer_foot', robot.state.coordinates, np.eye(4)[0])
    apex = dynamics.weight * np.linalg.norm(dynamics.center_of_mass(q))
    rise = apex - dynamics.potential_energy(q)
    rate = np.sqrt(rise / dynamics.kinetic_energy(q, v))
    for share, held in ((0.99, True), (1.01, False)):
        robot.law.reset(robot.state)
        robot.place(0.2, -0.4, rate=-share * rate)
        assert (robot.torque() < 0.0) == held


def test_a_knee_that_extends_is_locked_by_the_law_that_takes_over():
    """If it failed, a leg that was about to land would give way at its knee."""
    late, early = Stopped(lean=-0.1, hip=0.2), Stopped(lean=0.1, hip=-0.1)
    for robot, armed in ((late, True), (early, False)):
        robot.state.contact[:] = True, False
        robot.torque()
        assert robot.command.lock.tolist() == [True, armed]


def test_a_robot_without_such_a_hip_is_refused():
    """If it failed, a robot in space would be stopped by a law of the plane."""
    with pytest.raises(IncompatibleController, match='hip_stop on walker3d'):
        HipStop(load_robot('walker3d'), HipStopParameters())


def test_it_stands_whatever_is_asked_for():
    """If it failed, `standby: hip_stop` would be refused for every stop."""
    robot = Stopped(lean=0.0, hip=0.3)
    assert robot.law.standstill == 'stands' and np.isfinite(robot.torque())
