# SPDX-License-Identifier: Apache-2.0
"""How much delay, noise or ignorance of its robot a controller walks with: `robustness --margin`.

Unlike a one-off disturbance these last for the whole walk, through the whole chain: plant, sensors,
estimator, law, supervisor. A size counts as survived when the walks of all seeds last; the grid is
tried in rising order and ends with the first failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import IncompatiblePlant, InvalidInput, NotAchieved
from walking_control.experiments.first_failure import (
    describe_walks,
    FirstFailure,
    MARGINS,
    size_grid,
    try_sizes,
    why_it_stopped,
    with_section,
)
from walking_control.models.actuators import JointFriction
from walking_control.models.registry import Choice
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.urdf import scale_masses
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.disturbance import plan_disturbances, rough_floor
from walking_control.simulation.noise import read_preset
from walking_control.simulation.plant import Plant
from walking_control.simulation.registry import choose_parts, make_fast_plant
from walking_control.simulation.sensors import has_errors, SensorParameters
from walking_control.simulation.simulate import run_plant

PRESET = 'lab'     # what is scaled where the robot has no noise of its own


def find_margin(robot_file: RobotFile, kind: str, controller: Choice = None,
                plant: Choice = None, largest: float | None = None,
                resolution: float | None = None, seeds: int = 5, duration: float = 20.0,
                progress: Callable[[float], None] | None = None) -> FirstFailure:
    """Make one thing worse until the robot no longer walks, or stands.

    Args:
        robot_file: The `RobotFile`; its section ``sensors`` holds in every walk.
        kind: One of `MARGINS`.
        controller: Name of the controller; None takes the robot file's default.
        plant: Name of the plant; None takes the robot file's default.
        largest: Last size tried; below 0, of masses, sizes fall from 0: lighter. None takes the
            kind's own.
        resolution: Distance between sizes.
        seeds: Number of seeds, from ``sensors.seed`` on; one walk is enough without chance.
        duration: Simulated time of each walk, s.
        progress: Called with the share of sizes tried, 0 to 1, after each.

    Returns:
        `FirstFailure`, with the conditions ``seeds`` and ``duration`` of each walk and ``noise``
        (whether sensors had errors), and the measure ``reason`` of the first failure.

    Raises:
        InvalidInput: An unknown kind, sizes that make no grid, or parts that do not fit.
        NotAchieved: It does not even walk with the size 0.
        Interrupted: Somebody stopped it; holds the result of the sizes tried.
    """
    robot_file, controller, plant = choose_parts(robot_file, controller, plant)
    if kind not in MARGINS:
        raise InvalidInput('margin', value=kind, limit='unknown',
                           remedy='known: ' + ', '.join(MARGINS))
    known = MARGINS[kind]
    trial = _Trial(robot_file, kind, controller, plant, seeds, duration)
    sizes = _sizes(robot_file, kind, largest, resolution)
    conditions = {**describe_walks(robot_file, controller, plant), 'margin': kind,
                  'unit': known.unit, 'meaning': known.meaning, 'seeds': trial.seeds,
                  'duration': duration, 'noise': trial.noise}
    reason = trial.walk(0.0)
    if reason is not None:
        raise NotAchieved(f'{robot_file.robot.name} with no {kind} error', limit=reason,
                          remedy='change controller, start or --noise')
    return try_sizes(trial.walk, sizes, conditions, lambda samples: {
        'reason': next((reason for _, lives, reason in samples if not lives), None)},
        progress, to_first=True)


def _sizes(robot_file: RobotFile, kind: str, largest: float | None,
           resolution: float | None) -> np.ndarray:
    margin = MARGINS[kind]
    largest = margin.largest if largest is None else largest
    sizes = size_grid(largest, margin.resolution if resolution is None else resolution, 10000)
    least = -0.95 if kind == 'mass' else 0.0
    if largest < least:
        raise InvalidInput('max', value=largest, limit=f'must be at least {least:g} for a margin '
                           f'of {kind}')
    if kind == 'grip' and largest >= 1.0:
        raise InvalidInput('max', value=largest, limit='must be below 1: a floor without any '
                           'friction')
    timeout = robot_file.values(SafetyParameters).state_timeout
    if kind == 'delay' and largest > timeout:
        raise InvalidInput('max', value=largest, limit='is longer than safety.state_timeout '
                           f'({timeout:g} s) allows', remedy='raise safety.state_timeout')
    return sizes


class _Trial:
    """Walks of one kind of margin."""

    def __init__(self, robot_file: RobotFile, kind: str, controller: str | None,
                 plant: str | None, seeds: int, duration: float) -> None:
        if kind == 'grip' and (plant or robot_file.plant) == 'rigid':
            raise IncompatiblePlant('margin grip on plant rigid', limit='feet do not slip there',
                                    remedy='choose --plant mujoco')
        if seeds < 1:
            raise InvalidInput('seeds', value=seeds, limit='must be at least 1')
        self._kind, self._plant, self._duration = kind, plant, duration
        values = dict(robot_file.sections.get(SensorParameters.section, {}))
        if kind == 'noise' and not has_errors(SensorParameters.read(values)):
            values |= read_preset(PRESET)
        self._file = with_section(robot_file, SensorParameters.section, values)
        self._values = self._file.values(SensorParameters)
        self.noise = has_errors(self._values)
        self.seeds = seeds if self.noise or kind == 'rough' else 1
        self._loop = ControlLoop(robot_file, controller)

    def walk(self, size: float) -> str | None:
        """Walk with every seed; return None if all do, else why the first does not."""
        # a level floor is the same for all
        count = self.seeds if self.noise or size != 0.0 else 1
        for seed in range(self._values.seed, self._values.seed + count):
            plant = self._make_plant(size, seed)
            run = run_plant(plant, self._loop, self._file.start, self._duration)
            reason = why_it_stopped(run)
            if reason is not None:
                return f'{reason}, seed {seed}' if self.seeds > 1 else reason
        return None

    def _make_plant(self, size: float, seed: int) -> Plant:
        own: dict[str, Any] = {'seed': seed}
        robot, world = self._file.robot, {}
        if self._kind == 'delay':
            own['command_delay'] = self._values.command_delay + size
        elif self._kind == 'noise':
            own['scale'] = self._values.scale * size
        elif self._kind == 'mass':
            robot = replace(robot, urdf=scale_masses(robot.urdf, 1.0 + size))
        elif self._kind == 'friction':
            robot = replace(robot, friction={
                joint: JointFriction(known.viscous, known.coulomb + size)
                for joint in robot.joints
                for known in (robot.friction.get(joint, JointFriction(0.0, 0.0)),)})
        elif self._kind == 'grip':
            world['friction'] = self._file.values(World).friction * (1.0 - size)
        robot_file = with_section(self._file, SensorParameters.section, own)
        robot_file = with_section(robot_file, World.section, world)
        plant = make_fast_plant(robot_file, self._plant, robot)
        if self._kind == 'rough':
            plan_disturbances(plant, rough_floor(size, seed))
        return plant
