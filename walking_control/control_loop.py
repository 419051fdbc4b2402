# SPDX-License-Identifier: Apache-2.0
"""One control tick: measurement, estimator, controller, safety, command.

Scripts, the simulation loop and the ROS nodes all call this chain; none has one of its own.
"""

import math

from walking_control.controllers.registry import find_controller
from walking_control.estimation.planar import ESTIMATOR, PlanarEstimator
from walking_control.models.robot_file import WORLD
from walking_control.models.signals import Command, Reference
from walking_control.safety.supervisor import SAFETY, Supervisor


class ControlLoop:
    """Everything between a `Measurement` and a `Command`.

    Sensors may tick faster than the control law: the estimator sees every measurement, the law
    runs at its own rate and its command is held in between.

    Args:
        robot_file: The `RobotFile`.
        controller: Name of the controller; None takes the robot file's default.

    Raises:
        InvalidInput: An unknown controller, one that does not fit, or a bad parameter.
    """

    def __init__(self, robot_file, controller=None):
        robot = robot_file.robot
        law = find_controller(controller or robot_file.controller)
        slope = robot_file.values(WORLD).slope
        self.robot = robot
        self.estimator = PlanarEstimator(robot, robot_file.values(ESTIMATOR), slope)
        self.controller = law(robot, robot_file.values(law.parameters))
        self.supervisor = Supervisor(robot, robot_file.values(SAFETY))
        self.period = 1.0 / self.controller.values.rate
        self.command = Command(robot)
        self.reference = Reference()
        self._support = robot_file.start.support
        self.reset()

    @property
    def state(self):
        """The `WalkerState` of the last tick."""
        return self.estimator.state

    @property
    def fault(self):
        """The latched `Fault`, or None."""
        return self.supervisor.fault

    def reset(self):
        """Begin anew: no fault, the start's stance foot stands."""
        self.estimator.reset(self._support)
        self.supervisor.clear()
        self.controller.reset(self.state)
        self.command.effort[:] = 0.0
        self.command.lock[:] = True
        self._last_update = -math.inf
        self._last_stamp = None

    def tick(self, measurement):
        """Return the `Command` that answers a `Measurement`; the same object every time."""
        supervisor, command, stamp = self.supervisor, self.command, measurement.stamp
        supervisor.check_measurement(measurement)
        if supervisor.fault is None and self._last_stamp is not None:
            supervisor.check_age(stamp - self._last_stamp, stamp)
        self._last_stamp = stamp
        if supervisor.fault is None:
            state = self.estimator.update(measurement)
            supervisor.check_state(state)
            if supervisor.fault is None and self._due(stamp):
                self._control(state, stamp)
        if supervisor.fault is not None:
            supervisor.react(measurement, command)
        return command

    def _due(self, stamp):
        # a hair early counts, so that rounding of stamps does not skip a tick
        return stamp - self._last_update >= self.period * (1.0 - 1e-6)

    def _control(self, state, stamp):
        dt = min(stamp - self._last_update, 2.0 * self.period)
        self._last_update = stamp
        self.controller.update(state, self.reference, dt, self.command)
        self.supervisor.limit(self.command, dt, stamp)
