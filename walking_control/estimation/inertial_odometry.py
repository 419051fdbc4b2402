# SPDX-License-Identifier: Apache-2.0
"""Where the base is and how it moves, from IMU, joints and contacts together: a Kalman filter."""

from collections.abc import Callable, Sequence
import math
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.special import chdtri  # scipy.stats takes a second to import

from walking_control.estimation import EstimatorParameters, floor_rotation, LegOdometry
from walking_control.estimation.foot_updates import (
    begin,
    LATER,
    make_sample,
    Noise,
    NOW,
    predict,
    write_base,
)
from walking_control.estimation.invariant import ACCELEROMETER, GYRO, make_filter_state
from walking_control.estimation.leg_chains import find_leg_chains, follow_legs
from walking_control.estimation.sole_updates import Grip, make_soles, take_contacts
from walking_control.exceptions import MissingDependency
from walking_control.models import (
    Base,
    BaseState,
    compile_law,
    Dynamics,
    floor_gravity,
    Measurement,
    WalkerState,
)

LONGEST_SAMPLE = 0.1  # s: after a longer silence the IMU has said nothing of what happened

CARRIED = 0.25  # squared specific force over squared gravity: in the air it is nearly zero
UNFELT = 5.0  # m/s^2: how a robot accelerates of which no accelerometer tells
EASED = 0.8  # of firm_load: a foot that has been firm stays so down to this
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
        self._gravity, self._floor_world = floor_gravity(gravity, slope), floor_rotation(slope)
        n = len(robot.feet)
        self.filter = make_filter_state(free_entries(robot.base, n))
        self.sample = make_sample(n)
        self._turns, self._moves = self.filter.free[:3], self.filter.free[3:6]
        self._noise = noise_of(values, len(robot.base.axes))
        self._firm = values.firm_load * dynamics.mass * gravity
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
        self._generalised, self._contact = np.zeros(dynamics.nq), np.zeros(n, dtype=bool)
        self.covariance = np.zeros((9, 9))
        self._follow_legs, self._predict, self._take_contacts, self._begin_on, self._write_base = (
            _compiled(function)
            for function in (follow_legs, predict, take_contacts, begin, write_base)
        )
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measurement begins on the stance foot, at the origin."""
        self._last, self._elapsed = -math.inf, math.inf
        self.filter.columns[:] = self.filter.bias[:] = 0.0
        self.sample.floor[:] = 0.0

    def turn(self, measurement: Measurement, base: BaseState, q: np.ndarray, v: np.ndarray) -> None:
        """Take IMU and joints of a `Measurement`; write how the base is turned and turns.

        Args:
            q: Generalised coordinates; the base's angles are written, now and by `update`.
            v: Generalised velocities; the base's rates are written.
        """
        self._read(measurement)
        self._elapsed = measurement.stamp - self._last
        if self._elapsed > LONGEST_SAMPLE:
            self._begin(measurement)
        elif self._elapsed > 0.0:  # a measurement that comes twice says nothing new
            noise = self._noise if measurement.linear_acceleration.any() else self._blind
            self._predict(self.filter, self.sample, noise, self._gravity, self._elapsed)
            if self.level_by_imu:
                self._level(measurement)
        self._last = max(self._last, measurement.stamp)
        self.sample.last_rate[:] = self.sample.rate
        self._generalised = q
        self._write_turn(base)
        np.subtract(self.sample.rate, self.filter.bias[0], out=base.angular)
        if self._base is Base.PLANAR:
            v[2] = base.angular[1]
        elif self._base is Base.FREE:
            v[3:6] = base.angular

    def _read(self, measurement: Measurement) -> None:
        """Take IMU and joints into base axes; what the robot cannot do it does not feel."""
        sample = self.sample
        sample.rate[:] = self._turns * (self._base_imu @ measurement.angular_velocity)
        sample.force[:] = self._moves * (self._base_imu @ measurement.linear_acceleration)
        if not measurement.linear_acceleration.any():  # an IMU without accelerometer
            sample.force[:] = -self._gravity @ self.filter.rotation
        self._follow_legs(
            self._chains,
            measurement.position,
            measurement.velocity,
            self._imu,
            sample,
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

    def _write_turn(self, base: BaseState) -> None:
        orientation = pin.Quaternion(self.filter.rotation)
        orientation.normalize()  # else rounding errors add up
        self.filter.rotation[:] = orientation.toRotationMatrix()
        base.orientation[:] = orientation.coeffs()
        if self._base is Base.PLANAR:
            self._generalised[2] = base.pitch
        elif self._base is Base.FREE:
            self._generalised[3:7] = base.orientation

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
        if self._elapsed > LONGEST_SAMPLE or not self._is_sound():
            self._begin_on(self.filter, self.sample, foot, self._initial, self._noise)
            self._soles.since[:] = 0.0
        elif self._elapsed > 0.0:
            contact = self._find_contacts(state, forces)
            self.sample.floor[:2] = state.floor_slope
            if self.floor is not None and self.floor.flat:
                self.sample.floor[3:], self.sample.heights[:] = self.floor.footholds[0], LATER
                if self.floor.felt:
                    self.sample.heights[foot] = NOW
            self._take_contacts(
                self.filter,
                self.sample,
                self._soles,
                contact,
                self._noise,
                self._grip,
                self._elapsed,
            )
        self._write_turn(base)
        self._write_base(
            self.filter,
            self.sample.rate,
            self._imu,
            self._noise.gyro,
            base.position,
            base.linear,
            self.covariance,
        )
        state.foothold[:] = self.filter.columns[2 + foot]
        if self._scale != 1.0 or self._scale_sigma > 0.0:
            self._stretch(state)
        height = places[foot][2]
        for i, place in enumerate(places):
            state.foot_height[i] = place[2] - height

    def _stretch(self, state: WalkerState) -> None:
        """Count the way along the floor as longer than the joints say, and as less certain."""
        base, way = state.base, state.base.position[:2]
        # an error of the scale is the same all along: no measurement of the robot's own shows it
        assert self.covariance is not None
        self.covariance[6:8, 6:8] += self._scale_sigma**2 * np.outer(way, way)
        for part in (way, base.linear[:2], state.foothold[:2]):
            part *= self._scale

    def _find_contacts(self, state: WalkerState, forces: np.ndarray) -> np.ndarray:
        """Return which feet rest on the floor; of a robot carried by none, the stance foot.

        A foot that hardly presses rolls over its edge and slides. A contact that comes late, or
        never, would leave the IMU alone to say how fast the robot moves.
        """
        contact = self._contact
        firm = np.where(self.filter.standing, EASED * self._firm, self._firm)
        np.logical_and(state.contact, (forces * forces).sum(axis=1) >= firm * firm, out=contact)
        if not contact.any():
            force = self.sample.force
            contact[state.support] = force @ force > CARRIED * (self._gravity @ self._gravity)
        return contact

    @property
    def rate_covariance(self) -> np.ndarray:  # type: ignore[override]   # made when asked for
        """Covariance of the angular velocity, base axes, ``(3, 3)``, rad^2/s^2."""
        return np.asarray(
            np.diag(self._turns) * self._noise.gyro**2
            + self.filter.P[GYRO:ACCELEROMETER, GYRO:ACCELEROMETER]
        )

    def _is_sound(self) -> bool:
        """Return whether the state is finite; if not, it is at the origin and level again."""
        if math.isfinite(self.filter.columns.sum() + self.filter.P.trace()):
            return True
        self.reset()
        self.filter.rotation[:] = np.eye(3)
        return False


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an array function compiled; without numba as it is, which takes a hundred times."""
    try:
        compiled: Callable[..., Any] = compile_law(function)
        return compiled
    except MissingDependency:
        return function


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
