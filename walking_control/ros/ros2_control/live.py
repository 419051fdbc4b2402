# SPDX-License-Identifier: Apache-2.0
"""Are the sensors of a running robot what we take them for? Judged by gravity and by motion.

At rest gravity tells the accelerometer's sign and unit, the weight those of the forces, and the
feet that carry it, on one floor, whether the joints are who they say they are. While something
moves, rates are compared with what they are the rates of. What does not move or stand is not
judged: a check that finds nothing has not proved everything.

While somebody sways a robot that stands on both feet, the legs say how its base turns and moves:
what contradicts two others is the one that lies. A foot that is lifted carries nothing.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
import math

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput
from walking_control.models import Dynamics, link_names, Robot, RobotFile, World
from walking_control.ros.ros2_control.sway import Legs
from walking_control.runs.kinematics import sole_corners

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
WINDOW = 0.05  # s over which a change is compared with a rate: the noise of angles weighs less
RESTS = 0.5  # s in which a robot at rest does not move
LIFTED, ROWS = 0.03, 10  # m above another foot, in so many rows
SOLE = 0.15  # rad by which a sole leans, more than another


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
        self._take([np.array(getattr(record, name)) for name in ('time', *RECORDED)])
        robot, steps = self._robot, np.diff(self._time)
        self._has_soles = all(len(sole_corners(robot.urdf, foot)) > 2 for foot in robot.feet)
        self._length, fine = robot_file.scale.length, bool(len(steps) and (steps > 0.0).all())
        self._window = max(1, round(WINDOW / float(np.median(steps)))) if fine else len(steps)
        self.left_out: list[str] = []

    def _take(self, heard: list[np.ndarray]) -> None:
        """Take the columns of a record."""
        self._heard = heard
        self._time, self._position, self._velocity, self._orientation, *others = heard
        self._gyro, self._felt, self._force = others

    def _longest(self, said: np.ndarray) -> '_Judge | None':
        """Return a judge of the longest stretch of rows of which something is said, or None."""
        ends = np.flatnonzero(np.diff(np.concatenate(([False], said, [False])).astype(int)))
        if not len(ends):
            return None
        rows, part = slice(*max(zip(ends[::2], ends[1::2]), key=np.ptp)), copy(self)
        part._take([each[rows] for each in self._heard])
        return part

    @property
    def _is_short(self) -> bool:
        return len(self._time) < self._window + 10

    @property
    def _spans(self) -> np.ndarray:
        """Of the windows, s."""
        return np.asarray(self._time[self._window :] - self._time[: -self._window])

    @property
    def _turned(self) -> list[np.ndarray]:
        """The orientation, as matrices."""
        return [pin.Quaternion(row / np.linalg.norm(row)).matrix() for row in self._orientation]

    @property
    def _up(self) -> np.ndarray:
        """Normal of the floor in axes of the IMU, ``(T, 3)``."""
        normal = pin.utils.rotate('y', self._slope)[:, 2]
        return np.array([turned.T @ normal for turned in self._turned])

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
        turns = [] if wrong_positions else list(self._turns())
        yield from turns
        rest = self._longest(self._still())
        if rest is None:
            self.left_out.append(
                'the robot moves: signs and units of accelerometer and forces, '
                'and the order of joints, are judged at rest'
            )
            return
        if not turns:
            yield from rest._gravity_felt()
        wrong_forces = list(rest._weights())
        yield from wrong_forces
        if not wrong_positions and not wrong_forces and not turns:
            wrong = list(rest._mounted()) or list(rest._floor())
            yield from wrong or self._lifted()

    # -- motion ----------------------------------------------------------------------------------

    def _rates(self) -> Iterator[InvalidInput]:
        if self._is_short:
            self.left_out.append(
                'too few joint states, or stamps that stand still: no rate is judged'
            )
            return
        n, unmoved = self._window, []
        true = (self._position[n:] - self._position[:-n]) / self._spans[:, None]
        told = _means(self._time, self._velocity, n)[1]
        for joint, a, b in zip(self._robot.joints, true.T, told.T):
            if _rms(a) < MOVING:
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

    def _turning(self, rotations: list[np.ndarray]) -> np.ndarray:
        """Return how fast something turned over the windows, in its own axes, rad/s."""
        pairs = zip(rotations, rotations[self._window :])
        return np.asarray([pin.log3(a.T @ b) for a, b in pairs] / self._spans[:, None])

    def _turns(self) -> Iterator[InvalidInput]:
        """Judge gyroscope, accelerometer and legs by the orientation, and it by all of them."""
        if self._is_short:
            return
        middle, told = _means(self._time, self._gyro, self._window)
        true = self._turning(self._turned)
        against = 'the change of its orientation'
        name = 'angular velocity of the IMU'
        gyro = list(_compare(name, middle, told, true, MOVING, UNITS, against))
        legs, felt = self._sway()
        if _rms(true) < MOVING and not legs:
            self.left_out.append(
                'the IMU is not turned: its gyroscope is not judged; sway the robot by hand about '
                'each axis while this listens, and lift one foot after the other (--seconds 10)'
            )
        # an orientation is not early
        elif gyro and (felt or legs) and ' s after' not in str(gyro[0].value):
            found = (*gyro, *felt, *legs)
            yield InvalidInput(
                'orientation of the IMU',
                value='; '.join(f'{each.what}: {each.value}' for each in found),
                limit='gyroscope, accelerometer and legs contradict it, not each other',
                remedy='its frame, order (x, y, z, w), inverse or delay is another',
            )
        else:  # an IMU that is turned or late is so as a whole
            whole = bool(legs) and legs[0].what.startswith('IMU')
            yield from legs if whole else (*gyro, *felt, *legs)

    def _sway(self) -> tuple[list[InvalidInput], list[InvalidInput]]:
        """Return what is wrong with encoders or all of the IMU, and with the accelerometer."""
        robot, n = self._robot, self._window
        carry = self._force[:, :, 2] > CARRIES * self._weight
        stood = self._longest(np.all(carry, axis=1))
        known = len(robot.feet) == 2 and (self._has_soles or not robot.is_free)
        if stood is None or len(stood._time) < 4 * n + 10 or not known:
            return [], self._tilted()
        legs, turned, time = Legs(robot, stood._position), stood._turned, stood._time
        closed = legs.closed(stood._spans, n, self._length)
        if closed is not None:
            return [closed], self._tilted()
        told, true = stood._turning(legs.rotations()), stood._turning(turned)
        middle = time[:-n] + 0.5 * stood._spans
        found = list(_compare('turning by the encoders', middle, told, true, MOVING, {}, 'the IMU'))
        moved = true.std(axis=0) >= MOVING
        late = _delay(middle, told[:, moved], true[:, moved]) if moved.any() else 0.0
        size = _rms(told) / max(_rms(true), 1e-9)
        if _rms(told) > 2.0 * MOVING > 4.0 * _rms(true):
            what = 'IMU' if _rms(self._gyro) < MOVING else 'orientation of the IMU'
            value = 'still'
        elif abs(late) >= LATE:
            what, value = 'IMU' if late < 0.0 else 'encoders', f'{abs(late):.2f} s late'
        elif found:
            what = f'IMU of {robot.imu_link}' if abs(size - 1.0) < WITHIN else 'encoders'
            value = '; '.join(f'{each.what}: {each.value}' for each in found)
        else:
            return [], stood._moved(legs.path(turned))
        limit = 'the legs that stand show how the base turns'
        remedy = 'a filter, a queue, stamps of another clock; an IMU that is mounted otherwise'
        return [InvalidInput(what, value=value, limit=limit, remedy=remedy)], self._tilted()

    def _moved(self, path: np.ndarray) -> list[InvalidInput]:
        """Judge the accelerometer by where the legs say that it goes, ``(T, 3)``, m."""
        # twice the window: noise counts by its square
        n, time, turned = 2 * self._window, self._time, self._turned
        if not self._felt.any():
            return []
        span = 0.5 * (time[2 * n :] - time[: -2 * n])[:, None]
        force = (path[2 * n :] + path[: -2 * n] - 2.0 * path[n:-n]) / span**2
        force[:, 2] += self._gravity
        world = np.array([turn @ row for turn, row in zip(turned, self._felt)])
        at, felt = _means(*_means(time, world, n), n)
        back = np.array(turned[n:-n]).transpose(0, 2, 1)
        told, true = (np.einsum('tij,tj->ti', back, each) for each in (felt, force))
        name, against = 'acceleration of the IMU', 'gravity and how the legs move it'
        return list(_compare(name, at, told, true, TILTED, ACCELERATION_UNITS, against))

    def _tilted(self) -> list[InvalidInput]:
        """Judge the accelerometer of a robot that is hardly accelerated by the orientation."""
        sizes = np.linalg.norm(self._felt, axis=1)
        if not self._felt.any() or sizes.std() >= STEADY * sizes.mean():
            return []
        up = np.array([turn[2] for turn in self._turned]) * self._gravity
        name, against = 'acceleration of the IMU', 'gravity by its orientation'
        return list(_compare(name, self._time, self._felt, up, TILTED, ACCELERATION_UNITS, against))

    def _lifted(self) -> Iterator[InvalidInput]:
        """Judge the forces by feet that are in the air."""
        least, loads = CARRIES * self._weight, self._force[:, :, 2]
        aloft = Legs(self._robot, self._position).heights(self._up) > LIFTED
        for i, foot in enumerate(self._robot.feet):
            if aloft[:, i].sum() < ROWS:
                continue
            carried = float(np.median(loads[aloft[:, i], i]))
            if abs(carried) > least:
                yield InvalidInput(
                    f'force on foot {foot}',
                    value=f'{carried:.3g} N while it is in the air',
                    limit=f'must be within {least:.3g} N',
                    remedy='it repeats itself, or is told for another foot',
                )
            for k, other in enumerate(self._robot.feet):
                if k != i and loads[:, k].max() < least < loads[:, i].max():
                    yield InvalidInput(
                        f'force on foot {other}',
                        value=f'{loads[:, k].max():.3g} N at most, and {foot} was in the air',
                        limit='a foot carries when the other one is lifted: is it dead?',
                    )

    def _still(self) -> np.ndarray:
        """Return in which rows nothing moves, ``(T,)``."""
        up, still = self._up, np.zeros(len(self._time), bool)
        for begin in np.arange(self._time[0], self._time[-1] + 1e-9, RESTS):
            rows = (self._time >= begin) & (self._time < begin + RESTS)
            if not rows.any():  # nothing was heard then
                continue
            span = np.ptp(self._position[rows], axis=0).max()
            still[rows] = span <= STILL * RESTS and np.ptp(up[rows], axis=0).max() < HELD
        return still

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

    @property
    def _middle(self) -> int:
        """Row that stands for all of a robot at rest."""
        return len(self._time) // 2

    def _gravity_felt(self) -> Iterator[InvalidInput]:
        felt = np.median(self._felt, axis=0)
        if not felt.any():
            self.left_out.append('the IMU tells no acceleration')
            return
        size, up = float(np.linalg.norm(felt)), self._turned[self._middle] @ felt
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
            within=WITHIN,
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
        up = self._up[self._middle]
        places = [dynamics.placement(q, frame) for frame in dynamics.frames.values()]
        feet, normals = (np.array(rows) for rows in zip(*((at, R[:, 2]) for at, R in places)))
        if (normals @ normals[0]).min() < math.cos(LEANS) and robot.is_free:
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
        legs = Legs(self._robot, np.median(self._position, axis=0)[None])
        up = self._up[self._middle]
        leans = legs.leans(up) if self._has_soles and self._robot.is_free else []
        for foot, (lean, joints) in zip(self._robot.feet, leans):
            if lean > SOLE + min(each for each, _ in leans):
                yield InvalidInput(
                    f'sole of {foot}',
                    value=f'{lean:.2f} rad from level',
                    limit='it stands, and the others lie flat',
                    remedy=f'wrong zeros or signs, or joints in another order: {joints}',
                )
                return
        stands = [foot in standing for foot in self._robot.feet]
        apart = np.ptp(legs.heights(up[None])[0][stands])
        if apart > SAME_FLOOR:
            yield InvalidInput(
                'feet ' + ' and '.join(standing),
                value=f'{apart:.3f} m apart in height',
                limit=f'must be within {SAME_FLOOR:g} m: both stand',
                remedy='joints are told in another order or with another sign or zero, or the '
                'floor is not level',
            )


def _rms(values: np.ndarray) -> float:
    """Return the root of the mean square of numbers, or of the sizes of rows."""
    return math.sqrt(np.sum(values * values) / max(len(values), 1))


def _means(time: np.ndarray, values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of windows of n rows, s, and the means of values over them."""
    areas = 0.5 * (values[1:] + values[:-1]) * np.diff(time)[:, None]
    sums = np.vstack((np.zeros(values.shape[1]), np.cumsum(areas, axis=0)))
    spans = time[n:] - time[:-n]
    return time[:-n] + 0.5 * spans, (sums[n:] - sums[:-n]) / spans[:, None]


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
    what: str,
    factor: float,
    units: dict[float, str],
    against: str,
    signed: bool = True,
    within: float = 1.0,
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
    if not 1.0 / (1.0 + within) <= size <= 1.0 + within:
        yield InvalidInput(what, value=value, limit='must be 1 times')
