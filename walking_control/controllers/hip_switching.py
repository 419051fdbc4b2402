# SPDX-License-Identifier: Apache-2.0
"""Switching PD control of one hip motor, with knee locks ([DS09] section 5.3).

The set point of the hip angle changes sign with the stance foot; that alone throws the new swing
leg forward, bends its knee by inertia and locks it again at the end of the swing.
"""

from typing import NamedTuple

import numpy as np

from walking_control.controllers import ArrayLaw, Controller, KneeLocks
from walking_control.controllers.parameters import HipSwitchingParameters
from walking_control.exceptions import IncompatibleController, require
from walking_control.models import (
    array_function,
    Command,
    Reference,
    Robot,
    RobotFile,
    Terms,
    WalkerState,
)


@array_function
def clamped_pd(
    q5: float,
    dq5: float,
    set_point: float,
    proportional_gain: float,
    derivative_gain: float,
    limit: float,
) -> float:
    """Return the motor current of [DS09] eq. (5.29), clamped; a torque where gains are of torques.

    Args:
        q5: Hip angle seen from the stance leg, rad.
        dq5: Its rate, rad/s.
        set_point: q5 aimed at, rad.
        proportional_gain: Kp, A/rad or N m/rad.
        derivative_gain: Kd, A s/rad or N m s/rad.
        limit: Largest current, A, or torque, N m.

    Returns:
        Current or torque, positive towards larger q5.
    """
    command = proportional_gain * (set_point - q5) - derivative_gain * dq5
    return min(max(command, -limit), limit)


class HipData(NamedTuple):
    """What a PD law of the hip knows, as plain numbers.

    Attributes:
        coordinate: Index of the hip angle among the minimal coordinates.
        set_point: Hip angle aimed at, rad.
        proportional_gain: A/rad or N m/rad.
        derivative_gain: A s/rad or N m s/rad.
        limit: Largest current, A, or torque, N m.
        effort: Effort per ampere, or 1, with the sign of the hip by stance foot, ``(2,)``.
    """

    coordinate: int
    set_point: float
    proportional_gain: float
    derivative_gain: float
    limit: float
    effort: np.ndarray


@array_function
def hip_law(
    terms: Terms,
    hip: HipData,
    memory: np.ndarray,
    support: int,
    held: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    effort: np.ndarray,
) -> None:
    """PD of the hip to a fixed set point ([DS09] (5.29)) as an `ArrayLaw`; it has no memory.

    Args:
        terms: Not used.
        hip: `HipData`.
        memory: Not used.
        support: Index of the stance foot.
        held: Not used.
        q: Minimal coordinates, rad, ``(n,)``.
        v: Their rates, rad/s, ``(n,)``.
        effort: Filled, N m, ``(n_efforts,)``.
    """
    i = hip.coordinate
    effort[:] = 0.0
    effort[0] = hip.effort[support] * clamped_pd(
        q[i], v[i], hip.set_point, hip.proportional_gain, hip.derivative_gain, hip.limit
    )


class HipSwitching(Controller):
    """Hip controller for a planar walker with one motor and, if it has knees, knee locks.

    Raises:
        IncompatibleController: The robot has not exactly one motor, a hip between its two legs.
    """

    name = 'hip_switching'
    parameters = HipSwitchingParameters

    def __init__(self, robot_file: RobotFile, values: HipSwitchingParameters) -> None:
        robot = robot_file.robot
        self._joint, self._coordinate = find_hip(robot, self.name)
        self._motor = robot.actuators[robot.joints[self._joint]]
        self._signs = [
            robot.supports[foot][self._coordinate, 1 + self._joint] for foot in robot.feet
        ]
        self._locks = KneeLocks(robot, values.knee_flexed)
        self.values = values
        self._steps = 0
        self._correction = 0.0
        self.current = self.set_point = 0.0

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say the motor current and the set point."""
        out[0], out[1] = self.current, self.set_point

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return ('current', 'A'), ('set_point', 'rad')

    def array_law(self) -> ArrayLaw | None:
        """Return the law at its set point; a speed that is asked for does not count.

        The printed rule needs the contacts of both feet, which array laws are not told.
        """
        values, motor = self.values, self._motor
        if values.switching == 'printed':
            return None
        signed = np.array([sign * motor.torque_per_ampere for sign in self._signs])
        return ArrayLaw(
            hip_law,
            HipData(
                self._coordinate,
                values.set_point,
                values.proportional_gain,
                values.derivative_gain,
                motor.current_limit,
                signed,
            ),
            np.zeros(1),
            values.knee_flexed,
        )

    def reset(self, state: WalkerState) -> None:
        """Start with locked knees and no speed correction."""
        self._locks.reset()
        self._steps = state.steps
        self._correction = 0.0

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            reference: The `Reference`; its speed, if any, replaces the parameter `speed`; 0 is the
                slowest walk of the table.
            dt: Control period, s; the law has no memory of time and does not use it.
            command: The `Command` to fill.
        """
        values = self.values
        set_point = self.set_point = self._set_point(state, reference)
        foot, i = state.support, self._coordinate
        q5, dq5 = state.coordinates[i], state.rates[i]
        if values.switching == 'printed':
            foot = 0 if state.contact[0] and not state.contact[1] else 1
            if foot != state.support:  # the hip seen from the other leg
                q5, dq5 = -q5, -dq5
        self.current = clamped_pd(
            float(q5),
            float(dq5),
            set_point,
            values.proportional_gain,
            values.derivative_gain,
            self._motor.current_limit,
        )
        command.effort[0] = self._signs[foot] * self._motor.torque_per_ampere * self.current
        self._locks.update(state, command)

    def _set_point(self, state: WalkerState, reference: Reference) -> float:
        """Return the set point; the speed is corrected once a step by the last step's mean."""
        values = self.values
        speed = values.speed if reference.speed is None else reference.speed
        if speed <= 0.0 and reference.speed is None:
            self._correction = 0.0
            return values.set_point
        if state.steps != self._steps:
            self._steps = state.steps
            if state.step_time > 0.0:
                error = speed - state.step_length / state.step_time
                self._correction = values.speed_gain * error
        table = values.set_point_table
        nominal = float(np.interp(speed, values.speed_table, table))
        return min(max(nominal + self._correction, min(table)), max(table))


def find_hip(robot: Robot, controller: str) -> tuple[int, int]:
    """Return (joint index, coordinate index) of the one actuated hip of a planar walker.

    Args:
        robot: The `Robot`.
        controller: Name of the law, for the message.

    Raises:
        IncompatibleController: There is no such hip.
    """
    require(
        robot.is_planar and len(robot.actuators) == 1,
        f'controller {controller} on {robot.name}',
        limit='needs a planar robot with one motor, at the hip',
        remedy='choose another controller',
        error=IncompatibleController,
    )
    joint = robot.joint_index(next(iter(robot.actuators)))
    first, second = (robot.supports[foot] for foot in robot.feet)
    for coordinate in range(len(robot.coordinates)):
        rows = first[coordinate], second[coordinate]
        if (
            all(np.count_nonzero(row) == 1 and abs(row[1 + joint]) == 1.0 for row in rows)
            and rows[0][1 + joint] == -rows[1][1 + joint]
        ):
            return joint, coordinate
    raise IncompatibleController(
        f'controller {controller} on {robot.name}',
        value=robot.joints[joint],
        limit='the motor must turn a hip whose angle changes sign with the stance foot',
        remedy='check robot.supports in the robot file',
    )
