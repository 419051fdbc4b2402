# SPDX-License-Identifier: Apache-2.0
"""What a robot that is being stopped goes by where a sensor is lost: its others, for some seconds.

The sole of the stance foot is at rest, so the base turns as the joints of its leg do: at -w in base
axes, w the angular velocity of that foot as seen from the base. That, smoothed, stands in for the
gyroscope. Orientation goes on from the last one by the gyroscope. Where that is lost, too, it is
turned, within `LEVELLING`, to where the sole lies flat on the floor: what was believed until the
loss was noticed is wrong. The estimator does without an accelerometer, and without the sensor of
one foot where it may set the others against the weight.

Simplification: a sole that rolls over its edge is taken to lie flat; the heading's errors add up.
"""

from collections.abc import Collection
import math

import numpy as np
import pinocchio as pin

from walking_control.estimation import EstimatorParameters, floor_rotation
from walking_control.models import Dynamics, Measurement, Robot, WalkerState

GYROSCOPE, ORIENTATION, ACCELEROMETER, FOOT = 'gyroscope', 'orientation', 'accelerometer', 'foot'
LEVELLING = 0.05  # s
SMOOTH = 0.02  # s over which a leg's rates are averaged: encoders tell them with noise


def dispensable(robot: Robot, values: EstimatorParameters) -> frozenset[str]:
    """Return what a stop of a robot can do without.

    Args:
        robot: The `Robot`.
        values: `EstimatorParameters`.
    """
    if not robot.is_free:
        return frozenset()
    legs = {GYROSCOPE, ORIENTATION, ACCELEROMETER} if values.sole_spin > 0.0 else set()
    return frozenset(legs | ({FOOT} if robot.foot_sensors and values.load_error > 0.0 else set()))


class StandIn:
    """Replaces what is lost of measurements.

    Args:
        robot: The `Robot`; its base is free and its feet have soles.
        slope: Inclination of the floor, rad, downhill positive.
    """

    def __init__(self, robot: Robot, slope: float = 0.0) -> None:
        self._legs, self._told = Dynamics(robot), Measurement(robot)
        self._q = self._legs.configuration(np.zeros(len(robot.joints)))
        self._v = np.zeros(self._legs.nv)
        self._feet = [self._legs.frames[foot] for foot in robot.feet]
        self._floor_world = floor_rotation(slope)
        _, self._imu = self._legs.placement(self._q, self._legs.frame(robot.imu_link))

    def replace(
        self,
        measurement: Measurement,
        lost: Collection[str],
        before: Measurement,
        state: WalkerState,
    ) -> Measurement:
        """Return the `Measurement` that goes on without what is lost.

        Args:
            measurement: The `Measurement`.
            lost: What is lost of it.
            before: What was believed before.
            state: What is known: the stance foot, and whether it touches the floor.
        """
        told, orientation = self._told, pin.Quaternion(before.orientation.copy())
        known = before.angular_velocity.copy()  # `before` may be the one that is written
        age, told.stamp = max(measurement.stamp - before.stamp, 0.0), measurement.stamp
        told.values[:], told.locked[:] = measurement.values, measurement.locked
        if ACCELEROMETER in lost:
            told.linear_acceleration[:] = 0.0
        if GYROSCOPE in lost:
            share = 1.0 - math.exp(-age / SMOOTH)
            told.angular_velocity[:] = known + share * (self._turning(told, state.support) - known)
        if ORIENTATION in lost:
            turned = orientation * pin.Quaternion(pin.exp3(told.angular_velocity * age))
            if GYROSCOPE in lost and state.contact[state.support]:
                turned = self._level(turned, state, 1.0 - math.exp(-age / LEVELLING)) * turned
            told.orientation[:] = turned.coeffs()
        return told

    def _turning(self, told: Measurement, support: int) -> np.ndarray:
        """Return how fast the IMU turns in its axes if the stance foot rests, rad/s, ``(3,)``."""
        legs, base = self._legs, self._legs.robot.base
        self._q[base.nq :], self._v[base.nv :] = told.position, told.velocity
        legs.move(self._q, self._v)
        foot = pin.getFrameVelocity(
            legs.model, legs.data, self._feet[support], pin.LOCAL_WORLD_ALIGNED
        )
        return np.asarray(-foot.angular @ self._imu)

    def _level(self, turned: pin.Quaternion, state: WalkerState, share: float) -> pin.Quaternion:
        """Return a share of the turn in the world that lays the stance sole flat on the floor."""
        normal = self._floor_world.T @ np.array([*-state.floor_slope, 1.0])
        sole = self._legs.data.oMf[self._feet[state.support]].rotation[:, 2]
        whole = pin.Quaternion.FromTwoVectors(turned * (self._imu.T @ sole), normal)
        return pin.Quaternion.Identity().slerp(share, whole)
