# SPDX-License-Identifier: Apache-2.0
"""The last step of a planar walker with a motor at its hip: onto two straight legs, spread wide.

The walker is an inverted pendulum on its stance foot. A foot set down with the legs spread by 2 a
turns its speed u into u cos(2 a), so the swing leg goes farther ahead than in the walk, once its
knee is straight. With the angular momentum L about that foot, and all joints held from then on, the
walker has the energy L^2 / 2 I. It cannot pass over the foot if its centre of mass, at the distance
r, would have to rise by more: L^2 / 2 I < m g (r - h). Then the legs are spread and held, which
leaves L as it is, and both knees are locked; else another step is taken. The arch of two legs rocks
from foot to foot and loses 1 - cos^2(2 a) of its energy at each landing. Then friction alone bears
it while tan a is less than that of the floor, and the hip needs no torque.
"""

import math

import numpy as np

from walking_control.controllers import Controller, KneeLocks
from walking_control.controllers.hip_switching import clamped_pd, find_hip
from walking_control.controllers.parameters import HipStopParameters
from walking_control.models import Command, Dynamics, Reference, RobotFile, WalkerState, World

WIDE = 0.15  # rad between legs that may bear the robot
ARCH = 0.6  # rad between legs that stand: the wider, the sooner rocking from foot to foot ends
FIRM = 3.0  # times as stiff and as damped is the hip of two straight legs
BENT = 0.3  # rad from where on a knee swings on by itself


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
        self._dynamics = Dynamics(robot, world.gravity, world.slope)
        self._straight = [(robot.joint_index(lock.joint), lock.angle) for lock in robot.locks]
        self._slope = world.slope
        self.values = values
        self._caught = False

    def reset(self, state: WalkerState) -> None:
        """Start with locked knees."""
        self._locks.reset()
        self._caught = False

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
        hip, lean = float(state.coordinates[i]), float(state.coordinates[0]) - self._slope
        if hip < 0.0:  # one leg is behind the one that bears
            self._caught = (self._caught or hip < -WIDE) and self._falls_back(state)
        # thrown ahead before the hip is over the foot, a leg would throw the hip back; a knee that
        # is nearly straight is carried through by a thigh that brakes
        straight = bool(state.locked.all())
        thrown = lean <= 0.0 and (straight or self._bent(state) > BENT)
        angle = values.hip_angle if thrown else values.swing_angle
        if self._caught:
            angle = math.copysign(ARCH, hip)
        firm = FIRM if straight and thrown or self._caught else 1.0
        command.effort[:] = 0.0
        command.effort[0] = self._signs[state.support] * clamped_pd(
            hip,
            float(state.rates[i]),
            angle,
            firm * values.hip_stiffness,
            firm * values.hip_damping,
            self._limit,
        )
        self._locks.update(state, command)
        if self._caught:
            command.lock[:] = True

    def _bent(self, state: WalkerState) -> float:
        """Return how far the knee that is bent most is bent, rad; 0 without knees."""
        bent = [abs(state.position[joint] - angle) for joint, angle in self._straight]
        return float(max(bent, default=0.0))

    def _falls_back(self, state: WalkerState) -> bool:
        """Return whether it falls back from its stance foot if all joints are held from now on."""
        dynamics, foot = self._dynamics, self._dynamics.robot.feet[state.support]
        q, v = dynamics.base_from_coordinates(foot, state.coordinates, state.rates)
        turn = np.zeros(dynamics.nv)  # of the whole, held walker about the foot, by 1 rad/s ahead
        turn[:3] = q[1], -q[0], 1.0
        if turn @ dynamics.gravity_efforts(q) <= 0.0:  # its centre of mass has passed
            return False
        inertia = dynamics.mass_matrix(q)
        momentum, reach = turn @ inertia @ v, float(np.linalg.norm(dynamics.center_of_mass(q)))
        rise = dynamics.weight * reach - dynamics.potential_energy(q)
        return bool(momentum <= 0.0 or momentum**2 < 2.0 * rise * (turn @ inertia @ turn))
