# SPDX-License-Identifier: Apache-2.0
"""An IMU that is mounted, wired or filtered wrongly, or that repeats itself."""

from itertools import starmap
import math

import numpy as np

from walking_control.models import Dynamics, IMU, Measurement, Robot, scale_of
from walking_control.safety.parameters import SafetyParameters

GRAVITY_TIME = 0.5  # s over which the specific force is averaged: longer than an impact or a fall
# s of load before the average counts: an impact changes the velocity of the base by less than 2 m/s
SETTLING = 0.2
SHOVE, SHOVE_TIME = 2.0, 0.03  # g, s: an impact on a soft floor does not last so long
UNSEEN = SHOVE * SHOVE_TIME  # g s: a change of velocity by so much that no leg shows is none
STUMBLES = 0.5  # of a change of velocity, by the forces on the feet: it is an impact of theirs
LOADED = 0.2  # of the weight, on all feet together: less is a fall


class ImuCheck:
    """Compares what an IMU says with gravity and with the joints.

    Gravity: the specific force, turned by the orientation into the world, is g upward at rest and,
    averaged over impacts, near it in motion. More than g away is an IMU that lies otherwise than
    the robot's description says, or whose orientation means something else. Only what is felt while
    the feet carry the robot counts: it may start in a fall. An acceleration of exactly zero on all
    axes is an IMU without accelerometer, and not looked at.

    Frozen: noise alone changes what a live IMU says; one that repeats itself to the last bit while
    joints move is dead.

    Shoved: a push moves the legs too. An acceleration that lasts and that no leg shows is a lie of
    which an estimator makes a wrong velocity; but in a stumble no foot rests, and it is the feet
    that feel what throws the robot. Nor does one rest while none carries. Each check is told the
    time that a sample stands for: a silence around it is none of its business.

    Args:
        gravity: m/s^2.

    Attributes:
        repeated: For how long it has repeated itself, s.
    """

    def __init__(self, robot: Robot, values: SafetyParameters, gravity: float) -> None:
        self._values, self._gravity = values, gravity
        self._mass = scale_of(robot, gravity).mass
        self._loaded = LOADED * self._mass * gravity
        self._legs = Dynamics(robot)
        self._imu = self._legs.frame(robot.imu_link)
        self._q = self._legs.configuration(np.zeros(len(robot.joints)))
        self._v = np.zeros(self._legs.nv)
        self.forget()

    def forget(self) -> None:
        """Forget the past."""
        self._mean, self._felt = [0.0, 0.0, 0.0], 0.0  # m/s^2, s
        self._said = b''
        self._position: list[float] = []
        self.repeated, self._shoved = 0.0, 0.0
        self._force: list[float] = []
        self._claimed = self._seen = self._pressed = np.zeros(3)  # m/s

    def feel(self, measurement: Measurement, heard: float) -> tuple[tuple[str, str | None], ...]:
        """Return codes, each with why the specific force cannot be, in words, or None.

        Args:
            measurement: The `Measurement`, finite.
            heard: Time that it stands for, s.
        """
        force = measurement.linear_acceleration.tolist()
        upward = _turn(measurement.orientation.tolist(), force)
        counts = any(force) and self._is_carried(measurement)
        is_new = force != self._force  # else held while it ticks more rarely, or was lost
        self._force = force
        return (
            (
                'accelerometer',
                self._feel_shove(measurement, heard, upward, counts) if is_new else None,
            ),
            ('imu_gravity', self._feel_gravity(heard, upward) if counts else None),
        )

    def _feel_shove(
        self, measurement: Measurement, heard: float, upward: list[float], counts: bool
    ) -> str | None:
        """Return in words why nothing moves the robot as the IMU says, or None."""
        x, y, z = upward
        felt = math.hypot(x, y, z - self._gravity)
        if felt <= SHOVE * self._gravity or not counts:
            self._shoved = 0.0
            return None
        moved = self._by_legs(measurement)
        if not self._shoved:
            self._claimed, self._pressed, self._seen = np.zeros(3), np.zeros(3), moved
        self._shoved += heard
        self._claimed += heard * np.array((x, y, z - self._gravity))
        self._pressed += heard * self._by_feet(measurement)
        if self._shoved <= SHOVE_TIME + 1e-6:  # stamps are rounded
            return None
        # legs that slip show what is not there: no more can be wrong than is said
        shown = np.vstack((moved - self._seen, np.zeros(3)))
        unseen = min(math.hypot(*row) for row in (self._claimed - shown).tolist())
        stumbles = self._pressed @ self._claimed > STUMBLES * self._claimed @ self._claimed
        if stumbles or unseen <= UNSEEN * self._gravity:
            return None
        return (
            f'the IMU says that the robot is accelerated by {felt:.3g} m/s^2 and did for '
            f'{self._shoved:.3f} s of samples, by {math.hypot(*self._claimed):.3g} m/s; no leg '
            f'shows {unseen:.3g} m/s of it, limit {UNSEEN * self._gravity:.2g}'
        )

    def _is_carried(self, measurement: Measurement) -> bool:
        """Return whether feet carry: in the air no foot rests, and legs may throw the base."""
        return sum(starmap(math.hypot, measurement.foot_force.tolist())) >= self._loaded

    def _by_legs(self, measurement: Measurement) -> np.ndarray:
        """Return how fast the IMU moves if a foot rests, in the world, m/s, ``(n_feet, 3)``."""
        legs, robot = self._legs, self._legs.robot
        self._q[robot.base.nq :] = measurement.position
        self._v[robot.base.nv :] = measurement.velocity
        legs.move(self._q, self._v)
        imu = legs.data.oMf[self._imu]
        turning = imu.rotation @ measurement.angular_velocity
        rows = [
            _turn(
                measurement.orientation.tolist(),
                imu.rotation.T
                @ (
                    np.cross(turning, imu.translation - legs.foot_position(foot))
                    - legs.foot_velocity(foot)
                ),
            )
            for foot in robot.feet
        ]
        return np.array(rows)

    def _by_feet(self, measurement: Measurement) -> np.ndarray:
        """Return the acceleration of the centre of mass by what the feet feel, m/s^2, ``(3,)``.

        Legs must have been placed as measured; see `_by_legs`.
        """
        legs, robot, frames = self._legs, self._legs.robot, self._legs.data.oMf
        force = sum(
            frames[legs.frames[foot]].rotation @ felt
            for foot, felt in zip(robot.feet, measurement.foot_force, strict=True)
        )
        specific = (frames[self._imu].rotation.T @ force / self._mass).tolist()
        x, y, z = _turn(measurement.orientation.tolist(), specific)
        return np.array((x, y, z - self._gravity))

    def _feel_gravity(self, heard: float, upward: list[float]) -> str | None:
        """Return in words why gravity cannot be where the IMU feels it, or None."""
        mean = self._mean
        self._felt += heard
        share = min(heard / min(GRAVITY_TIME, self._felt), 1.0) if self._felt else 0.0
        for i in range(3):
            mean[i] += share * (upward[i] - mean[i])
        if self._felt < SETTLING - 1e-6:  # stamps are rounded
            return None
        error = math.hypot(mean[0], mean[1], mean[2] - self._gravity)
        limit = self._values.gravity_error * self._gravity
        if error <= limit:
            return None
        words = ', '.join(f'{value:.3g}' for value in mean)
        return (
            f'the IMU feels ({words}) m/s^2 in the world, {error:.3g} away from gravity, '
            f'(0, 0, {self._gravity:g}); limit {limit:.3g}: it is mounted or wired otherwise '
            'than described, or its orientation is another'
        )

    def stand_still(self, measurement: Measurement, heard: float) -> str | None:
        """Return in words for how long the IMU has repeated itself although joints moved, or None.

        Args:
            measurement: The `Measurement`.
            heard: Time that it stands for, s.
        """
        said, position = measurement.blocks[IMU].tobytes(), measurement.position.tolist()
        if said != self._said:
            self._said, self._position, self.repeated = said, position, 0.0
            return None
        self.repeated += heard
        moved = max(
            (abs(now - then) for now, then in zip(position, self._position, strict=True)),
            default=0.0,
        )
        values = self._values
        if self.repeated <= values.imu_frozen_time or moved <= values.imu_frozen_motion:
            return None
        return (
            f'the IMU has repeated itself for {self.repeated:.3f} s while a joint moved by '
            f'{moved:.3g} rad'
        )


def _turn(orientation: list[float], vector: list[float]) -> list[float]:
    """Return a vector turned by a quaternion xyzw."""
    x, y, z, w = orientation
    a, b, c = vector
    # t = 2 u x r; r + w t + u x t
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return [
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    ]
