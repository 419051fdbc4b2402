# SPDX-License-Identifier: Apache-2.0
"""Sensors that lie all the time, by name: gain, sign, axis and unit against gravity and the legs.

Each sensor is judged by the others. While a flat sole rests, the legs say how the IMU turned and
how its velocity changed; while any foot rests, the latter. What the gyroscope, the orientation and
the accelerometer say of it must be the same, axis by axis: the moments of both are kept for a
second, and where the difference has as much energy as the larger of them, one of them lies. The
gain and the axis that explain it best say how. Who contradicts two others is the one.

Stated simplifications: a sole lies flat while it carries, the floor is fixed, turns within 50 ms
are small.
"""

from collections import deque
from collections.abc import Sequence
from itertools import starmap
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from walking_control.models import Dynamics, Measurement, Robot
from walking_control.safety.plausibility import rotation_between

STEP = 0.02  # s between two looks at the legs
TURN, CURVE = 3, 10  # looks over which turns and changes of velocity are compared
MEMORY = 0.3  # s
WRONG = 0.4  # of the larger energy of two signals that their difference has
# what a difference must sum up to, rad and m/s^2: less is noise, or a sole that tilts
LEAST_TURN, LEAST_FORCE = 0.06, 6.0
# of each look's mean force in a second difference: they rise to the middle and fall
WEIGHTS = np.minimum(np.arange(CURVE) + 0.5, CURVE - 0.5 - np.arange(CURVE)) / (CURVE // 2) ** 2
FIRM = 0.25  # of the weight, on a foot that rests
REST, MOTION = (
    2.0,
    6.0,
)  # m/s^2: what a foot that rests differs by at most, one that swings at least
EXPLAINED = 0.35  # of a difference that is left if an axis is another or inverted
STEADY = 0.7  # of a difference's energy is in its mean: an offset
BIAS = 3.0  # m/s^2: the floor does not slip away so fast for so long
CARRIED, FELT = 0.7, 0.4  # of the weight under the feet, of gravity in the IMU, over `FEEL` looks
FEEL = 4
ALONG = 0.5  # cosine between the axis of a joint that may be wrong and what is wrong
FARTHEST, SOON = 6, 2  # looks by which a sensor is late: less than this, and at least
ALIKE = 0.25  # of the larger energy, of two that may be the same but for a delay
FASTEST = 12.0  # m/s^2 by which legs that rest cannot accelerate the IMU
LATE, EXPLAINED_BY_DELAY = 0.1, 0.25  # of the energy: a difference, and what a delay leaves of it
WINDOW, OFFSET = 20, 4.5  # looks, m/s^2: no robot goes ever faster for so long, but in a fall
UNSHOWN = 0.5  # of a change of velocity: less, and legs or feet show it, as in a push or a slip
LONGER = 10  # times the patience: a sole that tilts on an edge makes an IMU look turned or late
AXES = 'xyz'
GYRO, ORIENTATION, ENCODERS = 'gyroscope', 'orientation', 'encoders'


class Look(NamedTuple):
    """What the sensors said at one look."""

    orientation: tuple[float, ...]  # IMU to world, xyzw
    rotation: np.ndarray  # the same
    turned: np.ndarray  # sum of angular velocities so far, rad
    force: np.ndarray  # mean since the last look, in the world, m/s^2
    feet: list[np.ndarray]  # rotation from each foot to the IMU
    places: list[np.ndarray]  # of the feet from the IMU, in the world, m
    firm: list[bool]  # which feet carry
    stamp: float
    load: float  # mean of all feet since the last look, of the weight
    pressed: np.ndarray  # by the feet, mean since the last look, in the world, m/s^2


class Felt(NamedTuple):
    """What the IMU felt at one look beyond gravity, and what else shows it."""

    own: list[float]  # in axes of the IMU, m/s^2
    claimed: np.ndarray  # the same in the world
    pressed: np.ndarray  # by the feet, in the world
    moving: list[np.ndarray]  # velocity of the IMU in the world if a foot rests, each, m/s


Turns = tuple[Sequence[float], Sequence[float]]  # by two sensors, rad


class Moments:
    """Second moments of two signals of three axes, which fade; what one says of the other."""

    def __init__(self, least: float) -> None:
        self._energies, self._cross = [[0.0] * 3] * 2, [[0.0] * 3] * 3
        self._signals: list[Sequence[float]] = []  # said and known last
        self._difference, self._count, self._least = [0.0] * 3, 0.0, least

    def add(self, kept: float, said: Sequence[float], known: Sequence[float]) -> None:
        """Take what is said and known at one look; `kept`: share of what was known before."""
        self._signals = [said, known]
        self._energies = [
            [kept * energy + x * x for energy, x in zip(row, signal)]
            for row, signal in zip(self._energies, self._signals)
        ]
        self._cross = [
            [kept * both + x * y for both, y in zip(row, known)]
            for row, x in zip(self._cross, said)
        ]
        self._difference = [
            kept * before + x - y for before, x, y in zip(self._difference, said, known)
        ]
        self._count = kept * self._count + 1.0

    def _off(self) -> list[float]:
        """Return the energy of the difference along each axis, ``(3,)``."""
        rows = zip(*self._energies, self._cross)
        return [said + known - 2.0 * both[i] for i, (said, known, both) in enumerate(rows)]

    def wrong(self) -> list[int]:
        """Return the axes along which what is said differs from what is known, or is steadily."""
        least, count = self._least * self._least, max(self._count, 1.0)
        rows = zip(*self._energies, self._off(), self._difference)
        return [
            axis
            for axis, (said, known, off, difference) in enumerate(rows)
            if off > max(least, WRONG * max(said, known))
            or off > 4.0 * least
            and difference * difference / count > STEADY * off
        ]

    def bias(self, axis: int) -> float:
        """Return the mean difference along an axis."""
        return self._difference[axis] / max(self._count, 1.0)

    def offness(self, wrong: list[int]) -> np.ndarray:
        """Return the direction of the difference along some axes, ``(3,)``."""
        energy = np.zeros(3)
        energy[wrong] = np.array(self._off())[wrong]
        return np.asarray(np.sqrt(energy / max(energy.sum(), 1e-12)))

    def off(self) -> float:
        """Return the energy of the difference over that of all."""
        return sum(self._off()) / max(sum(map(sum, self._energies)), 1e-12)

    def kind(self, axis: int) -> str:
        """Return in words what is said along an axis instead of what is known; '' if unclear."""
        said, known, both = self._energies[0][axis], self._energies[1], self._cross[axis]
        off = said + known[axis] - 2.0 * both[axis]
        # what is left of the difference if another axis is told, or its opposite
        left = [said + energy - 2.0 * abs(product) for energy, product in zip(known, both)]
        best = left.index(min(left))
        alike = both[best] ** 2 > 0.5 * said * known[best]
        if left[best] < EXPLAINED * off and alike and (best != axis or both[best] < 0.0):
            name = 'the opposite of ' if both[best] < 0.0 else ''
            return f'reads {name}{AXES[best]}'
        return ''

    def words(self, axis: int, unit: str) -> str:
        """Return in words what was said and known last along an axis."""
        said, known = (signal[axis] for signal in self._signals)
        kind = self.kind(axis) or 'lies'
        return f'{AXES[axis]} {kind}: {said:.2g}, expected {known:.2g} {unit}'


class Delay:
    """How far one of two turns is behind the other: the shift that leaves least of the difference.

    Args:
        names: Of the two.
    """

    def __init__(self, *names: str) -> None:
        self._names = names
        # both at the last looks in a row that both were known at, the newest first
        self._past: deque[Turns] = deque(maxlen=FARTHEST + 1)
        self._looks = 0  # that were taken
        # energy of the difference, by looks: if the first is late, if the second is
        self._off = [[0.0] * (FARTHEST + 1), [0.0] * (FARTHEST + 1)]
        self._sizes = [0.0, 0.0]  # energy of each

    def add(self, kept: float, turns: Turns | None) -> None:
        """Take both at one look, None if they are not known; `kept`: share of what was before."""
        past = self._past
        self._looks = min(self._looks + 1, FARTHEST + 1)
        if turns is None:
            past.clear()
            return
        past.appendleft(turns)
        self._sizes = [
            kept * size + math.hypot(*turn) ** 2 for size, turn in zip(self._sizes, turns)
        ]
        # where nobody knows, as if not late
        before = [*past, *(self._looks - len(past)) * [turns]]
        for off, now, other in (self._off[0], turns[0], 1), (self._off[1], turns[1], 0):
            for shift, then in enumerate(before):
                off[shift] = kept * off[shift] + math.dist(now, then[other]) ** 2

    def late(self) -> tuple[str, float] | None:
        """Return which of the two is late, and by how many s; None: neither."""
        now, (less, more) = self._off[0][0], sorted(self._sizes)
        if now < LEAST_TURN**2 or now < LATE * more or self._looks <= FARTHEST:
            return None
        if less < ALIKE * more:  # a gain, or one that is dead
            return None
        least, late, shift = min(
            (off, late, shift) for late in range(2) for shift, off in enumerate(self._off[late])
        )
        if not SOON <= shift < FARTHEST or least > EXPLAINED_BY_DELAY * now:
            return None
        return self._names[late], STEP * shift


class LieDetector:
    """Names a sensor that contradicts the others.

    Args:
        gravity: m/s^2.
        patience: Looks in a row that must say so.
        soles: Whether feet that rest lie flat.
    """

    def __init__(self, robot: Robot, gravity: float, patience: int, soles: bool) -> None:
        self._patience = patience
        self._legs, self._gravity = Dynamics(robot, gravity), gravity
        self._imu = self._legs.frame(robot.imu_link)
        self._q = self._legs.configuration(np.zeros(len(robot.joints)))
        self._in_space = robot.is_free
        self._has_soles = robot.is_free and soles
        self._feet = robot.feet
        self._firm = FIRM * self._legs.weight
        self.forget()

    def forget(self) -> None:
        """Forget the past."""
        self._looks: deque[Look] = deque(maxlen=CURVE + 1)
        self._turned, self._pushed = np.zeros(3), np.zeros(3)
        self._span, self._next = 0.0, -math.inf
        self._carried = np.zeros((len(self._feet), 3))
        self._stands = False  # whether all feet rest
        self._by_orientation, self._by_legs, self._orientation = (
            Moments(LEAST_TURN) for _ in range(3)
        )
        self._force = Moments(LEAST_FORCE)
        self._felt: deque[Felt] = deque(maxlen=WINDOW)
        self._delays = {
            pair: Delay(*pair)
            for pair in ((GYRO, ORIENTATION), (GYRO, ENCODERS), (ORIENTATION, ENCODERS))
        }
        self._swings = [0] * len(self._feet)  # looks in a row in which who says he carries swings
        self._row: tuple[str, int] = '', 0  # what was found, looks in a row
        self._whole = False  # whether it is all of the IMU, against the legs alone

    def watch(self, measurement: Measurement, heard: float, silent: bool) -> tuple[str, str] | None:
        """Return code and words of the sensor that lies, or None.

        Args:
            measurement: The `Measurement`, finite.
            heard: Time that it stands for, s.
            silent: Whether a silence came before it.
        """
        self._turned += heard * measurement.angular_velocity
        self._pushed += heard * measurement.linear_acceleration
        self._span += heard
        self._carried += heard * measurement.foot_force
        if silent:
            self._looks.clear()
            self._felt.clear()  # it may have slowed down meanwhile
        if measurement.stamp < self._next - 1e-6:
            return None
        self._next = measurement.stamp + STEP
        self._look(measurement)
        self._whole = False
        found = self._judge()
        code, row = self._row
        self._row = ('', 0) if found is None else (found[0], row + 1 if found[0] == code else 1)
        unsure = LONGER if self._whole else 1
        return found if self._row[1] >= unsure * self._patience else None

    def _look(self, measurement: Measurement) -> None:
        legs = self._legs
        self._q[legs.base.nq :] = measurement.position
        legs.place(self._q)
        frames = legs.data.oMf
        ends = [frames[self._imu].actInv(frames[foot]) for foot in legs.frames.values()]
        feet = [end.rotation.copy() for end in ends]
        turned, span = pin.Quaternion(measurement.orientation.copy()), max(self._span, 1e-9)
        rotation = turned.normalized().toRotationMatrix()
        force = rotation @ self._pushed / span
        self._pushed, self._span = np.zeros(3), 0.0
        carried = self._carried / span
        pressed = sum(rows @ force for rows, force in zip(feet, carried, strict=True))
        loads = starmap(math.hypot, measurement.foot_force.tolist())
        self._looks.append(
            Look(
                tuple(measurement.orientation.tolist()),
                rotation,
                self._turned.copy(),
                force,
                feet,
                [rotation @ end.translation for end in ends],
                [load > self._firm for load in loads],
                measurement.stamp,
                sum(starmap(math.hypot, carried.tolist())) / self._legs.weight,
                rotation @ pressed * self._gravity / self._legs.weight,
            )
        )
        self._carried[:] = 0.0

    def _judge(self) -> tuple[str, str] | None:
        looks = self._looks
        if len(looks) <= TURN:
            return None
        kept = math.exp(-STEP / MEMORY)
        now, before = looks[-1], looks[-1 - TURN]
        gyro = (now.turned - before.turned).tolist()
        turn = rotation_between(before.orientation, now.orientation)
        self._by_orientation.add(kept, gyro, turn)
        told: dict[str, Sequence[float]] = {GYRO: gyro, ORIENTATION: turn}
        rested = [
            foot
            for foot in range(len(self._feet))
            if all([looks[-1 - k].firm[foot] for k in range(TURN + 1)])
        ]
        self._stands = len(rested) == len(self._feet)
        if rested and self._has_soles:
            rows = [pin.log3(before.feet[foot] @ now.feet[foot].T).tolist() for foot in rested]
            self._by_legs.add(kept, gyro, min(rows, key=lambda row: math.dist(row, gyro)))
            legs = min(rows, key=lambda row: math.dist(row, turn))
            self._orientation.add(kept, turn, legs)
            told[ENCODERS] = legs
        for (one, other), delay in self._delays.items():
            delay.add(kept, (told[one], told[other]) if other in told else None)
        up = np.array((0.0, 0.0, self._gravity))
        # exactly zero says an IMU without an accelerometer
        claimed = float(now.load > FELT and now.force.any()) * (now.force - up)
        span = now.stamp - before.stamp
        moving = [(before.places[foot] - now.places[foot]) / span for foot in rested]
        own = (now.rotation.T @ claimed).tolist()
        self._felt.append(Felt(own, claimed, now.pressed - up, moving))
        if len(looks) > CURVE:
            self._feel(kept)
        return self._decide()

    def _feel(self, kept: float) -> None:
        """Compare the specific force with how the legs say that the IMU's velocity changes."""
        looks, half = self._looks, CURVE // 2
        stood = [
            foot for foot in range(len(self._feet)) if all([look.firm[foot] for look in looks])
        ]
        # forces of exactly zero come from an IMU without an accelerometer
        if not stood or not any(look.force.any() for look in looks):
            return
        first, middle, last = looks[0], looks[half], looks[-1]
        span = 0.5 * (last.stamp - first.stamp)
        back = middle.rotation.T
        curves = [
            2.0 * middle.places[foot] - last.places[foot] - first.places[foot]
            for foot in range(len(self._feet))
        ]
        # the mean that gives the same second difference
        means = np.array([(*look.force.tolist(), *look.pressed.tolist()) for look in looks])
        said, pressed = ((WEIGHTS @ means[1:]).reshape(2, 3) @ back.T).tolist()
        up = self._gravity * back[:, 2]
        rows = [(back @ row / span**2 + up).tolist() for row in curves]
        stood = [foot for foot in stood if math.dist(rows[foot], up.tolist()) < FASTEST]
        if not stood:
            return

        errors = [math.dist(row, said) for row in rows]
        best = errors.index(min(errors))
        if self._in_space and best not in stood and last.firm[best]:
            return  # it has just begun to carry: the estimator bears another sensor that lies
        for foot in range(len(self._feet)):
            swings = foot in stood and best not in stood and errors[foot] > MOTION
            self._swings[foot] = self._swings[foot] + 1 if swings and errors[best] < REST else 0
        if any(self._swings):
            return
        # where feet slip or trip, they feel what throws the robot
        known = rows[min(stood, key=lambda foot: errors[foot])]
        self._force.add(kept, said, min(pressed, known, key=lambda row: math.dist(row, said)))

    def _decide(self) -> tuple[str, str] | None:
        """Return who contradicts two others."""
        gyro, legs, turn = self._by_orientation, self._by_legs, self._orientation
        felt = self._force.wrong()
        if words := self._weigh():
            return 'accelerometer', words
        for foot, looks in enumerate(self._swings):
            if looks >= self._patience:
                other = ', '.join(name for i, name in enumerate(self._feet) if i != foot)
                return (
                    'foot_force',
                    f'the force sensor of {self._feet[foot]} says that it carries, but '
                    f'legs and IMU that it swings and {other} rests: feet swapped, or a sensor '
                    'repeats itself',
                )
        if late := self._delayed():
            return late
        if words := self._offset():
            return 'accelerometer', words
        if wrong := gyro.wrong():
            return self._gyro_or_orientation(wrong, felt)
        both = set(legs.wrong()) & set(turn.wrong()) if self._has_soles else set()
        # a sole that tilts shows less of a turn than there is, but none the other way; on an edge
        # it shows any: only feet that all rest tell
        if self._stands and any(legs.kind(axis) and turn.kind(axis) for axis in both):
            words = ', '.join(legs.words(axis, 'rad') for axis in sorted(both))
            self._whole = True
            return 'imu_gravity', f'the IMU is mounted otherwise than described: {words}'
        # feet that slip or tilt are no lie: but the floor carries them, and turns no motion round
        clear = [
            axis
            for axis in felt
            if axis == 2 or self._force.kind(axis) or abs(self._force.bias(axis)) > BIAS
        ]
        if clear and both and not self._stands:
            return 'contradiction', self._encoders(legs, sorted(both))
        if clear:
            words = ', '.join(self._force.words(axis, 'm/s^2') for axis in clear)
            return 'accelerometer', f'the accelerometer contradicts gravity and legs: {words}'
        return None

    def _encoders(self, legs: Moments, wrong: list[int]) -> str:
        """Return in words which joints may tell what gyroscope, orientation and force deny."""
        foot = int(np.argmax(self._looks[-1].firm))
        frame = list(self._legs.frames.values())[foot]
        J = self._legs.frame_jacobian(self._q, frame)[3:, self._legs.base.nv :]
        shares = np.abs(legs.offness(wrong) @ self._looks[-1].feet[foot] @ J)
        joints = self._legs.robot.joints
        names = ', '.join(joint for joint, share in zip(joints, shares) if share > ALONG)
        return (
            f'the encoders of {names or "the legs"} contradict gyroscope, orientation and '
            f'accelerometer: {legs.words(wrong[0], "rad in 0.06 s")}'
        )

    def _delayed(self) -> tuple[str, str] | None:
        """Return who is late against two others, or against all that there is."""
        late = {pair: delay.late() for pair, delay in self._delays.items()}
        found = [each for each in late.values() if each is not None]
        if not found or len({who for who, _ in found}) > 1 and late[GYRO, ORIENTATION] is not None:
            return None
        who, by = found[0]
        together = late[GYRO, ORIENTATION] is None  # both, against the encoders
        if together and len(found) < 2:
            return None
        if together and who != ENCODERS:
            self._whole = True
            return 'orientation', f'the IMU is {by:.2f} s late against the encoders'
        code = 'contradiction' if who == ENCODERS else who
        return code, f'the {who}: {by:.2f} s late against what the other sensors say'

    def _offset(self) -> str:
        """Return in words by how much the IMU feels too much for too long, or ''."""
        if len(self._felt) < WINDOW:
            return ''
        mean = [sum(axis) / WINDOW for axis in zip(*[row.own for row in self._felt])]
        axis = max(range(3), key=lambda axis: abs(mean[axis]))
        if abs(mean[axis]) < OFFSET or self._is_shown():
            return ''
        return (
            f'the accelerometer is off along {AXES[axis]} by {mean[axis]:.2g} m/s^2: for '
            f'{WINDOW * STEP:g} s the robot would have gone ever faster'
        )

    def _is_shown(self) -> bool:
        """Return whether feet feel the change of velocity that the IMU does, or legs show it.

        A push moves legs that rest; where feet slip or trip, they are what throws the robot.
        """
        rows = list(self._felt)
        claimed = STEP * np.array([row.claimed for row in rows])
        known = [i for i, row in enumerate(rows) if row.moving] or [0]
        first, last = known[0], known[-1]
        off = [
            claimed - STEP * np.array([row.pressed for row in rows]),
            *(
                np.vstack((claimed[first + 1 : last + 1], before - after))
                for before in rows[first].moving
                for after in rows[last].moving
            ),
        ]
        left = min(float(np.linalg.norm(row.sum(axis=0))) for row in off)
        return left < UNSHOWN * float(np.linalg.norm(claimed.sum(axis=0)))

    def _weigh(self) -> str:
        """Return in words that the IMU feels too little of what the feet carry, or ''."""
        looks = [self._looks[-1 - k] for k in range(FEEL)]
        carried = sum(look.load for look in looks) / FEEL
        mean = [sum(axis) / FEEL for axis in zip(*(look.force.tolist() for look in looks))]
        felt = math.hypot(*mean) / self._gravity
        if carried < CARRIED or felt > FELT or not felt:
            return ''
        unit = ': in g?' if 0.5 < felt * self._gravity / carried < 2.0 else ''
        return (
            f'the accelerometer feels {felt * self._gravity:.2g} m/s^2, expected '
            f'{carried * self._gravity:.2g}: the feet carry {carried:.2g} of the weight{unit}'
        )

    def _gyro_or_orientation(self, wrong: list[int], felt: list[int]) -> tuple[str, str]:
        gyro, legs, turn = self._by_orientation, self._by_legs, self._orientation
        lies = turn.off() > legs.off() if self._has_soles else bool(felt)
        axis = wrong[0]
        if not lies:
            return 'gyroscope', f'the gyroscope lies: {gyro.words(axis, "rad in 0.06 s")}'
        return 'orientation', 'the orientation of the IMU lies: it contradicts gyroscope and legs'
