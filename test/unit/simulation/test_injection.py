# SPDX-License-Identifier: Apache-2.0
"""Faults on purpose are the faults they are called after."""

import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.safety.faults import KINDS
from walking_control.simulation.injection import check_kind, Injection, INJECTIONS, SENSOR_FAULTS
from walking_control.simulation.registry import make_plant

# noticed by the node, not by the loop: silence, standing stamps, missing names
BY_THE_NODE = {'joint_state', 'stale_joint_state', 'stale_imu', 'stale_contact', 'clock_stopped'}


@pytest.mark.parametrize('kind', sorted(set(SENSOR_FAULTS) - BY_THE_NODE))
@pytest.mark.parametrize('robot', ['dribbel', 'compass'])
def test_a_provoked_fault_is_latched_under_its_name(kind, robot):
    """A lesson about falls that shows another fault teaches the wrong thing."""
    if kind == 'lock' and robot == 'compass':
        return  # has none
    robot_file = load_robot(robot)
    plant, loop = make_plant(robot_file, 'rigid'), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    injection, measurement = Injection(plant.robot), Measurement(plant.robot)
    for tick in range(round(1.3 / loop.period)):
        plant.measure(measurement)
        if tick == round(0.1 / loop.period):
            assert loop.fault is None, loop.fault
            injection.begin(kind)
        plant.step(loop.tick(injection.spoil(measurement)), loop.period)
        if loop.fault is not None:
            break
    assert loop.fault.code == kind, loop.fault


def test_without_a_fault_the_truth_is_told():
    """An injection that is not asked for must not touch a walk by a bit."""
    robot = load_robot('dribbel').robot
    measurement = Measurement(robot)
    injection = Injection(robot)
    assert injection.spoil(measurement) is measurement
    assert injection.joints == robot.joints and not injection.mutes('imu')


def test_kinds_that_can_be_provoked_are_kinds_of_the_table():
    """A name of its own would not be found in the table of faults."""
    assert set(INJECTIONS) <= set(KINDS)
    with pytest.raises(InvalidInput, match='no such kind; one of not_finite'):
        check_kind('nan')
