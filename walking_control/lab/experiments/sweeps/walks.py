# SPDX-License-Identifier: Apache-2.0
"""One row of a sweep: a walk, compiled where the state is known, and what it was worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
import re
from typing import Any

from walking_control.control_loop import ControlLoop
from walking_control.controllers import CONTROLLERS
from walking_control.exceptions import (
    IncompatibleController,
    require,
    require_known,
    WalkingControlError,
)
from walking_control.lab.experiments.margins import why_it_stopped
from walking_control.lab.experiments.sweeps.task import SweepTask
from walking_control.loading import load_robot
from walking_control.models import Dynamics, RobotFile, with_section, World
from walking_control.runs import (
    largest,
    plain,
    Run,
    squared_effort_per_step,
    steady_in_space,
    steady_state,
)
from walking_control.simulation import (
    has_errors,
    make_fast_plant,
    make_plant,
    plan_disturbances,
    run_plant,
    SensorParameters,
)
from walking_control.simulation.rigid.compiled import make_walker, record_run, Walker

# of the steady window, see `runs.metrics.steady_state`
STEADY = (
    'mechanical_power',
    'cost_of_transport',
    'cost_of_transport_positive',
    'cost_of_transport_electrical',
    'step_length',
    'step_time',
    'foot_clearance',
    'asymmetry',
)
# name -> unit of the measures beside `stable` and `reason`
MEASURES = {
    'time': 's',
    'steps': '1',
    'distance': 'm',
    'speed': 'm/s',
    'mechanical_power': 'W',
    'cost_of_transport': '1',
    'cost_of_transport_positive': '1',
    'cost_of_transport_electrical': '1',
    'step_length': 'm',
    'step_time': 's',
    'foot_clearance': 'm',
    'asymmetry': '1',
    'peak_effort': 'N m',
    'squared_effort_per_step': '(N m)^2 s',
}
_START = re.compile(r'start\.([qv])\.(.+)')


def walk_rows(task: SweepTask, rows: Iterable[int]) -> list[dict[str, Any]]:
    """Return the rows of a sweep that have these numbers, one after the other."""
    workshop = _workshop(task.text(), task)
    return [workshop.walk(row) for row in rows]


@lru_cache(maxsize=4)
def _workshop(_: str, task: SweepTask) -> Workshop:
    return Workshop(task)


class Workshop:
    """What the rows of a sweep share in one process.

    Raises:
        InvalidInput: The robot, a setting, or an end of an axis is unusable.
    """

    def __init__(self, task: SweepTask) -> None:
        self.task = task
        for axis in task.axes:
            require(
                axis.name not in ('row', 'seed', 'stable', 'reason', *MEASURES),
                f'grid {axis.name}',
                limit='is a column of the table already',
                remedy=f'name the parameter with its section, as in foot_placement.{axis.name}',
            )
        chosen = [
            (name, value)
            for name in ('controller', 'plant')
            if (value := getattr(task, name)) is not None
        ]
        self._settings = [*chosen, *task.settings]
        self.base = load_robot(task.robot, self._settings)
        self.controller, self.plant = self.base.controller, self.base.plant
        self._section = CONTROLLERS.find(self.controller).parameters.section
        self._laws = {
            axis.name: leaf
            for axis in task.axes
            if (leaf := self._check(axis.name, (axis.low, axis.high))) is not None
        }
        self._walker: Walker | None = None
        self._walks_as: tuple[Any, Any] = None, None
        self._loaded: tuple[list[tuple[str, float]], RobotFile] = [], self.base

    def check(self) -> None:
        """Refuse a sweep whose every row would fail: parts that do not fit, disturbances unknown.

        Raises:
            InvalidInput: Says which.
        """
        ControlLoop(self.base, self.controller)
        plan_disturbances(make_plant(self.base, self.plant), self.task.disturb)

    def _check(self, name: str, values: Iterable[float]) -> str | None:
        """Check the ends of an axis; return its name in the law's section, None of another."""
        if _START.fullmatch(name):
            self._started(self.base, {name: 0.0})
            return None
        trees = [self.load([(name, value)]).tree for value in values]
        leaves = {leaf for tree in trees for leaf in _changed(self.base.tree, tree)}
        section, _, leaf = leaves.pop().partition('.') if len(leaves) == 1 else ('', '', '')
        return leaf if section == self._section and leaf else None

    def load(self, overrides: Iterable[tuple[str, Any]]) -> RobotFile:
        """Return the robot of the task with more overrides."""
        return load_robot(self.task.robot, [*self._settings, *overrides])

    def robot_file(self, row: int) -> RobotFile:
        """Return the `RobotFile` of a row."""
        return self.robot_file_at(self.task.point(row), self.task.seed_of(row))

    def robot_file_at(self, point: Mapping[str, float], seed: int) -> RobotFile:
        """Return the `RobotFile` of a point between the axes, name -> value, and a seed."""
        starts = {name: value for name, value in point.items() if _START.fullmatch(name)}
        others = [
            (name, value)
            for name, value in point.items()
            if name not in starts and name not in self._laws
        ]
        if others != self._loaded[0]:  # rows that differ in their law alone share the robot
            self._loaded = others, self.load(others)
        changed = self._loaded[1]
        law = {self._laws[name]: value for name, value in point.items() if name in self._laws}
        if law:
            changed = with_section(changed, self._section, law)
        if has_errors(changed.values(SensorParameters)):
            changed = with_section(changed, SensorParameters.section, {'seed': seed})
        return self._started(changed, starts)

    def _started(self, robot_file: RobotFile, entries: Mapping[str, float]) -> RobotFile:
        """Return a robot file with other entries of its initial state."""
        start = robot_file.start
        parts = {'q': start.q.copy(), 'v': start.v.copy()}
        for name, value in entries.items():
            kind, coordinate = _START.fullmatch(name).groups()  # type: ignore[union-attr]
            known = list(robot_file.robot.coordinates)
            require_known(
                name,
                [f'start.{kind}.{each}' for each in known],
                f'parameter {name}',
                limit='unknown in this robot file',
            )
            parts[kind][known.index(coordinate)] = value
        return replace(robot_file, start=replace(start, **parts)) if entries else robot_file

    def walk(self, row: int) -> dict[str, Any]:
        """Return a row of the table."""
        entries = {'row': row, **self.task.point(row), 'seed': self.task.seed_of(row)}
        try:
            run, dynamics = self.run(self.robot_file(row))
        except WalkingControlError as error:  # this point makes no robot; the others may
            return {**entries, 'stable': False, 'reason': str(error), **dict.fromkeys(MEASURES)}
        reason = why_it_stopped(run)
        return {**entries, 'stable': reason is None, 'reason': reason, **measure(run, dynamics)}

    def run(self, robot_file: RobotFile) -> tuple[Run, Dynamics]:
        """Return the `Run` of a robot file and its `Dynamics`."""
        world = robot_file.values(World)
        dynamics = Dynamics(robot_file.robot, world.gravity, world.slope)
        if (
            self.plant == 'rigid'
            and robot_file.robot.is_planar
            and not self.task.disturb
            and not world.floor_places
            and not has_errors(robot_file.values(SensorParameters))
        ):
            try:
                walker = self._make_walker(robot_file)
                return record_run(
                    walker, robot_file, self.controller, self.task.duration, dynamics
                ), dynamics
            except IncompatibleController:  # a law without an array form
                pass
        plant = make_fast_plant(robot_file, self.plant)
        plan_disturbances(plant, self.task.disturb)
        loop = ControlLoop(robot_file, self.controller)
        return run_plant(plant, loop, robot_file.start, self.task.duration), dynamics

    def _make_walker(self, robot_file: RobotFile) -> Walker:
        """Return a walker, the last one with another law where nothing else has changed."""
        others = {
            name: values for name, values in robot_file.sections.items() if name != self._section
        }
        walks_as = robot_file.robot, others
        if (
            self._walker is not None
            and self._walks_as[0] is walks_as[0]
            and self._walks_as[1] == others
        ):
            self._walker.change_law(robot_file, self.controller)
        else:
            self._walker = make_walker(robot_file, self.controller)
            self._walks_as = walks_as
        return self._walker


def measure(run: Run, dynamics: Dynamics) -> dict[str, Any]:
    """Return the `MEASURES` of a run, speed and costs of its steady window, None if broken off."""
    rows = len(run.time)
    steady = (
        steady_state(run, dynamics) if run.robot.coordinates else steady_in_space(run, dynamics)
    )
    values = {
        'time': float(run.time[-1]) if rows else 0.0,
        'steps': int(run.steps[-1]) if rows else 0,
        'distance': run.base.position[-1, 0] - run.base.position[0, 0] if rows else 0.0,
        'speed': steady.get('speed'),
        **{name: steady.get(name) for name in STEADY},
        'peak_effort': largest(abs(run.effort)),
        'squared_effort_per_step': None if run.broke_off else squared_effort_per_step(run),
    }
    return {name: plain(values[name]) for name in MEASURES}


def _changed(before: Any, after: Any, prefix: str = '') -> set[str]:
    """Return the dotted names of leaves that differ between two parameter trees."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {
            leaf
            for name in before.keys() | after.keys()
            for leaf in _changed(before.get(name), after.get(name), f'{prefix}.{name}')
        }
    return set() if before == after else {prefix.lstrip('.')}
