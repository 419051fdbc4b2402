# SPDX-License-Identifier: Apache-2.0
"""The inertial measurement unit of a simulated robot: how it is turned, turns and accelerates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics


class InertialUnit:
    """What gyroscope, accelerometer and attitude filter of a robot would say without error.

    Orientation and angular velocity are those of the instant. The accelerometer gives the specific
    force averaged since the last measurement, as units do that integrate inside: the change of the
    IMU's velocity less that by gravity, over the time between, in the axes halfway between the two
    orientations. So an impact weighs by its impulse, however short it is, and the velocity can be
    found again by summing up. The first measurement says gravity's reaction alone.

    Args:
        dynamics: The robot's `Dynamics` with the world's gravity and slope.
        slope: Inclination of the floor, rad, downhill positive: the orientation counts from
            gravity.
        link: That carries it.
    """

    _time: float | None
    _rotation: pin.Quaternion
    _velocity: np.ndarray

    def __init__(self, dynamics: Dynamics, slope: float, link: str) -> None:
        self._dynamics = dynamics
        self._frame = dynamics.frame(link)
        self._gravity = dynamics.model.gravity.linear.copy()
        self._world_floor = pin.Quaternion(pin.utils.rotate('y', slope))
        self._specific_force = np.zeros(3)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measurement is the first."""
        self._time = None

    def measure(self, q: np.ndarray, v: np.ndarray, time: float, parts: Sequence[np.ndarray]
                ) -> None:
        """Fill the parts of a `Measurement` that are an IMU's.

        Args:
            q: Generalised coordinates of the robot.
            v: Generalised velocities.
            time: Simulated time, s; the time of the last measurement repeats its specific force.
            parts: Orientation, angular velocity and specific force.
        """
        dynamics = self._dynamics
        dynamics.move(q, v)
        twist = pin.getFrameVelocity(dynamics.model, dynamics.data, self._frame, pin.LOCAL)
        matrix = dynamics.data.oMf[self._frame].rotation
        rotation, velocity = pin.Quaternion(matrix), matrix @ twist.linear
        if self._time is None:
            self._specific_force[:] = rotation.inverse() * -self._gravity
        elif time > self._time:
            force = (velocity - self._velocity) / (time - self._time) - self._gravity
            self._specific_force[:] = self._rotation.slerp(0.5, rotation).inverse() * force
        self._time, self._rotation, self._velocity = time, rotation, velocity
        orientation, turning, felt = parts
        orientation[:] = (self._world_floor * rotation).coeffs()
        turning[:] = twist.angular
        felt[:] = self._specific_force
