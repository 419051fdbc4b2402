# SPDX-License-Identifier: Apache-2.0
"""Joints are mapped by name; what is missing is named; numbers are taken where they lie."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState

from walking_control.exceptions import MeasurementError
from walking_control.loading import load_robot
from walking_control.models.signals import LOCKS, Measurement, sensors_of
from walking_control.ros.nodes.messages import (
    ArrayWriter,
    JointStateReader,
    message_type,
    read_array,
    reader_of,
    writer_of,
)
from walking_control.ros.nodes.sensors import Layout, numbers_of
from walking_control.ros.nodes.telemetry import StepWork


def read(message, joints=('a', 'b', 'c')):
    """Return positions and velocities of a message."""
    position, velocity = np.zeros(len(joints)), np.zeros(len(joints))
    JointStateReader(list(joints)).read(message, position, velocity)
    return position.tolist(), velocity.tolist()


def test_shuffled_names():
    """JointState promises no order: reading by position would swap legs."""
    message = JointState(
        name=['c', 'x', 'a', 'b'], position=[3.0, 9.0, 1.0, 2.0], velocity=[0.3, 0.9, 0.1, 0.2]
    )
    assert read(message) == ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])


def test_order_may_change_between_messages():
    """The order seen first must not be taken for granted."""
    reader = JointStateReader(['a', 'b'])
    position = np.zeros(2)
    for names in (['a', 'b'], ['b', 'a']):
        reader.read(JointState(name=names, position=[1.0, 2.0]), position)
    assert position.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    'message, words',
    [
        (
            JointState(name=['a', 'b'], position=[1.0, 2.0], velocity=[0.0, 0.0]),
            'lacks the joint c',
        ),
        (JointState(name=['a', 'b', 'c'], position=[1.0], velocity=[0.0]), 'position is 1'),
        (JointState(name=['a', 'b', 'c'], position=[1.0, 2.0, 3.0]), 'velocity is 0'),
    ],
)
def test_incomplete_joint_state(message, words):
    """A missing joint must be named, not read as zero."""
    with pytest.raises(MeasurementError, match=words):
        read(message)


@pytest.mark.parametrize('numbers', [[1.5, -0.0, math.inf], [2.0], []])
def test_an_array_is_read_where_it_lies(numbers):
    """A watchdog reads 500 of them a second; whatever is not laid out so is left to rclpy."""
    writer = ArrayWriter(len(numbers))
    raw = serialize_message(writer.write(numbers, 7))
    told = read_array(raw)
    assert (told.layout.data_offset, told.layout.dim, told.data) == (7, (), tuple(numbers))
    for other in (raw[:-1], raw[:19], b'\0\0' + raw[2:], raw + bytes(8), b''):
        assert read_array(other) is None
    writer.label('waits')
    assert read_array(serialize_message(writer.message)) is None


class Heard:
    """A sensor that is heard as a controller node hears it."""

    def __init__(self, sensor, measurement):
        self.sensor, self.parts = sensor, measurement.parts[sensor.name]
        self.block = measurement.blocks.get(sensor.name)
        if sensor.name == LOCKS:
            self.block = np.zeros(len(measurement.locked))
            self.parts = [self.block]
        self.layout, self.read = Layout(self.block), reader_of(sensor, self.parts)

    def hear(self, message):
        """Return stamp and numbers of a message, and whether it was taken as it came."""
        raw = serialize_message(message)
        self.block[:] = 7.0
        taken = self.layout.take(raw)
        if taken is None:
            message = deserialize_message(raw, message_type(self.sensor))
            self.read(message)
            self.layout.learn(message, numbers_of(self.sensor, message))
        return taken, self.block.copy()


ROBOT = load_robot('dribbel').robot
SENSORS = {sensor.name: sensor for sensor in sensors_of(ROBOT)}


@pytest.mark.parametrize('name', SENSORS)
def test_numbers_are_taken_where_they_lay_in_the_first_message(name):
    """If it failed, a sensor would be read from other bytes than it was written to."""
    sensor, rng, told = SENSORS[name], np.random.default_rng(0), Measurement(ROBOT)
    heard, writer = Heard(sensor, Measurement(ROBOT)), writer_of(sensor)
    for tick in range(5):
        told.values[:] = rng.normal(size=len(told.values))
        told.locked[:] = rng.integers(2, size=len(told.locked))
        stamp, numbers = heard.hear(writer.write(3.25 + tick, *told.parts[name]))
        assert stamp == (None if tick == 0 else round((3.25 + tick) * 1e9))
        assert np.array_equal(numbers, np.concatenate(told.parts[name]))


def test_another_order_frame_or_covariance_is_read_with_all_checks():
    """If it failed, joints would be mixed up, or an IMU believed that says it knows nothing."""
    sensor = SENSORS['joint_state']
    joints, heard = list(sensor.signals[0].labels), Heard(sensor, Measurement(ROBOT))
    numbers = np.arange(1.0, 1.0 + len(joints)).tolist()
    for names in (joints, joints[::-1]):
        for effort in (numbers, numbers[::-1]):  # nobody reads it
            message = JointState(name=names, position=numbers, velocity=numbers, effort=effort)
            stamp, told = heard.hear(message)
            assert told[: len(joints)].tolist() == (numbers if names == joints else numbers[::-1])
            assert (stamp is None) == (effort is numbers)
    imu = Imu()
    imu.orientation.w, imu.linear_acceleration.z = 1.0, 9.81
    heard = Heard(SENSORS['imu'], Measurement(ROBOT))
    assert heard.hear(imu)[0] is None and heard.hear(imu)[0] == 0
    imu.linear_acceleration_covariance[0] = -1.0
    for _ in range(2):
        assert heard.hear(imu)[1].tolist() == [0.0, 0.0, 0.0, 1.0, *[0.0] * 6]
    imu.orientation_covariance[0] = -1.0
    with pytest.raises(MeasurementError, match='REP 145'):
        heard.hear(imu)


def test_an_axis_that_a_force_sensor_lacks_stays_zero():
    """If it failed, its NaN would stop the robot from the second message on."""
    sensor = next(sensor for sensor in SENSORS.values() if sensor.kind == 'contact')
    heard, writer = Heard(sensor, Measurement(ROBOT)), writer_of(sensor)
    for _ in range(3):
        numbers = heard.hear(writer.write(1.0, np.array([np.nan, np.nan, 40.0])))[1]
        assert numbers.tolist() == [0.0, 0.0, 40.0]


def test_work_of_a_step_is_that_of_its_ticks():
    """Energy told per step that leaks from one step to the next hides what a push-off costs."""
    command = SimpleNamespace(effort=np.zeros(1), joints=np.array([1]))
    state = SimpleNamespace(steps=0, velocity=np.array([9.0, 0.5]))
    loop = SimpleNamespace(state=state, command=command)
    work = StepWork(loop)
    for tick in range(21):
        state.steps = tick // 10
        loop.command.effort[0] = 4.0 if tick % 10 < 5 else -2.0
        work.add(0.01 * tick)
    assert work.power == 2.0
    assert work.positive == pytest.approx(5 * 0.01 * 2.0)
    assert work.net == pytest.approx(5 * 0.01 * (2.0 - 1.0))
    work.add(0.0)  # another walk
    state.steps += 1
    work.add(0.01)
    assert work.positive == pytest.approx(0.01 * 2.0)
