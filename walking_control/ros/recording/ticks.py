# SPDX-License-Identifier: Apache-2.0
"""Messages of control ticks as bytes, many at once: serialized once, then filled with numbers."""

from collections.abc import Iterator, Sequence
from functools import cache
import math
import re
import struct
from typing import Any, NamedTuple

import numpy as np

from walking_control.exceptions import import_optional
from walking_control.models import (
    Command,
    LOCKS,
    Measurement,
    picks_of,
    places_of,
    Reference,
    Robot,
    Sensor,
    sensors_of,
    Signal,
    STATE,
)
from walking_control.ros.recording.mcap import HEAD, MESSAGE
from walking_control.ros.ros2_control import names

REFERENCE = 'walking_controller/reference'  # speed, then ahead, left, turn; NaN: not wanted
POSTURE, SUPPORT, BOTH = 'posture', 'support', 'both'
PACKAGE = 'rosbags'
# of `names.TRUTH`
ODOMETRY = tuple(
    Signal('base', unit, tuple(axes), field=field)
    for unit, axes, field in (
        ('m', 'xyz', 'pose.pose.position'),
        ('1', 'xyzw', 'pose.pose.orientation'),
        ('m/s', 'xyz', 'twist.twist.linear'),
        ('rad/s', 'xyz', 'twist.twist.angular'),
    )
)
_MESSAGE = struct.Struct('<BQHIQQ')  # head, channel, sequence, log and publish time
_STAMP, _TICK = (0x51525354, 0x55565758), 0x61626364  # marks; of numbers: `_marks`


class Wanted(NamedTuple):
    """A `Reference` that can be compared: arrays as their numbers."""

    speed: float | None
    velocity: tuple[float, ...] | None
    posture: tuple[float, ...] | None
    support: tuple[str, ...] | None


def wanted(reference: Reference) -> Wanted:
    """Return what a `Reference` wants now."""
    velocity, posture, support = reference.velocity, reference.posture, reference.support
    return Wanted(
        reference.speed,
        None if velocity is None else tuple(velocity.tolist()),
        None if posture is None else tuple(posture.tolist()),
        None if support is None else tuple(support),
    )


class Stretch(NamedTuple):
    """Ticks between which nothing else was wanted.

    Args:
        wanted: What was.
        stamps: Of the measurements, ns, ``(T,)``.
        times: Likewise, but never less than one before: by them a file is sorted.
        rows: Of `row_of`, ``(T, n)``.
        heard: When, by the steady clock, s.
    """

    wanted: Wanted
    stamps: np.ndarray
    times: np.ndarray
    rows: np.ndarray
    heard: float


def row_of(measurement: Measurement, command: Command) -> np.ndarray:
    """Return all numbers of a tick."""
    return np.concatenate((measurement.values, measurement.locked, command.numbers, command.lock))


@cache
def type_store() -> Any:
    """Return the message types of ROS 2.

    Raises:
        MissingDependency: rosbags is not installed.
    """
    typesys = import_optional('rosbags.typesys', 'a recording', PACKAGE)
    return typesys.get_typestore(typesys.Stores.ROS2_JAZZY)


class Messages:
    """Makes the messages of a robot.

    Args:
        robot: The `Robot`.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self._sensors = robot, sensors_of(robot)

    def string(self, text: str) -> Any:
        """Return a text."""
        return type_store().types['std_msgs/msg/String'](data=text)

    def tick(
        self, measurement: Measurement, command: Command, stamp: tuple[int, int], number: int
    ) -> Iterator[tuple[str, Any]]:
        """Yield topic and message of all a tick hears and answers, joint states behind the rest.

        Args:
            stamp: Of the measurement, s and ns.
            number: See `names.tick_number_of`.
        """
        joints, *others = self._sensors
        for sensor in (*others, joints):
            yield sensor.topic, self._sensor(sensor, stamp, measurement.parts[sensor.name])
        for field, pick in picks_of(self._robot).items():
            yield names.command_topic(field), self._array(getattr(command, field)[pick], number)
        if self._robot.locks:
            yield names.LOCK_COMMANDS, self._array(command.lock, number)

    def reference(
        self, now: Wanted, before: Wanted | None, stamp: tuple[int, int]
    ) -> Iterator[tuple[str, Any]]:
        """Yield topic and message of what is wanted otherwise than before."""
        numbers = [math.nan if now.speed is None else now.speed, *(now.velocity or (math.nan,) * 3)]
        if before is None or (now.speed, now.velocity) != (before.speed, before.velocity):
            yield REFERENCE, self._array(numbers, 0)
        if now.posture is not None and (before is None or now.posture != before.posture):
            yield POSTURE, self._sensor(self._sensors[0], stamp, [np.array(now.posture)])
        if before is None or now.support != before.support:
            yield SUPPORT, self.string(BOTH if now.support is None else ' '.join(now.support))

    def odometry(self, truth: np.ndarray, stamp: tuple[int, int]) -> Any:
        """Return what a simulator or camera says of the base, see `ros.recording.bag`.

        Args:
            truth: As in a `ros.recording.bag.Row`, ``(13,)``.
            stamp: s and ns.
        """
        message = self._stamped('nav_msgs/msg/Odometry', stamp)
        for signal, values in zip(ODOMETRY, np.split(truth, [3, 7, 10])):
            signal.write(message, values)
        return message

    def _sensor(self, sensor: Sensor, stamp: tuple[int, int], parts: Sequence[np.ndarray]) -> Any:
        message = self._stamped(sensor.message, stamp)
        for signal, part in zip(sensor.signals, parts):
            if sensor.message == STATE:
                message.name = list(sensor.signals[0].labels)
                setattr(message, signal.place, np.array(sensor.spread(signal, part), float))
            else:
                signal.write(message, part)
        return message

    def _stamped(self, kind: str, stamp: tuple[int, int]) -> Any:
        message = _blank(kind)
        message.header.stamp.sec, message.header.stamp.nanosec = stamp
        return message

    def _array(self, values: Any, tick: int) -> Any:
        message = _blank('std_msgs/msg/Float64MultiArray')
        message.layout.data_offset, message.data = tick, np.array(values, float)
        return message


def _blank(kind: str) -> Any:
    """Return a message of zeros and nothing."""
    store, values = type_store(), []
    for _, (node, detail) in store.fielddefs[kind][1]:
        if node.name == 'NAME':
            values.append(_blank(detail))
        elif node.name == 'BASE':
            values.append('' if detail[0] == 'string' else 0)
        else:  # numbers, but for sequences of other things, which are empty
            (inner, _), length = detail
            values.append(np.zeros(length) if inner.name == 'BASE' else [])
    return store.types[kind](*values)


def serialized(message: Any) -> bytes:
    """Return a message as CDR."""
    return bytes(type_store().serialize_cdr(message, message.__msgtype__))


def message_record(channel: int, time: int, data: bytes) -> bytes:
    """Return a message as a record of MCAP."""
    return (
        _MESSAGE.pack(MESSAGE, _MESSAGE.size - HEAD.size + len(data), channel, 0, time, time) + data
    )


class TickLayout:
    """Where the numbers of ticks stand in their messages.

    Attributes:
        kinds: Topic -> type, in the order in which they are written.
    """

    def __init__(self, robot: Robot) -> None:
        measurement, command = Measurement(robot), Command(robot)
        numbers = row_of(measurement, command).size
        single = _singles(robot, numbers)
        # no other eight bytes, or four, are the same
        marks = np.where(single, 1e30, 1e250) * (1.0 + np.arange(numbers) / numbers)
        n, m = len(measurement.values), len(robot.locks)
        measurement.values[:] = marks[:n]
        command.numbers[:] = marks[n + m : n + m + len(command.numbers)]
        measurement.parts[LOCKS], command.lock = [marks[n : n + m]], marks[numbers - m :]
        self.kinds: dict[str, str] = {}
        self._heads: dict[str, int] = {}  # topic -> where its record begins
        template = b''
        for topic, message in Messages(robot).tick(measurement, command, _STAMP, _TICK):
            self.kinds[topic] = message.__msgtype__
            self._heads[topic] = len(template)
            template += message_record(0, 0, serialized(message))
        self._template = np.frombuffer(template, np.uint8)
        # type of numbers -> their columns, and where they stand
        self._numbers: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for kind, width, chosen in (('<f8', 8, ~single), ('<f4', 4, single)):
            found = [
                (at, k)
                for k in np.flatnonzero(chosen)
                for at in _places(template, np.array(marks[k], kind).tobytes())
            ]
            columns, slots = np.array([k for _, k in found], int), [at for at, _ in found]
            self._numbers[kind] = columns, _slots(slots, width)
        self._stamps = _slots(_places(template, struct.pack('<II', *_STAMP)), 8)
        self._ticks = _slots(_places(template, struct.pack('<I', _TICK)), 4)
        self._times = _slots(
            [at + _MESSAGE.size - width for at in self._heads.values() for width in (16, 8)], 8
        )

    def encode(self, segment: Stretch, channels: dict[str, int]) -> bytes:
        """Return the records of a `Stretch`, by the channels of the topics."""
        stamps, count = segment.stamps, len(segment.stamps)
        template = self._template.copy()
        for topic, at in self._heads.items():
            struct.pack_into('<H', template, at + HEAD.size, channels[topic])
        blocks = np.repeat(template[None], count, axis=0)

        def put(slots: np.ndarray, values: np.ndarray) -> None:
            blocks[:, slots] = np.ascontiguousarray(values).view(np.uint8).reshape(count, -1)

        for kind, (columns, slots) in self._numbers.items():
            put(slots, segment.rows[:, columns].astype(kind))
        seconds = np.column_stack((stamps // 1_000_000_000, stamps % 1_000_000_000)).astype('<u4')
        put(self._stamps, np.tile(seconds, len(self._stamps) // 8))
        ticks = np.array([names.tick_number_of(stamp) for stamp in stamps.tolist()], '<u4')
        put(self._ticks, np.repeat(ticks[:, None], len(self._ticks) // 4, axis=1))
        put(
            self._times,
            np.repeat(segment.times.astype('<u8')[:, None], len(self._times) // 8, axis=1),
        )
        return blocks.tobytes()

    def index(self, segment: Stretch) -> dict[str, np.ndarray]:
        """Return topic -> time and offset of its records in `encode`, ``(T, 2)``."""
        blocks = np.arange(len(segment.times)) * len(self._template)
        return {
            topic: np.column_stack((segment.times, blocks + at)).astype(np.uint64)
            for topic, at in self._heads.items()
        }


def _singles(robot: Robot, numbers: int) -> np.ndarray:
    """Return which numbers of a row their messages hold in single precision."""
    single, places, fields = np.zeros(numbers, bool), places_of(robot), type_store().fielddefs
    for sensor in sensors_of(robot):
        for i, signal in enumerate(sensor.signals if sensor.name in robot.signals else ()):
            kind = sensor.message
            for step in filter(None, (*signal.place.split('.'), signal.labels[0])):
                if kind in fields and kind != STATE:
                    _, kind = dict(fields[kind][1])[step]
            single[places[sensor.name, i]] = kind[0] == 'float32'
    return single


def _places(data: bytes, mark: bytes) -> list[int]:
    """Return where a mark stands."""
    return [found.start() for found in re.finditer(re.escape(mark), data)]


def _slots(places: list[int], width: int) -> np.ndarray:
    """Return the numbers of the bytes that begin at places."""
    return (np.array(places, int)[:, None] + np.arange(width)).ravel()
