# SPDX-License-Identifier: Apache-2.0
"""A sensor that is a row of the table alone: from plant and topic into recording and plot."""

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models.signals import imu_name, Measurement, sensors_of
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.recording.bag import open_bag, read_rows
from walking_control.ros.recording.replay import read_columns, recorded_robot, replay
from walking_control.ros.ros2_control.files import controllers_of
from walking_control.ros.ros2_control.tags import HARDWARE
from walking_control.ros.ros2_control.wiring import state_interfaces, wire
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.plausibility import channels_of

SHANK = 'outer_shank'


def test_another_imu_goes_from_plant_to_plot(tmp_path):
    """If it failed, a new sensor would need its own code in nodes, recording or plot."""
    path = tmp_path / 'walk.mcap'
    robot_file = load_robot('dribbel', [('robot.more_imus', [SHANK])])
    run = run_demo(robot_file, 1.0, settings=(('record', str(path)),)).run
    assert run.fault is None
    bag = open_bag(path)
    robot = recorded_robot(bag).robot
    felt = np.array(
        [np.concatenate(row.measurement.parts[imu_name(SHANK)]) for row in read_rows(bag, robot)]
    )
    assert np.abs(np.linalg.norm(felt[:, :4], axis=1) - 1.0).max() < 1e-9
    assert felt[:, 5].std() > 0.1, 'a shank swings'
    assert replay(bag, recorded_robot(bag))[0]['identical']
    unit, labels, values = read_columns(path).groups['angular velocity']
    assert unit == 'rad/s' and labels == tuple(
        f'{link} {axis}' for link in (robot.imu_link, SHANK) for axis in 'xyz'
    )
    assert np.array_equal(values[:, 3:], felt[:, 4:7])


def test_another_imu_stands_in_all_tables():
    """If it failed, hardware would not tell it, or nobody would judge what it tells."""
    robot_file = load_robot('dribbel', [('robot.more_imus', [SHANK])])
    robot = robot_file.robot
    wiring, size = wire(robot_file), len(Measurement(robot).values)
    assert len(state_interfaces(robot)) == size + len(robot.locks)
    told = controllers_of(wiring, HARDWARE)[f'{SHANK}_imu_broadcaster'][1]
    assert told == {'sensor_name': wiring.imus[SHANK], 'frame_id': SHANK}
    channels = channels_of(robot, robot_file.values(SafetyParameters))
    assert channels[-1].part.stop == size
    assert f'the angular velocity of {imu_name(SHANK)}' in [channel.what for channel in channels]


@pytest.mark.parametrize('name', ['dribbel', 'walker3d', 'humanoid', 'compass'])
def test_every_number_of_a_measurement_has_a_row(name):
    """If it failed, a number would be recorded, spoiled or bounded as another one."""
    robot = load_robot(name).robot
    labels = sum(len(signal.labels) for sensor in sensors_of(robot) for signal in sensor.signals)
    assert labels == len(Measurement(robot).values) + len(robot.locks)
