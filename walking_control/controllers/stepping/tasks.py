# SPDX-License-Identifier: Apache-2.0
"""What a walking law wants of the whole body in a tick: tasks, each with target, gains and weight.

A task asks for the acceleration

    x'' = x''* + stiffness (x* - x) + damping (x'* - x')

of something that moves, or for a force of the floor, and the program of `whole_body` weighs it
against the others. A law makes its list of tasks anew each tick, the program is solved for it:

    engine.act((stance,), [FootTask(...), TrunkTask(...), PressureTask(...)], dt, command)
"""

from typing import NamedTuple, Protocol

import numpy as np
import pinocchio as pin

from walking_control.controllers.stepping.whole_body import FOOT, Gains, GIVEN, TRUNK, WholeBody
from walking_control.models.base import ROOT

LOWEST, HIGHEST = -8.0, 15.0  # m/s^2: limits of the base's vertical acceleration
STILL, UPRIGHT = np.zeros(3), np.eye(3)


class Task(Protocol):
    """Something wanted of the whole body in a tick."""

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""


class FootTask(NamedTuple):
    """A foot goes along a path, seen from another foot, floor axes."""

    foot: int
    origin: int  # the foot it is seen from
    motion: np.ndarray  # place, m, velocity, m/s, and acceleration, m/s^2, ``(3, 3)``
    gains: Gains

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        feet = program.body.feet
        error = self.motion[0] - (feet[self.foot].position - feet[self.origin].position)
        program.pull(
            FOOT, self.gains, self.motion[1], self.motion[2], error, 0, 3, self.foot, 0, False
        )


class FootTurnTask(NamedTuple):
    """A foot turns as wanted, about axes of the floor."""

    foot: int
    rotation: np.ndarray  # to floor axes, ``(3, 3)``
    gains: Gains
    velocity: np.ndarray = STILL  # rad/s, ``(3,)``
    acceleration: np.ndarray = STILL  # rad/s^2, ``(3,)``
    axes: slice = slice(0, 3)  # about which it is turned
    own: bool = False  # whether these are the foot's own, not the floor's

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        rotation = program.body.feet[self.foot].rotation
        error = rotation @ pin.log3(rotation.T @ self.rotation)
        first, end, _ = self.axes.indices(3)
        place = first, end, self.foot, 3, self.own
        program.pull(FOOT, self.gains, self.velocity, self.acceleration, error, *place)


class TrunkTask(NamedTuple):
    """The base turns as wanted: its tilt and, unless it is let be, its yaw."""

    heading: np.ndarray  # of the frame it is seen from, to floor axes, ``(3, 3)``
    tilt: Gains
    yaw: Gains | None = None
    turn: np.ndarray = UPRIGHT  # to that frame, ``(3, 3)``
    velocity: np.ndarray = STILL  # in the base's axes, rad/s, ``(3,)``
    acceleration: np.ndarray = STILL  # likewise, rad/s^2, ``(3,)``

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        error = pin.log3(program.body.rotation.T @ self.heading @ self.turn)
        program.pull(TRUNK, self.tilt, self.velocity, self.acceleration, error, 0, 2)
        if self.yaw is not None:
            program.pull(TRUNK, self.yaw, self.velocity, self.acceleration, error, 2, 3)


class HeightTask(NamedTuple):
    """The base is at a height over a foot that stands."""

    foot: int
    height: float  # along the vertical axis, m
    normal: np.ndarray  # of the floor, its vertical part 1, ``(3,)``: the speed is that along it
    gains: Gains

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        body, gains = program.body, self.gains
        up, velocity = body.rotation[2], body.velocity[:3]
        left = self.height + body.feet[self.foot].position[2]
        acceleration = gains.stiffness * left - gains.damping * float(
            self.normal @ body.rotation @ velocity
        )
        size = body.size.acceleration
        acceleration = min(max(acceleration, LOWEST * size), HIGHEST * size)
        drift = float(up @ pin.skew(body.velocity[3:ROOT]) @ velocity)
        program.ask(GIVEN, gains.weight, 0, 3, 1, acceleration - drift, *up.tolist())


class JointTask(NamedTuple):
    """A joint moves as wanted."""

    joint: int  # its index among the robot's
    angle: float  # rad
    velocity: float  # rad/s
    acceleration: float  # rad/s^2
    gains: Gains

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        (angle, rate, column), gains = program.body.joint(self.joint), self.gains
        wanted = (
            self.acceleration
            + gains.stiffness * (self.angle - angle)
            + gains.damping * (self.velocity - rate)
        )
        program.ask(GIVEN, gains.weight, column, 1, 1, wanted, 1.0)


class BalanceTask(NamedTuple):
    """The floor accelerates the centre of mass; by Newton the feet's forces do."""

    acceleration: np.ndarray  # along the floor, m/s^2, ``(2,)``
    weight: float  # of the squared error

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        body = program.body
        rows = np.zeros((2, program.unknowns - body.nv))
        for foot in program.standing:
            column = program.column(foot) - body.nv
            turn = body.feet[foot].rotation[:2, :2] if program.contact.blade else np.eye(2)
            rows[:, column : column + 2] = turn / body.mass
        program.want(rows, self.acceleration, self.weight, body.nv)


class PressureTask(NamedTuple):
    """The floor presses at a place under the sole of a foot that stands."""

    foot: int
    place: np.ndarray  # floor axes, from the middle of the sole, m, ``(2,)``
    weight: float  # of the squared moment

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        contact, place, column = program.contact, self.place, program.column(self.foot)
        if contact.blade:
            ahead = program.body.feet[self.foot].rotation[:2, 0]
            program.ask(GIVEN, self.weight, column, 4, 1, 0, 0, 0, float(ahead @ place), 1)
        if contact.size == 6:
            x, y = place[:2].tolist()
            rows = 0.0, 0.0, -y, 1.0, 0.0, 0.0, 0.0, 0.0, x, 0.0, 1.0, 0.0
            program.ask(GIVEN, self.weight, column, 6, 2, 0.0, 0.0, *rows)


class TorsionTask(NamedTuple):
    """The floor turns a foot that is a point about its normal."""

    foot: int
    moment: float  # N m
    weight: float  # of the squared moment

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        program.ask(GIVEN, self.weight, program.column(self.foot) + 3, 1, 1, self.moment, 1.0)
