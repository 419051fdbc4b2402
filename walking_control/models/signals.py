# SPDX-License-Identifier: Apache-2.0
"""The words all rooms share: what is measured, what is known, what is commanded.

All arrays are allocated once and filled in place, so that a control tick allocates nothing.
Joints, feet and locks are in the order of the robot file; names map to positions only at the
border (topics, plants).

================================  =======  ==================================================
signal                            unit     meaning
================================  =======  ==================================================
Measurement.stamp                 s        time of the measurement
Measurement.position              rad, m   joint positions, ``(n_joints,)``
Measurement.velocity              rad/s    joint velocities, ``(n_joints,)``
Measurement.orientation           1        IMU frame to gravity-aligned world, xyzw
Measurement.angular_velocity      rad/s    of the IMU, in the IMU frame
Measurement.linear_acceleration   m/s^2    specific force at the IMU, in the IMU frame: +g upward
                                           at rest, averaged since the last measurement
Measurement.foot_force            N        force of the floor on each foot, foot frame
Measurement.locked                bool     joint lock engaged, ``(n_locks,)``
WalkerState.support               1        index of the stance foot
WalkerState.steps                 1        touchdowns that changed the stance foot so far
WalkerState.touchdown             s        stamp of the last of them
WalkerState.step_length           m        between the feet at that touchdown
WalkerState.step_time             s        time between the last two touchdowns
WalkerState.coordinates, rates    rad      minimal, of the current support; `Run` has them by the
                                           same names, its q, v are those of base and joints
WalkerState.contact               bool     debounced foot contacts, ``(n_feet,)``
WalkerState.pulled                bool     the floor seems to pull a foot down, ``(n_feet,)``
WalkerState.mistrusted            bool     the sensor of a foot was found wrong, ``(n_feet,)``
WalkerState.base                  ...      `BaseState`; its place counts from the first foothold
WalkerState.foothold              m        place of the stance foot, sum of the steps, ``(3,)``
WalkerState.foot_height           m        of each foot above the stance foot
WalkerState.floor_slope           1        rise of the floor over run along x and y of the floor
                                           frame, at the stance foot, ``(2,)``
WalkerState.covariance            ...      of turn (rad), velocity and position of the base in the
                                           floor frame, ``(9, 9)``; None where nothing is known
WalkerState.flicker               1        contact changes suppressed within 1 s
BaseState.position                m        of the base link's origin, floor frame, ``(3,)``
BaseState.orientation             1        base to floor frame, xyzw
BaseState.linear                  m/s      of the origin, floor frame, ``(3,)``
BaseState.angular                 rad/s    in base axes, ``(3,)``
Command.effort                    N m, N   by actuated joint, ground torque last, ``(n_efforts,)``
Command.lock                      bool     lock armed, ``(n_locks,)``
================================  =======  ==================================================

The table of a robot's sensors: what each tells, in which unit, message, topic and order.

`Measurement`, nodes, recordings, plots, bounds and errors of sensors all read it. A new sensor is
a row here, and a plant that fills it.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from operator import attrgetter
import re
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from walking_control.models.robot import Robot


class BaseState:
    """Where the base is and how it moves, always in space: planar robots are at y = 0.

    The floor frame has x along the floor, y to the left, z along its normal; a slope tilts gravity,
    not the frame. `rows`: shape of the leading axes: none for one instant, ``(T,)`` for a record.
    """

    __slots__ = ('position', 'orientation', 'linear', 'angular')

    def __init__(self, rows: tuple[int, ...] = ()) -> None:
        self.position, self.linear, self.angular = (np.zeros((*rows, 3)) for _ in range(3))
        self.orientation = np.zeros((*rows, 4))
        self.orientation[..., 3] = 1.0

    @property
    def pitch(self) -> float | np.ndarray:
        """Turn about +y from the floor normal, rad."""
        if self.orientation.ndim == 1:
            return pitch_of(*self.orientation.tolist())
        x, y, z, w = np.moveaxis(self.orientation, -1, 0)
        return np.asarray(np.arctan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y)))

    @property
    def rotation(self) -> np.ndarray:
        """Rotation from base axes to the floor frame, ``(..., 3, 3)``."""
        if self.orientation.ndim == 1:  # once a tick and more
            return np.array(_rotation_of(*self.orientation.tolist()))
        rows = np.array(_rotation_of(*np.moveaxis(self.orientation, -1, 0)))
        return np.ascontiguousarray(np.moveaxis(rows, (0, 1), (-2, -1)))


def pitch_of(x: float, y: float, z: float, w: float) -> float:
    """Return the turn about +y of a unit quaternion, rad."""
    return math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))


def _rotation_of(x: Any, y: Any, z: Any, w: Any) -> list[list[Any]]:
    """Return the rotation of a unit quaternion, of numbers or arrays."""
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]


def whole_nanoseconds(time: float) -> float:
    """Return a time in s as a ROS stamp keeps it: a run is the same with ROS and without."""
    return round(time * 1e9) * 1e-9


class Measurement:
    """What the sensors say at one instant.

    `robot`: the `Robot`.

    Attributes:
        values: All numbers, in the order of `sensors_of`.
        parts: Sensor -> parts of them, one of each of its signals.
    """

    __slots__ = (
        'stamp',
        'values',
        'parts',
        'position',
        'velocity',
        'orientation',
        'angular_velocity',
        'linear_acceleration',
        'foot_force',
        'locked',
    )

    def __init__(self, robot: Robot) -> None:
        self.stamp = 0.0
        rows = [
            (sensor.name, signal)
            for sensor in sensors_of(robot)
            if sensor.name != LOCKS
            for signal in sensor.signals
        ]
        ends = np.cumsum([len(signal.labels) for _, signal in rows])
        # one block of memory, so that one look tells whether everything is finite
        self.values = np.zeros(ends[-1])
        self.parts: dict[str, list[np.ndarray]] = {}
        for (name, signal), part in zip(rows, np.split(self.values, ends[:-1])):
            self.parts.setdefault(name, []).append(part)
            if signal.name == 'orientation':
                part[3] = 1.0
        self.position, self.velocity = self.parts[JOINTS]
        self.orientation, self.angular_velocity, self.linear_acceleration = self.parts[IMU]
        feet = 2 * len(self.position) + 10 + np.array([0, 3 * len(robot.feet)])
        self.foot_force = self.values[slice(*feet)].reshape(-1, 3)
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.parts[LOCKS] = [self.locked]


class WalkerState:
    """What the estimator knows: who stands, where the coordinates are, how fast they move.

    `robot`: the `Robot`.
    """

    __slots__ = (
        'stamp',
        'support',
        'steps',
        'touchdown',
        'step_length',
        'step_time',
        'coordinates',
        'rates',
        'position',
        'velocity',
        'contact',
        'locked',
        'base',
        'foothold',
        'foot_height',
        'floor_slope',
        'covariance',
        'flicker',
        'pulled',
        'mistrusted',
    )

    def __init__(self, robot: Robot) -> None:
        self.stamp = 0.0
        self.support = 0
        self.steps = 0
        self.touchdown = 0.0
        self.step_length = 0.0
        self.step_time = 0.0
        self.coordinates = np.zeros(len(robot.coordinates))
        self.rates = np.zeros(len(robot.coordinates))
        self.position = np.zeros(len(robot.joints))
        self.velocity = np.zeros(len(robot.joints))
        self.contact, self.pulled, self.mistrusted = np.zeros((3, len(robot.feet)), dtype=bool)
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.base = BaseState()
        self.foothold = np.zeros(3)
        self.foot_height = [0.0] * len(robot.feet)
        self.floor_slope = np.zeros(2)
        self.covariance: np.ndarray | None = None
        self.flicker = 0

    q = property(lambda self: self.coordinates, doc='`coordinates`, by the name of old laws.')
    v = property(lambda self: self.rates, doc='`rates`, by the name of old laws.')


class Command:
    """What the robot shall do until the next command.

    `robot`: the `Robot`.
    """

    __slots__ = ('effort', 'lock')

    def __init__(self, robot: Robot) -> None:
        self.effort = np.zeros(len(robot.efforts))
        self.lock = np.zeros(len(robot.locks), dtype=bool)


@dataclass
class Reference:
    """What the user wants of the walker.

    `speed`: forward speed in m/s; None leaves it to the controller's parameters. `velocity`: speed
    ahead (m/s), to the left (m/s) and rate of turning to the left (rad/s), ``(3,)``; None leaves it
    to ``speed``. `posture`: joint positions to hold, ``(n_joints,)``; None leaves them to the
    controller. `support`: feet that shall carry the robot; None takes all that touch the floor.
    """

    speed: float | None = None
    velocity: np.ndarray | None = None
    posture: np.ndarray | None = None
    support: tuple[str, ...] | None = None

    def clear(self) -> None:
        """Want nothing: the controller's parameters decide."""
        self.speed = self.velocity = self.posture = self.support = None


JOINTS, IMU, LOCKS, CONTACT = 'joint_state', 'imu', 'locks', 'contact'  # IMU: of the estimator
IMU_BROADCASTER, LOCK_BROADCASTER = 'imu_broadcaster', 'lock_broadcaster'


class Signal(NamedTuple):
    """Numbers of a sensor that are one quantity."""

    name: str  # also of its interfaces in ros2_control
    unit: str  # in SI
    labels: tuple[str, ...]  # of its numbers: joints, or axes
    title: str = ''  # Of its plot; one title, one plot. Empty: it is not drawn.
    field: str = ''  # of the message that holds it, where that is not its name

    def read(self, message: Any) -> list[float]:
        """Return the numbers along axes that a message holds."""
        vector = attrgetter(self.field or self.name)(message)
        return [getattr(vector, axis) for axis in self.labels]

    def write(self, message: Any, values: Any) -> None:
        """Put numbers along axes into a message."""
        vector = attrgetter(self.field or self.name)(message)
        for axis, value in zip(self.labels, values.tolist()):
            setattr(vector, axis, value)


class Sensor(NamedTuple):
    """What one message on one topic tells."""

    name: str  # `JOINTS`, `IMU`, a foot, the link of another IMU, or `LOCKS`
    kind: str  # the end of the code of the fault when it falls silent
    message: str  # its type in ROS
    controller: str  # broadcaster of ros2_control that publishes it
    topic: str  # relative
    frame: str  # link in whose axes it counts; empty for joints
    # in the order of `Measurement.values`; locks, which are no numbers, stand apart
    signals: tuple[Signal, ...]


STATE = 'sensor_msgs/msg/JointState'
INERTIAL = (
    Signal('orientation', '1', tuple('xyzw')),
    Signal('angular_velocity', 'rad/s', tuple('xyz'), 'angular velocity'),
    Signal('linear_acceleration', 'm/s^2', tuple('xyz'), 'specific force'),
)


def sensors_of(robot: Robot) -> list[Sensor]:
    """Return the sensors of a robot in the order of `Measurement.values`, locks last."""
    joints, locks = tuple(robot.joints), tuple(lock.joint for lock in robot.locks)
    rows = [
        Sensor(
            JOINTS,
            JOINTS,
            STATE,
            'joint_state_broadcaster',
            'joint_states',
            '',
            (
                Signal('position', 'rad', joints, 'joint positions'),
                Signal('velocity', 'rad/s', joints, 'joint velocities'),
            ),
        ),
        _inertial(IMU, IMU_BROADCASTER, robot.imu_link),
    ]
    for foot in robot.feet:
        controller = f'{topic_word(foot)}_broadcaster'
        rows.append(
            Sensor(
                foot,
                CONTACT,
                'geometry_msgs/msg/WrenchStamped',
                controller,
                f'{controller}/wrench',
                foot,
                (Signal('force', 'N', tuple('xyz'), 'forces on the feet', 'wrench.force'),),
            )
        )
    rows += [
        _inertial(imu_name(link), f'{topic_word(link)}_{IMU_BROADCASTER}', link)
        for link in robot.more_imus
    ]
    if locks:
        rows.append(
            Sensor(
                LOCKS,
                JOINTS,
                STATE,
                LOCK_BROADCASTER,
                f'{LOCK_BROADCASTER}/joint_states',
                '',
                (Signal('lock', '1', locks, '', 'position'),),
            )
        )
    return rows


def imu_name(link: str) -> str:
    """Return the name of an IMU beside the one that the estimator hears."""
    return f'imu_{link}'


def _inertial(name: str, controller: str, link: str) -> Sensor:
    return Sensor(name, IMU, 'sensor_msgs/msg/Imu', controller, f'{controller}/imu', link, INERTIAL)


def topic_word(name: str) -> str:
    """Return a name of the robot file as part of a ROS topic: letters, digits and _ alone."""
    word = re.sub('[^A-Za-z0-9_]', '_', name)
    return f'_{word}' if word[:1].isdigit() else word
