# SPDX-License-Identifier: Apache-2.0
"""Read rosbag2 files (MCAP and SQLite), ours or others', of measurements and their commands."""

from collections.abc import Iterator
from dataclasses import dataclass, field
import math
import os
from pathlib import Path
import shutil
import tempfile
from typing import Any

import numpy as np

from walking_control.exceptions import import_optional, refusing, require
from walking_control.models import (
    JOINTS,
    LOCKS,
    Measurement,
    picks_of,
    Reference,
    Robot,
    Sensor,
    sensors_of,
    STATE,
)
from walking_control.ros.recording import (
    CONTROLLER,
    END,
    LOST,
    ROBOT_FILE,
    SUFFIX,
    ticks,
    unfinished,
)
from walking_control.ros.ros2_control import names


@dataclass(frozen=True)
class Bag:
    """A bag, opened.

    Args:
        path: Its path.
        texts: Topic -> text of `ROBOT_FILE`, `CONTROLLER` and the robot_description, where told.
        remark: What is missing of one that nobody closed, in words; None of one that was.
        readable: The path, or that of a copy of what is whole.
        folder: Which holds the copy.
    """

    path: Path
    # topic -> text of `ROBOT_FILE`, `CONTROLLER` and the robot_description, where told
    texts: dict[str, str]
    remark: str | None
    readable: Path
    folder: tempfile.TemporaryDirectory[str] | None = field(repr=False)

    def messages(self) -> Iterator[tuple[str, Any]]:
        """Yield (topic, message) in the order in which they were written."""
        rosbag2 = import_optional('rosbags.rosbag2', 'a recording', ticks.PACKAGE)
        store = ticks.type_store()
        problems = OSError, ValueError, LookupError, rosbag2.ReaderError
        with (
            refusing(problems, f'recording {self.path}', limit='cannot be read: {error}'),
            rosbag2.Reader(self.readable) as reader,
        ):
            for connection, _, data in reader.messages():
                if connection.msgtype in store.types:
                    yield (
                        connection.topic.strip('/'),
                        store.deserialize_cdr(data, connection.msgtype),
                    )


def open_bag(path: Path) -> Bag:
    """Return a `Bag` of a ``.mcap`` or of the folder of a rosbag2.

    Raises:
        MissingDependency: rosbags is not installed.
        InvalidInput: It is not there or no bag.
    """
    require(path.exists(), f'recording {path}', limit='no such file')
    bag = _opened(path)
    for topic, message in bag.messages():
        if topic in (ROBOT_FILE, CONTROLLER, names.ROBOT_DESCRIPTION):
            bag.texts.setdefault(topic, message.data)
        elif topic == names.JOINT_STATES and bag.texts.get(ROBOT_FILE):
            break
    return bag


def _opened(path: Path) -> Bag:
    """Return a `Bag` without texts; of a file that ends in the middle of a record, a copy."""
    with refusing(OSError, f'recording {path}', limit='cannot be read: {error.strerror}'):
        found = unfinished(path) if path.suffix == SUFFIX and path.is_file() else None
        if found is None:
            return Bag(path, {}, None, path, None)
        whole, torn = found
        remark = f'{path} was not closed: what was heard in the last {LOST:g} s may be missing'
        if not torn:
            return Bag(path, {}, remark, path, None)
        folder = tempfile.TemporaryDirectory()
        copy = Path(folder.name) / path.name
        shutil.copyfile(path, copy)
        os.truncate(copy, whole)
        with copy.open('ab') as file:
            file.write(END)
    return Bag(path, {}, f'{remark}, {torn} bytes of a torn end are left out', copy, folder)


@dataclass
class Row:
    """A joint state with the newest of all else, and the command that answers it.

    Args:
        measurement: The `Measurement`, filled anew for every row.
        reference: The `Reference`, likewise.
        command: What was answered, None where that was not recorded.
        truth: Position, quaternion xyzw, linear and angular velocity of the base, ``(13,)``, both
            linear ones in world axes (z up), the angular one in base axes; None where nobody said.
    """

    measurement: Measurement
    reference: Reference  # likewise
    # what was answered, None where that was not recorded
    command: tuple[np.ndarray, np.ndarray | None] | None
    # position, quaternion xyzw, linear and angular velocity of the base, ``(13,)``, both linear
    # ones in world axes (z up), the angular one in base axes; None where nobody said
    truth: np.ndarray | None
    # field of a `Command` -> what was commanded of it
    parts: dict[str, np.ndarray]


def read_rows(bag: Bag, robot: Robot) -> Iterator[Row]:
    """Yield the rows of a bag once all sensors have been heard.

    Raises:
        InvalidInput: The bag is of another robot, or holds no complete set of its sensors.
    """
    reader = _RowReader(robot)
    pending = begun = False
    answers: dict[str, np.ndarray] = {}
    for topic, message in bag.messages():
        if topic in reader.answers:
            if message.layout.data_offset == reader.tick:
                answers[topic] = np.array(message.data)
            continue
        if pending:  # a sensor after a joint state: its answers are complete
            yield reader.row(answers)
            pending, answers = False, {}
        reader.take(topic, message)
        if topic == names.JOINT_STATES and reader.complete:
            pending = begun = True
    if pending:
        yield reader.row(answers)
    require(
        begun,
        f'recording {bag.path}',
        limit=f'holds no complete set of sensors of robot {robot.name}',
    )


class _RowReader:
    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self.measurement, self.reference = Measurement(robot), Reference()
        picks = picks_of(robot)
        self._efforts = picks.get('effort', [])
        self.answers = {names.LOCK_COMMANDS: '', **{names.command_topic(f): f for f in picks}}
        self._sensors = {sensor.topic: sensor for sensor in sensors_of(robot)}
        self._wanted = set(self._sensors)
        self.tick: int | None = None
        self._truth: np.ndarray | None = None

    @property
    def complete(self) -> bool:
        return not self._wanted

    def row(self, answers: dict[str, np.ndarray]) -> Row:
        lock = answers.get(names.LOCK_COMMANDS)
        parts = {
            field: answers[topic]
            for topic, field in self.answers.items()
            if field and topic in answers
        }
        effort, told = np.zeros(len(self._robot.efforts)), parts.get('effort', np.zeros(0))
        require(
            len(told) in (0, len(self._efforts)),
            'recorded efforts',
            value=len(told),
            limit=f'numbers a tick; must be {len(self._efforts)}',
            remedy='the recording is of another robot',
        )
        effort[self._efforts[: len(told)]] = told
        return Row(
            self.measurement,
            self.reference,
            (effort, None if lock is None else lock > 0.5) if parts else None,
            self._truth,
            parts,
        )

    def take(self, topic: str, message: Any) -> None:
        if topic in self._sensors:
            self._hear(self._sensors[topic], message)
            self._wanted.discard(topic)
        reference = self.reference
        match topic:
            case ticks.REFERENCE:
                speed, *velocity = np.array(message.data).tolist()
                reference.speed = None if math.isnan(speed) else speed
                reference.velocity = None if math.isnan(velocity[0]) else np.array(velocity)
            case ticks.POSTURE:
                reference.posture = np.array(
                    self._pick(message, message.position, self._robot.joints)
                )
            case ticks.SUPPORT:
                reference.support = (
                    None if message.data == ticks.BOTH else tuple(message.data.split())
                )
            case names.TRUTH:
                self._truth = np.concatenate([signal.read(message) for signal in ticks.ODOMETRY])

    def _pick(self, message: Any, values: np.ndarray, joints: Any) -> list[float]:
        told = list(message.name)
        missing = [joint for joint in joints if joint not in told]
        require(
            not missing,
            'recorded JointState',
            value=', '.join(told),
            limit='lacks ' + ', '.join(missing),
            remedy='the recording is of another robot',
        )
        return [float(values[told.index(joint)]) for joint in joints]

    def _hear(self, sensor: Sensor, message: Any) -> None:
        for signal, part in zip(sensor.signals, self.measurement.parts[sensor.name]):
            values = (
                signal.read(message)
                if sensor.message != STATE
                else self._pick(message, getattr(message, signal.place), signal.labels)
            )
            part[:] = np.array(values) > 0.5 if sensor.name == LOCKS else values
        if sensor.name == JOINTS:
            stamp = message.header.stamp
            whole = stamp.sec * 1_000_000_000 + stamp.nanosec
            self.measurement.stamp, self.tick = whole * 1e-9, names.tick_number_of(whole)
