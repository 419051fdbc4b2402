# SPDX-License-Identifier: Apache-2.0
"""What engines share that have contacts of their own and step the physics by time alone."""

from abc import abstractmethod
from typing import Any

import numpy as np

from walking_control.exceptions import IncompatiblePlant, require
from walking_control.models import Dynamics, read_profile, Robot, Start, World
from walking_control.simulation.engine import Engine, Feature
from walking_control.simulation.terrain import Change, LATEST, lay_floor, lay_profile, Levels, Piece

SCUFF_DEPTH = 0.001  # m: a foot ahead of the other that is deeper under a step up has tripped
TOLD_APART = 'levels are told apart for two feet alone'
FAR = 10.0  # m: feet higher than this count as that high
PUSH_DURATION = 0.1  # s: of robots in space


class SteppedEngine(Engine):
    """An engine without events: its clock, its floors, its start; see `simulation.engine`.

    Args:
        values: Validated values of `parameters`; ``timestep`` is among them.

    Raises:
        IncompatiblePlant: The robot has efforts that no such engine offers.
    """

    last_step = LATEST - 2

    def __init__(self, robot: Robot, world: World, values: Any) -> None:
        require(
            not robot.servos and not robot.virtual_efforts,
            f'plant {self.name} on {robot.name}',
            value=', '.join((*robot.servos, *robot.virtual_efforts)),
            limit='offered by plant rigid alone',
            error=IncompatiblePlant,
        )
        super().__init__(robot, world, values)
        self.resolution = values.timestep
        in_space = 1 in robot.base.axes
        self.push_duration = PUSH_DURATION if in_space else 0.0
        self.lacks = dict.fromkeys(
            (Feature.STEPS, Feature.TILTS) if len(robot.feet) != 2 else (), TOLD_APART
        )
        if not in_space:
            self.lacks[Feature.SIDEWAYS] = 'it moves in a plane'
        self._profile = read_profile(world)
        self._changes: list[Change] = []
        self._motors = list(robot.actuators.values())
        self._prepare()
        self.dynamics = Dynamics(robot, world.gravity, world.slope)
        self._levels = Levels(len(robot.feet), SCUFF_DEPTH)
        self._begin()

    @abstractmethod
    def _prepare(self) -> None:
        """Build the engine's model of the robot and the floor as it is planned."""

    def _lay_pieces(self) -> list[Piece]:
        """Return the boxes of one floor for all; none where each foot has a plane of its own."""
        if self._profile is not None:
            return lay_profile(self._profile)
        return lay_floor(self._changes) if self._changes else []

    def _begin(self) -> None:
        """Begin a run at time zero."""
        self.time, self._made = 0.0, 0

    def _tick(self) -> None:
        """Count a step of the physics."""
        self._made += 1
        self.time = self._made * self.resolution

    def _start_state(self, start: Start) -> tuple[np.ndarray, np.ndarray]:
        """Return generalised coordinates and velocities of a `Start`; the floors are level."""
        if self._levels.planned:
            self._levels.reset(self.robot.feet.index(start.support))
        return self.dynamics.start_state(start)

    @property
    def steps(self) -> int | None:
        """Touchdowns of planar walkers so far; None in space."""
        return None if self.robot.is_free else self._levels.steps

    def change_at_touchdown(self, step: int, drop: float, tilt: float) -> None:
        """Plan a floor that is lower and leans more from a touchdown on; see `Engine`.

        Args:
            step: The touchdown, counted from 1.
            drop: m.
            tilt: rad, downhill positive.
        """
        self._levels.plan(step, drop, tilt)

    def change(self, place: float, drop: float, tilt: float) -> None:
        """Plan a floor that is lower by drop, m, and leans more by tilt, rad, from a place on.

        Args:
            place: Ahead of the start, m.
            drop: m.
            tilt: rad, downhill positive.
        """
        self._changes.append(Change(place, drop, tilt))
        self._prepare()
