# SPDX-License-Identifier: Apache-2.0
"""Watches every tick; after a fault only a safe command leaves, until somebody clears it."""

from dataclasses import dataclass
import math

import numpy as np

from walking_control.models.dynamics import standing_height
from walking_control.models.parameters import Parameter, ParameterTable

SAFETY = ParameterTable('safety', [
    Parameter('state_timeout', 0.05, 's', 'Longest silence of the sensors.', 0.001, 10.0),
    Parameter('fall_lean', 0.9, 'rad', 'Lean of the stance leg (first coordinate) that is a fall.',
              0.1, 3.2),
    Parameter('fall_height', 0.6, '1', 'Height of the base, of its height at zero angles, '
              'below which the robot has fallen.', 0.0, 1.0),
    Parameter('velocity_limit', 60.0, 'rad/s',
              'Root of the sum of squared joint speeds that no sound measurement exceeds.',
              0.1, 1e4),
    Parameter('effort_rate_limit', 4000.0, 'N m/s', 'Fastest change of a commanded effort.',
              1.0, 1e7),
    Parameter('damping', 1.0, 'N m s/rad', 'Damping of actuated joints after a fault.', 0.0, 1e3),
    Parameter('damping_time', 1.0, 's', 'How long damping lasts before the effort is zero.',
              0.0, 60.0),
])


@dataclass(frozen=True)
class Fault:
    """What stopped the robot.

    Args:
        code: Short name, e.g. ``'fall'``, ``'not_finite'``, ``'stale'``.
        message: One sentence with value and limit.
        stamp: When, s.
    """

    code: str
    message: str
    stamp: float


class Supervisor:
    """Finite checks, limits, fall detection and the latched fault.

    Args:
        robot: The `Robot`.
        values: Validated values of `SAFETY`.
    """

    def __init__(self, robot, values):
        self._robot = robot
        self._values = values
        self._fall_height = values.fall_height * standing_height(robot)
        self._joints = [robot.joint_index(joint) for joint in robot.actuators]
        self._limits = [min(motor.effort_limit, robot.limits[joint].effort)
                        for joint, motor in robot.actuators.items()]
        self._last = [0.0] * len(self._limits)
        self.fault = None

    @property
    def effort_limits(self):
        """Largest effort of each actuator, N m: the smaller of motor and URDF limit."""
        return self._limits

    def latch(self, code, message, stamp):
        """Latch a fault unless one is latched already."""
        if self.fault is None:
            self.fault = Fault(code, message, stamp)

    def clear(self):
        """Forget the fault; the next tick controls again."""
        self.fault = None
        self._last = [0.0] * len(self._limits)

    def check_measurement(self, measurement):
        """Latch a fault when a measurement must not reach the estimator."""
        values = measurement.values
        # a sum of squares is finite if all values are, and costs one call
        if not math.isfinite(measurement.stamp) or not math.isfinite(values @ values):
            self.latch('not_finite', f'{self._name_not_finite(measurement)} is not finite',
                       measurement.stamp)
            return
        orientation, velocity = measurement.orientation, measurement.velocity
        norm = math.sqrt(orientation @ orientation)
        limit = self._values.velocity_limit
        if not 0.99 < norm < 1.01:
            self.latch('orientation', f'the IMU quaternion has norm {norm:.3g}, not 1',
                       measurement.stamp)
        elif velocity @ velocity > limit * limit:
            fastest = int(np.argmax(np.abs(velocity)))
            self.latch('velocity', f'joint {self._robot.joints[fastest]} moves at '
                       f'{abs(velocity[fastest]):.3g} rad/s; all joints together may have '
                       f'{limit:g}', measurement.stamp)

    def _name_not_finite(self, measurement):
        for what, values in (('the position', measurement.position),
                             ('the velocity', measurement.velocity)):
            finite = np.isfinite(values)
            if not finite.all():
                return f'{what} of joint {self._robot.joints[int(np.argmin(finite))]}'
        for what, values in (('the IMU orientation', measurement.orientation),
                             ('the IMU angular velocity', measurement.angular_velocity),
                             ('the IMU acceleration', measurement.linear_acceleration),
                             ('a foot force', measurement.foot_force)):
            if not np.isfinite(values).all():
                return what
        return 'the measurement'

    def check_age(self, age, stamp):
        """Latch a fault when the last measurement is older than the timeout, s."""
        if age > self._values.state_timeout:
            self.latch('stale', f'no sensor data for {age:.3f} s; limit '
                       f'{self._values.state_timeout:g} s', stamp)

    def check_state(self, state):
        """Latch a fault when the robot has fallen."""
        lean = abs(float(state.q[0]))
        if lean > self._values.fall_lean:
            self.latch('fall', f'the stance leg leans {lean:.2f} rad; limit '
                       f'{self._values.fall_lean:g}', state.stamp)
        elif state.base_height < self._fall_height:
            self.latch('fall', f'the base is {state.base_height:.2f} m above the stance foot; '
                       f'limit {self._fall_height:.2f}', state.stamp)

    def limit(self, command, dt, stamp):
        """Clamp a command in place to effort and rate limits; latch a fault if not finite."""
        efforts = command.effort.tolist()
        step = self._values.effort_rate_limit * dt
        for i, effort in enumerate(efforts):
            if not math.isfinite(effort):
                self.latch('command', 'the controller computed an effort that is not finite',
                           stamp)
                return
            limit = min(self._limits[i], self._last[i] + step)
            efforts[i] = max(min(effort, limit), -self._limits[i], self._last[i] - step)
        command.effort[:] = self._last = efforts

    def react(self, measurement, command):
        """Overwrite a command with the safe one: damping for a while, then nothing."""
        command.effort[:] = 0.0
        command.lock[:] = True
        if measurement.stamp - self.fault.stamp < self._values.damping_time:
            for i, joint in enumerate(self._joints):
                velocity = float(measurement.velocity[joint])
                if math.isfinite(velocity):
                    effort = -self._values.damping * velocity
                    limit = self._limits[i]
                    command.effort[i] = min(max(effort, -limit), limit)
        self._last = command.effort.tolist()
