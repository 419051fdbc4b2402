# SPDX-License-Identifier: Apache-2.0
"""How the base is turned and turns, from the IMU."""

import math

import numpy as np
import pinocchio as pin

from walking_control.models import Base, Dynamics
from walking_control.models.signals import BaseState, Measurement, pitch_of


class Attitude:
    """Orientation and angular velocity of the base in the floor frame.

    A base turns as its kind allows: in the plane about +y alone, freely, or not at all; the rest
    of what the IMU says is left out.

    Args:
        dynamics: The robot's `Dynamics`.
        slope: Inclination of the floor, rad, downhill positive: the IMU counts from gravity, the
            floor frame from the floor.
        base: The `BaseState` that is written.

    Attributes:
        update: Function (measurement, q, v) that writes what turns: orientation and angular
            velocity of the base, its part of generalised coordinates and velocities.
    """

    def __init__(self, dynamics: Dynamics, slope: float, base: BaseState) -> None:
        robot, self._base = dynamics.robot, base
        q = dynamics.configuration(np.zeros(len(robot.joints)))
        _, own = dynamics.placement(q, dynamics.frame(robot.base_link))
        _, imu = dynamics.placement(q, dynamics.frame(robot.imu_link))
        self._base_imu = own.T @ imu
        self._is_aligned = np.allclose(self._base_imu, np.eye(3), atol=1e-12)
        self._slope = slope
        self._floor_world = floor_rotation(slope)
        self.update = {
            Base.PLANAR: self._turn_in_plane,
            Base.FREE: self._turn_freely,
            Base.TRANSLATING: lambda measurement, q, v: None,
        }[robot.base]

    def _turn_in_plane(self, measurement: Measurement, q: np.ndarray, v: np.ndarray) -> None:
        if self._is_aligned:
            pitch = pitch_of(*measurement.orientation.tolist())
            rate = float(measurement.angular_velocity[1])
        else:
            rotation = self._base_world(measurement)
            pitch = math.atan2(rotation[0, 2], rotation[2, 2])
            rate = float(self._base_imu[1] @ measurement.angular_velocity)
        pitch -= self._slope
        q[2], v[2] = pitch, rate
        self._base.orientation[1] = math.sin(0.5 * pitch)
        self._base.orientation[3] = math.cos(0.5 * pitch)
        self._base.angular[1] = rate

    def _turn_freely(self, measurement: Measurement, q: np.ndarray, v: np.ndarray) -> None:
        rotation = self._floor_world @ self._base_world(measurement)
        self._base.orientation[:] = pin.Quaternion(rotation).coeffs()
        self._base.angular[:] = self._base_imu @ measurement.angular_velocity
        q[3:7], v[3:6] = self._base.orientation, self._base.angular

    def _base_world(self, measurement: Measurement) -> np.ndarray:
        imu = pin.Quaternion(measurement.orientation.copy()).normalized().toRotationMatrix()
        return np.asarray(imu @ self._base_imu.T)


def floor_rotation(slope: float) -> np.ndarray:
    """Return the rotation from the level world to the floor frame, ``(3, 3)``.

    Args:
        slope: Inclination of the floor, rad, downhill positive.
    """
    c, s = math.cos(slope), math.sin(slope)
    return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
