# SPDX-License-Identifier: Apache-2.0
"""Where the base is and how it moves, from IMU, joints and contacts together: a Kalman filter."""

from collections.abc import Sequence
import math
from typing import NamedTuple

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
    Sample,
    take_feet,
    write_base,
)
from walking_control.estimation.invariant import ACCELEROMETER, FilterState, GYRO, make_filter_state
from walking_control.estimation.leg_chains import find_leg_chains, follow_legs, LegChains
from walking_control.estimation.sole_updates import Grip, make_soles, Soles, take_soles
from walking_control.estimation.turns import write_turn
from walking_control.models import (
    Base,
    compile_where_possible,
    Dynamics,
    floor_gravity,
    IMU,
    JOINTS,
    Measurement,
    places_of,
    WalkerState,
)
from walking_control.models.array_functions import (
    array_function,
    as_block,
    inner,
    multiply,
    taken_by,
)

LONGEST_SAMPLE = 0.1  # s: after a longer silence the IMU has said nothing of what happened
CARRIED = 0.25  # squared specific force over squared gravity: in the air it is nearly zero
EASED = 0.8  # of the firm load: a foot that has been firm stays so down to this
UNFELT = 5.0  # m/s^2: how a robot accelerates of which no accelerometer tells
LEAST = 1e-5  # rad, rad/s, m/s^2: nothing is measured better; a perfect filter would never learn


class Memory(NamedTuple):
    """All that the filter keeps from one tick to the next, and what it knows of the robot.

    Attributes:
        chains: The `LegChains`.
        state: The `FilterState`.
        sample: The last `Sample`.
        soles: The `Soles`.
        noise: The `Noise`.
        blind: The `Noise` of a measurement without an accelerometer.
        grip: The `Grip`; a spin of zero where soles tell nothing.
        imu: Origin of the body, which is that of the IMU, in base axes, m, ``(3,)``.
        axes: From the IMU's axes to those of the base, ``(3, 3)``.
        gravity: Floor frame, m/s^2, ``(3,)``.
        firm: Force on a foot that rests for certain, N.
        initial: See `begin`.
        places: Where `Measurement.values` has joint positions, joint velocities, angular velocity
            and specific force, ``(4,)``.
        position: Of the base: what is known of it, as are the next three, see `BaseState`.
        orientation: ``(4,)``.
        linear: ``(3,)``.
        angular: ``(3,)``.
        covariance: See `write_base`, ``(9, 9)``.
    """

    chains: LegChains
    state: FilterState
    sample: Sample
    soles: Soles
    noise: Noise
    blind: Noise
    grip: Grip
    imu: np.ndarray
    axes: np.ndarray
    gravity: np.ndarray
    firm: float
    initial: np.ndarray
    places: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    covariance: np.ndarray


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
        self._base = robot.base
        self._imu, self._base_imu = dynamics.placement(
            dynamics.configuration(np.zeros(len(robot.joints))), dynamics.frame(robot.imu_link)
        )
        self._floor_world = floor_rotation(slope)
        n, self._noise = len(robot.feet), noise_of(values, len(robot.base.axes))
        self._scale, self._scale_sigma = values.way_scale, values.way_scale_sigma
        base, places = self.base, places_of(robot)
        memory = Memory(
            find_leg_chains(dynamics),
            make_filter_state(free_entries(robot.base, n)),
            make_sample(n),
            make_soles(n),
            self._noise,
            self._noise._replace(accelerometer=UNFELT),
            Grip(
                values.sole_spin if robot.is_free else 0.0,
                values.sole_tilt,
                float(chdtri(1, values.slip_probability)),
            ),
            self._imu,
            self._base_imu,
            floor_gravity(gravity, slope),
            values.firm_load * dynamics.mass * gravity,
            np.maximum(
                LEAST,
                [values.orientation_sigma, values.gyro_bias_sigma, values.acceleration_bias_sigma],
            ),
            # of the IMU all but its orientation
            np.array(
                [places[JOINTS, i].start for i in (0, 1)] + [places[IMU, i].start for i in (1, 2)]
            ),
            base.position,
            base.orientation,
            base.linear,
            base.angular,
            np.zeros((9, 9)),
        )
        block, views = as_block(memory)
        self.filter, self.sample = views.state, views.sample
        base.position, base.orientation = views.position, views.orientation
        base.linear, base.angular = views.linear, views.angular
        self.covariance: np.ndarray = views.covariance
        self._sense = compile_where_possible(sense)
        self._settle = compile_where_possible(settle)
        self._memory = taken_by(self._sense, block, views)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measurement begins on the stance foot, at the origin."""
        self._last, self._elapsed = -math.inf, math.inf
        self.filter.columns[:] = self.filter.bias[:] = 0.0
        self.sample.floor[:] = 0.0

    def turn(self, measurement: Measurement, q: np.ndarray, v: np.ndarray) -> None:
        """Take IMU and joints of a `Measurement`; write how the base is turned and turns.

        Args:
            q: Generalised coordinates; the base's angles are written, a pitch by `update` again.
            v: Generalised velocities; the base's rates are written.
        """
        self._elapsed = measurement.stamp - self._last
        if self._elapsed > LONGEST_SAMPLE:
            self._begin(measurement)
        self._last = max(self._last, measurement.stamp)
        self._sense(self._memory, measurement.values, self._elapsed)
        if self.level_by_imu and 0.0 < self._elapsed <= LONGEST_SAMPLE:
            self._level(measurement)
            self._sense(self._memory, measurement.values, 0.0)
        self._generalised, base = q, self.base
        if self._base is Base.PLANAR:
            q[2], v[2] = base.pitch, base.angular[1]
        elif self._base is Base.FREE:
            q[3:7], v[3:6] = base.orientation, base.angular

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
            (self.sample.floor[3], self.sample.floor[4]), _, _ = self.floor.footholds
            self.sample.heights[:] = LATER
            if self.floor.felt:
                self.sample.heights[foot] = NOW
        if not self._settle(self._memory, state.contact, forces, foot, self._elapsed):
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


@array_function
def sense(memory: Sequence[Memory], values: np.ndarray, dt: float) -> None:
    """Take joints and IMU in, move the state on by them, and write how the base is turned.

    What the robot cannot do it does not feel. Without an accelerometer it feels gravity.

    Args:
        memory: One `Memory`, see `as_block`; changed in place.
        values: `Measurement.values`; a specific force of zero says that there is no accelerometer.
        dt: Time since the last sample, s; nothing moves if it is zero or too long.
    """
    known = memory[0]
    state, sample, gravity, at = known.state, known.sample, known.gravity, known.places
    position, velocity = values[at[0] :], values[at[1] :]
    rate, force = values[at[2] : at[2] + 3], values[at[3] : at[3] + 3]
    multiply(known.axes, rate, sample.rate)
    multiply(known.axes, force, sample.force)
    sample.rate[:] *= state.free[:3]
    sample.force[:] *= state.free[3:6]
    if not force.any():
        multiply(state.rotation.T, -gravity, sample.force)
    follow_legs(known.chains, position, velocity, known.imu, sample)
    if 0.0 < dt <= LONGEST_SAMPLE:
        predict(state, sample, known.noise if force.any() else known.blind, gravity, dt)
    sample.last_rate[:] = sample.rate
    write_turn(state.rotation, known.orientation)
    known.angular[:] = sample.rate - state.bias[0]


@array_function
def settle(
    memory: Sequence[Memory],
    touches: np.ndarray,
    forces: np.ndarray,
    support: int,
    dt: float,
) -> bool:
    """Correct the state by the feet, or begin on the stance foot, and write what is known.

    A foot that hardly presses rolls over its edge and slides. A contact that comes late, or never,
    would leave the IMU alone to say how fast the robot moves: of a robot carried by no foot the
    stance foot rests.

    Args:
        memory: See `sense`.
        touches: Which feet touch the floor, ``(n_feet,)``.
        forces: On the feet, N, ``(n_feet, 3)``.
        support: The stance foot.
        dt: Time since the last sample, s; after a long silence it begins anew.

    Returns:
        Whether the state was finite; if not, it has begun anew at the origin, level.
    """
    known = memory[0]
    state, sample, soles, noise = known.state, known.sample, known.soles, known.noise
    sound = math.isfinite(state.columns.sum() + np.trace(state.P))
    if not sound:
        state.columns[:], state.bias[:], state.rotation[:] = 0.0, 0.0, np.eye(3)
        sample.floor[:] = 0.0
    if not sound or dt > LONGEST_SAMPLE:
        begin(state, sample, support, known.initial, noise)
        soles.since[:] = 0.0
    elif dt > 0.0:
        firm = known.firm * np.where(state.standing > 0, EASED, 1.0)
        contact = touches & ((forces * forces).sum(axis=1) >= firm * firm)
        if not contact.any():
            contact[support] = inner(sample.force, sample.force) > CARRIED * inner(
                known.gravity, known.gravity
            )
        take_feet(state, sample, contact, noise, dt)
        if known.grip.spin > 0.0:
            take_soles(state, sample, soles, noise, known.grip, dt)
    write_turn(state.rotation, known.orientation)
    write_base(
        state, sample.rate, known.imu, noise.gyro, known.position, known.linear, known.covariance
    )
    return sound


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
