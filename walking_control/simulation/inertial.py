# SPDX-License-Identifier: Apache-2.0
"""The inertial measurement unit of a simulated robot: how it is turned, turns and accelerates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics
    from walking_control.models.signals import Measurement


class InertialUnit:
    """What gyroscope, accelerometer and attitude filter of a robot would say without error.

    Orientation and angular velocity are those of the instant. The accelerometer gives the specific
    force averaged over the last step of the plant, as units do that integrate inside: the change of
    the IMU's velocity over the step less that by gravity, in the axes halfway between the two
    orientations. So an impact within the step weighs by its impulse, however short it is, and the
    velocity can be found again by summing up. Before the first step it is gravity's reaction alone.

    Args:
        dynamics: The robot's `Dynamics` with the world's gravity and slope.
        slope: Inclination of the floor, rad, downhill positive: the orientation counts from
            gravity.
    """

    def __init__(self, dynamics: Dynamics, slope: float) -> None:
        self._dynamics = dynamics
        self._frame = dynamics.frame(dynamics.robot.imu_link)
        self._gravity = dynamics.model.gravity.linear.copy()
        self._world_floor = pin.Quaternion(pin.utils.rotate('y', slope))
        self._velocity = np.zeros(3)
        self._rotation = pin.Quaternion.Identity()
        self._angular_velocity = np.zeros(3)
        self._specific_force = np.zeros(3)

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """Begin in a state, given in generalised coordinates and velocities."""
        self._observe(q, v)
        self._specific_force[:] = self._rotation.inverse() * -self._gravity

    def advance(self, q: np.ndarray, v: np.ndarray, duration: float) -> None:
        """Take the state after a step of a duration in s."""
        before, rotation = self._velocity.copy(), self._rotation
        self._observe(q, v)
        halfway = rotation.slerp(0.5, self._rotation)
        force = (self._velocity - before) / duration - self._gravity
        self._specific_force[:] = halfway.inverse() * force

    def _observe(self, q: np.ndarray, v: np.ndarray) -> None:
        dynamics = self._dynamics
        dynamics.move(q, v)
        twist = pin.getFrameVelocity(dynamics.model, dynamics.data, self._frame, pin.LOCAL)
        rotation = dynamics.data.oMf[self._frame].rotation
        self._rotation = pin.Quaternion(rotation)
        self._velocity[:] = rotation @ twist.linear
        self._angular_velocity[:] = twist.angular

    def write(self, measurement: Measurement) -> None:
        """Fill the IMU's part of a `Measurement`."""
        measurement.orientation[:] = (self._world_floor * self._rotation).coeffs()
        measurement.angular_velocity[:] = self._angular_velocity
        measurement.linear_acceleration[:] = self._specific_force
