# SPDX-License-Identifier: Apache-2.0
"""The sensors of a robot on their topics, one by one or all of a tick in one message.

Between its stamp and its numbers a combined message is the same every time, so that the bytes tell
whether its layout is the one learned from the first; if not, it is read the normal way and learned
anew. The numbers are then taken where they lie, and no message objects are built. CDR, little
endian (the first four bytes).
"""

from collections.abc import Callable, Sequence
import math
from operator import attrgetter
import struct
import time
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from walking_control.exceptions import MeasurementError, MissingDependency
from walking_control.models.robot import Robot
from walking_control.models.signals import is_lock_state, JOINTS, LOCKS, Measurement, sensors_of
from walking_control.operation import Operation
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.heartbeat import WatchClock
from walking_control.ros.nodes.messages import allocate, message_type, reader_of, seconds, set_stamp
from walking_control.ros.ros2_control.names import tick_number_of
from walking_control.ros.ros2_control.wiring import state_interfaces

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
STAMP = struct.Struct('<iI')
BEFORE, AFTER = len(LITTLE_ENDIAN), len(LITTLE_ENDIAN) + STAMP.size  # the stamp, in bytes
JOINT_STATE, VALUES = 'joint_state', 'values'
KINDS = ('', JOINT_STATE, VALUES)


class CombinedReader:
    """Takes stamp and measurement out of serialized messages.

    Args:
        read: From bytes to (names or None, numbers), by the normal path.
        force_sign: 1 where the force sensors tell the force of the floor on the foot, else -1.
    """

    def __init__(
        self, robot: Robot, read: Callable[[bytes], tuple[Any, Any]], force_sign: float = 1.0
    ) -> None:
        self._expected = state_interfaces(robot)
        self._read, self._sign = read, force_sign
        self._layout: bytes | None = None
        self._where = 0
        self._order: np.ndarray | None = None
        self._names: list[str] | None = None
        self.learned = 0  # how often the normal path was taken

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
        except (ValueError, RuntimeError) as error:  # RuntimeError: half a message
            self._layout = None
            reason = ' '.join(str(error).split())
            raise MeasurementError(
                'combined state', value=f'{len(raw)} bytes', limit=f'cannot be read: {reason}'
            ) from error

    def _fill(self, raw: bytes, measurement: Measurement) -> int | None:
        if self._layout is None or raw[AFTER : self._where] != self._layout:
            if not self._learn(raw):
                return None
        numbers = np.frombuffer(raw, '<f8', self._count, self._where)
        if self._order is not None:
            numbers = numbers[self._order]
        n = len(measurement.values)
        measurement.values[:] = numbers[:n]
        if self._sign != 1.0:
            measurement.foot_force *= self._sign
        locks = numbers[n : len(self._expected)]
        if not all(map(is_lock_state, locks.tolist())):
            raise MeasurementError(
                'state of a lock in the combined state',
                value=locks.tolist(),
                limit='must be 0, open, or 1, engaged',
            )
        measurement.locked[:] = locks > 0.5
        return stamp_of(raw)

    def _learn(self, raw: bytes) -> bool:
        names, numbers = self._read(raw)
        names = self._names if names is None else list(names)
        if names is None:
            return False
        missing = [name for name in self._expected if name not in names]
        if missing or len(numbers) != len(names):
            raise MeasurementError(
                'combined state',
                value=len(numbers),
                limit='lacks ' + (', '.join(missing) or 'numbers for its names'),
            )
        self.learned += 1
        order = [names.index(name) for name in self._expected]
        self._order = None if order == list(range(len(order))) else np.array(order)
        self._count = len(numbers)
        self._where = _find(raw, numbers)
        self._layout = raw[AFTER : self._where]
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


def subscribe(
    node: Node, kind: Any, robot: Robot, force_sign: float, on_raw: Callable[..., None]
) -> None:
    """Listen to a combined state.

    Args:
        kind: `JOINT_STATE` of our simulator, or `VALUES` of state_interfaces_broadcaster.
        force_sign: See `CombinedReader`.
        on_raw: Called with reader and bytes.

    Raises:
        MissingDependency: control_msgs is not installed.
    """
    if kind == JOINT_STATE:
        told = attrgetter('name', 'position')
        reader = CombinedReader(
            robot, lambda raw: told(deserialize_message(raw, JointState)), force_sign
        )
        node.create_subscription(
            JointState,
            topics.COMBINED_STATE,
            lambda raw: on_raw(reader, raw),
            topics.SENSOR_IN,
            raw=True,
        )
        return
    try:
        from control_msgs.msg import Float64Values, Keys
    except ImportError as error:
        raise MissingDependency(
            'combined_state values',
            limit=f'needs control_msgs ({error})',
            remedy='sudo apt install ros-$ROS_DISTRO-control-msgs',
        ) from error
    reader = CombinedReader(
        robot, lambda raw: (None, deserialize_message(raw, Float64Values).values), force_sign
    )
    node.create_subscription(
        Keys, topics.STATE_NAMES, lambda message: reader.name(message.keys), topics.LATCHED
    )
    node.create_subscription(
        Float64Values, topics.STATES, lambda raw: on_raw(reader, raw), topics.SENSOR_IN, raw=True
    )


class CombinedWriter:
    """The combined state of our simulator: a JointState whose positions are all the numbers.

    Args:
        robot: The `Robot`.
    """

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


def sensor_topics(robot: Robot) -> dict[str, tuple[Any, str]]:
    """Return sensor -> (message type, topic) of all that a complete set needs."""
    return {sensor.name: (message_type(sensor), sensor.topic) for sensor in sensors_of(robot)}


class SensorSet:
    """Hears messages, reads them into `operation.measurement` and tells the `Operation` of each.

    Args:
        on_answered: Called with the steady time at which the last sensor of a new set arrived,
            once the set is answered.
        combined: One of `KINDS`: all sensors in one message; ``''``: each on its
            own topic.
        force_sign: Of the forces in a combined state, see `CombinedReader`.
    """

    def __init__(
        self,
        node: Node,
        operation: Operation,
        clock: WatchClock,
        on_answered: Callable[[float], None],
        combined: str = '',
        force_sign: float = 1.0,
    ) -> None:
        self._operation, self._clock, self._on_answered = operation, clock, on_answered
        self._robot = robot = operation.loop.robot
        if combined:
            self._others = [sensor.name for sensor in sensors_of(robot)[1:]]
            subscribe(node, combined, robot, force_sign, self._on_combined)
            return
        self._locks = np.zeros(len(robot.locks))
        parts = {**operation.measurement.parts, LOCKS: [self._locks]}
        for sensor in sensors_of(robot):
            node.create_subscription(
                message_type(sensor),
                sensor.topic,
                self._callback(sensor.name, reader_of(sensor, parts[sensor.name])),
                topics.SENSOR_IN,
            )

    # -- messages ------------------------------------------------------------------------------

    def _on_combined(self, reader: CombinedReader, raw: bytes) -> None:
        operation, stamp = self._operation, None
        try:
            stamp = reader.read(raw, operation.measurement)
        except MeasurementError as error:
            operation.problem = JOINTS, str(error)
        if stamp is None and (operation.problem is None or len(raw) < AFTER):
            return  # nobody has named the numbers yet, or not even a stamp is there
        if stamp is None:
            stamp = stamp_of(raw)
        for sensor in (*self._others, JOINTS):
            self._arrived(sensor, stamp * 1e-9, tick_number_of(stamp))

    def _callback(self, name: str, read: Callable[[Any], bool]) -> Callable[[Any], None]:
        def hear(message: Any) -> None:
            try:
                if not read(message):
                    return
            except MeasurementError as error:
                self._operation.problem = error.code, str(error)
            if name == LOCKS:
                self._judge_locks()
            stamp = message.header.stamp
            self._arrived(name, seconds(stamp), topics.tick_number(stamp))

        return hear

    def _judge_locks(self) -> None:
        for lock, told in zip(self._robot.locks, self._locks.tolist()):
            if not math.isfinite(told):
                self._operation.problem = 'not_finite', 'the state of a lock is not finite'
            elif not is_lock_state(told):
                self._operation.problem = (
                    'lock',
                    f'the state of the lock of joint {lock.joint} '
                    f'is {told:.3g}; 0 is open, 1 engaged',
                )
        self._operation.measurement.locked[:] = self._locks > 0.5

    def _arrived(self, sensor: str, stamp: float, tick: int) -> None:
        start = time.monotonic()
        if self._operation.arrived(sensor, stamp, tick, self._clock.now(stamp)):
            self._on_answered(start)
