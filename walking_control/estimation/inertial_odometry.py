# SPDX-License-Identifier: Apache-2.0
"""Where the base is and how it moves, from IMU, joints and contacts together: a Kalman filter."""

from collections.abc import Sequence
import math

import numpy as np
import pinocchio as pin
from scipy.special import chdtri  # scipy.stats takes a second to import

from walking_control.estimation import EstimatorParameters, floor_rotation, LegOdometry
from walking_control.estimation.foot_updates import LATER, make_sample, Noise, NOW
from walking_control.estimation.invariant import ACCELEROMETER, GYRO, make_filter_state
from walking_control.estimation.leg_chains import find_leg_chains, LONGEST_SAMPLE, Mount, sense
from walking_control.estimation.sole_updates import Grip, make_soles, settle
from walking_control.models import (
    Base,
    BaseState,
    compile_where_possible,
    Dynamics,
    floor_gravity,
    Measurement,
    WalkerState,
)

UNFELT = 5.0  # m/s^2: how a robot accelerates of which no accelerometer tells
LEAST = 1e-5  # rad, rad/s, m/s^2: nothing is measured better; a perfect filter would never learn


class InertialOdometry(LegOdometry):
    """The contact-aided invariant Kalman filter [HJGE20]; doc/estimation_evidence.md derives it.

    The body of the filter has its origin in the IMU and the axes of the base. A base that moves
    in the plane, or does not turn, is the same body with what it cannot do left out.

    Args:
        dynamics: The robot's `Dynamics`.
        slope: Inclination of the floor, rad, downhill positive.
        gravity: Magnitude, m/s^2.

    Attributes:
        filter: The `FilterState`.
        sample: The last `Sample`.
    """

    def __init__(
        self, dynamics: Dynamics, values: EstimatorParameters, slope: float, gravity: float
    ) -> None:
        super().__init__(dynamics)
        robot = dynamics.robot
        self._base, self._chains = robot.base, find_leg_chains(dynamics)
        self._imu, self._base_imu = dynamics.placement(
            dynamics.configuration(np.zeros(len(robot.joints))), dynamics.frame(robot.imu_link)
        )
        self._floor_world = floor_rotation(slope)
        n = len(robot.feet)
        self.filter = make_filter_state(free_entries(robot.base, n))
        self.sample = make_sample(n)
        self._noise = noise_of(values, len(robot.base.axes))
        self._mount = Mount(
            self._imu,
            self._base_imu,
            floor_gravity(gravity, slope),
            firm=values.firm_load * dynamics.mass * gravity,
        )
        self._scale, self._scale_sigma = values.way_scale, values.way_scale_sigma
        self._blind = self._noise._replace(accelerometer=UNFELT)
        self._initial = np.maximum(
            LEAST,
            [values.orientation_sigma, values.gyro_bias_sigma, values.acceleration_bias_sigma],
        )
        self._grip = Grip(
            values.sole_spin, values.sole_tilt, float(chdtri(1, values.slip_probability))
        )
        self._soles = make_soles(n if robot.is_free and self._grip.spin > 0.0 else 0)
        self.covariance: np.ndarray = np.zeros((9, 9))
        self._sense = compile_where_possible(sense)
        self._settle = compile_where_possible(settle)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measurement begins on the stance foot, at the origin."""
        self._last, self._elapsed = -math.inf, math.inf
        self.filter.columns[:] = self.filter.bias[:] = 0.0
        self.sample.floor[:] = 0.0

    def turn(self, measurement: Measurement, base: BaseState, q: np.ndarray, v: np.ndarray) -> None:
        """Take IMU and joints of a `Measurement`; write how the base is turned and turns.

        Args:
            q: Generalised coordinates; the base's angles are written, a pitch by `update` again.
            v: Generalised velocities; the base's rates are written.
        """
        self._elapsed = measurement.stamp - self._last
        if self._elapsed > LONGEST_SAMPLE:
            self._begin(measurement)
        self._last = max(self._last, measurement.stamp)
        self._take(measurement, base, self._elapsed)
        if self.level_by_imu and 0.0 < self._elapsed <= LONGEST_SAMPLE:
            self._level(measurement)
            self._take(measurement, base, 0.0)
        self._generalised = q
        if self._base is Base.PLANAR:
            q[2], v[2] = base.pitch, base.angular[1]
        elif self._base is Base.FREE:
            q[3:7], v[3:6] = base.orientation, base.angular

    def _take(self, measurement: Measurement, base: BaseState, dt: float) -> None:
        """Take a `Measurement` that comes dt seconds after the last one; write the base's turn."""
        rate, force = measurement.angular_velocity, measurement.linear_acceleration
        self._sense(
            self._chains,
            (measurement.position, measurement.velocity, rate, force),
            self.filter,
            self.sample,
            self._noise if force.any() else self._blind,
            self._mount,
            dt,
            base.orientation,
            base.angular,
        )

    def _begin(self, measurement: Measurement) -> None:
        """Take the IMU's own orientation to begin with."""
        world = pin.Quaternion(measurement.orientation.copy()).normalized().toRotationMatrix()
        rotation = self._floor_world @ world @ self._base_imu.T
        if self._base is Base.PLANAR:
            rotation = pin.utils.rotate('y', math.atan2(rotation[0, 2], rotation[2, 2]))
        elif self._base is Base.TRANSLATING:
            rotation = np.eye(3)
        self.filter.rotation[:] = rotation

    def _level(self, measurement: Measurement) -> None:
        """Take how the base leans, not where it looks, from the IMU's own orientation."""
        rotation = self.filter.rotation.copy()
        self._begin(measurement)
        up = pin.Quaternion.FromTwoVectors(self.filter.rotation[2], rotation[2])
        self.filter.rotation[:] = rotation @ up.toRotationMatrix()

    def update(
        self, state: WalkerState, places: Sequence[Sequence[float]], forces: np.ndarray
    ) -> None:
        """Take the contacts; write where the base is, how it moves and how well that is known.

        Args:
            state: Written in place.
            places: Of the feet from the base, floor axes, m, ``(n_feet, 3)``.
            forces: On the feet, N, ``(n_feet, 3)``.
        """
        base, foot = state.base, state.support
        self.sample.floor[:2] = state.floor_slope
        if self.floor is not None and self.floor.flat:
            self.sample.floor[3:], self.sample.heights[:] = self.floor.footholds[0], LATER
            if self.floor.felt:
                self.sample.heights[foot] = NOW
        sound = self._settle(
            self.filter,
            self.sample,
            self._soles,
            state.contact,
            forces,
            foot,
            self._noise,
            self._grip,
            self._mount,
            self._initial,
            self._elapsed,
            base.orientation,
            base.position,
            base.linear,
            self.covariance,
        )
        if not sound:
            self._last = -math.inf  # the next measurement begins anew
        if self._base is Base.PLANAR:  # its coordinates count the pitch
            self._generalised[2] = base.pitch
        state.foothold[:] = self.filter.columns[2 + foot]
        if self._scale != 1.0 or self._scale_sigma > 0.0:
            self._stretch(state)
        state.foot_height[:] = [place[2] - places[foot][2] for place in places]

    def _stretch(self, state: WalkerState) -> None:
        """Count the way along the floor as longer than the joints say, and as less certain."""
        base, way = state.base, state.base.position[:2]
        # an error of the scale is the same all along: no measurement of the robot's own shows it
        self.covariance[6:8, 6:8] += self._scale_sigma**2 * np.outer(way, way)
        for part in (way, base.linear[:2], state.foothold[:2]):
            part *= self._scale

    @property
    def rate_covariance(self) -> np.ndarray:  # type: ignore[override]   # made when asked for
        """Covariance of the angular velocity, base axes, ``(3, 3)``, rad^2/s^2."""
        return np.asarray(
            np.diag(self.filter.free[:3]) * self._noise.gyro**2
            + self.filter.P[GYRO:ACCELEROMETER, GYRO:ACCELEROMETER]
        )


def free_entries(base: Base, n_feet: int) -> np.ndarray:
    """Return which entries of the filter's error a base has, 1 or 0, ``(n,)``.

    Args:
        base: How the base moves.
        n_feet: Number of feet.
    """
    turns, moves = np.zeros(3), np.zeros(3)
    moves[list(base.axes)] = 1.0
    turns[{Base.PLANAR: [1], Base.FREE: [0, 1, 2], Base.TRANSLATING: []}[base]] = 1.0
    return np.concatenate((turns, np.tile(moves, 2 + n_feet), turns, moves))


def noise_of(values: EstimatorParameters, n_axes: int) -> Noise:
    """Return the `Noise` of `EstimatorParameters`, for feet that move along some axes.

    Args:
        values: `EstimatorParameters`.
        n_axes: Along which feet move, 2 or 3.
    """
    gates = chdtri((n_axes, n_axes, 2 * n_axes), values.slip_probability)
    gyro, accelerometer, encoder, velocity = (
        max(value, LEAST)
        for value in (
            values.gyro_sigma,
            values.acceleration_sigma,
            values.position_sigma,
            values.velocity_sigma,
        )
    )
    return Noise(
        gyro,
        accelerometer,
        values.gyro_bias_walk,
        values.acceleration_bias_walk,
        encoder,
        velocity,
        values.foot_motion,
        values.foot_persistence,
        values.floor_roughness,
        values.tachometers,
        *(float(gate) for gate in gates),
    )
