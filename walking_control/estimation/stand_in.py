# SPDX-License-Identifier: Apache-2.0
"""What a robot that is being stopped goes by where a sensor is lost: its others, for some seconds.

The sole of the stance foot is at rest, so the base turns as the joints of its leg do: at -w in base
axes, w the angular velocity of that foot as seen from the base. That stands in for the gyroscope.
Orientation goes on from the last one by the gyroscope, or by the leg. The estimator does without an
accelerometer, and without the sensor of one foot where it may set the others against the weight.

Simplification: a sole that rolls over its edge is taken to rest; errors of angles add up.
"""

from collections.abc import Collection

import numpy as np
import pinocchio as pin

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import Robot
from walking_control.models.signals import Measurement

GYROSCOPE, ORIENTATION, ACCELEROMETER, FOOT = 'gyroscope', 'orientation', 'accelerometer', 'foot'


def dispensable(robot: Robot, values: EstimatorParameters) -> frozenset[str]:
    """Return what a stop of a robot can do without.

    Args:
        robot: The `Robot`.
        values: `EstimatorParameters`.
    """
    if not robot.is_free:
        return frozenset()
    legs = {GYROSCOPE, ORIENTATION, ACCELEROMETER} if values.sole_spin > 0.0 else set()
    return frozenset(legs | ({FOOT} if values.load_error > 0.0 else set()))


class StandIn:
    """Replaces what is lost of measurements.

    Args:
        robot: The `Robot`; its base is free and its feet have soles.
    """

    def __init__(self, robot: Robot) -> None:
        self._legs, self._told = Dynamics(robot), Measurement(robot)
        self._q = self._legs.configuration(np.zeros(len(robot.joints)))
        self._v = np.zeros(self._legs.nv)
        self._feet = [self._legs.frames[foot] for foot in robot.feet]
        _, self._imu = self._legs.placement(self._q, self._legs.frame(robot.imu_link))

    def replace(
        self, measurement: Measurement, lost: Collection[str], before: Measurement, support: int
    ) -> Measurement:
        """Return the `Measurement` that goes on without what is lost.

        Args:
            measurement: The `Measurement`.
            lost: What is lost of it.
            before: What was believed before.
            support: Index of the stance foot.
        """
        told, orientation = self._told, pin.Quaternion(before.orientation.copy())
        age, told.stamp = measurement.stamp - before.stamp, measurement.stamp
        told.values[:], told.locked[:] = measurement.values, measurement.locked
        if ACCELEROMETER in lost:
            told.linear_acceleration[:] = 0.0
        if GYROSCOPE in lost:
            told.angular_velocity[:] = self._turning(told, support)
        if ORIENTATION in lost:
            turn = pin.Quaternion(pin.exp3(told.angular_velocity * age))
            told.orientation[:] = (orientation * turn).coeffs()
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
