# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a robot, on purpose: one way to provoke each kind of fault.

A simulated robot spoils what its sensors say. Faults of the control law itself have to be provoked
where the law runs.
"""

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.models import IMU, JOINTS, Measurement, Robot
from walking_control.safety.faults import KINDS

# code of the fault -> how the simulated robot provokes it
SENSOR_FAULTS = {
    'not_finite': 'the first joint is measured as NaN',
    'joint_state': 'the last joint is missing from the joint states',
    'orientation': 'the IMU quaternion has norm 0.5',
    'imu_gravity': 'the accelerometer is measured upside down',
    'imu_frozen': 'the IMU repeats its last words',
    'stale_joint_state': 'joint states stop',
    'stale_imu': 'the IMU stops',
    'stale_contact': 'the sensor of the first foot stops',
    'stuck_contact': 'no foot reports contact any more',
    'contact_flicker': 'the feet report contact for 10 ms in every 20 ms only',
    'jump': 'the base is measured turned by 0.35 rad',
    'joint_limit': 'the first joint is measured 1 rad beyond its limit',
    'velocity_limit': 'the first joint is measured at ten times its fastest speed',
    'gyroscope': 'the base is measured turning at a million rad/s',
    'accelerometer': 'a specific force of a million m/s^2 is measured',
    'foot_force': 'a million N are measured under the first foot',
    'contradiction': 'the gyroscope measures 8 rad/s too much',
    'lock': 'all locks say engaged; only where a knee is bent',
    'fall': 'the base is measured turning until it lies on the floor',
    'clock_stopped': 'all stamps stand still',
    'clock_backwards': 'all stamps go back by half a second',
}
# code -> how it is provoked where the law runs
LAW_FAULTS = {
    'command': 'the control law gives NaN',
    'internal': 'the control law raises an error',
    'tick_overrun': 'every tick takes three and a half control periods; real time only',
}
TOPIC_FAULTS = {'emergency_stop': 'True is published on emergency_stop'}
INJECTIONS = {**SENSOR_FAULTS, **LAW_FAULTS, **TOPIC_FAULTS}


FLICKER = 0.02  # s, from contact to contact: longer than one bad reading, shorter than debouncing
LIE = 1e6  # rad/s, m/s^2, N: no robot
FALLING = 5.0  # rad/s
JUMP = 0.35  # rad; more than a base can turn in a measurement, less than a fall


def check_kind(kind: str) -> str:
    """Return a kind of fault that can be provoked.

    Raises:
        InvalidInput: There is no such kind, or nobody can provoke it from outside.
    """
    if kind in INJECTIONS:
        return kind
    raise InvalidInput(
        'fault',
        value=kind,
        limit='cannot be provoked in a demo' if kind in KINDS else 'no such kind',
        remedy='one of ' + ', '.join(INJECTIONS),
    )


def spoil_sensors(kind: str, robot: Robot, measurement: Measurement, elapsed: float) -> None:
    """Change a measurement in place as a kind of `SENSOR_FAULTS` asks.

    Args:
        measurement: The `Measurement`; its stamp is not touched.
        elapsed: Time since the fault began, s.
    """
    first, told = robot.limits[robot.joints[0]], measurement
    # what is written, where in it, and the number
    writes: dict[str, tuple[np.ndarray, Any, Any]] = {
        'not_finite': (told.position, 0, math.nan),
        'orientation': (told.orientation, ..., 0.5 * told.orientation),
        'imu_gravity': (told.linear_acceleration, ..., -told.linear_acceleration),
        'stuck_contact': (told.foot_force, ..., 0.0),
        'joint_limit': (told.position, 0, first.upper + 1.0),
        'velocity_limit': (told.velocity, 0, 10.0 * first.velocity),
        'jump': (told.orientation, ..., turned(told.orientation, JUMP)),
        'contradiction': (told.angular_velocity, 1, told.angular_velocity[1] + 8.0),
        'lock': (told.locked, ..., True),
        'gyroscope': (told.angular_velocity, 1, LIE),
        'accelerometer': (told.linear_acceleration, 1, LIE),
        'foot_force': (told.foot_force, (0, 1), LIE),
    }
    if elapsed % FLICKER >= 0.5 * FLICKER:
        writes['contact_flicker'] = writes['stuck_contact']
    if kind in writes:
        part, where, value = writes[kind]
        part[where] = value
    elif kind == 'fall':
        angle = min(0.5 * math.pi, FALLING * elapsed)
        told.orientation[:] = turned(told.orientation, angle)
        told.angular_velocity[1] += FALLING
        told.foot_force *= 0.24  # in contact, but it carries too little to judge the IMU


def turned(orientation: np.ndarray, angle: float) -> tuple[float, float, float, float]:
    """Return a quaternion xyzw turned about the world's y axis by an angle in rad.

    Args:
        orientation: Quaternion xyzw, ``(4,)``.
        angle: rad.
    """
    s, c = math.sin(0.5 * angle), math.cos(0.5 * angle)
    x, y, z, w = orientation
    return c * x + s * z, c * y + s * w, c * z - s * x, c * w - s * y


@dataclass
class Injection:
    """The fault of a simulated robot, none to begin with.

    Args:
        robot: The `Robot`.
    """

    robot: Robot
    kind: str = ''

    def __post_init__(self) -> None:
        self._told = Measurement(self.robot)
        self._since: float | None = None
        self._imu: list[np.ndarray] = []

    def begin(self, kind: str) -> None:
        """Begin a kind of `SENSOR_FAULTS`; ``''`` ends it."""
        self.kind, self._since = kind, None

    def spoil(self, measurement: Measurement) -> Measurement:
        """Return the `Measurement` that is told instead of the true one."""
        if not self.kind:
            return measurement
        told = self._told
        for name in ('values', 'locked'):
            np.copyto(getattr(told, name), getattr(measurement, name))
        if self._since is None:
            self._since, self._imu = measurement.stamp, [part.copy() for part in told.parts[IMU]]
            self._foot = told.foot_force[0].copy()
        if self.kind in ('imu_frozen', 'stale_imu'):
            for part, frozen in zip(told.parts[IMU], self._imu):
                part[:] = frozen
        if self.kind == 'stale_contact':
            told.foot_force[0] = self._foot
        told.stamp = {'clock_stopped': self._since, 'clock_backwards': measurement.stamp - 0.5}.get(
            self.kind, measurement.stamp
        )
        spoil_sensors(self.kind, self.robot, told, measurement.stamp - self._since)
        return told

    def mutes(self, sensor: str) -> bool:
        """Return whether a sensor is silent, by its name in the table of `sensors_of`."""
        return sensor == {
            'stale_joint_state': JOINTS,
            'stale_imu': IMU,
            'stale_contact': self.robot.feet[0],
        }.get(self.kind)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names in the joint states."""
        return self.robot.joints[:-1] if self.kind == 'joint_state' else self.robot.joints
