# SPDX-License-Identifier: Apache-2.0
"""State of a planar walker from joint encoders, IMU and foot contacts."""

import math

import numpy as np
import pinocchio as pin

from walking_control.estimation.contact import ContactDebouncer, STAMP_TOLERANCE
from walking_control.exceptions import ParameterError
from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.models.signals import WalkerState


def _on_above_off(values):
    if values.contact_off >= values.contact_on:
        raise ParameterError('parameter estimator.contact_off', value=values.contact_off,
                             limit=f'must be below contact_on ({values.contact_on:g} N)')


ESTIMATOR = ParameterTable('estimator', [
    Parameter('contact_on', 15.0, 'N', 'Foot force that counts as contact.', 0.1, 1e4,
              scaled=True),
    Parameter('contact_off', 5.0, 'N', 'Foot force below which contact ends.', 0.0, 1e4,
              scaled=True),
    Parameter('contact_hold', 0.02, 's', 'Shortest time between two changes of a contact.',
              0.0, 1.0),
    Parameter('min_step_length', 0.05, 'm',
              'The swing foot must be this far ahead of the stance foot to take over.', 0.0, 1.0,
              scaled=True),
    Parameter('min_step_time', 0.1, 's', 'Shortest time between two changes of the stance foot.',
              0.0, 2.0, scaled=True),
    Parameter('lost_support_time', 0.05, 's',
              'A lone contact of the other foot for this long takes over wherever it is.',
              0.0, 2.0, scaled=True),
], checks=[_on_above_off])


class PlanarEstimator:
    """Stance foot, minimal coordinates and base motion of a planar walker.

    The stance foot changes when the swing foot touches down ahead of it; a scuff beside the stance
    foot does not count. The stance foot is taken to rest on the floor.

    Args:
        robot: The `Robot`.
        values: Validated values of `ESTIMATOR`.
        slope: Inclination of the floor, rad, downhill positive.
    """

    def __init__(self, robot, values, slope=0.0):
        self._robot = robot
        self._values = values
        self._slope = slope
        self._dynamics = PlanarDynamics(robot)
        self._maps = [robot.supports[foot] for foot in robot.feet]
        self._base_imu = self._imu_rotation()
        self._aligned = np.allclose(self._base_imu, np.eye(3), atol=1e-12)
        self._contacts = []
        self._base_q = np.zeros(self._dynamics.nv)
        self._angles = self._base_q[2:]  # pitch and joints
        self._rates = np.zeros(1 + len(robot.joints))
        self.state = WalkerState(robot)
        self.reset(robot.feet[0])

    def _imu_rotation(self):
        model, data = self._dynamics.model, self._dynamics.data
        pin.framesForwardKinematics(model, data, np.zeros(model.nq))
        base = data.oMf[model.getFrameId(self._robot.base_link)].rotation
        imu = data.oMf[model.getFrameId(self._robot.imu_link)].rotation
        return base.T @ imu

    def reset(self, support):
        """Forget the past; the named foot stands."""
        values = self._values
        self._contacts = [
            ContactDebouncer(values.contact_on, values.contact_off, values.contact_hold)
            for _ in self._robot.feet]
        self._alone_since = math.inf
        state = self.state
        state.support = self._robot.feet.index(support)
        state.steps = 0
        state.touchdown = -math.inf
        state.step_length = state.step_time = state.foothold = 0.0

    def update(self, measurement):
        """Return the `WalkerState` of a `Measurement`; the same object every time.

        The measurement must be finite.
        """
        state = self.state
        state.stamp = measurement.stamp
        self._update_angles(measurement)
        forces = measurement.foot_force.tolist()
        for i, contact in enumerate(self._contacts):
            x, y, z = forces[i]
            state.contact[i] = contact.update(math.sqrt(x * x + y * y + z * z), state.stamp)
        state.flicker = max(contact.suppressed for contact in self._contacts)
        self._update_support()
        mapping = self._maps[state.support]
        np.dot(mapping, self._angles, out=state.q)
        np.dot(mapping, self._rates, out=state.v)
        state.locked = measurement.locked
        return state

    def _update_angles(self, measurement):
        state = self.state
        x, y, z, w = measurement.orientation.tolist()
        rotation = self._base_imu
        if self._aligned:
            pitch = math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
            rate = float(measurement.angular_velocity[1])
        else:
            base = pin.Quaternion(w, x, y, z).toRotationMatrix() @ rotation.T
            pitch = math.atan2(base[0, 2], base[2, 2])
            rate = float(rotation[1] @ measurement.angular_velocity)
        state.pitch = pitch - self._slope
        state.pitch_rate = rate
        state.position, state.velocity = measurement.position, measurement.velocity
        self._angles[0] = state.pitch
        self._rates[0] = rate
        self._angles[1:] = measurement.position
        self._rates[1:] = measurement.velocity

    def _update_support(self):
        state, dynamics, feet = self.state, self._dynamics, self._robot.feet
        dynamics.place(self._base_q)
        places = [dynamics.foot_position(foot) for foot in feet]
        x_support = places[state.support][0]
        elapsed = state.stamp - state.touchdown + STAMP_TOLERANCE
        if elapsed >= self._values.min_step_time:
            for i, (x, _) in enumerate(places):
                if i == state.support or not state.contact[i]:
                    continue
                if x - x_support >= self._values.min_step_length or self._alone():
                    self._take_over(i, x - x_support)
                    break
        x_support, z_support = places[state.support]
        state.base_x, state.base_height = -x_support, -z_support
        for i, (_, z) in enumerate(places):
            state.foot_height[i] = z - z_support

    def _alone(self):
        """Return whether the stance foot has long been off the floor while another is on it."""
        state = self.state
        if state.contact[state.support]:
            self._alone_since = math.inf
            return False
        if state.stamp < self._alone_since:
            self._alone_since = state.stamp
        return state.stamp - self._alone_since >= \
            self._values.lost_support_time - STAMP_TOLERANCE

    def _take_over(self, foot, length):
        state = self.state
        state.support = foot
        state.steps += 1
        state.step_length = length
        state.foothold += length
        state.step_time = state.stamp - state.touchdown
        state.touchdown = state.stamp
        self._alone_since = math.inf
