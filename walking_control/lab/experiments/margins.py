# SPDX-License-Identifier: Apache-2.0
"""How much a walk bears: what every search for the first failure shares, and errors that last.

`find_margin` tries errors that last for the whole walk, through the whole chain of plant, sensors,
estimator, law and supervisor. A size counts as survived when the walks of all seeds last.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import (
    IncompatiblePlant,
    Interrupted,
    NotAchieved,
    require,
    require_known,
)
from walking_control.models import JointFriction, RobotFile, scale_masses, with_section, World
from walking_control.runs import Run
from walking_control.safety import SafetyParameters
from walking_control.simulation import (
    has_errors,
    make_fast_plant,
    plan_disturbances,
    Plant,
    read_preset,
    rough_floor,
    run_plant,
    SensorParameters,
)

STALLED = 3.0  # longest step of a walk, of its own mean step and of the first one
PRESET = 'lab'  # what is scaled where the robot has no noise of its own


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
    meaning: str = ''  # what the size is
    # largest and resolution of robots on a free base; None: not tried there
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
    'mass': Kind(
        1.0,
        0.05,
        '1',
        'share by which every mass and inertia of the robot is larger '
        'than in the model of the controller',
    ),
    'friction': Kind(
        5.0, 0.05, 'N m', 'dry friction of every joint beyond that in the model of the controller'
    ),
    'grip': Kind(
        0.95, 0.05, '1', 'share by which the floor has less friction than the robot file says'
    ),
    'rough': Kind(
        0.02, 0.001, 'm', 'by which footholds lie higher or lower, at most, each by chance'
    ),
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

    # what was tried on whom: robot, controller, plant, kind and more, by name
    conditions: dict[str, Any]
    first_failure: float | None
    largest_survived: float
    largest_tried: float  # likewise
    # ``[size, survived, reason]`` of each, of an envelope with the index of its cell
    samples: list[list[Any]] = field(repr=False)
    # what else is known, by name: of the undisturbed walk and of the sizes
    measures: dict[str, Any] = field(repr=False)
    interrupted: bool = False

    def __getitem__(self, name: str) -> Any:
        """Return an entry of `summary`."""
        return self.summary()[name]

    def summary(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        own = vars(self).copy()
        return {**own.pop('conditions'), **own.pop('measures'), **own}


def try_sizes(
    attempt: Callable[[float], str | None],
    sizes: np.ndarray,
    conditions: dict[str, Any],
    judge: Callable[[list[list[Any]]], dict[str, Any]],
    progress: Callable[[float], None],
    to_first: bool = False,
) -> FirstFailure:
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
            conditions,
            next((size for size, lives, _ in samples if not lives), None),
            max(survived, key=abs, default=0.0),
            samples[-1][0] if samples else 0.0,
            samples,
            judge(samples),
            interrupted,
        )

    try:
        for size in sizes.tolist():
            reason = attempt(size)
            samples.append([size, reason is None, reason])
            ended = to_first and reason is not None
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
    require(
        np.isfinite(largest) and largest != 0.0,
        'max',
        value=largest,
        limit='must be a finite number other than 0',
    )
    require(
        np.isfinite(resolution) and resolution > 0.0,
        'resolution',
        value=resolution,
        limit='must be above 0',
    )
    count = abs(largest) / resolution + 1e-9
    require(
        1.0 <= count < most + 1.0,
        'resolution',
        value=resolution,
        limit=f'must give 1 to {most} sizes up to {abs(largest):g}',
    )
    return np.copysign(np.round(resolution * np.arange(1, int(count) + 1), 12), largest)


def describe_walks(robot_file: RobotFile) -> dict[str, Any]:
    """Return robot, controller and plant by name."""
    return {
        'robot': robot_file.robot.name,
        'controller': robot_file.controller,
        'plant': robot_file.plant,
    }


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


def find_margin(
    robot_file: RobotFile,
    kind: str,
    largest: float | None = None,
    resolution: float | None = None,
    seeds: int = 5,
    duration: float = 20.0,
    progress: Callable[[float], None] = lambda share: None,
) -> FirstFailure:
    """Make one thing, a kind of `MARGINS`, worse until the robot no longer walks, or stands.

    Args:
        robot_file: The `RobotFile`; its law walks on its plant.
        kind: One of `MARGINS`.
        largest: Last size; below 0, of masses, they fall from 0: lighter. None: the kind's own.
        resolution: Distance between sizes.
        seeds: Number of seeds, from ``sensors.seed`` on; one walk is enough without chance.
        duration: Simulated time of each walk, s.
        progress: Called with the share of sizes tried, 0 to 1, after each.

    The conditions of the `FirstFailure` are ``seeds`` and ``duration`` of each walk and ``noise``
    (whether sensors had errors), its measure the ``reason`` of the first failure. InvalidInput: an
    unknown kind, sizes that make no grid, or parts that do not fit; NotAchieved: it does not even
    walk with the size 0; Interrupted holds the result of the sizes tried.
    """
    require_known(kind, MARGINS, 'margin', value=kind)
    known = MARGINS[kind]
    trial = _Trial(robot_file, kind, seeds, duration)
    sizes = _sizes(robot_file, kind, largest, resolution)
    conditions = {
        **describe_walks(robot_file),
        'margin': kind,
        'unit': known.unit,
        'meaning': known.meaning,
        'seeds': trial.seeds,
        'duration': duration,
        'noise': trial.noise,
    }
    reason = trial.walk(0.0)
    require(
        reason is None,
        f'{robot_file.robot.name} with no {kind} error',
        limit=reason,
        remedy='change controller, start or --noise',
        error=NotAchieved,
    )
    return try_sizes(
        trial.walk,
        sizes,
        conditions,
        lambda samples: {
            'reason': next((reason for _, lives, reason in samples if not lives), None)
        },
        progress,
        to_first=True,
    )


def _sizes(
    robot_file: RobotFile, kind: str, largest: float | None, resolution: float | None
) -> np.ndarray:
    margin = MARGINS[kind]
    largest = margin.largest if largest is None else largest
    sizes = size_grid(largest, margin.resolution if resolution is None else resolution, 10000)
    least = -0.95 if kind == 'mass' else 0.0
    require(
        largest >= least,
        'max',
        value=largest,
        limit=f'must be at least {least:g} for a margin of {kind}',
    )
    require(
        kind != 'grip' or largest < 1.0,
        'max',
        value=largest,
        limit='must be below 1: a floor without any friction',
    )
    timeout = robot_file.values(SafetyParameters).state_timeout
    require(
        kind != 'delay' or largest <= timeout,
        'max',
        value=largest,
        limit=f'is longer than safety.state_timeout ({timeout:g} s) allows',
        remedy='raise safety.state_timeout',
    )
    return sizes


class _Trial:
    """Walks of one kind of margin."""

    def __init__(self, robot_file: RobotFile, kind: str, seeds: int, duration: float) -> None:
        require(
            kind != 'grip' or robot_file.plant != 'rigid',
            'margin grip on plant rigid',
            limit='feet do not slip there',
            remedy='choose --plant mujoco',
            error=IncompatiblePlant,
        )
        require(seeds >= 1, 'seeds', value=seeds, limit='must be at least 1')
        self._kind, self._duration = kind, duration
        values = dict(robot_file.sections.get(SensorParameters.section, {}))
        if kind == 'noise' and not has_errors(SensorParameters.read(values)):
            values |= read_preset(PRESET)
        self._file = with_section(robot_file, SensorParameters.section, values)
        self._values = self._file.values(SensorParameters)
        self.noise = has_errors(self._values)
        self.seeds = seeds if self.noise or kind == 'rough' else 1
        self._loop = ControlLoop(robot_file)

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
        robot, values = self._file.robot, self._values
        grip = self._file.values(World).friction
        # section, and what of it is another one
        section, own = {
            'delay': (SensorParameters.section, {'command_delay': values.command_delay + size}),
            'noise': (SensorParameters.section, {'scale': values.scale * size}),
            'grip': (World.section, {'friction': grip * (1.0 - size)}),
        }.get(self._kind, (World.section, {}))
        if self._kind == 'mass':
            robot = replace(robot, urdf=scale_masses(robot.urdf, 1.0 + size))
        elif self._kind == 'friction':
            friction = {
                joint: JointFriction(known.viscous, known.coulomb + size)
                for joint in robot.joints
                for known in (robot.friction.get(joint, JointFriction(0.0, 0.0)),)
            }
            robot = replace(robot, friction=friction)
        robot_file = with_section(self._file, SensorParameters.section, {'seed': seed})
        robot_file = with_section(robot_file, section, own)
        plant = make_fast_plant(robot_file, robot=robot)
        if self._kind == 'rough':
            plan_disturbances(plant, rough_floor(size, seed))
        return plant
