# SPDX-License-Identifier: Apache-2.0
"""What an engine must write: the physics of one robot on one floor, and nothing else.

A `Plant` is built around an engine. The plant has the clock of the walk, the supply of the motors,
pushes and planned floors, sensors, wires and books; the engine moves the robot on by a step under
given efforts and says where it is. An engine that cannot do something names it in `lacks`, with the
reason: the plant refuses it there and then, and the page of plants is made from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
import math
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from walking_control.models import (
    BaseState,
    choose_or_make,
    Dynamics,
    GearedMotor,
    Measurement,
    Parameters,
    Robot,
    Start,
    World,
)


class Feature(Enum):
    """What a floor or a push may be, in words for the page of plants and for refusals."""

    STEPS = 'step_down, step_up at a touchdown'
    TILTS = 'slope_change at a touchdown'
    EDGES = 'step_down, step_up at a place'
    BENDS = 'slope_change at a place'
    UNEVEN = 'uneven floor (world.floor_heights)'
    SIDEWAYS = 'side_push, and pushes in any direction'
    LINKS = 'push of another link than the base'
    FORCES = 'push that lasts, as a constant force'


REMEDIES = {
    Feature.TILTS: 'say where it begins, for example slope_change=0.1@2m',
    Feature.EDGES: 'let it come with a touchdown, for example step_up=0.03@5',
    Feature.SIDEWAYS: 'push along the walk: direction=0, or 180 against it',
    Feature.LINKS: 'leave the link out: the base is pushed',
}


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

    __slots__ = (
        '_base',
        '_feels',
        'q',
        'v',
        'foot_force',
        'foot_height',
        'trip',
        'locked',
        'work',
        'electrical_energy',
    )

    def __init__(self, robot: Robot) -> None:
        self._base, self._feels = robot.base, bool(robot.foot_sensors)
        self.q = np.zeros(robot.base.nq + len(robot.joints))
        self.v = np.zeros(robot.base.nv + len(robot.joints))
        self.foot_force = np.zeros((len(robot.feet), 3))
        self.foot_height = np.full(len(robot.feet), np.nan)
        self.trip: str | None = None
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.work = np.zeros(len(robot.efforts))
        self.electrical_energy = 0.0

    @property
    def base(self) -> BaseState:
        """The `BaseState` now."""
        return self._base.state(self.q, self.v)

    def book(
        self,
        motors: Iterable[GearedMotor],
        effort: np.ndarray,
        work: Iterable[float],
        rates: Iterable[float],
        h: float,
    ) -> None:
        """Book the work of a time h; no energy flows back to the supply.

        Args:
            motors: The first of the efforts are theirs.
            effort: Held meanwhile, N m, ``(n_efforts,)``.
            work: Of each effort, J.
            rates: Mean ones of the motors' joints, rad/s.
            h: s.
        """
        power = 0.0
        for i, done in enumerate(work):
            self.work[i] += done
        for motor, torque, rate in zip(motors, effort.tolist(), rates):
            power += motor.electrical_power(torque, rate)
        self.electrical_energy += max(0.0, power) * h

    def measure(
        self, time: float, rotations: Iterable[np.ndarray], measurement: Measurement
    ) -> None:
        """Fill a `Measurement` with what ideal sensors of joints, locks and feet say.

        Args:
            time: s.
            rotations: From the axes of each foot to the floor's, ``(3, 3)``.
            measurement: Changed.
        """
        measurement.stamp = time
        measurement.position[:] = self.q[self._base.nq :]
        measurement.velocity[:] = self.v[self._base.nv :]
        measurement.locked[:] = self.locked
        if self._feels:
            for force, rotation, felt in zip(self.foot_force, rotations, measurement.foot_force):
                np.dot(force, rotation, out=felt)


Forces = Sequence[tuple[int, np.ndarray]]  # index of a link, and the force on its centre, N


class Engine(ABC):
    """The physics of a robot; a subclass writes the abstract methods, and what else it offers.

    Args:
        robot: The `Robot`.
        world: `World`.
        values: Validated values of `parameters`.

    Attributes:
        name: Of the plant, on the command line and in robot files.
        parameters: The one table of its parameters.
        lacks: `Feature` -> why the engine has it not; all others are offered.
        has_backlash: Whether joints turn freely within the backlash of their motors.
        dynamics: The robot's `Dynamics`, which the plant's sensors share.
        time: Since the last `reset`, s; `advance` moves it on, the plant where there is a
            longest step.
        resolution: `advance` goes on by this, s; 0: by any time.
        longest_step: `advance` goes on by this at most, s.
        push_duration: How long a push lasts unless told otherwise, s.
        last_step: Touchdowns up to which floors can be planned.

    Raises:
        IncompatiblePlant: It cannot simulate this robot; raised on construction.
    """

    name: ClassVar[str]
    parameters: ClassVar[type[Parameters]]
    lacks: Mapping[Feature, str] = MappingProxyType({})
    has_backlash: ClassVar[bool] = False
    dynamics: Dynamics
    time: float = 0.0
    resolution: float = 0.0
    longest_step: float = math.inf
    push_duration: float = 0.0
    last_step: int = 62

    def __new__(cls, *args: Any, **parameters: Any) -> Any:
        """Return an object; of parameters by name alone, the class chosen with them."""
        return choose_or_make(cls, *args, **parameters)

    def __init__(self, robot: Robot, world: World, values: Any) -> None:
        self.robot, self.world, self._values = robot, world, values

    @classmethod
    def kind_for(cls, robot: Robot) -> type[Engine]:
        """Return the class that simulates a robot; itself, unless there are several."""
        return cls

    @abstractmethod
    def reset(self, start: Start) -> None:
        """Put the robot into a `Start` state at time zero, locked joints engaged."""

    @abstractmethod
    def advance(
        self, effort: np.ndarray, armed: np.ndarray, h: float, forces: Forces
    ) -> str | None:
        """Move on by a step.

        Args:
            effort: Held meanwhile, N m, ``(n_efforts,)``.
            armed: Which locks are, ``(n_locks,)``.
            h: The step, s: `resolution`, if that is not zero.
            forces: On links, constant; empty where the engine lacks `Feature.FORCES`.

        Returns:
            Why the walk ended here, as when a foot tripped, or None.

        Raises:
            NotAchieved: The physics cannot go on.
        """

    @abstractmethod
    def read(self, truth: Truth) -> None:
        """Fill all of a `Truth` but its books and its trip."""

    @abstractmethod
    def impulse(self, impulse: np.ndarray, link: int = -1) -> None:
        """Push the base at once by an impulse in the floor frame, N s, ``(3,)``.

        An engine without `Feature.FORCES` that offers `Feature.LINKS` is pushed at the centre of
        mass of other links, too, whose numbers are those of `link_index`.

        Args:
            impulse: N s, ``(3,)``.
            link: Index of the link's frame; -1: the base.
        """

    @abstractmethod
    def rates(self) -> list[float]:
        """Return how fast the joints of the motors turn now, rad/s."""

    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities of the joints now, rad or m, ``(n_joints,)``."""
        truth, base = Truth(self.robot), self.robot.base
        self.read(truth)
        return truth.q[base.nq :], truth.v[base.nv :]

    def book(
        self, effort: np.ndarray, before: list[float], after: list[float], h: float
    ) -> tuple[Iterable[float], Iterable[float]]:
        """Return the work of each effort in the step just made, J, and the motors' mean rates.

        Args:
            effort: As given to `advance`.
            before: `rates` before it.
            after: `rates` after it.
            h: Its length, s.
        """
        mean = [0.5 * (a + b) for a, b in zip(before, after)]
        return [effort * rate * h for effort, rate in zip(effort.tolist(), mean)], mean

    @property
    def steps(self) -> int | None:
        """Touchdowns so far, where the engine itself knows; None leaves that to the plant."""
        return None

    def foot_rotations(self) -> Iterable[np.ndarray]:
        """Return what turns the axes of each foot to the floor's; `dynamics` is placed."""
        return map(self.dynamics.foot_rotation, self.robot.feet)

    def link_index(self, link: str) -> int:
        """Return the number of a link in `Forces`; below 0 of none such, here of the base too."""
        model = self.dynamics.model
        known = link != self.robot.base_link and model.existBodyName(link)
        return int(model.getBodyId(link)) if known else -1

    def change_at_touchdown(self, step: int, drop: float, tilt: float) -> None:
        """Plan a floor that is lower and leans more from a touchdown on; 0, 0 asks to count to it.

        Args:
            step: The touchdown, counted from 1.
            drop: By how much it is lower, m.
            tilt: rad, downhill positive; 0 where the engine lacks `Feature.TILTS`.
        """
        raise NotImplementedError

    def change(self, place: float, drop: float, tilt: float) -> None:
        """Plan a floor that is lower by drop, m, and leans more by tilt, rad, from a place on.

        Args:
            place: Ahead of the start, m.
            drop: By how much it is lower, m.
            tilt: rad, downhill positive.
        """
        raise NotImplementedError
