# SPDX-License-Identifier: Apache-2.0
"""What measured numbers can be: every one that reaches a law lies within a bound of this table."""

from collections.abc import Callable
from functools import lru_cache
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from walking_control.models.robot import Robot
from walking_control.models.signals import (
    Bounds,
    IMU,
    JOINTS,
    LOCKS,
    Measurement,
    places_of,
    sensors_of,
    STATE,
    UNIT,
)
from walking_control.safety.parameters import SafetyParameters

MEMORY = 0.1  # s over which rates are added up and compared with the change of angles
SILENCE = 3.0  # of the usual time between two samples: more, and nobody knows what lies between
LAG = 0.01  # s by which velocities from a drive's low-pass follow positions, 16 Hz

LatchFault = Callable[[str, str, float], None]  # code, words, stamp


class Channel(NamedTuple):
    """Numbers of one sensor that are believed or refused together.

    Attributes:
        what: How messages call it.
        signal: Sensor and signal, by their names.
        part: Its part of `Measurement.values`.
        bounds: How it is judged.
        unit: Its unit.
    """

    what: str
    signal: tuple[str, str]
    part: slice
    bounds: Bounds
    unit: str


def channels_of(robot: Robot, values: SafetyParameters) -> list[Channel]:
    """Return the `Channel`s of a robot's `Measurement`, in its order: joint by joint, else whole.

    Args:
        robot: The `Robot`.
        values: `SafetyParameters`.

    Raises:
        InvalidInput: A signal has no bounds.
    """
    rows: list[Channel] = []
    places = places_of(robot)
    for sensor in sensors_of(robot):
        for i, signal in enumerate(sensor.signals if sensor.name != LOCKS else ()):
            start, word = places[sensor.name, i].start, signal.word or signal.name
            apart = sensor.message == STATE
            for j, label in enumerate(signal.labels[: None if apart else 1]):
                what = f'the IMU {word}' if sensor.name == IMU else f'the {word} of {sensor.name}'
                what = f'the {word} of joint {label}' if apart else what
                size = 1 if apart else len(signal.labels)
                part = slice(start + j, start + j + size)
                bounds = signal.judge(robot, values, label)
                named = sensor.name, signal.name
                rows.append(Channel(what, named, part, bounds, signal.unit))
    return rows


class Plausibility:
    """Refuses what cannot be; bridges it for a short time, then it is a fault.

    In place of refused numbers the last good ones hold for `bridge_time`, positions and orientation
    going on at their last rate, velocities as positions change. Numbers that are each possible but
    contradict each other, rates and the change of angles, are a fault once their difference has
    added up; a single message cannot do that.

    Args:
        latch: Called with code, words and stamp of a fault.

    Time counts while samples are heard: a silence proves nothing about the samples around it.

    Attributes:
        bridged: Measurements so far of which something was refused.
        imu_lost: Whether something stands in for the IMU.
        locks_heard: Whether the locks have spoken since the last measurement; they may come later
            than the joints.
        imu_lag: By how much the stamp of the IMU is behind that of the joints, s: after a silence
            the one may be of its beginning and the other of its end.
        last_lag: The same, of the last measurement.
        imu_gap: By how much more time has passed for the IMU since then than for the joints, s.
    """

    def __init__(self, robot: Robot, values: SafetyParameters, latch: LatchFault) -> None:
        self._robot, self._values, self._latch = robot, values, latch
        self._channels = channels_of(robot, values)
        sizes = [channel.part.stop - channel.part.start for channel in self._channels]
        self._lower, self._upper, self._jump, self._slope = (
            np.repeat([getattr(channel.bounds, name) for channel in self._channels], sizes)
            for name in ('lower', 'upper', 'jump', 'slope')
        )
        places = places_of(robot)
        self._first: dict[tuple[str, str], int] = {}  # of the channels of a signal
        for i, channel in enumerate(self._channels):
            self._first.setdefault(channel.signal, i)
        self._angles, self._rates = places[JOINTS, 0], places[JOINTS, 1]
        self.speeds = self._upper[self._rates]  # largest of each joint, rad/s
        self._locks = [
            (i, robot.joint_index(lock.joint), lock.angle, lock.capture + values.jump_margin)
            for i, lock in enumerate(robot.locks)
        ]
        self._good = Measurement(robot)
        self.bridged = 0  # measurements of which something was refused
        self.locks_heard, self.imu_lost = True, False
        self.imu_lag = self.imu_gap = self.last_lag = 0.0
        self.forget()

    def forget(self) -> None:
        """Forget the past, not the count."""
        self._good_at = [-math.inf] * (len(self._channels) + len(self._locks))
        self._wrong_for = [math.inf] * len(self._good_at)  # s of samples heard
        self._is_clean = False  # whether all channels were good in the last measurement
        self._known: float | None = None  # stamp of the last measurement
        self._drift, self._turned = np.zeros(len(self._robot.joints)), [0.0, 0.0, 0.0]
        self._last, self._told = Measurement(self._robot), Measurement(self._robot)

    def judge(self, measurement: Measurement, heard: float) -> Measurement:
        """Return the `Measurement` to believe: the one given, or one with gaps bridged.

        Args:
            measurement: The `Measurement`; its stamp is finite and not before the last one's.
            heard: Time that it stands for, s, without a silence before it.
        """
        good, values, self._heard = self._good, measurement.values, heard
        if (self._is_clean or self._known is None) and self._is_fine(measurement):
            told, self._is_clean, count = measurement, True, len(self._good_at)
            self._good_at, self._wrong_for = [measurement.stamp] * count, [0.0] * count
            good.values[:], good.locked[:], good.stamp = (
                values,
                measurement.locked,
                measurement.stamp,
            )
        else:
            told = self._sort(measurement)
        self.last_lag = self.imu_lag
        self._compare(told)
        return told

    def _is_fine(self, measurement: Measurement) -> bool:
        values, good = measurement.values, self._good
        age = math.inf if self._known is None else measurement.stamp - good.stamp
        within = (self._lower <= values) & (values <= self._upper)
        near = self._known is None or np.abs(values - good.values) <= self._jump + self._slope * age
        return (
            False not in (within & near).tobytes()
            and self._wrong_turn(measurement.orientation, age + self.imu_gap) is None
            and not any(self._is_elsewhere(measurement, *lock) for lock in self._locks)
        )

    @staticmethod
    def _is_elsewhere(
        measurement: Measurement, i: int, joint: int, angle: float, reach: float
    ) -> bool:
        return bool(measurement.locked[i]) and abs(measurement.position[joint] - angle) > reach

    def _wrong_turn(self, orientation: np.ndarray, age: float) -> tuple[str, str] | None:
        """Return code and words if a quaternion is none or jumped from the last good one."""
        said = tuple(orientation.tolist())
        norm = math.hypot(*said)  # of any size
        if not abs(norm - 1.0) < UNIT:
            return 'orientation', f'the IMU quaternion has norm {norm:.3g}, not 1'
        if not math.isfinite(age):
            return None
        values = self._values
        turn = rotation_between(tuple(self._good.orientation.tolist()), said)
        moved = math.dist(turn, [age * rate for rate in self._good.angular_velocity.tolist()])
        possible = values.jump_margin + 0.5 * values.base_rate_limit * age
        if moved <= possible:
            return None
        return (
            'jump',
            f'the orientation of the IMU jumped: the base turned {moved:.3g} rad farther than its '
            f'gyroscope said; '
            f'possible {possible:.3g}',
        )

    # -- one channel after the other -------------------------------------------------------------

    def _sort(self, measurement: Measurement) -> Measurement:
        """Take what is good of a measurement; bridge the rest, or latch a fault."""
        stamp, good, told = measurement.stamp, self._good, self._told
        self._is_clean = True
        for i, channel in enumerate(self._channels):
            age = stamp - self._good_at[i] + self.imu_gap * (channel.signal[0] == IMU)
            wrong = self._judge_channel(channel, measurement, age)
            if self._settle(i, stamp, wrong):
                good.values[channel.part] = measurement.values[channel.part]
        told.values[:], told.stamp = good.values, stamp
        for k, lock in enumerate(self._locks):
            wrong = None
            if self._is_elsewhere(told, *lock) or self._is_elsewhere(measurement, *lock):
                name = self._robot.locks[lock[0]].joint
                wrong = (
                    'lock',
                    f'the lock of joint {name} says engaged, but the joint is at '
                    f'{told.position[lock[1]]:.3g} rad, not {lock[2]:g}',
                )
            if self._settle(len(self._channels) + k, stamp, wrong, self.locks_heard):
                good.locked[lock[0]] = measurement.locked[lock[0]]
        told.locked[:] = good.locked
        self._carry_on(told, stamp)
        self.bridged += not self._is_clean
        good.stamp = stamp
        return told

    def _judge_channel(
        self, channel: Channel, measurement: Measurement, age: float
    ) -> tuple[str, str] | None:
        """Return code and words of what is wrong with a channel, or None."""
        values, bounds = measurement.values[channel.part], channel.bounds
        worst = int(np.argmax(np.where(np.isfinite(values), np.abs(values), math.inf)))
        value, what = float(values[worst]), channel.what
        if not np.isfinite(values).all():
            return 'not_finite', f'{what} is not finite'
        if channel.signal == (IMU, 'orientation'):  # of the one that the estimator hears
            return self._wrong_turn(values, age)
        if not bounds.lower <= values.min() <= values.max() <= bounds.upper:
            return (
                bounds.beyond,
                f'{what} is {value:.3g} {channel.unit}; possible '
                f'{bounds.lower:.3g} to {bounds.upper:.3g}' + _degrees(value, channel),
            )
        reach = bounds.jump + bounds.slope * age if math.isfinite(age) else math.inf
        moved = np.abs(values - self._good.values[channel.part])
        if (moved <= reach).all():
            return None
        worst = int(moved.argmax())
        return (
            bounds.jumped,
            f'{what} went from '
            f'{self._good.values[channel.part][worst]:.3g} to {values[worst]:.3g} '
            f'{channel.unit} at once; possible {reach:.3g}',
        )

    def _settle(
        self, i: int, stamp: float, wrong: tuple[str, str] | None, spoke: bool = True
    ) -> bool:
        """Note whether a channel is good; latch a fault of one that has been wrong for too long."""
        if wrong is None:
            self._good_at[i], self._wrong_for[i] = stamp, 0.0
            return True
        self._is_clean = False
        self._wrong_for[i] += self._heard if spoke else 0.0
        lasted = self._wrong_for[i]
        if lasted > self._values.bridge_time + 1e-9:
            more = f', for {lasted:.3f} s' if math.isfinite(lasted) else ''
            self._latch(wrong[0], wrong[1] + more, stamp)
        return False

    def _carry_on(self, told: Measurement, stamp: float) -> None:
        """Let what is bridged go on at its last rate."""
        since, first = self._known, self._first
        angles, rates = self._angles, self._rates
        for i in range(len(told.position)):
            age = stamp - self._good_at[first[JOINTS, 'position'] + i]
            if 0.0 < age < math.inf:
                ahead = told.position[i] + age * told.velocity[i]
                told.position[i] = min(max(ahead, self._lower[angles][i]), self._upper[angles][i])
            elif (
                self._good_at[first[JOINTS, 'velocity'] + i] < stamp
                and since is not None
                and since < stamp
            ):
                # an impact changes the last good velocity, but not where the joint is
                rate = (told.position[i] - self._last.position[i]) / (stamp - since)
                told.velocity[i] = min(max(rate, self._lower[rates][i]), self._upper[rates][i])
        age = stamp - self._good_at[first[IMU, 'orientation']]
        if 0.0 < age < math.inf:
            turn = pin.Quaternion(pin.exp3(age * told.angular_velocity))
            told.orientation[:] = (pin.Quaternion(told.orientation.copy()) * turn).coeffs()

    # -- one sensor against the other ------------------------------------------------------------

    def _compare(self, told: Measurement) -> None:
        """Latch a fault when rates and the change of angles contradict each other."""
        values, last = self._values, self._last
        before, self._known = self._known, told.stamp
        age, drift = math.inf if before is None else told.stamp - before, self._drift
        if age > SILENCE * self._heard:
            last.values[:], self._imu_known = told.values, told.stamp - self.imu_lag
            self._said, self._turned = tuple(told.blocks[IMU][:7].tolist()), [0.0, 0.0, 0.0]
            drift[:] = 0.0
            return
        drift *= math.exp(-age / MEMORY)
        drift += 0.5 * age * (told.velocity + last.velocity) - (told.position - last.position)
        allowed = values.jump_margin + (0.5 * age + LAG) * self.speeds
        if True in (np.abs(drift) > allowed).tobytes():
            worst = int((np.abs(drift) - allowed).argmax())
            self._latch(
                'contradiction',
                f'joint {self._robot.joints[worst]} moved '
                f'{abs(drift[worst]):.3g} rad otherwise than its velocity says within '
                f'{MEMORY:g} s; possible {allowed[worst]:.3g}',
                told.stamp,
            )
        last.values[:] = told.values
        if not self.imu_lost:
            self._compare_imu(told)

    def _compare_imu(self, told: Measurement) -> None:
        said, before = tuple(told.blocks[IMU][:7].tolist()), self._said
        if said == before:  # no news: rarer than the joints
            return
        self._said, stamp = said, told.stamp - self.imu_lag
        age, self._imu_known = max(stamp - self._imu_known, 0.0), stamp
        turn = rotation_between(before[:4], said[:4])
        kept, half = math.exp(-age / MEMORY), 0.5 * age
        self._turned = [
            kept * turned + (half * (now + then) - angle)
            for turned, now, then, angle in zip(self._turned, said[4:], before[4:], turn)
        ]
        off = math.hypot(*self._turned)
        allowed = self._values.jump_margin + half * self._values.base_rate_limit
        if off > allowed:
            self._latch(
                'contradiction',
                f'the base turned {off:.3g} rad otherwise than its '
                f'gyroscope says within {MEMORY:g} s; possible {allowed:.3g}',
                told.stamp,
            )


def _degrees(value: float, channel: Channel) -> str:
    """Return a guess of the unit, for an angle far beyond bounds in which its radians lie."""
    lower, upper = channel.bounds.lower, channel.bounds.upper
    far = channel.unit.startswith('rad') and abs(value) > 2.0 * max(abs(lower), abs(upper))
    return ': in degrees?' if far and lower <= math.radians(value) <= upper else ''


@lru_cache(maxsize=4)  # more than one check asks for the turn of a tick
def rotation_between(
    before: tuple[float, ...], after: tuple[float, ...]
) -> tuple[float, float, float]:
    """Return the rotation vector, in its own axes, that turns one quaternion xyzw into another."""
    a, b, c, d = before
    x, y, z, w = after
    s = d * w + a * x + b * y + c * z
    u = (
        d * x - a * w - b * z + c * y,
        d * y + a * z - b * w - c * x,
        d * z - a * y + b * x - c * w,
    )
    half = math.hypot(*u)
    if half < 1e-12:
        return 0.0, 0.0, 0.0
    share = 2.0 * math.atan2(half, abs(s)) / half
    share = share if s >= 0.0 else -share  # q and -q are one
    return share * u[0], share * u[1], share * u[2]
