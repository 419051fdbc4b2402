# SPDX-License-Identifier: Apache-2.0
"""The first size of a disturbance or a lasting error that ends a walk: what every search shares.

`find_first_failure` (robustness) tries one-off disturbances, `find_margin` (margins) errors that
last, `find_envelope` (envelope) disturbances from every side and at every part of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from walking_control.exceptions import Interrupted, InvalidInput
from walking_control.models.robot_file import RobotFile
from walking_control.runs.run import Run

STALLED = 3.0      # longest step of a walk, of its own mean step and of the first one


class Kind(NamedTuple):
    """What sizes are tried of, and which unless told otherwise.

    Attributes:
        largest: The last.
        resolution: Distance between them.
        unit: Of the size.
        meaning: What the size is.
        in_space: Largest and resolution of robots on a free base; None: not tried there.
    """

    largest: float
    resolution: float
    unit: str
    meaning: str = ''
    in_space: tuple[float, float] | None = None


DISTURBANCES = {
    'step_down': Kind(0.3, 0.001, 'm', in_space=(0.2, 0.01)),
    'step_up': Kind(0.1, 0.001, 'm', in_space=(0.1, 0.01)),
    'push': Kind(1.6, 0.01, 'N s/kg', in_space=(1.6, 0.1)),
    'side_push': Kind(1.6, 0.01, 'N s/kg'),
    'slope_change': Kind(0.1, 0.002, 'rad', in_space=(0.175, 0.0175)),
}
MARGINS = {
    'delay': Kind(0.05, 0.001, 's', 'delay from measurement to effect'),
    'noise': Kind(10.0, 0.25, '1', 'factor on all errors of the sensors'),
    'mass': Kind(1.0, 0.05, '1', 'share by which every mass and inertia of the robot is larger '
                 'than in the model of the controller'),
    'friction': Kind(5.0, 0.05, 'N m', 'dry friction of every joint beyond that in the model of '
                     'the controller'),
    'grip': Kind(0.95, 0.05, '1', 'share by which the floor has less friction than the robot '
                 'file says'),
    'rough': Kind(0.02, 0.001, 'm', 'by which footholds lie higher or lower, at most, each by '
                  'chance'),
}


@dataclass(frozen=True)
class FirstFailure:
    """What came of the sizes that were tried.

    Args:
        conditions: What was tried on whom: robot, controller, plant, kind and more, by name.
        first_failure: The first failing size; None: none up to the last.
        largest_survived: Farthest from 0; of an envelope, in every cell.
        largest_tried: Likewise.
        samples: ``[size, survived, reason]`` of each, of an envelope with the index of its cell.
        measures: What else is known, by name: of the undisturbed walk and of the sizes.
        interrupted: Whether somebody stopped it before all was tried.
    """

    conditions: dict[str, Any]
    first_failure: float | None
    largest_survived: float
    largest_tried: float
    samples: list[list[Any]] = field(repr=False)
    measures: dict[str, Any] = field(repr=False)
    interrupted: bool = False

    def __getitem__(self, name: str) -> Any:
        """Return an entry of `summary`."""
        return self.summary()[name]

    def summary(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        own = vars(self).copy()
        return {**own.pop('conditions'), **own.pop('measures'), **own}


def try_sizes(attempt: Callable[[float], str | None], sizes: np.ndarray,
              conditions: dict[str, Any],
              judge: Callable[[list[list[Any]]], dict[str, Any]],
              progress: Callable[[float], None] | None, to_first: bool = False) -> FirstFailure:
    """Try sizes in rising order, all of them or up to the first that fails.

    Sets of survived sizes have holes: the first failing one is not the smallest of all that fail.

    Args:
        attempt: Walks with a size; returns None if it is survived, else why not.
        sizes: See `size_grid`.
        conditions: Of `FirstFailure`.
        judge: Returns its measures, of its samples.
        progress: Called with the share of sizes tried, 0 to 1, after each.
        to_first: Whether to stop at the first that fails.

    Raises:
        Interrupted: Somebody stopped it; holds the result of the sizes tried.
    """
    samples: list[list[Any]] = []

    def found(interrupted: bool) -> FirstFailure:
        survived = [size for size, lives, _ in samples if lives]
        return FirstFailure(
            conditions, next((size for size, lives, _ in samples if not lives), None),
            max(survived, key=abs, default=0.0), samples[-1][0] if samples else 0.0, samples,
            judge(samples), interrupted)
    try:
        for size in sizes.tolist():
            reason = attempt(size)
            samples.append([size, reason is None, reason])
            ended = to_first and reason is not None
            if progress is not None:
                progress(1.0 if ended else len(samples) / len(sizes))
            if ended:
                break
    except KeyboardInterrupt:
        raise Interrupted(found(True)) from None
    return found(False)


def size_grid(largest: float, resolution: float, most: int) -> np.ndarray:
    """Return the sizes between 0, which is none of them, and the largest.

    Args:
        largest: Last size; below 0, sizes fall.
        resolution: Distance between sizes.
        most: How many there may be.

    Raises:
        InvalidInput: These make no grid.
    """
    if not np.isfinite(largest) or largest == 0.0:
        raise InvalidInput('max', value=largest, limit='must be a finite number other than 0')
    if not np.isfinite(resolution) or resolution <= 0.0:
        raise InvalidInput('resolution', value=resolution, limit='must be above 0')
    count = abs(largest) / resolution + 1e-9
    if not 1.0 <= count < most + 1.0:
        raise InvalidInput('resolution', value=resolution,
                           limit=f'must give 1 to {most} sizes up to {abs(largest):g}')
    return np.copysign(np.round(resolution * np.arange(1, int(count) + 1), 12), largest)


def describe_walks(robot_file: RobotFile, controller: str | None, plant: str | None
                   ) -> dict[str, Any]:
    """Return robot, controller and plant by name."""
    return {'robot': robot_file.robot.name, 'controller': controller or robot_file.controller,
            'plant': plant or robot_file.plant}


def with_section(robot_file: RobotFile, section: str, values: Mapping[str, Any]) -> RobotFile:
    """Return a `RobotFile` with other values in a section, whose others stay."""
    return replace(robot_file, sections={
        **robot_file.sections, section: {**robot_file.sections.get(section, {}), **values}})


def why_it_stopped(run: Run) -> str | None:
    """Return why a run is no walk, or None: a fault, or a walker that no longer makes steps."""
    if run.broke_off:
        return str(run.fault) if run.fault is not None else run.fall_reason
    if not run.robot.coordinates:
        return None
    touchdowns = run.time[1:][np.diff(run.steps) > 0]
    gaps = np.diff([run.time[0], *touchdowns, run.time[-1]])
    longest = STALLED * np.median(gaps[:-1]) if len(touchdowns) else 0.0
    if gaps[-1] > longest:
        return f'made no further step after {len(touchdowns)}'
    return None
