# SPDX-License-Identifier: Apache-2.0
"""What a walking law wants of the whole body in a tick: tasks, each with target, gains and weight.

A task asks for the acceleration

    x'' = x''* + stiffness (x* - x) + damping (x'* - x')

of something that moves, or for a force of the floor, and the program of `whole_body` weighs it
against the others. A law makes its list of tasks anew each tick, the program is solved for it:

    engine.act((stance,), [FootTask(...), TrunkTask(...), PressureTask(...)], dt, command)
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
import pinocchio as pin

from walking_control.controllers.stepping.whole_body import WholeBody
from walking_control.models.base import ROOT

LOWEST, HIGHEST = -8.0, 15.0  # m/s^2: limits of the base's vertical acceleration
STILL, UPRIGHT = np.zeros(3), np.eye(3)


class Gains(NamedTuple):
    """How strongly a task pulls, and how much it counts when not all can be met."""

    stiffness: float  # 1/s^2
    damping: float  # 1/s
    weight: float  # of the squared error

    def pull(
        self,
        acceleration: np.ndarray,
        error: np.ndarray,
        wanted: np.ndarray,
        velocity: np.ndarray,
        drift: np.ndarray,
    ) -> list[float]:
        """Return what a task asks of the joints' accelerations: of three numbers, in Python.

        Args:
            acceleration: That is wanted, ``(3,)``.
            error: Of the place, likewise.
            wanted: Velocity, likewise.
            velocity: As it is, likewise.
            drift: Acceleration without any of the joints, likewise.
        """
        return [
            a + self.stiffness * e + self.damping * (v - w) - d
            for a, e, v, w, d in zip(
                acceleration.tolist(),
                error.tolist(),
                wanted.tolist(),
                velocity.tolist(),
                drift.tolist(),
                strict=True,
            )
        ]


class Task(Protocol):
    """Something wanted of the whole body in a tick."""

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""


class FootTask(NamedTuple):
    """A foot goes along a path, seen from another foot, floor axes."""

    foot: int
    origin: int  # the foot it is seen from
    position: np.ndarray  # m, ``(3,)``
    velocity: np.ndarray  # m/s, ``(3,)``
    acceleration: np.ndarray  # m/s^2, ``(3,)``
    gains: Gains

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        foot, gains = program.body.feet[self.foot], self.gains
        error = self.position - (foot.position - program.body.feet[self.origin].position)
        wanted = gains.pull(
            self.acceleration, error, self.velocity, foot.velocity[:3], foot.drift[:3]
        )
        program.want(foot.jacobian[:3], wanted, gains.weight)


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
        foot, gains = program.body.feet[self.foot], self.gains
        error = foot.rotation @ pin.log3(foot.rotation.T @ self.rotation)
        wanted: Any = gains.pull(
            self.acceleration, error, self.velocity, foot.velocity[3:], foot.drift[3:]
        )
        rows = foot.jacobian[3:]
        if self.own:
            rows, wanted = foot.rotation.T @ rows, foot.rotation.T @ wanted
        program.want(rows[self.axes], wanted[self.axes], gains.weight)


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
        body = program.body
        error = pin.log3(body.rotation.T @ self.heading @ self.turn)
        for gains, axes in ((self.tilt, slice(0, 2)), (self.yaw, slice(2, 3))):
            if gains is not None:
                wanted = gains.pull(
                    self.acceleration, error, self.velocity, body.velocity[3:ROOT], STILL
                )
                program.want(UPRIGHT[axes], wanted[axes], gains.weight, 3)


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
        program.want(up[None], (acceleration - drift,), gains.weight)


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
        program.want(UPRIGHT[:1, :1], (wanted,), gains.weight, column)


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
            rows = np.array([[0.0, 0.0, float(ahead @ place), 1.0, 0.0]])
            program.want(rows, (0.0,), self.weight, column)
        if contact.size == 6:
            x, y = place[:2].tolist()
            rows = np.array([[0.0, 0.0, -y, 1.0, 0.0, 0.0], [0.0, 0.0, x, 0.0, 1.0, 0.0]])
            program.want(rows, (0.0, 0.0), self.weight, column)


class TorsionTask(NamedTuple):
    """The floor turns a foot that is a point about its normal."""

    foot: int
    moment: float  # N m
    weight: float  # of the squared moment

    def add_to(self, program: WholeBody) -> None:
        """Add what is wanted to a program that has begun."""
        program.want(UPRIGHT[:1, :1], (self.moment,), self.weight, program.column(self.foot) + 3)
