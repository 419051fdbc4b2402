# SPDX-License-Identifier: Apache-2.0
"""State of a robot in space from joint encoders, IMU and foot contacts.

Statics need the base's orientation and the contacts, not its place: neither position nor velocity
of the base is estimated.
"""

import math

import numpy as np
import pinocchio as pin

from walking_control.estimation.contact import ContactDebouncer
from walking_control.models.signals import WalkerState
from walking_control.models.spatial import SpatialDynamics


class SpatialEstimator:
    """Orientation, height and contacts of a robot in space.

    Args:
        robot: The `Robot`.
        values: Validated values of `ESTIMATOR` (of which the contact forces and hold time count).
        slope: Inclination of the floor, rad; the pitch of the state counts from its normal.
    """

    def __init__(self, robot, values, slope=0.0):
        self._robot, self._values, self._slope = robot, values, slope
        self._dynamics = SpatialDynamics(robot.urdf, name=robot.name)
        joints = self._dynamics.joints
        self._to_model = np.array([robot.joints.index(joint) for joint in joints])
        self._feet = [self._dynamics.frame(foot) for foot in robot.feet]
        self._q = self._dynamics.configuration(np.zeros(len(joints)))
        _, base = self._dynamics.placement(self._q, self._dynamics.frame(robot.base_link))
        _, imu = self._dynamics.placement(self._q, self._dynamics.frame(robot.imu_link))
        self._imu_base = imu.T @ base
        self.state = WalkerState(robot)
        self.reset(robot.feet[0])

    def reset(self, support):
        """Forget the past; the named foot stands."""
        values = self._values
        self._contacts = [
            ContactDebouncer(values.contact_on, values.contact_off, values.contact_hold)
            for _ in self._robot.feet]
        self.state.support = self._robot.feet.index(support)
        self.state.steps = 0

    def update(self, measurement):
        """Return the `WalkerState` of a `Measurement`; the same object every time.

        The measurement must be finite.
        """
        state = self.state
        state.stamp = measurement.stamp
        state.position[:] = measurement.position
        state.velocity[:] = measurement.velocity
        state.locked[:] = measurement.locked
        self._update_orientation(measurement)
        forces = np.sqrt((measurement.foot_force ** 2).sum(axis=1)).tolist()
        for i, contact in enumerate(self._contacts):
            state.contact[i] = contact.update(forces[i], state.stamp)
        state.flicker = max(contact.suppressed for contact in self._contacts)
        if any(forces):
            state.support = int(np.argmax(forces))
        self._update_height()
        return state

    def _update_orientation(self, measurement):
        state = self.state
        x, y, z, w = measurement.orientation.tolist()
        base = pin.Quaternion(w, x, y, z).normalized().toRotationMatrix() @ self._imu_base
        state.orientation[:] = pin.Quaternion(base).coeffs()
        state.pitch = math.atan2(base[0, 2], base[2, 2]) - self._slope
        state.pitch_rate = float(self._imu_base[:, 1] @ measurement.angular_velocity)

    def _update_height(self):
        """Update the heights of the base and of every foot above the stance foot, floor normal."""
        state, model = self.state, self._dynamics.model
        data = self._dynamics.data
        self._dynamics.configuration(state.position[self._to_model], state.orientation,
                                     out=self._q)
        pin.framesForwardKinematics(model, data, self._q)
        down, along = math.cos(self._slope), math.sin(self._slope)
        heights = []
        for foot in self._feet:
            x, _, z = data.oMf[foot].translation.tolist()
            heights.append(along * x + down * z)
        state.base_height = -heights[state.support]
        state.foot_height[:] = [height - heights[state.support] for height in heights]
