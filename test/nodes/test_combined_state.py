# SPDX-License-Identifier: Apache-2.0
"""All sensors in one message: the same walk, read by bytes or the normal way."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from sensor_msgs.msg import JointState

from walking_control.exceptions import MeasurementError
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.nodes.sensors import combined_writer, CombinedReader
from walking_control.ros.ros2_control.wiring import state_interfaces
from walking_control.simulation.simulate import simulate

ROBOT = load_robot('dribbel').robot


def normal(raw):
    """Read a JointState the normal way."""
    return deserialize_message(raw, JointState)


def measured(seed):
    """Return a measurement of random values."""
    rng, measurement = np.random.default_rng(seed), Measurement(ROBOT)
    measurement.stamp = 12.345 + seed
    measurement.values[:] = rng.normal(size=len(measurement.values))
    measurement.locked[:] = rng.integers(2, size=len(measurement.locked))
    return measurement


def same(one, other):
    """Return whether two measurements hold the same, but for their stamps."""
    return np.array_equal(one.values, other.values) and np.array_equal(one.locked, other.locked)


def test_bytes_and_normal_path_agree():
    """If it failed, sensors would be read from other bytes than they were written to."""
    reader, writer, read = CombinedReader(ROBOT, normal), combined_writer(ROBOT), Measurement(ROBOT)
    for seed in range(20):
        measurement = measured(seed)
        raw = serialize_message(writer(measurement))
        assert reader.read(raw, read) == round(measurement.stamp * 1e9)
        assert same(read, measurement)
    assert reader.layout.learned == 1


def test_another_layout_is_learned_anew():
    """If it failed, a sender that comes back with another order would be misread."""
    reader, read = CombinedReader(ROBOT, normal), Measurement(ROBOT)
    measurement, names = measured(1), state_interfaces(ROBOT)
    numbers = np.concatenate([measurement.values, measurement.locked])
    for number, order in enumerate(
        (
            np.arange(len(names)),
            np.arange(len(names))[::-1],
            np.random.default_rng(2).permutation(len(names)),
        ),
        1,
    ):
        extra = ['hip/temperature', *(names[i] for i in order)]
        message = JointState(name=extra, position=[40.0, *numbers[order]])
        message.header.frame_id = 'base' * number
        reader.read(serialize_message(message), read)
        assert same(read, measurement) and reader.layout.learned == number


def test_values_of_ros2_control_are_read_by_names_told_apart():
    """If it failed, messages of state_interfaces_broadcaster could not be used."""
    store = get_typestore(Stores.ROS2_JAZZY)
    kind = 'control_msgs/msg/Float64Values'
    store.register(get_types_from_msg('std_msgs/Header header\nfloat64[] values', kind))
    make, measurement = store.types, measured(3)
    numbers = np.concatenate([measurement.values, measurement.locked])
    time = make['builtin_interfaces/msg/Time'](sec=7, nanosec=8)
    raw = bytes(
        store.serialize_cdr(
            make[kind](header=make['std_msgs/msg/Header'](stamp=time, frame_id=''), values=numbers),
            kind,
        )
    )
    reader = CombinedReader(ROBOT, lambda data: store.deserialize_cdr(data, kind), force_sign=-1.0)
    read = Measurement(ROBOT)
    assert reader.read(raw, read) is None  # nobody has named them yet
    reader.name(state_interfaces(ROBOT))
    assert reader.read(raw, read) == 7_000_000_008
    read.foot_force *= -1.0
    assert same(read, measurement)


def test_what_is_missing_or_not_finite_is_refused():
    """If it failed, a lock whose state is unknown would count as open, a lost sensor as zero."""
    reader, read, names = CombinedReader(ROBOT, normal), Measurement(ROBOT), state_interfaces(ROBOT)
    short = serialize_message(JointState(name=names[1:], position=[1.0] * (len(names) - 1)))
    with pytest.raises(MeasurementError, match=names[0]):
        reader.read(short, read)
    numbers = [1.0] * len(names)
    numbers[-1] = float('nan')
    with pytest.raises(MeasurementError, match='lock'):
        reader.read(serialize_message(JointState(name=names, position=numbers)), read)


def test_the_walk_is_the_same():
    """If it failed, one message instead of many would change what the robot does."""
    robot_file = load_robot('dribbel')
    run = run_demo(robot_file, 3.0, settings=(('combined_state', 'joint_state'),)).run
    for column, values in simulate(robot_file, duration=3.0).columns.items():
        assert np.array_equal(values, run.columns[column]), column
