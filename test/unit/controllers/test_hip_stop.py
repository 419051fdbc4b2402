# SPDX-License-Identifier: Apache-2.0
"""The last step of a planar walker: when its legs are held, and how far they are thrown."""

import numpy as np
import pytest

from walking_control.controllers.hip_stop import HipStop
from walking_control.controllers.registry import make_controller
from walking_control.exceptions import IncompatibleController
from walking_control.loading import load_robot
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


def test_a_hip_too_slow_to_pass_over_the_foot_is_held():
    """If it failed, a walker that could stand on both feet would step on, or fall."""
    robot = Stopped(lean=0.2, hip=-0.4)
    robot.place(0.2, -0.4, rate=-0.1)
    assert robot.torque() == pytest.approx(0.0) and robot.command.lock.all()
    robot.place(0.25, 0.38)  # it rocks back onto its rear foot
    assert robot.torque() == pytest.approx(0.02) and robot.command.lock.all()


def test_a_hip_that_passes_over_the_foot_takes_another_step():
    """If it failed, a fast walker would go over its front leg with the other one behind."""
    robot = Stopped(lean=0.2, hip=-0.4)
    robot.place(0.2, -0.4, rate=-2.0)
    angles = robot.law.values
    assert robot.torque() == pytest.approx(angles.swing_angle + 0.4)
    robot.place(-0.1, 0.2, rate=-1.0)
    assert robot.torque() == pytest.approx(angles.hip_angle - 0.2), 'the hip is over the foot'


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
        make_controller(load_robot('walker3d'), 'hip_stop')


def test_it_stands_whatever_is_asked_for():
    """If it failed, `standby: hip_stop` would be refused for every stop."""
    robot = Stopped(lean=0.0, hip=0.3)
    assert robot.law.standstill == 'stands' and np.isfinite(robot.torque())
