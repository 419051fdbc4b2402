# SPDX-License-Identifier: Apache-2.0
"""A walk under one disturbance through the whole chain, on any plant and with any sensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import NotAchieved
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.urdf import scale_masses
from walking_control.runs.metrics import foot_depths
from walking_control.runs.run import Run
from walking_control.simulation.disturbance import Disturbance
from walking_control.simulation.registry import make_fast_plant
from walking_control.simulation.simulate import run_plant

LONGEST = 10.0   # longest step, in the time constant of the leg as a pendulum


class ChainTrial:
    """Walks from the start to the last step that counts, every one with the same sensor errors.

    Args:
        robot_file: The `RobotFile`.
        controller: Name of the controller; None takes the robot file's default.
        kind: Kind of the disturbance.
        settling: Steps before the disturbance.
        further: Steps that have to be made after it.
        plant: Name of the plant.
        heavier: Share by which the robot's masses and inertias are larger than the law knows.
    """

    def __init__(self, robot_file: RobotFile, controller: str | None, kind: str, settling: int,
                 further: int, plant: str = 'rigid', heavier: float = 0.0) -> None:
        self._file, self._kind, self._plant = robot_file, kind, plant
        robot = robot_file.robot
        self._robot = replace(robot, urdf=scale_masses(robot.urdf, 1.0 + heavier)) \
            if heavier else robot
        self._settling, self._last = settling, settling + 1 + further
        self._loop = ControlLoop(robot_file, controller)
        world = robot_file.values(World)
        self._dynamics = Dynamics(robot_file.robot, world.gravity, world.slope)
        self._longest = LONGEST * (self._dynamics.standing_height() / world.gravity) ** 0.5

    def settle(self) -> dict[str, Any]:
        """Walk undisturbed; return the measures of that walk, depths included."""
        run = self._walk(None)
        reason = self._why(run)
        if reason is not None:
            raise NotAchieved(f'{self._file.robot.name} undisturbed', value=int(run.steps[-1]),
                              limit=f'{reason} after that many steps',
                              remedy='change start, slope, controller or --noise')
        summary = run.summary()
        return {**self.depth, 'nominal_speed': summary['speed'],
                'nominal_squared_effort': summary['squared_effort_per_step'],
                'min_normal_force': summary['min_normal_force'],
                'max_friction_ratio': summary['max_friction_ratio']}

    def disturb(self, size: float) -> str | None:
        """Disturb the walk; return None if it survives, else why not."""
        return self._why(self._walk(size))

    @property
    def depth(self) -> dict[str, float | None]:
        """How deep the feet of the last walk were in the floor, see `runs.metrics.foot_depths`."""
        return foot_depths(self._run, self._dynamics)

    def _walk(self, size: float | None) -> Run:
        plant, loop = make_fast_plant(self._file, self._plant, self._robot), self._loop
        if size is not None:
            plant.disturb(*Disturbance(self._kind, size, self._settling + 1))

        def over() -> bool:
            state = loop.state
            return state.steps >= self._last or \
                state.stamp - max(state.touchdown, 0.0) > self._longest
        self._run = run_plant(plant, loop, self._file.start, self._last * self._longest,
                              until=over)
        return self._run

    def _why(self, run: Run) -> str | None:
        if run.fault is not None:
            return str(run.fault)
        return None if run.steps[-1] >= self._last else 'made no further step'
