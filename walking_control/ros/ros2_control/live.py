# SPDX-License-Identifier: Apache-2.0
"""Are the sensors of a running robot what we take them for? Judged by gravity and by motion.

At rest gravity tells the accelerometer's sign and unit, the weight those of the forces, and the
feet that carry it, on one floor, whether the joints are who they say they are. While something
moves, rates are compared with what they are the rates of. What does not move or stand is not
judged: a check that finds nothing has not proved everything.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
import math

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.urdf import link_names

DEGREES = math.degrees(1.0)
UNITS = {DEGREES: 'degrees instead of radians'}
FORCE_UNITS = {
    1.0 / 9.80665: 'kilograms instead of newtons',
    1000.0: 'millinewtons',
    1000.0 / 9.80665: 'grams',
    0.001: 'kilonewtons',
}
ACCELERATION_UNITS = {
    1.0 / 9.80665: 'g instead of m/s^2',
    1000.0 / 9.80665: 'milli-g',
    100.0: 'cm/s^2',
}
WITHIN = 0.2  # relative, of a factor that names a unit
STILL = 0.05  # rad/s: slower than this everywhere, and the robot is at rest
MOVING = 0.1  # rad/s rms, of a joint or IMU whose rates are judged
CARRIES = 0.1  # of the weight, on a foot that stands
SAME_FLOOR = 0.03  # m, between feet that stand
LEANS = 0.5  # rad: more than any robot that stands
AXES = 'xyz'
HELD = 0.2  # rad by which a robot at rest does not tilt
TILTED = 0.7  # m/s^2 of gravity along an axis, by tilting, rms
STEADY = 0.1  # of its mean, rms of the size of what an accelerometer that is tilted feels
LATE, FARTHEST = 0.02, 0.2  # s: a delay that is said, and the longest that is looked for
ALIKE = 0.8  # correlation of what is one and the same
BEYOND = 0.05  # rad, past a limit


@dataclass
class LiveRecord:
    """What was heard of a robot, one row per joint state.

    Args:
        time: Stamps, s.
        position: Of the joints in the robot's order, rad, ``(T, n_joints)``.
        velocity: Likewise, rad/s.
        orientation: xyzw, ``(T, 4)``.
        angular_velocity: rad/s, ``(T, 3)``.
        linear_acceleration: m/s^2, ``(T, 3)``.
        foot_force: N, ``(T, n_feet, 3)``.
    """

    time: list[float] = field(default_factory=list)  # stamps, s
    # of the joints in the robot's order, rad, ``(T, n_joints)``
    position: list[np.ndarray] = field(default_factory=list)
    velocity: list[np.ndarray] = field(default_factory=list)
    orientation: list[np.ndarray] = field(default_factory=list)
    angular_velocity: list[np.ndarray] = field(default_factory=list)
    linear_acceleration: list[np.ndarray] = field(default_factory=list)
    foot_force: list[np.ndarray] = field(default_factory=list)


# of a `Measurement`, what a row holds
RECORDED = tuple(each.name for each in fields(LiveRecord))[1:]


def judge_record(robot_file: RobotFile, record: LiveRecord) -> tuple[list[InvalidInput], list[str]]:
    """Return what is wrong with a robot's sensors, and what could not be judged.

    Args:
        record: At least two rows.
    """
    judge = _Judge(robot_file, record)
    return list(judge.problems()), judge.left_out


class _Judge:
    def __init__(self, robot_file: RobotFile, record: LiveRecord) -> None:
        self._robot: Robot = robot_file.robot
        self._weight = robot_file.scale.mass * robot_file.values(World).gravity
        self._gravity = robot_file.values(World).gravity
        self._slope = robot_file.values(World).slope
        told = (np.array(getattr(record, name)) for name in ('time', *RECORDED))
        self._time, self._position, self._velocity, self._orientation, *others = told
        self._turning, self._felt, self._force = others
        self.left_out: list[str] = []

    def problems(self) -> Iterator[InvalidInput]:
        wrong_positions = list(self._beyond_limits())
        yield from wrong_positions
        yield from self._rates()
        if not np.isfinite(self._orientation).all() or not np.allclose(
            np.linalg.norm(self._orientation, axis=1), 1.0, atol=0.01
        ):
            yield InvalidInput(
                'orientation of the IMU',
                value=round(float(np.linalg.norm(self._orientation[-1])), 3),
                limit='must be a quaternion of length 1',
            )
            return
        yield from self._turns()
        if not self._still():
            self.left_out.append(
                'the robot moves: signs and units of accelerometer and forces, '
                'and the order of joints, are judged at rest'
            )
            return
        yield from self._gravity_felt()
        wrong_forces = list(self._weights())
        yield from wrong_forces
        if not wrong_positions and not wrong_forces:
            yield from list(self._mounted()) or self._floor()

    # -- motion ----------------------------------------------------------------------------------

    def _rates(self) -> Iterator[InvalidInput]:
        steps = np.diff(self._time)
        if len(steps) < 10 or not (steps > 0.0).all():
            self.left_out.append(
                'too few joint states, or stamps that stand still: no rate is judged'
            )
            return
        true = np.diff(self._position, axis=0) / steps[:, None]
        told = 0.5 * (self._velocity[1:] + self._velocity[:-1])
        unmoved = []
        for joint, a, b in zip(self._robot.joints, true.T, told.T):
            if math.sqrt(np.mean(a * a)) < MOVING:
                unmoved.append(joint)
                continue
            yield from _judge_factor(
                f'velocity of joint {joint}',
                float(a @ b / (a @ a)),
                UNITS,
                'the change of its position',
            )
        if unmoved:
            self.left_out.append('not moved, so that no rate is judged: ' + ', '.join(unmoved))

    def _turns(self) -> Iterator[InvalidInput]:
        steps = np.diff(self._time)
        if len(steps) < 10 or not (steps > 0.0).all():
            return
        turns = [pin.Quaternion(q / np.linalg.norm(q)) for q in self._orientation]
        true = np.array(
            [
                pin.log3((a.inverse() * b).matrix()) / step
                for a, b, step in zip(turns, turns[1:], steps)
            ]
        )
        told = 0.5 * (self._turning[1:] + self._turning[:-1])
        middle = 0.5 * (self._time[1:] + self._time[:-1])
        if math.sqrt(np.mean(np.sum(true * true, axis=1))) < MOVING:
            self.left_out.append(
                'the IMU is not turned: its gyroscope is not judged; swing the robot by hand about '
                'each axis while this listens (--seconds 5)'
            )
            return
        yield from _compare(
            'angular velocity of the IMU',
            middle,
            told,
            true,
            MOVING,
            UNITS,
            'the change of its orientation',
        )
        up = np.array([turn.matrix()[2] for turn in turns]) * self._gravity
        sizes = np.linalg.norm(self._felt, axis=1)
        if self._felt.any() and sizes.std() < STEADY * sizes.mean():  # hardly accelerated
            yield from _compare(
                'acceleration of the IMU',
                self._time,
                self._felt,
                up,
                TILTED,
                ACCELERATION_UNITS,
                'gravity by its orientation',
            )
        yield from self._turned_by_legs(middle, true)

    def _turned_by_legs(self, middle: np.ndarray, true: np.ndarray) -> Iterator[InvalidInput]:
        """Compare how the base turned over a foot that stood all along, by encoders and by IMU."""
        pressed = self._force[:, :, 2].min(axis=0) > CARRIES * self._weight
        if not (pressed.any() and self._robot.is_free):
            return
        dynamics = Dynamics(self._robot)
        frame = dynamics.frames[self._robot.feet[int(pressed.argmax())]]
        imu, places = dynamics.frame(self._robot.imu_link), []
        for position in self._position:
            q = dynamics.configuration(position)
            places.append(dynamics.placement(q, frame)[1].T @ dynamics.placement(q, imu)[1])
        steps = np.diff(self._time)
        told = [pin.log3(a.T @ b) / step for a, b, step in zip(places, places[1:], steps)]
        yield from _compare(
            'turning of the base by the encoders of a leg that stands',
            middle,
            np.array(told),
            true,
            MOVING,
            {},
            'that by the IMU',
        )

    def _still(self) -> bool:
        steps = np.diff(self._time)
        span = self._position.max(axis=0) - self._position.min(axis=0)
        up = np.array([pin.Quaternion(row).normalized().matrix()[2] for row in self._orientation])
        return bool(
            (span <= STILL * max(float(steps.sum()), 0.1)).all() and np.ptp(up, axis=0).max() < HELD
        )

    # -- rest ------------------------------------------------------------------------------------

    def _beyond_limits(self) -> Iterator[InvalidInput]:
        for joint, values in zip(self._robot.joints, self._position.T):
            limits, worst = self._robot.limits[joint], float(values[np.argmax(np.abs(values))])
            if limits.lower - BEYOND <= worst <= limits.upper + BEYOND:
                continue
            remedy = None
            if limits.lower - BEYOND <= worst / DEGREES <= limits.upper + BEYOND:
                remedy = 'is it told in degrees?'
            if limits.lower - BEYOND <= -worst <= limits.upper + BEYOND:
                remedy = 'is its sign the other one?'
            yield InvalidInput(
                f'position of joint {joint}',
                value=round(worst, 4),
                limit=f'must be from {limits.lower:g} to {limits.upper:g} rad',
                remedy=remedy,
            )

    def _rotation(self) -> np.ndarray:
        mean = self._orientation[len(self._orientation) // 2]
        return np.asarray(pin.Quaternion(mean / np.linalg.norm(mean)).matrix())

    def _gravity_felt(self) -> Iterator[InvalidInput]:
        felt = np.median(self._felt, axis=0)
        if not felt.any():
            self.left_out.append('the IMU tells no acceleration')
            return
        size, up = float(np.linalg.norm(felt)), self._rotation() @ felt
        share = float(up[2]) / size
        if share < -0.9:
            yield InvalidInput(
                'acceleration of the IMU',
                value=round(float(up[2]), 3),
                limit=f'must be +{self._gravity:g} m/s^2 upward at rest',
                remedy='its sign is the other one: tell specific force, not '
                'gravity, or mount it the other way',
            )
        elif share < 0.9:
            tilt = math.degrees(math.acos(share))
            yield InvalidInput(
                'acceleration of the IMU',
                value=f'{tilt:.0f} degrees from upward',
                limit='must point upward at rest, by its own orientation',
                remedy='check imu_link and how the IMU is mounted',
            )
        yield from _judge_factor(
            'acceleration of the IMU',
            size / self._gravity,
            ACCELERATION_UNITS,
            'gravity',
            signed=False,
        )

    def _weights(self) -> Iterator[InvalidInput]:
        forces = np.median(self._force, axis=0)[:, 2]
        pushed = [
            (foot, float(force))
            for foot, force in zip(self._robot.feet, forces)
            if force < -CARRIES * abs(forces).sum() and force < 0.0
        ]
        for foot, force in pushed:
            yield InvalidInput(
                f'force on foot {foot}',
                value=round(force, 2),
                limit='must be the force of the floor on the foot, upward',
                remedy='set multiplier to -1 in controllers.yaml',
            )
        if not pushed and float(forces.sum()) > 0.0:
            share = float(forces.sum()) / self._weight
            named = [
                words
                for factor, words in FORCE_UNITS.items()
                if abs(share / factor - 1.0) <= WITHIN
            ]
            if named:
                yield InvalidInput(
                    'forces on the feet',
                    value=round(float(forces.sum()), 3),
                    limit=f'must carry the weight, {self._weight:.4g} N',
                    remedy=f'they seem to be told in {named[0]}',
                )
            elif not 1.0 - WITHIN <= share <= 1.0 + WITHIN:
                self.left_out.append(
                    f'the feet carry {100.0 * share:.0f} % of the weight: is the robot held?'
                )

    def _mounted(self) -> Iterator[InvalidInput]:
        """Judge the axes of the IMU: a robot that stands has its centre of mass above its feet."""
        robot, forces = self._robot, np.median(self._force, axis=0)[:, 2]
        if not 1.0 - WITHIN <= float(forces.sum()) / self._weight <= 1.0 + WITHIN:
            return  # it is held by more than its feet
        dynamics = Dynamics(robot)
        q = dynamics.configuration(np.median(self._position, axis=0))
        up = self._rotation().T @ pin.utils.rotate('y', self._slope)[:, 2]  # in axes of the IMU
        feet = np.array([dynamics.placement(q, dynamics.frames[foot])[0] for foot in robot.feet])
        normals = np.array(
            [dynamics.placement(q, dynamics.frames[foot])[1][:, 2] for foot in robot.feet]
        )
        if (
            min(float(normals[0] @ normal) for normal in normals) < math.cos(LEANS)
            and robot.is_free
        ):
            return  # soles that stand on one floor are parallel: it is the joints
        above = dynamics.center_of_mass(q) - forces @ feet / forces.sum()
        above /= np.linalg.norm(above)

        def lean(link: str) -> float:
            turned = dynamics.placement(q, dynamics.frame(link))[1]
            return math.acos(max(-1.0, min(1.0, float(above @ turned @ up))))

        if lean(robot.imu_link) <= LEANS:
            return
        axis = int(np.abs(up).argmax())
        fits = [link for link in link_names(robot.urdf) if lean(link) <= 0.5 * LEANS]
        yield InvalidInput(
            f'imu_link {robot.imu_link}',
            value=f'up along {"-" if up[axis] < 0.0 else "+"}{"xyz"[axis]} of the IMU',
            limit=f'with these axes the robot would lean {math.degrees(lean(robot.imu_link)):.0f} '
            'degrees, and it stands',
            remedy='name the link whose axes the IMU has; by gravity fit '
            + (', '.join(fits[:6]) if fits else 'none: give it a link of its own in the URDF'),
        )

    def _floor(self) -> Iterator[InvalidInput]:
        """Compare the heights of the feet that stand, by joints and IMU."""
        forces = np.median(self._force, axis=0)[:, 2]
        standing = [
            foot for foot, force in zip(self._robot.feet, forces) if force > CARRIES * self._weight
        ]
        if len(standing) < 2:
            self.left_out.append('not two feet stand: the order of joints is not judged')
            return
        robot = self._robot
        dynamics = Dynamics(robot)
        q = dynamics.configuration(np.median(self._position, axis=0))
        _, of_imu = dynamics.placement(q, dynamics.frame(robot.imu_link))
        tilt = pin.utils.rotate('y', self._slope).T @ self._rotation() @ of_imu.T
        apart = np.ptp(
            [(tilt @ dynamics.placement(q, dynamics.frames[foot])[0])[2] for foot in standing]
        )
        if apart > SAME_FLOOR:
            yield InvalidInput(
                'feet ' + ' and '.join(standing),
                value=f'{apart:.3f} m apart in height',
                limit=f'must be within {SAME_FLOOR:g} m: both stand',
                remedy='joints are told in another order or with another sign or zero, or the '
                'floor is not level',
            )


def _compare(
    what: str,
    time: np.ndarray,
    told: np.ndarray,
    true: np.ndarray,
    least: float,
    units: dict[float, str],
    against: str,
) -> Iterator[InvalidInput]:
    """Judge three axes of what is told by what is true: delay, axis, sign, unit, gain, offset.

    Args:
        what: What is told, in words.
        time: s, ``(T,)``.
        told: ``(T, 3)``.
        true: Likewise.
        least: Standard deviation of an axis that is judged.
        units: Factor -> unit that it is told in.
        against: What is true, in words.
    """
    moved = [axis for axis in range(3) if true[:, axis].std() >= least]
    if not moved:
        return
    late = _delay(time, told[:, moved], true[:, moved])
    if abs(late) >= LATE:
        words = 'after' if late > 0.0 else 'before'
        yield InvalidInput(
            what,
            value=f'{abs(late):.2f} s {words} {against}',
            limit=f'must be within {LATE:g} s: a filter, a queue, or stamps of another clock',
        )
    shifted = np.column_stack([np.interp(time - late, time, column) for column in true.T])
    known = shifted[:, moved] - shifted[:, moved].mean(axis=0)
    gains = np.linalg.lstsq(known, told - told.mean(axis=0), rcond=None)[0]  # of each in each
    for i, axis in enumerate(moved):
        name, gain = f'{what} about {AXES[axis]}', gains[i, axis]
        shares = np.abs(gains[:, axis]) * known.std(axis=0) / max(told[:, axis].std(), 1e-12)
        best = int(shares.argmax())
        if best != i and shares[best] > 0.5 and shares[i] < 0.5 * shares[best]:
            sign = '-' if gains[best, axis] < 0.0 else ''
            yield InvalidInput(
                name, value=f'told as {sign}{AXES[moved[best]]}', limit='axes are exchanged'
            )
            continue
        found = list(_judge_factor(name, float(gain), units, against))
        yield from found
        off = float(told[:, axis].mean() - gain * shifted[:, axis].mean())
        if not found and abs(off) > 2.0 * least:
            yield InvalidInput(
                name, value=f'{off:.3g} beside {against}', limit='must have no offset'
            )


def _delay(time: np.ndarray, told: np.ndarray, true: np.ndarray) -> float:
    """Return by how many s what is told comes after what is true; 0 where no shift explains it."""
    sure = {}
    for shift in np.arange(-FARTHEST, FARTHEST + 1e-9, LATE / 4.0):
        moved = np.column_stack([np.interp(time - shift, time, column) for column in true.T])
        a, b = told - told.mean(axis=0), moved - moved.mean(axis=0)
        both = np.abs((a * b).sum(axis=0)) / np.sqrt(
            (a * a).sum(axis=0) * (b * b).sum(axis=0) + 1e-12
        )
        sure[float(shift)] = float(both.mean())
    best, now = max(sure, key=lambda shift: sure[shift]), sure[min(sure, key=abs)]
    return best if 1.0 - sure[best] < 0.5 * (1.0 - now) and sure[best] > ALIKE else 0.0


def _judge_factor(
    what: str, factor: float, units: dict[float, str], against: str, signed: bool = True
) -> Iterator[InvalidInput]:
    size = abs(factor)
    value = f'{factor:.3g} times {against}'
    if signed and factor < 0.0 and abs(size - 1.0) <= 0.5:
        yield InvalidInput(
            what, value=value, limit='must be 1 times', remedy='its sign is the other one'
        )
        return
    for unit, words in units.items():
        if abs(size / unit - 1.0) <= WITHIN:
            yield InvalidInput(
                what, value=value, limit='must be 1 times', remedy=f'it seems to be told in {words}'
            )
            return
    if not 0.5 <= size <= 2.0:
        yield InvalidInput(what, value=value, limit='must be 1 times')
