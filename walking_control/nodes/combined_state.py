# SPDX-License-Identifier: Apache-2.0
"""All sensors of a tick in one message: read without building message objects.

Between its stamp and its numbers such a message is the same every time, so that the bytes tell
whether its layout is the one learned from the first; if not, it is read the normal way and learned
anew. The numbers are then taken where they lie. CDR, little endian (the first four bytes).
"""

from collections.abc import Callable, Sequence
import struct
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from walking_control.exceptions import MeasurementError, MissingDependency
from walking_control.models.robot import Robot
from walking_control.models.signals import Measurement
from walking_control.nodes import topics
from walking_control.nodes.messages import allocate, set_stamp
from walking_control.ros2_control.wiring import state_interfaces

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
STAMP = struct.Struct('<iI')
BEFORE, AFTER = len(LITTLE_ENDIAN), len(LITTLE_ENDIAN) + STAMP.size   # the stamp, in bytes
JOINT_STATE, VALUES = 'joint_state', 'values'
KINDS = ('', JOINT_STATE, VALUES)


class CombinedReader:
    """Takes stamp and measurement out of serialized messages.

    Args:
        read: From bytes to (names or None, numbers), by the normal path.
        force_sign: 1 where the force sensors tell the force of the floor on the foot, else -1.
    """

    def __init__(self, robot: Robot, read: Callable[[bytes], tuple[Any, Any]],
                 force_sign: float = 1.0) -> None:
        self._expected = state_interfaces(robot)
        self._read, self._sign = read, force_sign
        self._layout: bytes | None = None
        self._where = 0
        self._order: np.ndarray | None = None
        self._names: list[str] | None = None
        self.learned = 0   # how often the normal path was taken

    def name(self, names: Sequence[str]) -> None:
        """Take the names of the numbers, where messages do not hold them."""
        self._names, self._layout = list(names), None

    def read(self, raw: bytes, measurement: Measurement) -> int | None:
        """Fill a measurement but for its stamp; return the stamp in ns, None without names yet.

        Raises:
            MeasurementError: An interface is missing, or the message cannot be read.
        """
        try:
            return self._fill(raw, measurement)
        except (ValueError, RuntimeError) as error:   # RuntimeError: half a message
            self._layout = None
            reason = ' '.join(str(error).split())
            raise MeasurementError('combined state', value=f'{len(raw)} bytes',
                                   limit=f'cannot be read: {reason}') from error

    def _fill(self, raw: bytes, measurement: Measurement) -> int | None:
        if self._layout is None or raw[AFTER:self._where] != self._layout:
            if not self._learn(raw):
                return None
        numbers = np.frombuffer(raw, '<f8', self._count, self._where)
        if self._order is not None:
            numbers = numbers[self._order]
        n = len(measurement.values)
        measurement.values[:] = numbers[:n]
        if self._sign != 1.0:
            measurement.foot_force *= self._sign
        locks = numbers[n:len(self._expected)]
        if not (np.abs(locks - 0.5) <= 0.6).all():   # NaN would be read as open
            raise MeasurementError('state of a lock in the combined state', value=locks.tolist(),
                                   limit='must be 0, open, or 1, engaged')
        measurement.locked[:] = locks > 0.5
        return stamp_of(raw)

    def _learn(self, raw: bytes) -> bool:
        names, numbers = self._read(raw)
        names = self._names if names is None else list(names)
        if names is None:
            return False
        missing = [name for name in self._expected if name not in names]
        if missing or len(numbers) != len(names):
            raise MeasurementError('combined state', value=len(numbers), limit='lacks '
                                   + (', '.join(missing) or 'numbers for its names'))
        self.learned += 1
        order = [names.index(name) for name in self._expected]
        self._order = None if order == list(range(len(order))) else np.array(order)
        self._count = len(numbers)
        self._where = _find(raw, numbers)
        self._layout = raw[AFTER:self._where]
        return True


def _find(raw: bytes, numbers: Any) -> int:
    """Return where in a message its numbers lie: behind their count, at a multiple of 8."""
    if raw[:BEFORE] != LITTLE_ENDIAN:
        raise MeasurementError('combined state', limit='must be little endian CDR')
    content = np.asarray(numbers, '<f8').tobytes()
    where = raw.find(content, AFTER)
    while where >= 0 and (where - BEFORE) % 8:
        where = raw.find(content, where + 1)
    if where < 0:
        raise MeasurementError('combined state', limit='does not hold its numbers in one piece')
    return where


def stamp_of(raw: bytes) -> int:
    """Return the stamp of a serialized message with a header, ns."""
    seconds, nanoseconds = STAMP.unpack_from(raw, BEFORE)
    return int(seconds * 1_000_000_000 + nanoseconds)


def subscribe(node: Node, kind: Any, robot: Robot, force_sign: float,
              on_raw: Callable[..., None]) -> list[Any]:
    """Listen to a combined state; return the subscriptions.

    Args:
        kind: `JOINT_STATE` of our simulator, or `VALUES` of state_interfaces_broadcaster.
        force_sign: See `CombinedReader`.
        on_raw: Called with reader and bytes.

    Raises:
        MissingDependency: control_msgs is not installed.
    """
    if kind == JOINT_STATE:
        def read_joint_state(raw: bytes) -> tuple[Any, Any]:
            message = deserialize_message(raw, JointState)
            return message.name, message.position
        reader = CombinedReader(robot, read_joint_state, force_sign)
        return [node.create_subscription(JointState, topics.COMBINED_STATE,
                                         lambda raw: on_raw(reader, raw), topics.SENSOR_IN,
                                         raw=True)]
    try:
        from control_msgs.msg import Float64Values, Keys
    except ImportError as error:
        raise MissingDependency('combined_state values', limit=f'needs control_msgs ({error})',
                                remedy='sudo apt install ros-$ROS_DISTRO-control-msgs') from error
    reader = CombinedReader(
        robot, lambda raw: (None, deserialize_message(raw, Float64Values).values), force_sign)
    return [node.create_subscription(Keys, topics.STATE_NAMES,
                                     lambda message: reader.name(message.keys), topics.LATCHED),
            node.create_subscription(Float64Values, topics.STATES,
                                     lambda raw: on_raw(reader, raw), topics.SENSOR_IN, raw=True)]


class CombinedWriter:
    """The combined state of our simulator: a JointState whose positions are all the numbers."""

    def __init__(self, robot: Robot) -> None:
        self.message = JointState(name=state_interfaces(robot))
        self._numbers = allocate(self.message, 'position', len(self.message.name))

    def write(self, measurement: Measurement) -> JointState:
        """Return the message of a measurement."""
        set_stamp(self.message.header.stamp, measurement.stamp)
        n = len(measurement.values)
        self._numbers[:n] = measurement.values
        self._numbers[n:] = measurement.locked
        return self.message
