# SPDX-License-Identifier: Apache-2.0
"""Motors that get too warm are a warning, then a stop to a stand."""

from dataclasses import replace

import pytest

from walking_control.loading import load_robot
from walking_control.models.actuators import MotorThermal
from walking_control.models.signals import Command, Measurement
from walking_control.safety.heat import HeatWatch
from walking_control.safety.latch import Latch
from walking_control.safety.machine import State
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.supervisor import Supervisor

BADLY_COOLED = MotorThermal(5.0, 100.0, 20.0, 200.0, 60.0)


def warmed(thermal):
    """Return robot and joint, its cooling told or not."""
    robot = load_robot('humanoid').robot
    joint = next(iter(robot.actuators))
    return replace(robot, thermal={joint: thermal} if thermal else {}), joint


def test_a_hot_motor_stops_the_robot_to_a_stand():
    """A motor would pass its limit of temperature in silence, or the robot be dropped for it."""
    robot, joint = warmed(BADLY_COOLED)
    supervisor = Supervisor(robot, SafetyParameters(), Latch(State.WALKING), 0.1)
    supervisor.lead('stands', None)
    command = Command(robot)
    for tick in range(20000):
        command.effort[:] = robot.effort_limits
        supervisor.limit(command, 0.1, 0.1 * tick)
        if supervisor.fault is not None:
            break
    assert supervisor.fault.code == 'motor_heat'
    assert joint in supervisor.fault.message
    assert supervisor.led


@pytest.mark.parametrize('clock', [None, 'steady'])
def test_a_motor_cools_while_a_fault_lasts(clock):
    """The fault of a hot motor could never be cleared, however long the robot rests."""
    robot, joint = warmed(BADLY_COOLED)
    supervisor = Supervisor(robot, SafetyParameters(), Latch(State.WALKING), 0.1)
    command, measurement, tick = Command(robot), Measurement(robot), 0
    while supervisor.fault is None:
        command.effort[:] = robot.effort_limits
        supervisor.limit(command, 0.1, 0.1 * tick)
        tick += 1
    for rest in range(tick, tick + 10000):
        measurement.stamp = 0.1 * rest
        now = measurement.stamp if clock else None
        supervisor.check_measurement(measurement, now)
        supervisor.react(measurement, command, now)
    supervisor.fault_latch.clear()
    supervisor.limit(command, 0.1, measurement.stamp)
    assert supervisor.fault is None


def test_a_motor_is_warm_before_it_is_hot():
    """Nobody would hear of a motor that warms until the robot stops."""
    robot, joint = warmed(BADLY_COOLED)
    watch, warned = HeatWatch(robot, 25.0), 0
    for _ in range(20000):
        if watch.watch(robot.effort_limits, 0.1):
            break
        warned += joint in watch.warning
    assert watch.temperature[0, 0] > 60.0
    assert warned > 10


def test_guessed_data_stop_no_robot():
    """A robot would be stopped for a temperature that nobody knows."""
    robot, _ = warmed(None)
    watch = HeatWatch(robot, 25.0)
    assert watch.watch(1e3 * robot.effort_limits, 1e3) == ''
