# SPDX-License-Identifier: Apache-2.0
"""The last step of a planar walker with a motor at its hip: onto two straight legs, spread wide.

The walker is an inverted pendulum on its stance foot. A foot set down with the legs spread by 2 a
turns its speed u into u cos(2 a), and the hip must then rise by l (1 - cos a) to pass over that
foot: it cannot once u^2 cos^2(2 a) < 2 g l (1 - cos a). So the swing leg goes farther ahead than in
the walk. Where the energy left is too little the rear leg is held where it is, and both knees are
locked; else another step is taken. What then stands is an arch of two legs: friction alone bears
it while tan a is less than that of the floor, and the hip needs no torque.

Simplification: the mass lies in the hip; a swing leg takes some of the speed.
"""

import math

from walking_control.controllers.controller import Controller
from walking_control.controllers.hip_switching import clamped_pd, find_hip
from walking_control.controllers.knee_locks import KneeLocks
from walking_control.controllers.parameters import HipStopParameters
from walking_control.models import Command, Reference, RobotFile, WalkerState, World

WIDE = 0.15  # rad between legs that may bear the robot
PASSED = -0.05  # rad that the stance leg leans ahead when the hip has passed over its foot


class HipStop(Controller):
    """Brings a planar walker with one motor, at its hip, to a stand on both feet.

    Raises:
        IncompatibleController: The robot has not exactly one motor, a hip between its two legs.
    """

    name = 'hip_stop'
    parameters = HipStopParameters
    standstill = 'stands'

    def __init__(self, robot_file: RobotFile, values: HipStopParameters) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        joint, self._coordinate = find_hip(robot, self.name)
        self._signs = [robot.supports[foot][self._coordinate, 1 + joint] for foot in robot.feet]
        self._limit = float(robot.effort_limits[0])
        self._locks = KneeLocks(robot, values.knee_flexed)
        self._rate = math.sqrt(world.gravity / robot_file.scale.length)
        self._slope = world.slope
        self.values = values
        self._caught, self._spread = False, 0.0

    def reset(self, state: WalkerState) -> None:
        """Start with locked knees."""
        self._locks.reset()
        self._caught, self._spread = False, 0.0

    def take_over(self, state: WalkerState) -> None:
        """Begin in the middle of another law's step; a leg that is ahead is about to land.

        Args:
            state: What is known.
        """
        self.reset(state)
        if state.coordinates[self._coordinate] > 0.0:
            self._locks.arm()

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: Coordinates, their rates, contacts and locks.
            reference: Not looked at: it comes to a stand whatever is asked for.
            dt: Control period, s; the law has no memory of time.
            command: The `Command` to fill.
        """
        values, i = self.values, self._coordinate
        hip, lean, rate = float(state.coordinates[i]), *self._lean(state)
        if not self._caught and hip < -WIDE and lean > 0.0:
            self._caught = rate**2 < 2.0 * self._rate**2 * (1.0 - math.cos(lean))
            self._spread = -hip
        elif hip < 0.0 and lean < PASSED:
            self._caught = False
        if self._caught:
            angle = math.copysign(self._spread, hip)
        else:  # thrown ahead before the hip is over the foot, a leg would throw the hip back
            angle = values.swing_angle if lean > 0.0 else values.hip_angle
        command.effort[:] = 0.0
        command.effort[0] = self._signs[state.support] * clamped_pd(
            hip,
            float(state.rates[i]),
            angle,
            values.hip_stiffness,
            values.hip_damping,
            self._limit,
        )
        self._locks.update(state, command)
        if self._caught:
            command.lock[:] = True

    def _lean(self, state: WalkerState) -> tuple[float, float]:
        """Return how far the hip is behind the stance foot, and its rate, rad and rad/s."""
        return float(state.coordinates[0]) - self._slope, float(state.rates[0])
