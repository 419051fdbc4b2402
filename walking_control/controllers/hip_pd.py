# SPDX-License-Identifier: Apache-2.0
"""Plain PD control of the hip to a fixed set point: the rival of every other law."""

from types import SimpleNamespace

import numpy as np

from walking_control.controllers.controller import ArrayLaw, Controller
from walking_control.controllers.hip_switching import clamped_pd, find_hip, hip_law, HipData
from walking_control.controllers.knee_locks import KneeLocks
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Command, Reference, WalkerState

PARAMETERS = ParameterTable('hip_pd', [
    Parameter('rate', 500.0, 'Hz', 'Rate of the control law.', 10.0, 5000.0),
    Parameter('hip_stiffness', 20.0, 'N m/rad', 'Torque per error of the hip angle.', 0.0, 1e4,
              live=True, scaled=True),
    Parameter('hip_damping', 3.0, 'N m s/rad', 'Torque against the rate of the hip.', 0.0, 1e3,
              live=True, scaled=True),
    Parameter('hip_angle', 0.6, 'rad', 'Hip angle aimed at, swing leg ahead.', 0.0, 1.5,
              live=True),
    Parameter('knee_flexed', 0.05, 'rad', 'Flexion after which an extending knee is re-armed.',
              0.0, 0.5),
])


class HipPd(Controller):
    """Plain hip PD for a planar walker with one motor at the hip.

    Args:
        robot_file: The `RobotFile`.
        values: Validated values of `PARAMETERS`.

    Raises:
        IncompatibleController: The robot has not exactly one motor, a hip between its two legs.
    """

    name = 'hip_pd'
    parameters = PARAMETERS

    def __init__(self, robot_file: RobotFile, values: SimpleNamespace) -> None:
        robot = robot_file.robot
        joint, self._coordinate = find_hip(robot, self.name)
        self._signs = [robot.supports[foot][self._coordinate, 1 + joint] for foot in robot.feet]
        self._limit = float(robot.effort_limits[0])
        self._locks = KneeLocks(robot, values.knee_flexed)
        self.values = values

    def reset(self, state: WalkerState) -> None:
        """Start with locked knees."""
        self._locks.reset()

    def update(self, state: WalkerState, reference: Reference, dt: float,
               command: Command) -> None:
        """Fill the `Command` for this tick."""
        values, i = self.values, self._coordinate
        torque = clamped_pd(float(state.q[i]), float(state.v[i]), values.hip_angle,
                            values.hip_stiffness, values.hip_damping, self._limit)
        command.effort[:] = 0.0
        command.effort[0] = self._signs[state.support] * torque
        self._locks.update(state, command)

    def array_law(self) -> ArrayLaw:
        """Return the law as an `ArrayLaw`."""
        values = self.values
        return ArrayLaw(hip_law, HipData(self._coordinate, values.hip_angle, values.hip_stiffness,
                                         values.hip_damping, self._limit,
                                         np.array(self._signs)),
                        np.zeros(1), values.knee_flexed)
