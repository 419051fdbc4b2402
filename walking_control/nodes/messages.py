# SPDX-License-Identifier: Apache-2.0
"""Between messages and signals: joints by name, arrays reused from tick to tick."""

from array import array
import math

import numpy as np
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

from walking_control.exceptions import MeasurementError


def seconds(stamp):
    """Return a builtin_interfaces Time in s."""
    return (stamp.sec * 1_000_000_000 + stamp.nanosec) * 1e-9


def set_stamp(stamp, time):
    """Write a time in s to a builtin_interfaces Time."""
    stamp.sec, stamp.nanosec = divmod(round(time * 1e9), 1_000_000_000)


def write_axes(target, values):
    """Write an array into the fields x, y, z and, of a quaternion, w."""
    for axis, value in zip('xyzw', values.tolist()):
        setattr(target, axis, value)


def allocate(message, field, size):
    """Give a float64[] field its length and return a numpy view of the message's own memory."""
    setattr(message, field, array('d', bytes(8 * size)))
    # the setter may copy, so the view is taken from the message
    return np.frombuffer(getattr(message, field)) if size else np.empty(0)


class JointStateReader:
    """Take the robot's joints out of a JointState, in whatever order they come.

    Args:
        joints: Names in the robot's order.
    """

    def __init__(self, joints):
        self._joints = joints
        self._names = None
        self._index = None

    def read(self, message, position, velocity=None):
        """Copy positions and velocities in the robot's order.

        Returns:
            bool: False if the message holds none of the joints: another device's, left alone.

        Raises:
            MeasurementError: Some joints are missing or an array is too short.
        """
        if message.name != self._names:
            if not set(message.name) & set(self._joints) and self._joints:
                return False
            self._learn(message.name)
        self._copy(message.position, position, 'positions')
        if velocity is not None:
            self._copy(message.velocity, velocity, 'velocities')
        return True

    def _learn(self, names):
        missing = [joint for joint in self._joints if joint not in names]
        if missing:
            raise MeasurementError('JointState', value=list(names),
                                   limit='lacks the joint ' + ', '.join(missing),
                                   remedy='check the joint_state_broadcaster')
        self._names = list(names)
        self._index = [names.index(joint) for joint in self._joints]

    def _copy(self, values, out, what):
        if len(values) < len(self._names):
            raise MeasurementError(f'JointState {what}', value=len(values),
                                   limit=f'must be {len(self._names)} numbers, one per name')
        out[:] = [values[i] for i in self._index]


def read_imu(message, measurement):
    """Copy orientation, angular velocity and acceleration of an Imu message."""
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    measurement.orientation[:] = q.x, q.y, q.z, q.w
    measurement.angular_velocity[:] = w.x, w.y, w.z
    measurement.linear_acceleration[:] = a.x, a.y, a.z


class ForceReader:
    """Take the force out of a WrenchStamped.

    An axis that the sensor does not have is NaN from its first message on, and read as 0. One that
    becomes NaN later is broken and stays NaN.
    """

    def __init__(self):
        self._absent = None

    def read(self, message, out):
        """Copy the force; a sensor without any axis stays NaN."""
        force = message.wrench.force
        values = force.x, force.y, force.z
        if self._absent is None:
            absent = [math.isnan(value) for value in values]
            self._absent = [i for i in range(3) if absent[i]] if not all(absent) else []
        out[:] = values
        for axis in self._absent:
            out[axis] = 0.0


class JointStateWriter:
    """A JointState message of fixed names, filled in place.

    Args:
        names: Joint names.
        velocity: Whether to send velocities too.
    """

    def __init__(self, names, velocity=True):
        self.message = JointState(name=list(names))
        self._position = allocate(self.message, 'position', len(names))
        self._velocity = None
        if velocity:
            self._velocity = allocate(self.message, 'velocity', len(names))

    def write(self, time, position, velocity=None):
        """Return the message with these values."""
        set_stamp(self.message.header.stamp, time)
        self._position[:] = position
        if self._velocity is not None:
            self._velocity[:] = velocity
        return self.message


def write_imu(message: Imu, measurement):
    """Fill an Imu message from a `Measurement`."""
    set_stamp(message.header.stamp, measurement.stamp)
    for field, values in (('orientation', measurement.orientation),
                          ('angular_velocity', measurement.angular_velocity),
                          ('linear_acceleration', measurement.linear_acceleration)):
        write_axes(getattr(message, field), values)


def write_force(message, stamp, force):
    """Fill a WrenchStamped with a force."""
    set_stamp(message.header.stamp, stamp)
    target = message.wrench.force
    target.x, target.y, target.z = force.tolist()


class ArrayWriter:
    """A Float64MultiArray of fixed length, filled in place.

    Args:
        size: Number of values.
    """

    def __init__(self, size):
        self.message = Float64MultiArray()
        self._data = allocate(self.message, 'data', size)

    def write(self, values, tick):
        """Return the message with these values, tied to a tick number."""
        self._data[:] = values
        self.message.layout.data_offset = tick
        return self.message
