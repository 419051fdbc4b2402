# SPDX-License-Identifier: Apache-2.0
"""Motors that get too warm are a warning, then a stop to a stand."""

from dataclasses import replace

import numpy as np
import pytest

from walking_control.exceptions import ParameterError, RobotFileError
from walking_control.loading import load_robot
from walking_control.models.actuators import MotorThermal
from walking_control.models.own_signals import read_signals
from walking_control.models.signals import Command, Measurement, Reference
from walking_control.safety.heat import EASED, HeatWatch
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


@pytest.mark.parametrize('clock', [pytest.param(None, marks=pytest.mark.long), 'steady'])
def test_a_motor_cools_while_a_fault_lasts(clock):
    """The fault of a hot motor could never be cleared, however long the robot rests."""
    robot, joint = warmed(BADLY_COOLED)
    supervisor = Supervisor(robot, SafetyParameters(), Latch(State.WALKING), 0.1)
    command, measurement, tick = Command(robot), Measurement(robot), 0
    while supervisor.fault is None:
        command.effort[:] = robot.effort_limits
        supervisor.limit(command, 0.1, 0.1 * tick)
        tick += 1
    for rest in range(tick, tick + 3000):
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
    watch, warned = HeatWatch(robot, 25.0, 25.0), 0
    for _ in range(20000):
        if watch.watch(robot.effort_limits, 0.1):
            break
        warned += joint in watch.warning
    assert watch.temperature[0, 0] > 60.0
    assert warned > 10


def test_ticks_count_with_their_mean():
    """If it failed, what lies between two looks at the temperatures would not be counted."""
    robot, _ = warmed(BADLY_COOLED)
    fine, coarse = HeatWatch(robot, 25.0, 25.0), HeatWatch(robot, 25.0, 25.0)
    for tick in range(5000):
        fine.watch(robot.effort_limits * (tick % 2), 0.002)
    for _ in range(100):
        coarse.watch(robot.effort_limits * 0.5**0.5, 0.1)
    assert coarse.temperature[0, 0] > 25.5
    assert fine.temperature == pytest.approx(coarse.temperature, rel=2e-3)


def test_guessed_data_stop_no_robot():
    """A robot would be stopped for a temperature that nobody knows."""
    robot, _ = warmed(None)
    watch = HeatWatch(robot, 25.0, 25.0)
    assert watch.watch(1e3 * robot.effort_limits, 1e3) == ''


def measuring(kind, joint):
    """Return a robot with a badly cooled motor whose drive measures."""
    section = {f'of_{joint}': {'kind': kind, 'of': [joint], 'lower': -500.0, 'upper': 500.0}}
    robot = replace(load_robot('humanoid').robot, thermal={joint: BADLY_COOLED})
    rows = read_signals(section, robot.joints, robot.actuators, set(), set())
    return replace(robot, signals=rows), f'of_{joint}'


def saying(robot, name, value):
    """Return the values of a measurement in which a drive says a number."""
    measurement = Measurement(robot)
    measurement.own[name][:] = value
    return measurement.values


def joint_of_a_humanoid():
    """Return the joint of the first motor."""
    return next(iter(load_robot('humanoid').robot.actuators))


@pytest.mark.parametrize('kind', ['effort', 'current'])
def test_a_measured_effort_counts_in_place_of_the_commanded_one(kind):
    """A motor that a position drive loads, or a friction, would warm unseen."""
    robot, name = measuring(kind, joint_of_a_humanoid())
    commanded, watch = 0.2 * robot.effort_limits, HeatWatch(robot, 25.0, 25.0)
    factor = robot.actuators[robot.signals[name].of[0]].torque_per_ampere
    watch.hear(saying(robot, name, 2.0 * commanded[0] / (factor if kind == 'current' else 1.0)))
    told = HeatWatch(replace(robot, signals={}), 25.0, 25.0)
    for _ in range(100):
        watch.watch(commanded, 0.1)
        told.watch(2.0 * commanded, 0.1)
    assert watch.temperature[0] == pytest.approx(told.temperature[0], rel=1e-12)


@pytest.mark.parametrize(
    'said, expected', [((40.0, 40.0), 40.0), ((25.0, 25.0), 30.0), ((25.0, 27.0), 27.0)]
)
def test_a_measured_temperature_corrects_the_estimate(said, expected):
    """A hot motor would be taken for a cold one, or a stuck sensor would hide a hot one."""
    robot, name = measuring('temperature', joint_of_a_humanoid())
    watch = HeatWatch(robot, 25.0, 25.0)
    watch.temperature[0] = 30.0
    for told in said:
        watch.hear(saying(robot, name, told))
        for _ in range(200):
            watch.temperature[0] = max(watch.temperature[0, 0], 30.0) if told == said[0] else 27.0
            watch.watch(0.0 * robot.effort_limits, 0.1)
    assert watch.temperature[0, 0] == pytest.approx(expected, abs=0.2)


def test_a_stuck_sensor_is_named_where_its_motor_is_warm():
    """Somebody would see 25 C in his panel while the estimate stops the robot."""
    robot, name = measuring('temperature', joint_of_a_humanoid())
    watch = HeatWatch(robot, 25.0, 58.0)
    watch.hear(saying(robot, name, 25.0))
    watch.watch(robot.effort_limits, 0.1)
    assert 'its sensor has said 25 C since the start' in watch.warning


@pytest.mark.parametrize('unit', ['K', 'degF'])
def test_a_temperature_of_another_unit_is_refused(unit):
    """298 K would be taken for 298 C, or 77 F for 77 C."""
    row = {'t': {'kind': 'temperature', 'unit': unit, 'lower': 0.0, 'upper': 500.0}}
    robot = load_robot('humanoid').robot
    with pytest.raises(RobotFileError, match='degC'):
        read_signals(row, robot.joints, robot.actuators, set(), set())


def test_air_as_warm_as_a_limit_is_refused():
    """A motor that can bear nothing would never be warm: its way to the limit has no length."""
    robot, _ = warmed(replace(BADLY_COOLED, limit=50.0))
    with pytest.raises(ParameterError, match='to 49 C'):
        HeatWatch(robot, 50.0, 50.0)
    HeatWatch(replace(robot, thermal={}), 50.0, 50.0)


def test_a_motor_that_begins_hot_stops_the_robot_at_once():
    """A robot whose controller starts anew would take its hot motors for cold ones."""
    robot, joint = warmed(BADLY_COOLED)
    assert joint in HeatWatch(robot, 25.0, 61.0).watch(robot.effort_limits, 0.1)
    warm = HeatWatch(robot, 25.0, 57.0)
    assert warm.watch(0.0 * robot.effort_limits, 0.1) == ''
    assert 0.0 < warm.pace < 0.5


def test_a_robot_walks_slower_before_a_motor_is_hot():
    """A walk would go on as fast as before until its motor is at the limit and stops it."""
    robot, joint = warmed(BADLY_COOLED)
    watch, paces = HeatWatch(robot, 25.0, 25.0), []
    reference = Reference(velocity=np.array([0.5, 0.0, 0.0]))
    for _ in range(2000):
        hot = watch.watch(robot.effort_limits, 1.0)
        paces.append(watch.pace)
        if hot:
            break
    assert paces[0] == 1.0 and paces[-1] == 0.0 and 0.5 in np.round(paces, 1)
    while watch.pace == 0.0:  # it stands until there is room again
        watch.watch(0.0 * robot.effort_limits, 1.0)
    assert watch.temperature[0, 0] == pytest.approx(25.0 + EASED * 35.0, abs=1.0)
    reference.pace = 0.5
    assert reference.velocity_within((1.0,) * 3, (0.0,) * 3)[0] == 0.25
