# SPDX-License-Identifier: Apache-2.0
"""The sensors of a robot on their topics, one by one or all of a tick in one message.

Between its stamp and its numbers a sensor's message is the same every time. So the first is read
the normal way, with all checks, and it is noted where its numbers lie and which bytes are none;
from then on numbers are taken there, and no message objects are built, as long as these bytes stay.
CDR, little endian (the first four bytes).
"""

from collections.abc import Callable, Sequence
from functools import partial
import math
import struct
import time
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from walking_control.exceptions import MeasurementError, MissingDependency, refusing, require
from walking_control.models.robot import Robot
from walking_control.models.signals import (
    CONTACT,
    IMU,
    is_lock_state,
    JOINTS,
    LOCKS,
    Measurement,
    OWN,
    Sensor,
    sensors_of,
)
from walking_control.operation import Operation
from walking_control.ros.nodes import (
    GuardedNode,
    JointStateWriter,
    message_type,
    reader_of,
    realtime,
    topics,
    WatchClock,
)
from walking_control.ros.ros2_control.wiring import state_interfaces

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
STAMP = struct.Struct('<iI')
BEFORE, AFTER = len(LITTLE_ENDIAN), len(LITTLE_ENDIAN) + STAMP.size  # the stamp, in bytes
JOINT_STATE: str = 'joint_state'
VALUES = 'values'
KINDS = ('', JOINT_STATE, VALUES)


# fields whose numbers change, and how many there are; those of None say how many
NUMBERS = {
    **dict.fromkeys(('position', 'velocity', 'effort', 'values')),
    **{'orientation': 4, 'angular_velocity': 3, 'linear_acceleration': 3},
    **{'wrench.force': 3, 'wrench.torque': 3},
}
COVARIANCE = 72  # bytes, behind each field of an IMU


class Layout:
    """Takes numbers out of serialized messages that are laid out as one that was read.

    Args:
        out: Where the numbers go.

    Attributes:
        raw: The last message.
        learned: How often a layout was found.
    """

    def __init__(self, out: np.ndarray) -> None:
        self._out, self.raw, self.learned = out, b'', 0
        self.forget()

    def forget(self) -> None:
        """Let the next message be read."""
        self._length = -1

    def take(self, raw: bytes) -> int | None:
        """Write the numbers of a message and return its stamp, ns; None if it must be read."""
        self.raw = raw
        if len(raw) != self._length or self._others.unpack_from(raw) != self._known:
            return None
        self._out[:] = np.frombuffer(raw, '<f8', self._words, BEFORE)[self._places]
        return stamp_of(raw)

    def learn(self, message: Any, numbers: Sequence[tuple[str, Sequence[int]]]) -> None:
        """Find the numbers of the last message, which has been read into where they go.

        What does not lie where it should, or is not as it was read, will be read again.

        Args:
            message: The same, with a header.
            numbers: Field and indices in it, in the order in which they go.
        """
        self.forget()
        raw = self.raw
        if raw[:BEFORE] != LITTLE_ENDIAN:
            return
        starts, others = _walk(message)
        self._words = (len(raw) - BEFORE) // 8
        told = np.frombuffer(raw, '<f8', self._words, BEFORE)
        places = [starts[field] + i for field, indices in numbers for i in indices]
        # -1 may be the mark of what an IMU does not measure, which is for a reader
        if (
            max(places, default=0) < len(told)
            and np.array_equal(told[places], self._out)
            and not (told == -1.0).any()
        ):
            self._places, self._others = np.array(places, int), struct.Struct(others)
            self._known = self._others.unpack_from(raw)
            self._length, self.learned = len(raw), self.learned + 1


def _walk(message: Any) -> tuple[dict[str, int], str]:
    """Return where the numbers of each field begin, in words, and the format of other bytes."""
    starts, others, end, told = {}, f'<{BEFORE}s', STAMP.size, 0

    def keep(size: int, multiple: int = 4) -> None:
        nonlocal others, end, told
        end += -end % multiple
        others += f'{end - told}x{size}s'
        end += size
        told = end

    keep(4 + len(message.header.frame_id.encode()) + 1)
    if hasattr(message, 'name'):
        keep(4)
        for name in message.name:
            keep(4 + len(name.encode()) + 1)
    for field, size in NUMBERS.items():
        if not hasattr(message, field.partition('.')[0]):
            continue
        if size is None:
            keep(4)
            size = len(getattr(message, field))
        end += -end % 8 if size else 0
        starts[field] = end // 8
        end += 8 * size
        if hasattr(message, f'{field}_covariance'):
            keep(COVARIANCE, 8)
    return starts, others


def numbers_of(sensor: Sensor, message: Any) -> list[tuple[str, Sequence[int]]]:
    """Return field and indices of a sensor's numbers in a message, see `Layout.learn`."""
    names = list(getattr(message, 'name', ()))
    return [
        (
            signal.place,
            list(map(names.index, signal.labels)) if names else range(len(signal.labels)),
        )
        for signal in sensor.signals
    ]


class CombinedReader:
    """Takes stamp and measurement out of serialized messages.

    Args:
        read: From bytes to a message with names and positions, or with values.
        force_sign: 1 where the force sensors tell the force of the floor on the foot, else -1.
    """

    def __init__(self, robot: Robot, read: Callable[[bytes], Any], force_sign: float = 1.0) -> None:
        self._expected = state_interfaces(robot)
        self._read, self._sign = read, force_sign
        self._numbers = np.zeros(len(self._expected))
        self.layout = Layout(self._numbers)
        self._names: list[str] | None = None

    def name(self, names: Sequence[str]) -> None:
        """Take the names of the numbers, where messages do not hold them."""
        self._names = list(names)
        self.layout.forget()

    def read(self, raw: bytes, measurement: Measurement) -> int | None:
        """Fill a measurement but for its stamp; return the stamp in ns, None without names yet.

        Raises:
            MeasurementError: An interface is missing, or the message cannot be read.
        """
        if self.layout.take(raw) is None and not self._learn(raw):
            return None
        n = len(measurement.values)
        measurement.values[:] = self._numbers[:n]
        if self._sign != 1.0:
            measurement.foot_force *= self._sign
        locks = self._numbers[n:]
        if not all(map(is_lock_state, locks.tolist())):
            raise MeasurementError(
                'state of a lock in the combined state',
                value=locks.tolist(),
                limit='must be 0, open, or 1, engaged',
            )
        measurement.locked[:] = locks > 0.5
        return stamp_of(raw)

    def _learn(self, raw: bytes) -> bool:
        self.layout.forget()
        try:
            message = self._read(raw)
        except (ValueError, RuntimeError) as error:  # RuntimeError: half a message
            reason = ' '.join(str(error).split())
            raise MeasurementError(
                'combined state', value=f'{len(raw)} bytes', limit=f'cannot be read: {reason}'
            ) from error
        field = 'position' if hasattr(message, 'name') else 'values'
        names, numbers = getattr(message, 'name', self._names), getattr(message, field)
        if names is None:
            return False
        missing = [name for name in self._expected if name not in names]
        require(
            not missing and len(numbers) == len(names),
            'combined state',
            value=len(numbers),
            limit='lacks ' + (', '.join(missing) or 'numbers for its names'),
            error=MeasurementError,
        )
        order = [names.index(name) for name in self._expected]
        self._numbers[:] = [numbers[i] for i in order]
        self.layout.learn(message, [(field, order)])
        return True


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
        reader = CombinedReader(robot, lambda raw: deserialize_message(raw, JointState), force_sign)
        node.create_subscription(
            JointState,
            topics.COMBINED_STATE,
            lambda raw: on_raw(reader, raw),
            topics.SENSOR_IN,
            raw=True,
        )
        return
    with refusing(
        ImportError,
        'combined_state values',
        limit='needs control_msgs ({error})',
        remedy='sudo apt install ros-$ROS_DISTRO-control-msgs',
        error=MissingDependency,
    ):
        from control_msgs.msg import Float64Values, Keys
    reader = CombinedReader(robot, lambda raw: deserialize_message(raw, Float64Values), force_sign)
    node.create_subscription(
        Keys, topics.STATE_NAMES, lambda message: reader.name(message.keys), topics.LATCHED
    )
    node.create_subscription(
        Float64Values, topics.STATES, lambda raw: on_raw(reader, raw), topics.SENSOR_IN, raw=True
    )


def combined_writer(robot: Robot) -> Callable[[Measurement], JointState]:
    """Return what makes the combined state of our simulator of a measurement.

    It is a JointState whose positions are all the numbers.
    """
    writer = JointStateWriter(state_interfaces(robot), ('position',))
    return lambda told: writer.write(told.stamp, np.concatenate((told.values, told.locked)))


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
        by_joints: Whether IMU and feet are read when a joint state comes, and by `catch_up` of the
            node, which takes half the time; else each when it comes. A sensor is as old then as
            the time since it was read. In a process that has to `realtime.Rest`, sets are left.
    """

    def __init__(
        self,
        node: GuardedNode,
        operation: Operation,
        clock: WatchClock,
        on_answered: Callable[[float], None],
        combined: str = '',
        force_sign: float = 1.0,
        by_joints: bool = False,
    ) -> None:
        self._operation, self._clock, self._on_answered = operation, clock, on_answered
        self._catch_up, self._may_rest = node.catch_up, by_joints
        self._robot = robot = operation.loop.robot
        if combined:
            self._others = [sensor.name for sensor in sensors_of(robot)[1:]]
            subscribe(node, combined, robot, force_sign, self._on_combined)
            return
        self._locks = np.zeros(len(robot.locks))
        parts = {**operation.measurement.parts, LOCKS: [self._locks]}
        blocks = {**operation.measurement.blocks, LOCKS: self._locks}
        for sensor in sensors_of(robot):
            layout = Layout(blocks[sensor.name])
            node.create_subscription(
                message_type(sensor),
                sensor.topic,
                partial(self._hear, sensor, reader_of(sensor, parts[sensor.name]), layout),
                topics.SENSOR_IN,
                read=layout.take,
                # several may tell of locks and own signals on one topic: each is heard
                called=not (by_joints and sensor.kind in (IMU, CONTACT)),
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
            self._arrived(sensor, stamp)

    def _hear(
        self, sensor: Sensor, read: Callable[[Any], bool], layout: Layout, message: Any
    ) -> None:
        if isinstance(message, int):  # a stamp: the numbers have been taken
            stamp = message
        else:
            try:
                if not read(message):
                    return
                if sensor.kind != OWN:
                    layout.learn(message, numbers_of(sensor, message))
            except MeasurementError as error:
                self._operation.problem = error.code, str(error)
            stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        if sensor.name == LOCKS:
            self._judge_locks()
        elif sensor.name == JOINTS:
            self._catch_up()
        self._arrived(sensor.name, stamp)

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

    def _arrived(self, sensor: str, stamp: int) -> None:
        start, seconds = time.monotonic(), stamp * 1e-9
        if (
            sensor == JOINTS
            and self._may_rest
            and realtime.rest is not None
            and realtime.rest.is_due(start)
            and self._operation.fault is None
        ):
            return
        if self._operation.arrived(
            sensor, seconds, topics.tick_number_of(stamp), self._clock.now(seconds)
        ):
            self._on_answered(start)
