# SPDX-License-Identifier: Apache-2.0
"""Between messages and signals: joints by name, arrays reused from tick to tick."""

from array import array
from collections.abc import Callable, Sequence
from importlib import import_module
import math
import struct
from types import SimpleNamespace
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, Quaternion, Vector3
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, Float64MultiArray, Header, MultiArrayDimension
from visualization_msgs.msg import Marker

from walking_control.exceptions import import_optional, MeasurementError, require
from walking_control.models import CONTACT, IMU, OWN, Robot, Sensor, Signal, STATE
from walking_control.ros.ros2_control import feedback_joints

# kind of a sensor, or a part of an IMU -> code of the fault when it is not what it was
CODES = {
    IMU: 'imu_gravity',  # in other axes nothing that it says is to be believed
    CONTACT: 'foot_force',
    OWN: 'signal',
    'orientation': 'orientation',
    'angular_velocity': 'gyroscope',
}


def seconds(stamp: Time) -> float:
    """Return a builtin_interfaces Time in s."""
    return float((stamp.sec * 1_000_000_000 + stamp.nanosec) * 1e-9)


def set_stamp(stamp: Time, time: float) -> None:
    """Write a time in s to a builtin_interfaces Time."""
    stamp.sec, stamp.nanosec = divmod(round(time * 1e9), 1_000_000_000)


def write_axes(target: Any, values: Any) -> None:
    """Write an array into the fields x, y, z and, of a quaternion, w."""
    for axis, value in zip('xyzw', values.tolist()):
        setattr(target, axis, value)


def axes_of(kind: Any, values: Sequence[float] | np.ndarray) -> Any:
    """Return a message with the fields x, y, z and, of a quaternion, w."""
    return kind(**dict(zip('xyzw', map(float, values))))


def make_marker(
    frame: str, name: str, number: int, kind: int, colour: Sequence[float], size: Sequence[float]
) -> Marker:
    """Return a marker of a namespace for RViz, upright in its frame; colour as r, g, b, a."""
    return Marker(
        header=Header(frame_id=frame),
        ns=name,
        id=number,
        type=kind,
        action=Marker.ADD,
        scale=axes_of(Vector3, size),
        pose=Pose(orientation=Quaternion(w=1.0)),
        color=ColorRGBA(**dict(zip('rgba', colour))),
    )


def allocate(message: Any, field: str, size: int) -> np.ndarray:
    """Give a float64[] field its length and return a numpy view of the message's own memory."""
    setattr(message, field, array('d', bytes(8 * size)))
    # the setter may copy, so the view is taken from the message
    return np.frombuffer(getattr(message, field)) if size else np.empty(0)


class JointStateReader:
    """Take joints out of a JointState, in whatever order they come.

    Args:
        joints: Names in the robot's order.
        signals: Those of a `Sensor`, which may be of fewer joints; None: positions, and velocities
            where they are asked for.
    """

    def __init__(self, joints: Sequence[str], signals: Sequence[Signal] | None = None) -> None:
        self._joints = joints
        self._fields = [
            (signal.place, [joints.index(label) for label in signal.labels])
            for signal in signals or ()
        ] or [(field, list(range(len(joints)))) for field in ('position', 'velocity')]
        self._names: list[str] | None = None  # of the last message; one without any is none
        self._index: list[int] = []

    def read(self, message: Any, *parts: np.ndarray) -> bool:
        """Copy the numbers of each field in the robot's order.

        Returns:
            bool: False if the message holds none of the joints: another device's, left alone.

        Raises:
            MeasurementError: Some joints are missing or an array is too short.
        """
        if message.name != self._names:
            if not set(message.name) & set(self._joints) and self._joints:
                return False
            self._learn(message.name)
        for (field, joints), part in zip(self._fields, parts):
            self._copy(getattr(message, field), joints, part, field)
        return True

    def _learn(self, names: Sequence[str]) -> None:
        missing = [joint for joint in self._joints if joint not in names]
        require(
            not missing,
            'JointState',
            value=list(names),
            limit='lacks the joint ' + ', '.join(missing),
            remedy='check the joint_state_broadcaster',
            error=MeasurementError,
        )
        self._names = list(names)
        self._index = [names.index(joint) for joint in self._joints]

    def _copy(self, values: Any, joints: list[int], out: np.ndarray, what: str) -> None:
        count = len(self._names or ())
        if len(values) < count:
            raise MeasurementError(
                f'JointState.{what}',
                value=len(values),
                limit=f'must be {count} numbers, one per name',
            )
        out[:] = [values[self._index[i]] for i in joints]


class AxesReader:
    """Take numbers along axes out of a message, and heed what it says about them.

    An axis of a force that the sensor does not have is NaN from its first message on, and read as
    0; one that becomes NaN later is broken and stays NaN, as does a force without any axis.

    REP 145: the first element of a covariance is -1 where the number itself is not measured. The
    frame is that of the first message: one that changes is another sensor, or other axes.

    Args:
        sensor: The `Sensor`.
        parts: Of a `Measurement`, one for each of its signals.
    """

    _frame: str | None = None
    _absent: list[int] | None = None  # axes that a force sensor does not have

    def __init__(self, sensor: Sensor, parts: Sequence[np.ndarray]) -> None:
        self._sensor, self._parts = sensor, parts

    def read(self, message: Any) -> bool:
        """Copy the numbers.

        Returns:
            bool: True.

        Raises:
            MeasurementError: The frame is another than before, or what is needed is not measured.
        """
        sensor = self._sensor
        for signal, part in zip(sensor.signals, self._parts):
            part[:] = signal.read(message)
        if sensor.kind == CONTACT:
            self._heed_absent(self._parts[0])
        if message.header.frame_id != self._frame:
            before, now = self._frame, message.header.frame_id
            self._frame = now if before is None else before
            if before is not None:
                limit = f'was {before!r}: other axes, or another sensor'
                raise _refused(f'frame_id of {sensor.topic}', now, limit, CODES[sensor.kind])
        if sensor.kind == IMU:
            self._heed_covariances(message)
        return True

    def _heed_absent(self, force: np.ndarray) -> None:
        if self._absent is None:
            absent = [axis for axis, value in enumerate(force.tolist()) if math.isnan(value)]
            self._absent = absent if len(absent) < len(force) else []
        for axis in self._absent:
            force[axis] = 0.0

    def _heed_covariances(self, message: Any) -> None:
        for signal, part in zip(self._sensor.signals, self._parts):
            absent = getattr(message, f'{signal.name}_covariance')[0] == -1.0
            if absent and signal.name == 'linear_acceleration':
                part[:] = 0.0  # as of an IMU without accelerometer
            elif absent:
                what = f'{signal.name}_covariance[0] of {self._sensor.topic}'
                limit = f'the IMU has no {signal.name} (REP 145)'
                raise _refused(what, -1.0, limit, CODES[signal.name])


def _refused(what: str, value: object, limit: str, code: str) -> MeasurementError:
    error = MeasurementError(what, value=value, limit=limit)
    error.code = code
    return error


def message_type(sensor: Sensor) -> Any:
    """Return the class of the messages of a sensor."""
    package, _, name = sensor.message.split('/')
    return getattr(import_module(f'{package}.msg'), name)


def reader_of(sensor: Sensor, parts: Sequence[np.ndarray]) -> Callable[[Any], bool]:
    """Return what copies a sensor message into a `Measurement`, as `JointStateReader.read` does."""
    if sensor.message == STATE:
        joints = JointStateReader(sensor.signals[0].labels, sensor.signals)
        return lambda message: joints.read(message, *parts)
    return AxesReader(sensor, parts).read


class SensorWriter:
    """A message of a sensor whose numbers are along axes, filled in place.

    Args:
        sensor: The `Sensor`.
    """

    def __init__(self, sensor: Sensor) -> None:
        self._signals = sensor.signals
        self.message = message_type(sensor)(header=Header(frame_id=sensor.frame))

    def write(self, time: float, *parts: np.ndarray) -> Any:
        """Return the message with these numbers."""
        set_stamp(self.message.header.stamp, time)
        for signal, part in zip(self._signals, parts):
            signal.write(self.message, part)
        return self.message


class JointStateWriter:
    """A JointState message of fixed names, filled in place.

    Args:
        names: Joint names.
        fields: Of the message, that it holds.
    """

    def __init__(
        self, names: Sequence[str], fields: Sequence[str] = ('position', 'velocity')
    ) -> None:
        self.message = JointState(name=list(names))
        self._parts = [allocate(self.message, field, len(names)) for field in fields]

    def write(self, time: float, *parts: np.ndarray) -> JointState:
        """Return the message with these values, of each field and name."""
        set_stamp(self.message.header.stamp, time)
        for held, part in zip(self._parts, parts):
            held[:] = part
        return self.message


def writer_of(sensor: Sensor, names: Sequence[str] | None = None) -> Any:
    """Return a `JointStateWriter`, of these names or the sensor's own, or a `SensorWriter`."""
    if sensor.message == STATE:
        fields = [signal.place for signal in sensor.signals]
        return JointStateWriter(sensor.signals[0].labels if names is None else names, fields)
    return SensorWriter(sensor)


class ArrayWriter:
    """A Float64MultiArray of fixed length, filled in place.

    Args:
        size: Number of values.
    """

    def __init__(self, size: int) -> None:
        self.message = Float64MultiArray()
        self._data = allocate(self.message, 'data', size)

    def write(self, values: Any, tick: int) -> Float64MultiArray:
        """Return the message with these values, tied to a tick number."""
        self._data[:] = values
        self.message.layout.data_offset = tick
        return self.message

    def label(self, *words: str) -> None:
        """Name what the messages from now on hold; without words no longer."""
        self.message.layout.dim = [
            MultiArrayDimension(label=word, size=1, stride=1) for word in words
        ]


# how a Float64MultiArray without dimensions begins in CDR, little endian; tick number and length
# follow, then, aligned, the numbers
BARE, COUNTS, NUMBERS = b'\x00\x01\x00\x00' + bytes(4), struct.Struct('<II'), 20


def read_array(raw: bytes) -> Any:
    """Return what has the fields of a serialized Float64MultiArray without dimensions, or None.

    The class of rclpy takes several times as long to be made.
    """
    if raw.startswith(BARE) and len(raw) >= NUMBERS:
        tick, count = COUNTS.unpack_from(raw, len(BARE))
        if len(raw) == NUMBERS + 8 * count:
            data = struct.unpack_from(f'<{count}d', raw, NUMBERS)
            return SimpleNamespace(layout=SimpleNamespace(dim=(), data_offset=tick), data=data)
    return None


class FeedbackWriter:
    """A Control message of LAAS's linear_feedback_controller, filled in place.

    Args:
        robot: The `Robot`, whose `Command.numbers` it writes.

    Raises:
        MissingDependency: The package of the message is not there.
    """

    def __init__(self, robot: Robot) -> None:
        self.message = feedback_type('drive: linear_feedback').Control()
        names, joints = list(robot.actuators), feedback_joints(robot)
        n = len(joints)
        order = [names.index(joint) for joint in joints]
        # places of effort, position, velocity, stiffness and damping, ``(5, n)``
        first = np.append(0, len(robot.efforts) + n * np.arange(4))
        self._picks = first[:, None] + order
        self._gain = _matrix(self.message.feedback_gain, n, 2 * n).reshape(n, 2, n)
        state = self.message.initial_state.joint_state
        state.name = joints
        self._parts = [
            _matrix(self.message.feedforward, n, 1),
            *(allocate(state, field, n) for field in ('position', 'velocity')),
            *(np.einsum('ii->i', self._gain[:, i]) for i in range(2)),  # views of diagonals
        ]
        allocate(state, 'effort', n)

    def write(self, numbers: np.ndarray, tick: int) -> Any:
        """Return the message with the numbers of a command; its tick is told with the efforts."""
        for part, pick in zip(self._parts, self._picks):
            part[:] = numbers[pick]
        return self.message

    def label(self, *words: str) -> None:
        """Say what the messages from now on hold; without words nothing."""
        self.message.header.frame_id = ' '.join(words)


def feedback_type(what: str) -> Any:
    """Return the module of the messages of linear_feedback_controller.

    Args:
        what: What needs it, for the message.

    Raises:
        MissingDependency: It is not there.
    """
    return import_optional(
        'linear_feedback_controller_msgs.msg',
        what,
        remedy='build https://github.com/loco-3d/linear-feedback-controller-msgs and source it',
    )


def without_effort(message: Any) -> Any:
    """Return a command that asks for nothing, made of one that was heard, an array or Control."""
    if isinstance(message, Float64MultiArray):
        return ArrayWriter(len(message.data)).write(0.0, 0)
    for part in (message.feedback_gain, message.feedforward):
        allocate(part, 'data', len(part.data))
    return message


def _matrix(message: Float64MultiArray, rows: int, columns: int) -> np.ndarray:
    """Give an array the layout of a matrix; return a view of its numbers."""
    message.layout.dim = [
        MultiArrayDimension(label='rows', size=rows, stride=rows * columns),
        MultiArrayDimension(label='cols', size=columns, stride=columns),
    ]
    return allocate(message, 'data', rows * columns)
