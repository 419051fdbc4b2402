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
Measurement.foot_force            N        force of the floor on each foot, foot frame; of a robot
                                           without sensors there, as the estimator knows it
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
WalkerState.signals               ...      name in `Robot.signals` -> its numbers, as measured
WalkerState.flicker               1        contact changes suppressed within 1 s
BaseState.position                m        of the base link's origin, floor frame, ``(3,)``
BaseState.orientation             1        base to floor frame, xyzw
BaseState.linear                  m/s      of the origin, floor frame, ``(3,)``
BaseState.angular                 rad/s    in base axes, ``(3,)``
Command.effort                    N m, N   by actuated joint, ground torque last, ``(n_efforts,)``
Command.position, velocity        rad      that drives aim at, by motor, ``(n_motors,)``
Command.stiffness, damping        N m/rad  of drives, by motor, ``(n_motors,)``; zero unless said
Command.lock                      bool     lock armed, ``(n_locks,)``
================================  =======  ==================================================

The table of a robot's sensors: what each tells, in which unit, message, topic and order.

`Measurement`, nodes, recordings, plots, bounds and errors of sensors all read it. What stands in
the section ``signals`` of a robot file are more rows (`models.own_signals`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from operator import attrgetter
import re
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.models.array_functions import array_function

if TYPE_CHECKING:
    from walking_control.models.robot import Robot


class BaseState:
    """Where the base is and how it moves, always in space: planar robots are at y = 0.

    The floor frame has x along the floor, y to the left, z along its normal; a slope tilts gravity,
    not the frame. `rows`: shape of the leading axes: none for one instant, ``(T,)`` for a record.
    """

    __slots__ = {  # help() says what stands here
        'position': 'Of the base in the floor frame, from where the walk began, m, ``(..., 3)``.',
        'orientation': 'Unit quaternion x, y, z, w, base axes to floor frame, ``(..., 4)``.',
        'linear': 'Velocity in the floor frame, m/s, ``(..., 3)``.',
        'angular': 'Angular velocity in base axes, rad/s, ``(..., 3)``.',
    }

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
            return np.array(rotation_of(*self.orientation.tolist()))
        rows = np.array(rotation_of(*np.moveaxis(self.orientation, -1, 0)))
        return np.ascontiguousarray(np.moveaxis(rows, (0, 1), (-2, -1)))


def pitch_of(x: float, y: float, z: float, w: float) -> float:
    """Return the turn about +y of a unit quaternion, rad."""
    return math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))


@array_function
def rotation_of(x: Any, y: Any, z: Any, w: Any) -> tuple[tuple[Any, Any, Any], ...]:
    """Return the rotation of a unit quaternion, of numbers or arrays, in rows."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def whole_nanoseconds(time: float) -> float:
    """Return a time in s as a ROS stamp keeps it: a run is the same with ROS and without."""
    return round(time * 1e9) * 1e-9


class Measurement:
    """What the sensors say at one instant.

    Args:
        robot: The `Robot`.
    """

    __slots__ = {  # help() says what stands here
        'stamp': 'When it was measured, s.',
        'values': 'All numbers, in the order of `sensors_of`.',
        'parts': 'Sensor -> parts of `values`, one of each of its signals.',
        'blocks': 'Sensor -> all its numbers, in one piece.',
        'own': 'Name in `Robot.signals` -> its numbers.',
        'position': 'Joint positions, rad or m, ``(n_joints,)``.',
        'velocity': 'Joint velocities, rad/s or m/s, ``(n_joints,)``.',
        'orientation': 'Unit quaternion x, y, z, w of the IMU in the world, ``(4,)``.',
        'angular_velocity': 'Of the IMU in its axes, rad/s, ``(3,)``.',
        'linear_acceleration': 'Specific force at the IMU in its axes, m/s^2, ``(3,)``.',
        'foot_force': 'From the floor on each foot, in its axes, N, ``(n_feet, 3)``.',
        'locked': 'Whether each lock holds, ``(n_locks,)``.',
    }

    def __init__(self, robot: Robot) -> None:
        self.stamp = 0.0
        places = places_of(robot)
        # one block of memory, so that one look tells whether everything is finite
        self.values = np.zeros(max((place.stop for place in places.values()), default=0))
        self.parts: dict[str, list[np.ndarray]] = {}
        for (sensor, _), place in places.items():
            self.parts.setdefault(sensor, []).append(self.values[place])
        self.blocks = {
            sensor: self.values[places[sensor, 0].start :][: sum(map(len, parts))]
            for sensor, parts in self.parts.items()
        }
        self.own = {
            signal.row: self.parts[told.name][i]
            for told in sensors_of(robot)
            for i, signal in enumerate(told.signals)
            if signal.row
        }
        self.position, self.velocity = self.parts[JOINTS][:2]
        self.orientation, self.angular_velocity, self.linear_acceleration = self.parts[IMU]
        for told in sensors_of(robot):
            if told.kind == IMU:
                self.parts[told.name][0][3] = 1.0
        if robot.foot_sensors:
            first, last = places[robot.feet[0], 0], places[robot.feet[-1], 0]
            self.foot_force = self.values[first.start : last.stop].reshape(-1, 3)
        else:  # the estimator tells them
            self.foot_force = np.zeros((len(robot.feet), 3))
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.parts[LOCKS] = [self.locked]


class WalkerState:
    """What the estimator knows: who stands, where the coordinates are, how fast they move.

    Args:
        robot: The `Robot`.
    """

    __slots__ = {  # help() says what stands here
        'stamp': 'Of the measurement it is known from, s.',
        'support': 'Index of the stance foot in `Robot.feet`.',
        'steps': 'Steps so far.',
        'touchdown': 'When the stance foot landed, s.',
        'step_length': 'Length of the last step, m; 0 before the first.',
        'step_time': 'How long the last step took, s; 0 before the first.',
        'coordinates': 'Minimal coordinates of the support, rad, ``(n_coordinates,)``.',
        'rates': 'Their velocities, rad/s, ``(n_coordinates,)``.',
        'position': 'Joint positions, rad or m, ``(n_joints,)``.',
        'velocity': 'Joint velocities, rad/s or m/s, ``(n_joints,)``.',
        'contact': 'Whether each foot touches the floor, ``(n_feet,)``.',
        'locked': 'Whether each lock holds, ``(n_locks,)``.',
        'base': 'The `BaseState`: place, attitude and velocities of the base.',
        'foothold': 'Where the stance foot is in the floor frame, m, ``(3,)``.',
        'foot_height': 'Of each foot above the stance foot, m, a list of ``n_feet``.',
        'floor_slope': 'Rise over run of the floor along x and along y, ``(2,)``.',
        'covariance': 'Of errors in attitude, velocity, place of the base, ``(9, 9)``; or None.',
        'flicker': 'Changes of a contact within the last second that were not believed.',
        'pulled': 'Whether the force on each foot pulls it down, as no floor does, ``(n_feet,)``.',
        'mistrusted': 'Whether the force of each foot contradicts the weight, ``(n_feet,)``.',
        'signals': 'Name in `Robot.signals` -> its numbers, in its unit.',
    }

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
        self.signals = {name: part.copy() for name, part in Measurement(robot).own.items()}

    q = property(lambda self: self.coordinates, doc='`coordinates`, by the name of old laws.')
    v = property(lambda self: self.rates, doc='`rates`, by the name of old laws.')


class Command:
    """What the robot shall do until the next command.

    A drive adds ``stiffness (position - q) + damping (velocity - v)`` to the effort of its joint.
    A law that leaves them at zero commands effort alone; see `models.drives`.

    Args:
        robot: The `Robot`.
    """

    __slots__ = {  # help() says what stands here
        'numbers': 'All of them, in the order of the next five, in one piece.',
        'effort': 'Of each motor, then of what else moves the robot, N m or N, ``(n_efforts,)``.',
        'position': 'Where the drive of each motor pulls its joint, rad or m, ``(n_motors,)``.',
        'velocity': 'How fast it shall move there, rad/s or m/s, ``(n_motors,)``.',
        'stiffness': 'Of each drive, N m/rad or N/m, ``(n_motors,)``.',
        'damping': 'Of each drive, N m s/rad or N s/m, ``(n_motors,)``.',
        'gains': 'Stiffness, then damping, in one piece, ``(2 n_motors,)``.',
        'acceleration': 'That the law counts on, of the joint of each motor, rad/s^2, for drives '
        'that it gives no gains; nobody is told, ``(n_motors,)``.',
        'lock': 'Whether each lock is armed, ``(n_locks,)``.',
        'joints': "Positions of the motors' joints among the robot's, ``(n_motors,)``.",
    }

    def __init__(self, robot: Robot) -> None:
        n, m = len(robot.efforts), len(robot.actuators)
        self.numbers = np.zeros(n + 4 * m)
        self.effort, self.position, self.velocity, self.stiffness, self.damping = np.split(
            self.numbers, n + m * np.arange(4)
        )
        self.gains, self.acceleration = self.numbers[n + 2 * m :], np.zeros(m)
        self.lock = np.zeros(len(robot.locks), dtype=bool)
        self.joints = np.array([robot.joint_index(joint) for joint in robot.actuators], int)

    def clear(self) -> None:
        """Ask for nothing: no effort, no stiffness, no damping."""
        self.numbers[:] = self.acceleration[:] = 0.0

    def torque(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the efforts that drives make of it, N m, ``(n_efforts,)``.

        Args:
            position: Of the robot's joints, rad or m, ``(n_joints,)``.
            velocity: Likewise, rad/s or m/s.
        """
        joints = self.joints
        torque: np.ndarray = self.effort.copy()
        torque[: len(joints)] += self.stiffness * (self.position - position[joints])
        torque[: len(joints)] += self.damping * (self.velocity - velocity[joints])
        return torque


@dataclass
class Reference:
    """What the user wants of the walker.

    Args:
        speed: Forward, m/s; None leaves it to the controller's parameters.
        velocity: Speed ahead (m/s), to the left (m/s) and rate of turning to the left (rad/s),
            ``(3,)``; None leaves it to ``speed``.
        posture: Joint positions to hold, rad or m, ``(n_joints,)``; None leaves them to the
            controller.
        support: Feet that shall carry the robot; None takes all that touch the floor.
        stop: Whether it shall stand as soon as it can.
        lower: By which share of its height a robot that stands shall be lowered.
        pace: Share of the velocity that warm motors bear.
        room: Part of the way to its limit of temperature that is left to each motor, 0 to 1,
            ``(n_motors,)``; None: nobody knows.
    """

    speed: float | None = None
    velocity: np.ndarray | None = None
    posture: np.ndarray | None = None
    support: tuple[str, ...] | None = None
    stop: bool = False
    lower: float = 0.0
    pace: float = 1.0
    room: np.ndarray | None = None

    def clear(self) -> None:
        """Want nothing: the controller's parameters decide."""
        self.speed = self.velocity = self.posture = self.support = None

    def velocity_within(self, limits: Sequence[float], otherwise: Sequence[float]) -> np.ndarray:
        """Return the velocity that is wanted: ahead, to the left (m/s) and of turning (rad/s).

        Args:
            limits: Of its size, ``(3,)``.
            otherwise: What counts where nothing is wanted, ``(3,)``.

        Returns:
            ``(3,)``; a speed alone replaces the first number of what counts otherwise.
        """
        speed = otherwise[0] if self.speed is None else self.speed
        wanted = (speed, *otherwise[1:]) if self.velocity is None else self.velocity
        return np.array(
            [self.pace * min(max(float(v), -most), most) for v, most in zip(wanted, limits)]
        )


JOINTS, IMU, LOCKS, CONTACT = 'joint_state', 'imu', 'locks', 'contact'  # IMU: of the estimator
OWN = 'signal'  # kind of a sensor that is a row of the robot file alone
IMU_BROADCASTER, LOCK_BROADCASTER = 'imu_broadcaster', 'lock_broadcaster'
JOINT_STATE_BROADCASTER = 'joint_state_broadcaster'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
FAR = 1e4  # rad, m, per s: no joint without limits goes farther or faster
UNIT = 0.01  # how far from 1 the norm of a quaternion may be
OPEN_OR_ENGAGED = 0.1  # how far from 0 or 1 the state of a lock may be


class Bounds(NamedTuple):
    """How a number is judged, and which fault it is."""

    beyond: str  # code of the fault when it is beyond its bounds
    jumped: str  # code of the fault when it changes faster than it can
    lower: float
    upper: float
    jump: float = math.inf  # it may change by ``jump + slope t`` in a time t
    slope: float = 0.0


# of a robot, its safety parameters and a label
Judge = Callable[['Robot', Any, str], Bounds]


def _speed(robot: Robot, safety: Any, joint: str) -> float:
    return float(min(FAR, robot.limits[joint].velocity * safety.velocity_limit_factor))


def _position(robot: Robot, safety: Any, joint: str) -> Bounds:
    limit, margin = robot.limits[joint], safety.joint_limit_margin
    lower, upper = max(limit.lower - margin, -FAR), min(limit.upper + margin, FAR)
    slope = _speed(robot, safety, joint)
    return Bounds('joint_limit', 'jump', lower, upper, safety.jump_margin, slope)


def _rate(code: str, limit: float, safety: Any) -> Bounds:
    """Believe a change by more than half the limit once it lasts: a spike does not."""
    swing = 2.0 / max(safety.bridge_time, 1e-9)  # from one limit to the other meanwhile
    return Bounds(code, code, -limit, limit, 0.5 * limit, swing * limit)


def _within(code: str, most: float) -> Bounds:
    return Bounds(code, code, -most, most)


def _refuse(robot: Robot, safety: Any, label: str) -> Bounds:
    raise InvalidInput(f'signal {label}', limit='has no bounds', remedy='give its row some')


class Signal(NamedTuple):
    """A row of the table: numbers of a sensor that are one quantity."""

    name: str  # also of its interfaces in ros2_control
    unit: str  # in SI
    labels: tuple[str, ...]  # of its numbers: joints, axes, or one empty one of a scalar
    title: str = ''  # Of its plot; one title, one plot. Empty: it is not drawn.
    field: str = ''  # of the message that holds it, where that is not its name
    judge: Judge = _refuse  # its bounds
    word: str = ''  # how messages call it, where that is not its name
    # standard deviation of its error, or the parameter of ``sensors`` that says it
    noise: str | float = 0.0
    drawn: str = ''  # the only label that is drawn; empty: all
    row: str = ''  # its name in `Robot.signals`, of one that stands there

    @property
    def place(self) -> str:
        """Where in a message it is."""
        return self.field or self.name

    def read(self, message: Any) -> list[float]:
        """Return the numbers that a message holds: along axes, or one."""
        held = attrgetter(self.place)(message)
        return [getattr(held, axis) if axis else held for axis in self.labels]

    def write(self, message: Any, values: Any) -> None:
        """Put numbers into a message."""
        *path, last = self.place.split('.')
        for axis, value in zip(self.labels, values.tolist()):
            steps = (*path, last) if axis else path
            held = attrgetter('.'.join(steps))(message) if steps else message
            setattr(held, axis or last, value)


class Sensor(NamedTuple):
    """What one message on one topic tells."""

    name: str  # `JOINTS`, `IMU`, a foot, the link of another IMU, a row's own, or `LOCKS`
    kind: str  # the end of the code of the fault when it falls silent
    message: str  # its type in ROS
    controller: str  # broadcaster of ros2_control that publishes it
    topic: str  # relative
    frame: str  # link in whose axes it counts; empty for joints
    # in the order of `Measurement.values`; locks, which are no numbers, stand apart
    signals: tuple[Signal, ...]

    def spread(self, signal: Signal, part: np.ndarray) -> np.ndarray:
        """Return numbers of joints as a JointState has them: NaN where a joint has none."""
        names = self.signals[0].labels
        if signal.labels == names:
            return part
        spread = np.full(len(names), math.nan)
        spread[[names.index(label) for label in signal.labels]] = part
        return spread


STATE = 'sensor_msgs/msg/JointState'
INERTIAL = (
    Signal(
        'orientation',
        '1',
        tuple('xyzw'),
        judge=lambda *_: Bounds('orientation', 'jump', -1.0 - UNIT, 1.0 + UNIT),
        noise='orientation_noise',
    ),
    Signal(
        'angular_velocity',
        'rad/s',
        tuple('xyz'),
        'angular velocity',
        judge=lambda robot, safety, _: _rate('gyroscope', safety.base_rate_limit, safety),
        word='angular velocity',
        noise='gyro_noise',
    ),
    Signal(
        'linear_acceleration',
        'm/s^2',
        tuple('xyz'),
        'specific force',
        judge=lambda robot, safety, _: _within('accelerometer', safety.specific_force_limit),
        word='acceleration',
        noise='acceleration_noise',
    ),
)
_POSITION = Signal(
    'position', 'rad', (), 'joint positions', judge=_position, noise='position_noise'
)
_VELOCITY = Signal(
    'velocity',
    'rad/s',
    (),
    'joint velocities',
    judge=lambda robot, safety, joint: _rate(
        'velocity_limit', _speed(robot, safety, joint), safety
    ),
    noise='velocity_noise',
)
_FORCE = Signal(
    'force',
    'N',
    tuple('xyz'),
    'forces on the feet',
    'wrench.force',
    lambda robot, safety, _: _within('foot_force', safety.foot_force_limit),
    'foot force',
    'force_noise',
    'z',
)


def sensors_of(robot: Robot) -> list[Sensor]:
    """Return the sensors of a robot in the order of `Measurement.values`, locks last."""
    joints, locks = tuple(robot.joints), tuple(lock.joint for lock in robot.locks)
    own = [row.sensor(robot) for row in robot.signals.values()]
    told = [row.signals[0] for row in own if row.name == JOINTS]
    moving = (_POSITION._replace(labels=joints), _VELOCITY._replace(labels=joints), *told)
    rows = [
        Sensor(JOINTS, JOINTS, STATE, JOINT_STATE_BROADCASTER, 'joint_states', '', moving),
        _inertial(IMU, IMU_BROADCASTER, robot.imu_link),
    ]
    for foot in robot.foot_sensors:
        controller = f'{topic_word(foot)}_broadcaster'
        topic = f'{controller}/wrench'
        rows.append(Sensor(foot, CONTACT, WRENCH, controller, topic, foot, (_FORCE,)))
    rows += [
        _inertial(imu_name(link), f'{topic_word(link)}_{IMU_BROADCASTER}', link)
        for link in robot.more_imus
    ]
    rows += [row for row in own if row.name != JOINTS]
    if locks:
        held = (Signal('lock', '1', locks, '', 'position'),)
        topic = f'{LOCK_BROADCASTER}/joint_states'
        rows.append(Sensor(LOCKS, JOINTS, STATE, LOCK_BROADCASTER, topic, '', held))
    return rows


def places_of(robot: Robot) -> dict[tuple[str, int], slice]:
    """Return sensor and number of its signal -> where it is in `Measurement.values`."""
    places, end = {}, 0
    for sensor in sensors_of(robot):
        for i, signal in enumerate(sensor.signals if sensor.name != LOCKS else ()):
            places[sensor.name, i] = slice(end, end + len(signal.labels))
            end += len(signal.labels)
    return places


def motor_places(robot: Robot, kind: str) -> np.ndarray:
    """Return where in `Measurement.values` a signal of each motor lies; -1: nobody tells it.

    Args:
        robot: The `Robot`.
        kind: Of the signals in its file, such as ``effort``.

    Returns:
        Indices, ``(n_motors,)``.
    """
    index = Measurement(robot)
    index.values[:] = np.arange(len(index.values))
    places = {
        joint: int(place)
        for name, row in robot.signals.items()
        if row.values.kind == kind
        for joint, place in zip(row.of, index.own[name])
    }
    return np.array([places.get(joint, -1) for joint in robot.actuators], int)


def is_lock_state(told: float) -> bool:
    """Return whether a number is near 0, open, or 1, engaged; NaN and what lies between is not."""
    return min(abs(told), abs(told - 1.0)) <= OPEN_OR_ENGAGED


def imu_name(link: str) -> str:
    """Return the name of an IMU beside the one that the estimator hears."""
    return f'imu_{link}'


def _inertial(name: str, controller: str, link: str) -> Sensor:
    return Sensor(name, IMU, 'sensor_msgs/msg/Imu', controller, f'{controller}/imu', link, INERTIAL)


def topic_word(name: str) -> str:
    """Return a name of the robot file as part of a ROS topic: letters, digits and _ alone."""
    word = re.sub('[^A-Za-z0-9_]', '_', name)
    return f'_{word}' if word[:1].isdigit() else word
