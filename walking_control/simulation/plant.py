# SPDX-License-Identifier: Apache-2.0
"""What every plant offers, and the truth only a plant knows."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np

from walking_control.exceptions import IncompatiblePlant
from walking_control.models.parameters import Parameters
from walking_control.models.registry import choose_or_make
from walking_control.models.robot import Robot, Start
from walking_control.models.robot_file import World
from walking_control.models.signals import BaseState, Command, Measurement
from walking_control.simulation.disturbance import Disturbance, How, PLAIN


class Truth:
    """The plant's own state, for records and judgement, never for the controller.

    Attributes:
        q: Generalised coordinates: the base's as its `Base` has them, then the joints, m and rad.
        v: Generalised velocities, likewise.
        foot_force: Force of the floor on each foot in the floor frame, N, ``(n_feet, 3)``.
        foot_height: Height of each foot over the floor below it, m, ``(n_feet,)``; negative inside
            the floor, NaN where the plant does not know it.
        trip: Why a foot that met the floor from the side ended the walk, or None.
        locked: Engaged locks, ``(n_locks,)``.
        work: Mechanical work of each effort so far, J, ``(n_efforts,)``.
        electrical_energy: Energy drawn at the motor terminals so far, J (no recuperation).
    """

    __slots__ = ('_base', 'q', 'v', 'foot_force', 'foot_height', 'trip', 'locked', 'work',
                 'electrical_energy')
    trip: str | None

    def __init__(self, robot: Robot) -> None:
        self._base = robot.base
        self.q = np.zeros(robot.base.nq + len(robot.joints))
        self.v = np.zeros(robot.base.nv + len(robot.joints))
        self.foot_force = np.zeros((len(robot.feet), 3))
        self.foot_height = np.full(len(robot.feet), np.nan)
        self.trip = None
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.work = np.zeros(len(robot.efforts))
        self.electrical_energy = 0.0

    @property
    def base(self) -> BaseState:
        """The `BaseState` now."""
        return self._base.state(self.q, self.v)

    def measure(self, time: float, rotations: Iterable[np.ndarray],
                measurement: Measurement) -> None:
        """Fill a `Measurement` with what ideal sensors of joints, locks and feet say.

        Args:
            time: s.
            rotations: From the axes of each foot to the floor's, ``(3, 3)``.
            measurement: Changed.
        """
        measurement.stamp = time
        measurement.position[:] = self.q[self._base.nq:]
        measurement.velocity[:] = self.v[self._base.nv:]
        measurement.locked[:] = self.locked
        for force, rotation, felt in zip(self.foot_force, rotations, measurement.foot_force):
            np.dot(force, rotation, out=felt)


class Plant(Protocol):
    """The robot and its world, advanced by commands: the contract of every plant.

    Write a plant as a subclass: then what it does not offer has the default given here.

    Args:
        robot: The `Robot`.
        world: `World`.
        values: Of the class `parameters`.

    Attributes:
        name: Name on the command line and in robot files.
        parameters: The class of its parameters.
        time: Simulated time, s.
        truth: The `Truth`, updated by `reset` and `step`.
        disturbances: Every `Disturbance` planned so far.
        resolution: Durations of steps are whole multiples of this, s; 0: any will do.
        sensors: name -> value of `SensorParameters` where they are not perfect.
        lost: Whether the newest measurement never arrives, and nothing answers it.

    Raises:
        IncompatiblePlant: It cannot simulate this robot; raised on construction.
    """

    name: ClassVar[str]
    parameters: ClassVar[type[Parameters]]
    robot: Robot
    world: World
    time: float
    truth: Truth
    disturbances: Sequence[Disturbance] = ()
    resolution: float = 0.0
    sensors: Mapping[str, Any] = MappingProxyType({})
    lost: bool = False

    def __new__(cls, *args: Any, **parameters: Any) -> Any:
        """Return an object; of parameters by name alone, the class chosen with them."""
        return choose_or_make(cls, *args, **parameters)

    def __init__(self, robot: Robot, world: World, values: Parameters) -> None:
        """Do everything slow here."""

    @classmethod
    def kind_for(cls, robot: Robot) -> 'type[Plant]':
        """Return the class that simulates a robot; itself, unless there are several."""
        return cls

    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero."""

    def step(self, command: Command, duration: float) -> None:
        """Hold a `Command` for a duration in s."""

    def measure(self, measurement: Measurement) -> None:
        """Fill a `Measurement` with what the sensors say now."""

    def push(self, impulse: float, direction: float = 0.0) -> None:
        """Add an impulse in N s along the floor to the base, at once.

        Args:
            impulse: N s.
            direction: Where it points, rad from x towards y; plants of the plane know 0 alone.
        """

    def disturb(self, kind: str, size: float, step: int, how: How = PLAIN) -> None:
        """Plan a one-off disturbance for every run from the next `reset` on.

        Args:
            kind: ``'step_down'``, ``'step_up'`` (m), ``'slope_change'`` (rad), ``'push'`` (N s
                per kg of robot, along the walk) or ``'side_push'`` (likewise, to the left).
            size: Its size.
            step: The touchdown it comes with, counted from 1; 0 where `how` says when or where.
            how: Phase, time or place, and direction and duration of a push, where the plant
                knows such.

        Raises:
            InvalidInput: Unknown kind, a step or size out of range, or a plant without.
        """
        raise IncompatiblePlant(f'disturbance {kind} on plant {self.name}',
                                limit='this plant has none', remedy='choose plant rigid')
