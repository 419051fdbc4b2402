# SPDX-License-Identifier: Apache-2.0
"""Write and read rosbag2 files (MCAP) of measurements and the commands that answer them.

The topics are those of the robot, so that a bag of ours and one of `ros2 bag record` look alike.
Beside them stand the robot file and the robot_description, by which a bag is complete, and what
was wanted of the law. ROS 2 need not be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
import math
from pathlib import Path
import shutil
from typing import Any

import numpy as np
import yaml

from walking_control.bringup import names
from walking_control.exceptions import import_optional, InvalidInput
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Command, Measurement, Reference

SUFFIX = '.mcap'
PART = '.part'   # of the folder that holds it while it is written
ROBOT_FILE = 'walking_controller/robot_file'
CONTROLLER = 'walking_controller/controller'
REFERENCE = 'walking_controller/reference'   # speed, then ahead, left, turn; NaN: not wanted
POSTURE, SUPPORT, BOTH = 'posture', 'support', 'both'
PACKAGE = 'rosbags'


def bag_path(path: Path) -> Path:
    """Return the path of a bag that can be written.

    Raises:
        InvalidInput: It is no ``.mcap``, or something lies there already.
    """
    if path.suffix != SUFFIX:
        raise InvalidInput(f'recording {path}', limit=f'must end in {SUFFIX}')
    if path.exists():
        raise InvalidInput(f'recording {path}', limit='exists', remedy='choose another name, or '
                           'take it away')
    return path


class BagWriter:
    """Records a controller tick by tick.

    A disk that fills up or fails ends the recording, not the walk: `problem` says why.

    Args:
        path: Of the ``.mcap``.
        robot_file: The `RobotFile` with the parameters as they are.
        controller: Name of the controller.

    Attributes:
        problem: Why it ended early, or None.

    Raises:
        MissingDependency: rosbags is not installed.
        InvalidInput: The file cannot be made.
    """

    problem: str | None = None

    def __init__(self, path: Path, robot_file: RobotFile, controller: str) -> None:
        rosbag2 = import_optional('rosbags.rosbag2', 'a recording', PACKAGE)
        typesys = import_optional('rosbags.typesys', 'a recording', PACKAGE)
        self.path, self._robot_file, self._controller = bag_path(path), robot_file, controller
        self._store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        self._types = self._store.types
        self._folder = path.with_name(path.name + PART)
        self._connections: dict[str, Any] = {}
        self._last: dict[str, Any] = {}
        try:
            shutil.rmtree(self._folder, ignore_errors=True)   # of one that was killed
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = rosbag2.Writer(self._folder, version=9,
                                          storage_plugin=rosbag2.StoragePlugin.MCAP)
            self._writer.open()
        except OSError as error:
            raise InvalidInput(f'recording {path}', limit=f'cannot be made: {error.strerror}'
                               ) from error
        self._begun = self._closed = False

    def write(self, measurement: Measurement, command: Command, reference: Reference) -> None:
        """Record a measurement, what was wanted and the command that answers both."""
        if self.problem is not None:
            return
        try:
            self._write(measurement, command, reference)
        except OSError as error:
            self._give_up(error)

    def close(self) -> Path | None:
        """Finish the file; return its path, or None of one that could not be finished."""
        if self._closed or self.problem is not None:
            return None
        self._closed = True
        try:
            self._writer.close()
            file, = self._folder.glob(f'*{SUFFIX}')
            file.replace(self.path)
            shutil.rmtree(self._folder)
        except OSError as error:
            self._give_up(error)
            return None
        return self.path

    def _give_up(self, error: OSError) -> None:
        self.problem = f'recording {self.path} has ended: {error.strerror or error}; what there ' \
            f'is lies in {self._folder}'
        if self._writer.storage is not None:
            self._writer.storage.abort()

    # -- messages --------------------------------------------------------------------------------

    def _write(self, measurement: Measurement, command: Command, reference: Reference) -> None:
        robot, stamp = self._robot_file.robot, round(measurement.stamp * 1e9)
        header = self._make('std_msgs/msg/Header', stamp=self._time(stamp), frame_id='')
        if not self._begun:
            self._begun = True
            for topic, text in ((names.ROBOT_DESCRIPTION, robot.urdf),
                                (ROBOT_FILE, robot_file_text(self._robot_file)),
                                (CONTROLLER, self._controller)):
                self._put(topic, stamp, self._make('std_msgs/msg/String', data=text))
        self._write_reference(stamp, header, reference)
        self._put(names.IMU, stamp, self._imu(header, measurement))
        zero = self._make('geometry_msgs/msg/Vector3', x=0.0, y=0.0, z=0.0)
        for foot, force in zip(robot.feet, measurement.foot_force.tolist()):
            wrench = self._make('geometry_msgs/msg/Wrench', force=self._vector(force), torque=zero)
            self._put(names.foot_wrench(foot), stamp, self._make(
                'geometry_msgs/msg/WrenchStamped', header=header, wrench=wrench))
        if robot.locks:
            self._put(names.LOCK_STATES, stamp, self._joints(
                header, [lock.joint for lock in robot.locks], measurement.locked))
        self._put(names.JOINT_STATES, stamp, self._joints(
            header, robot.joints, measurement.position, measurement.velocity))
        tick = names.tick_number_of(stamp)
        self._put(names.EFFORT_COMMANDS, stamp, self._array(command.effort, tick))
        if robot.locks:
            self._put(names.LOCK_COMMANDS, stamp, self._array(command.lock, tick))

    def _write_reference(self, stamp: int, header: Any, reference: Reference) -> None:
        """Record what is wanted when it changes."""
        velocity = [math.nan] * 3 if reference.velocity is None else reference.velocity.tolist()
        speed = math.nan if reference.speed is None else reference.speed
        wanted = np.array([speed, *velocity])
        if self._is_news(REFERENCE, wanted.tobytes()):
            self._put(REFERENCE, stamp, self._array(wanted, 0))
        posture = reference.posture
        if posture is not None and self._is_news(POSTURE, posture.tobytes()):
            self._put(POSTURE, stamp, self._joints(header, self._robot_file.robot.joints, posture))
        support = BOTH if reference.support is None else ' '.join(reference.support)
        if self._is_news(SUPPORT, support):
            self._put(SUPPORT, stamp, self._make('std_msgs/msg/String', data=support))

    def _is_news(self, topic: str, value: object) -> bool:
        if self._last.get(topic) == value:
            return False
        self._last[topic] = value
        return True

    def _put(self, topic: str, stamp: int, message: Any) -> None:
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                f'/{topic}', message.__msgtype__, typestore=self._store)
        self._writer.write(self._connections[topic], stamp,
                           self._store.serialize_cdr(message, message.__msgtype__))

    def _make(self, kind: str, **fields: Any) -> Any:
        return self._types[kind](**fields)

    def _time(self, stamp: int) -> Any:
        return self._make('builtin_interfaces/msg/Time', sec=stamp // 1_000_000_000,
                          nanosec=stamp % 1_000_000_000)

    def _vector(self, values: list[float]) -> Any:
        return self._make('geometry_msgs/msg/Vector3', x=values[0], y=values[1], z=values[2])

    def _imu(self, header: Any, measurement: Measurement) -> Any:
        x, y, z, w = measurement.orientation.tolist()
        return self._make(
            'sensor_msgs/msg/Imu', header=header,
            orientation=self._make('geometry_msgs/msg/Quaternion', x=x, y=y, z=z, w=w),
            orientation_covariance=np.zeros(9),
            angular_velocity=self._vector(measurement.angular_velocity.tolist()),
            angular_velocity_covariance=np.zeros(9),
            linear_acceleration=self._vector(measurement.linear_acceleration.tolist()),
            linear_acceleration_covariance=np.zeros(9))

    def _joints(self, header: Any, joints: Any, position: np.ndarray,
                velocity: np.ndarray | None = None) -> Any:
        return self._make('sensor_msgs/msg/JointState', header=header, name=list(joints),
                          position=np.array(position, float), velocity=np.zeros(0)
                          if velocity is None else velocity.copy(), effort=np.zeros(0))

    def _array(self, values: np.ndarray, tick: int) -> Any:
        layout = self._make('std_msgs/msg/MultiArrayLayout', dim=[], data_offset=tick)
        return self._make('std_msgs/msg/Float64MultiArray', layout=layout,
                          data=np.array(values, float))


def robot_file_text(robot_file: RobotFile) -> str:
    """Return a robot file as text, overrides and parameters as they are applied."""
    tree = {**robot_file.tree, **robot_file.sections}
    return yaml.safe_dump({'/**': {'ros__parameters': tree}}, sort_keys=False)


# -- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bag:
    """A bag, opened.

    Args:
        path: Its path.
        texts: Topic -> text of `ROBOT_FILE`, `CONTROLLER` and the robot_description, where told.
    """

    path: Path
    texts: dict[str, str]

    def messages(self) -> Iterator[tuple[str, Any]]:
        """Yield (topic, message) in the order in which they were written."""
        rosbag2 = import_optional('rosbags.rosbag2', 'a recording', PACKAGE)
        typesys = import_optional('rosbags.typesys', 'a recording', PACKAGE)
        store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        try:
            with rosbag2.Reader(self.path) as reader:
                for connection, _, data in reader.messages():
                    if connection.msgtype in store.types:
                        yield connection.topic.strip('/'), store.deserialize_cdr(
                            data, connection.msgtype)
        except (OSError, ValueError, LookupError, rosbag2.ReaderError) as error:
            raise InvalidInput(f'recording {self.path}', limit=f'cannot be read: {error}'
                               ) from error


def open_bag(path: Path) -> Bag:
    """Return a `Bag`.

    Args:
        path: A ``.mcap``, or the folder of a rosbag2.

    Raises:
        MissingDependency: rosbags is not installed.
        InvalidInput: It is not there or no bag.
    """
    if not path.exists():
        raise InvalidInput(f'recording {path}', limit='no such file')
    bag = Bag(path, {})
    for topic, message in bag.messages():
        if topic in (ROBOT_FILE, CONTROLLER, names.ROBOT_DESCRIPTION):
            bag.texts.setdefault(topic, message.data)
        elif topic == names.JOINT_STATES and bag.texts.get(ROBOT_FILE):
            break
    return bag


@dataclass
class Row:
    """A joint state with the newest of all else, and the command that answers it.

    Args:
        measurement: The `Measurement`, filled anew for every row.
        reference: The `Reference`, likewise.
        command: What was answered, None where that was not recorded.
    """

    measurement: Measurement
    reference: Reference
    command: tuple[np.ndarray, np.ndarray | None] | None


def read_rows(bag: Bag, robot: Robot) -> Iterator[Row]:
    """Yield the rows of a bag once all sensors have been heard.

    Raises:
        InvalidInput: The bag is of another robot.
    """
    reader = _RowReader(robot)
    pending = False
    answers: dict[str, np.ndarray] = {}
    for topic, message in bag.messages():
        if topic in (names.EFFORT_COMMANDS, names.LOCK_COMMANDS):
            if message.layout.data_offset == reader.tick:
                answers[topic] = np.array(message.data)
            continue
        if pending:   # a sensor after a joint state: its answers are complete
            yield reader.row(answers)
            pending, answers = False, {}
        reader.take(topic, message)
        if topic == names.JOINT_STATES and reader.complete:
            pending = True
    if pending:
        yield reader.row(answers)


class _RowReader:
    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self.measurement, self.reference = Measurement(robot), Reference()
        self._feet = {names.foot_wrench(foot): i for i, foot in enumerate(robot.feet)}
        self._wanted = {names.JOINT_STATES, names.IMU, *self._feet,
                        *((names.LOCK_STATES,) if robot.locks else ())}
        self._take: dict[str, Callable[[Any], None]] = {
            names.JOINT_STATES: self._joints, names.IMU: self._imu, REFERENCE: self._refer,
            names.LOCK_STATES: self._locks, POSTURE: self._posture, SUPPORT: self._support}
        self.tick: int | None = None

    @property
    def complete(self) -> bool:
        return not self._wanted

    def row(self, answers: dict[str, np.ndarray]) -> Row:
        effort, lock = (answers.get(topic) for topic in (names.EFFORT_COMMANDS,
                                                         names.LOCK_COMMANDS))
        return Row(self.measurement, self.reference, None if effort is None else (
            effort, None if lock is None else lock > 0.5))

    def take(self, topic: str, message: Any) -> None:
        if topic in self._feet:
            force = message.wrench.force
            self.measurement.foot_force[self._feet[topic]] = force.x, force.y, force.z
        elif topic in self._take:
            self._take[topic](message)
        self._wanted.discard(topic)

    def _pick(self, message: Any, values: np.ndarray, joints: Any) -> list[float]:
        told = list(message.name)
        missing = [joint for joint in joints if joint not in told]
        if missing:
            raise InvalidInput('recorded JointState', value=', '.join(told),
                               limit='lacks ' + ', '.join(missing), remedy='the recording is of '
                               'another robot')
        return [float(values[told.index(joint)]) for joint in joints]

    def _joints(self, message: Any) -> None:
        measurement, stamp = self.measurement, message.header.stamp
        joints = self._robot.joints
        measurement.position[:] = self._pick(message, message.position, joints)
        measurement.velocity[:] = self._pick(message, message.velocity, joints)
        whole = stamp.sec * 1_000_000_000 + stamp.nanosec
        measurement.stamp, self.tick = whole * 1e-9, names.tick_number_of(whole)

    def _locks(self, message: Any) -> None:
        self.measurement.locked[:] = np.array(self._pick(
            message, message.position, [lock.joint for lock in self._robot.locks])) > 0.5

    def _imu(self, message: Any) -> None:
        q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
        self.measurement.orientation[:] = q.x, q.y, q.z, q.w
        self.measurement.angular_velocity[:] = w.x, w.y, w.z
        self.measurement.linear_acceleration[:] = a.x, a.y, a.z

    def _refer(self, message: Any) -> None:
        speed, *velocity = np.array(message.data).tolist()
        self.reference.speed = None if math.isnan(speed) else speed
        self.reference.velocity = None if math.isnan(velocity[0]) else np.array(velocity)

    def _posture(self, message: Any) -> None:
        self.reference.posture = np.array(self._pick(message, message.position,
                                                     self._robot.joints))

    def _support(self, message: Any) -> None:
        self.reference.support = None if message.data == BOTH else tuple(message.data.split())
