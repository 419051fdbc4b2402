# SPDX-License-Identifier: Apache-2.0
"""Foot placement and push-off as controllers ([DS09] section 5.4)."""

from collections.abc import Sequence
import math
from typing import Any, ClassVar

import numpy as np

from walking_control.controllers.controller import ArrayLaw, Controller
from walking_control.controllers.foot_placement import law
from walking_control.controllers.foot_placement.nominal import (
    fill_nominal_steps,
    NominalSteps,
    SPACING,
)
from walking_control.controllers.foot_placement.parameters import (
    FootPlacementParameters,
    PushOffParameters,
    WalkParameters,
)
from walking_control.exceptions import IncompatibleController, require
from walking_control.models import (
    Base,
    Command,
    compile_where_possible,
    Dynamics,
    floor_gravity,
    Reference,
    Robot,
    RobotFile,
    WalkerState,
    World,
)

NO_TERMS: Any = 0  # of support: the law has its own model
FASTEST = 10.0  # m/s per sqrt(leg length in m): the end of any table of speeds


class FootPlacement(Controller):
    """Where the swing foot comes down keeps the walker upright; a push-off keeps its energy.

    Args:
        values: Of the class `parameters`.

    Raises:
        IncompatibleController: Not a robot with two straight legs driven by speed.
        InvalidInput: Nothing walks with these legs and step times.
    """

    name = 'foot_placement'
    parameters: ClassVar[type[WalkParameters]] = FootPlacementParameters
    standstill: str | None = 'steps on the spot'

    def __init__(self, robot_file: RobotFile, values: WalkParameters) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_placeable(robot, self.name)
        self.values: Any = values  # of either law
        self._length = Dynamics(robot).standing_height()
        self._gravity = floor_gravity(world.gravity, world.slope)
        self._feet = [_leg_servos(robot, foot) for foot in robot.feet]
        self._steps = self._make_steps(world.gravity)
        self._law = compile_where_possible(law.place_foot)
        self._robot = robot
        self.data = self._make_data(values)
        self._built = values
        self.memory = law.new_memory()
        self._held = np.zeros(0, bool)
        self._start = self._turned = self._shifted = 0.0

    def _make_steps(self, gravity: float) -> NominalSteps:
        values, length = self.values, self._length
        spacing = SPACING * math.sqrt(length)
        speeds = spacing * np.arange(1 + int(FASTEST * math.sqrt(length) / spacing))
        steps = NominalSteps(speeds, *(np.zeros_like(speeds) for _ in range(8)))
        fill = compile_where_possible(fill_nominal_steps)
        count = fill(
            steps,
            values.pitch,
            values.roll,
            values.longest_step,
            floor_gravity(gravity, 0.0),
            length,
        )
        require(
            count >= 2,
            f'steps of {self.name}',
            value=values.longest_step,
            limit='no cycle with this pitch, roll and longest_step',
            remedy='take a larger roll or a shorter longest_step',
        )
        return NominalSteps(*(column[:count].copy() for column in steps))

    def _make_data(self, values: Any) -> law.PlacementData:
        robot = self._robot
        order = [index for foot in self._feet for index in foot[:2]]
        efforts = np.array(
            [*order, robot.efforts.index('push_off') if robot.push_off is not None else -1]
        )
        limits = np.array([*(robot.effort_limits[i] for i in order), robot.push_off or 0.0])
        return law.PlacementData(
            1.0 / values.rate,
            self._length,
            self._gravity,
            np.array([foot[2] for foot in self._feet]),
            efforts,
            limits,
            self._steps,
            values.roll,
            np.array(
                [
                    values.lateral_gain,
                    values.position_gain,
                    values.velocity_gain,
                    values.largest_rate,
                    float(values.leave_out_sway),
                ]
            ),
            np.array([values.least_roll, values.largest_roll, values.largest_pitch]),
            values.pitch_gain,
            values.leap,
            values.energy_gain,
            values.push_off == 'energy',
            np.array([values.pitch_feedback, values.roll_feedback, values.push_feedback]),
            np.zeros(3),
        )

    def reset(self, state: WalkerState) -> None:
        """Begin anew: the line goes through the stance foot along the heading."""
        self.memory[:] = law.new_memory()
        self._start = math.nan
        self._turned = self._shifted = 0.0

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command`: speeds of the swing leg, and of the push-off if the foot lands.

        A velocity of the `Reference` to the left moves the line aside, one of turning turns it.

        Args:
            state: What is known.
            reference: What is wanted.
            dt: Time since the last tick, s.
            command: Filled: speeds of the swing leg, rad/s, and of the push-off, m/s.
        """
        values = self.values
        if values is not self._built:
            self.data, self._built = self._make_data(values), values
        if math.isnan(self._start):
            self._start = state.stamp
        speed = reference.speed
        if reference.velocity is not None:
            speed = float(reference.velocity[0])
            self._shifted += float(reference.velocity[1]) * dt
            self._turned += float(reference.velocity[2]) * dt
        self._wish(state.stamp - self._start, speed)
        self._law(
            NO_TERMS,
            self.data,
            self.memory,
            state.support,
            self._held,
            state.coordinates,
            state.rates,
            command.effort,
        )

    def _wish(self, time: float, speed: float | None = None) -> None:
        """Write what is wanted at a time since the start."""
        values, wish = self.values, self.data.wish
        asked = (
            values.speed + _scheduled(values, values.speed_schedule, time)
            if speed is None
            else speed
        )
        wish[law.SPEED] = min(max(asked, 0.0), self._steps.speed[-1])
        wish[law.HEADING] = (
            self._turned + values.heading + _scheduled(values, values.heading_schedule, time)
        )
        wish[law.LATERAL] = (
            self._shifted + values.lateral + _scheduled(values, values.lateral_schedule, time)
        )

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of what is said of each tick."""
        return (
            ('wanted_pitch', 'rad'),
            ('wanted_roll', 'rad'),
            ('mid_roll_rate', 'rad/s'),
            ('push_off', 'm/s'),
            ('energy', 'J/kg'),
            ('wanted_energy', 'J/kg'),
            ('aside', 'm'),
            ('wanted_speed', 'm/s'),
            ('heading', 'rad'),
            ('wanted_aside', 'm'),
        )

    def write_telemetry(self, out: np.ndarray) -> None:
        """Say what the law aims at and what it knows."""
        out[:7] = self.memory[
            [
                law.PITCH_WANTED,
                law.ROLL_WANTED,
                law.MID_RATE,
                law.PUSH,
                law.ENERGY,
                law.ENERGY_WANTED,
                law.ASIDE,
            ]
        ]
        out[7:] = self.data.wish

    def array_law(self) -> ArrayLaw:
        """Return the law as an `ArrayLaw`; it wants what it wants at the start."""
        data = self._make_data(self.values)
        kept, self.data = self.data, data
        self._wish(0.0)
        self.data = kept
        return ArrayLaw(law.place_foot, data, law.new_memory())


class PushOff(FootPlacement):
    """Push-off alone: the swing leg goes to its nominal place, whatever happens."""

    name = 'push_off'
    parameters = PushOffParameters
    standstill = None  # push-off alone keeps no place


def _scheduled(values: WalkParameters, schedule: Sequence[float], time: float) -> float:
    """Return the entry of a schedule at a time."""
    if len(schedule) == 1:
        return float(schedule[0])
    return float(np.interp(time, values.schedule, schedule))


def _leg_servos(robot: Robot, foot: str) -> tuple[int, int, float]:
    """Return the efforts of a foot's leg, pitch and roll, and its sign of the other's roll."""
    rows = robot.supports[foot]
    joints = [robot.joints[int(np.argmax(np.abs(row)))] for row in rows[:2]]
    return robot.efforts.index(joints[0]), robot.efforts.index(joints[1]), float(rows[3].sum())


def require_placeable(robot: Robot, controller: str) -> None:
    """Refuse robots other than those with massless legs driven by speed.

    Args:
        robot: The `Robot`.
        controller: Name of the law, for the message.

    Raises:
        IncompatibleController: The robot is another.
    """
    fits = robot.base is Base.TRANSLATING and len(robot.feet) == 2 and len(robot.coordinates) >= 4
    for foot in robot.feet if fits else ():
        rows = robot.supports[foot][:2]
        fits = fits and all(
            np.count_nonzero(row) == 1 and robot.joints[int(np.argmax(np.abs(row)))] in robot.servos
            for row in rows
        )
    require(
        fits,
        f'controller {controller} on {robot.name}',
        limit='needs a base that does not turn and '
        'two straight legs whose pitch and roll are servos',
        remedy='choose another controller',
        error=IncompatibleController,
    )
