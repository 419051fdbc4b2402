# SPDX-License-Identifier: Apache-2.0
"""Any ROS message a sensor can send is read as it is, or refused in one line."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='messages need ROS 2')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402

from walking_control.exceptions import MeasurementError  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.models.signals import (
    Measurement,  # noqa: E402
    sensors_of,  # noqa: E402
)
from walking_control.ros.nodes import topics  # noqa: E402
from walking_control.ros.nodes.messages import JointStateReader, reader_of, seconds  # noqa: E402
from walking_control.ros.nodes.sensors import SensorSet  # noqa: E402
from walking_control.safety.faults import Fault, KINDS, read_fault  # noqa: E402

JOINTS = ('hip', 'outer_knee', 'inner_knee')
ANY = st.floats(width=64)
names = st.lists(st.one_of(st.sampled_from(JOINTS), st.text(max_size=4)), max_size=5)
numbers = st.lists(ANY, max_size=5)


@pytest.fixture(scope='module')
def robot():
    """Return Dribbel."""
    return load_robot('dribbel').robot


@given(names=names, position=numbers, velocity=numbers)
def test_joint_states(names, position, velocity):
    """Numbers would be taken for another joint's, or a short array end the node."""
    message = JointState(name=names, position=position, velocity=velocity)
    reader, found, rate = JointStateReader(JOINTS), np.zeros(3), np.zeros(3)
    complete = set(JOINTS) <= set(names) and min(len(position), len(velocity)) >= len(names)
    for _ in range(2):  # the second reading takes the order from the first
        if not set(JOINTS) & set(names):  # of another device
            assert not reader.read(message, found, rate) and not found.any()
            continue
        if not complete:
            with pytest.raises(MeasurementError) as caught:
                reader.read(message, found, rate)
            assert '\n' not in str(caught.value)
            continue
        reader.read(message, found, rate)
        for joint, q, v in zip(JOINTS, found, rate, strict=True):
            at = names.index(joint)
            assert np.array_equal([q, v], [position[at], velocity[at]], equal_nan=True)


@given(
    values=st.lists(ANY, min_size=13, max_size=13),
    sec=st.integers(-(2**31), 2**31 - 1),
    nanosec=st.integers(0, 2**32 - 1),
)
def test_imu_and_wrench(robot, values, sec, nanosec):
    """An axis would be taken for another, or a stamp from the past end the node."""
    imu, wrench, measurement = Imu(), WrenchStamped(), Measurement(robot)
    q, w, a, force = (
        imu.orientation,
        imu.angular_velocity,
        imu.linear_acceleration,
        wrench.wrench.force,
    )
    q.x, q.y, q.z, q.w, w.x, w.y, w.z, a.x, a.y, a.z, force.x, force.y, force.z = values
    imu.header.stamp.sec, imu.header.stamp.nanosec = sec, nanosec
    for sensor, message in zip(sensors_of(robot)[1:], (imu, wrench)):
        reader_of(sensor, measurement.parts[sensor.name])(message)
    read = [
        *measurement.orientation,
        *measurement.angular_velocity,
        *measurement.linear_acceleration,
        *measurement.foot_force[0],
    ]
    force = np.array(values[10:])  # an axis that is NaN from the first on is not there
    expected = force if np.isnan(force).all() else np.where(np.isnan(force), 0.0, force)
    assert np.array_equal(read, [*values[:10], *expected], equal_nan=True)
    assert seconds(imu.header.stamp) == pytest.approx(sec + 1e-9 * nanosec)


@given(names=names, position=numbers, lock=numbers)
def test_sensors_survive_any_joint_state(robot, names, position, lock):
    """An exception in a callback would end the node: nobody would send the safe command."""
    operation = SimpleNamespace(
        loop=SimpleNamespace(robot=robot),
        problem=None,
        measurement=Measurement(robot),
        arrived=lambda *_: False,
    )
    heard = {}
    node = SimpleNamespace(
        create_subscription=lambda kind, topic, hear, *_, **__: heard.update({topic: hear}),
        catch_up=lambda: None,
    )
    clock = SimpleNamespace(now=lambda stamp: stamp)
    SensorSet(node, operation, clock, lambda now: None)
    heard[topics.JOINT_STATES](JointState(name=names, position=position, velocity=position))
    heard[topics.LOCK_STATES](JointState(name=names, position=lock))
    some = set(JOINTS) & set(names)
    broken = some and (some != set(JOINTS) or len(position) < len(names))
    assert not broken or operation.problem is not None


@given(
    text=st.text(max_size=30),
    code=st.sampled_from(sorted(KINDS)),
    message=st.text(max_size=20),
    stamp=st.floats(0.0, 1e9),
)
def test_fault_texts(text, code, message, stamp):
    """The simulator would end on what somebody publishes on ~/fault, or record another fault."""
    assert text == '' or read_fault(text).code in text
    assert read_fault(f'fall: x (at {text} s)') is not None
    fault = Fault(code, message, round(stamp, 6))
    assert read_fault(str(fault)) == fault
