# SPDX-License-Identifier: Apache-2.0
"""How large a one-off disturbance a walker survives: the work behind `robustness`.

Sets of survived disturbances have holes, so every size of the grid is tried and the first failing
one is reported. The walk starts from the robot file's start state; the disturbance comes with a
step once the walk has settled, and counts as survived after a number of further steps. Walks are
compiled and know the state exactly; on demand, with errors of the sensors and on other plants than
rigid they go through the whole chain of estimator, law and safety, which takes some hundred times
as long.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput, NotAchieved, require, require_known
from walking_control.lab.experiments.margins import (
    describe_walks,
    DISTURBANCES,
    FirstFailure,
    size_grid,
    try_sizes,
)
from walking_control.models import Base, Dynamics, RobotFile, scale_masses, World
from walking_control.runs import foot_depths
from walking_control.simulation import (
    arrays_of,
    Disturbance,
    has_errors,
    make_fast_plant,
    make_walker,
    SensorParameters,
    Walk,
)
from walking_control.simulation.rigid.model import (
    CHATTERED,
    DIVERGED,
    DONE,
    FELL,
    foot_in_floor,
    forget_depths,
    MAX_FRICTION,
    MIN_NORMAL,
    put_back,
    SQUARED_EFFORT,
    STEPPED,
    STEPS,
    TIME,
    TRIPPED,
)

FURTHER_STEPS = 20
SETTLING_STEPS = 30
LONGEST = 10.0  # longest step, in the time constant of the leg as a pendulum
REASONS = {
    FELL: 'fell',
    DONE: 'made no further step',
    DIVERGED: 'the integration diverged',
    CHATTERED: 'contacts chattered',
    TRIPPED: 'tripped',
}


def find_first_failure(
    robot_file: RobotFile,
    kind: str,
    largest: float | None = None,
    resolution: float | None = None,
    plant: str | None = None,
    heavier: float = 0.0,
    progress: Callable[[float], None] = lambda share: None,
) -> FirstFailure:
    """Try disturbances of rising size.

    Args:
        robot_file: The `RobotFile`.
        kind: ``'step_down'``, ``'step_up'`` (m), ``'push'`` (N s per kg of robot, along the walk
            positive), ``'side_push'`` (likewise, to the left, in space alone) or
            ``'slope_change'`` (rad, downhill positive, in the plane alone).
        largest: Last size tried; below 0, sizes fall from 0, as for pushes against the walk. None
            takes the kind's own.
        resolution: Distance between sizes.
        plant: Name of the plant on which it walks through the whole chain; None is plant
            ``'rigid'``, compiled where no sensor errs and nothing is heavier.
        heavier: Share by which all masses and inertias are larger than the controller knows.
        progress: Called with the share of sizes tried, 0 to 1, after each.

    Returns:
        `FirstFailure`, with the conditions ``chain`` (whether the walks went through it) and
        ``heavier``, and the measures ``holes`` (survived sizes beyond the first failure),
        ``nominal_speed`` along the floor (m/s), ``nominal_squared_effort`` per step,
        ``min_normal_force``, ``max_friction_ratio`` of the undisturbed walk and what
        `foot_in_floor` says of it, and ``survivors``, the worst of these last over the sizes below
        the first failure.

    Raises:
        InvalidInput: An unknown kind, or sizes that make no grid.
        NotAchieved: The undisturbed robot does not walk.
        Interrupted: Somebody stopped it; holds the result of the sizes tried.
    """
    require_known(kind, DISTURBANCES, 'disturbance', value=kind)
    known = DISTURBANCES[kind]
    sizes = size_grid(
        known.largest if largest is None else largest,
        known.resolution if resolution is None else resolution,
        100000,
    )
    require(
        -0.95 <= heavier <= 10.0,
        'heavier',
        value=heavier,
        limit='must be from -0.95 to 10, a share',
    )
    chain = plant or heavier != 0.0 or has_errors(robot_file.values(SensorParameters))
    robot_file = replace(robot_file, plant=plant or 'rigid')
    trial = _ChainTrial(robot_file, kind, heavier) if chain else _CompiledTrial(robot_file, kind)
    conditions = {
        **describe_walks(robot_file),
        'chain': bool(chain),
        'heavier': heavier,
        'disturbance': kind,
        'unit': known.unit,
        'further_steps': FURTHER_STEPS,
    }
    nominal, depths = trial.settle(), []

    def attempt(size: float) -> str | None:
        reason = trial.disturb(size)
        depths.append(trial.depth)
        return reason

    def judge(samples: list[list[Any]]) -> dict[str, Any]:
        first = next((i for i, (_, lives, _) in enumerate(samples) if not lives), len(samples))
        return {
            **nominal,
            'holes': [size for size, lives, _ in samples[first:] if lives],
            'survivors': worst_depths(depths[:first]),
        }

    return try_sizes(attempt, sizes, conditions, judge, progress)


def worst_depths(walks: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the deepest foot and the longest reach of several `foot_in_floor`."""
    deepest = max(walks, key=lambda walk: walk['foot_depth'] or 0.0, default=None)
    reaches = [walk['scuff_reach'] for walk in walks if walk['scuff_reach'] is not None]
    return {
        **(deepest or {'foot_depth': None, 'foot_depth_ahead': None}),
        'scuff_reach': max(reaches, default=None),
    }


class _CompiledTrial:
    """A compiled walk that is brought back to the same step again and again."""

    def __init__(self, robot_file: RobotFile, kind: str) -> None:
        apart = {'side_push': Base.TRANSLATING, 'slope_change': Base.PLANAR}
        if apart.get(kind, robot_file.robot.base) is not robot_file.robot.base:
            raise InvalidInput(
                'disturbance',
                value=kind,
                limit=f'is none of {robot_file.robot.name}: of {apart[kind].value} bases alone',
                remedy='known: ' + ', '.join(DISTURBANCES),
            )
        self._file, self._kind, self._at = robot_file, kind, SETTLING_STEPS + 1
        # a floor change of size zero keeps a place for the real one
        self._walker = make_walker(robot_file, None, ((self._at, 0.0, 0.0),))
        self._mass = float(Dynamics(robot_file.robot).mass)
        pendulum_time = (self._walker.leg_length / robot_file.values(World).gravity) ** 0.5
        self._longest = LONGEST * pendulum_time

    def settle(self) -> dict[str, float | None]:
        """Walk undisturbed and keep the state; return the measures of that walk."""
        walker, start = self._walker, self._file.start
        walker.start(self._file.robot.feet.index(start.support), start.q, start.v)
        for _ in range(SETTLING_STEPS):
            status = self._step()
            if status != STEPPED:
                raise NotAchieved(
                    f'{self._file.robot.name} undisturbed',
                    value=int(walker.state.mode[STEPS]),
                    limit=f'{REASONS[status]} after that many steps',
                    remedy='change start, slope or controller',
                )
        self._kept = [array.copy() for array in arrays_of(walker)]
        memo = walker.state.memo
        return {
            **foot_in_floor(memo),
            'nominal_speed': float(walker.state.y[0] / memo[TIME]),
            'nominal_squared_effort': float(memo[SQUARED_EFFORT]) / SETTLING_STEPS,
            'min_normal_force': float(memo[MIN_NORMAL]),
            'max_friction_ratio': float(memo[MAX_FRICTION]),
        }

    def _step(self) -> int:
        return self._walker.walk(self._longest, True)

    @property
    def depth(self) -> dict[str, float | None]:
        """What `foot_in_floor` says since the disturbance."""
        return foot_in_floor(self._walker.state.memo)

    def disturb(self, size: float) -> str | None:
        """Disturb the settled walk; return None if it survives, else why not."""
        walker, model = self._walker, self._walker.model
        put_back(arrays_of(walker), self._kept)
        forget_depths(walker.state.memo)
        if self._kind in ('step_down', 'step_up'):
            model.drops[self._at] = size if self._kind == 'step_down' else -size
        elif self._kind == 'slope_change':
            model.tilts[self._at :] = size
        elif self._kind == 'side_push':
            walker.push(size * self._mass, 0.5 * np.pi)  # type: ignore[call-arg]
        else:
            walker.push(size * self._mass)
        for _ in range(1 + FURTHER_STEPS):
            status = self._step()
            if status != STEPPED:
                return REASONS[status]
        return None


class _ChainTrial:
    """Walks from the start to the last step that counts, every one with the same sensor errors."""

    def __init__(self, robot_file: RobotFile, kind: str, heavier: float) -> None:
        self._file, self._kind = robot_file, kind
        robot = robot_file.robot
        self._robot = (
            replace(robot, urdf=scale_masses(robot.urdf, 1.0 + heavier)) if heavier else robot
        )
        self._last = SETTLING_STEPS + 1 + FURTHER_STEPS
        self._loop = ControlLoop(robot_file)
        world = robot_file.values(World)
        self._dynamics = Dynamics(robot_file.robot, world.gravity, world.slope)
        self._longest = LONGEST * (self._dynamics.standing_height() / world.gravity) ** 0.5

    def settle(self) -> dict[str, Any]:
        """Walk undisturbed; return the measures of that walk, depths included."""
        reason = self.disturb(None)
        require(
            reason is None,
            f'{self._file.robot.name} undisturbed',
            value=int(self._run.steps[-1]),
            limit=f'{reason} after that many steps',
            remedy='change start, slope, controller or --noise',
            error=NotAchieved,
        )
        summary = self._run.summary()
        return {
            **self.depth,
            'nominal_speed': summary['speed'],
            'nominal_squared_effort': summary['squared_effort_per_step'],
            'min_normal_force': summary['min_normal_force'],
            'max_friction_ratio': summary['max_friction_ratio'],
        }

    @property
    def depth(self) -> dict[str, float | None]:
        """How deep the feet of the last walk were in the floor, see `runs.metrics.foot_depths`."""
        return foot_depths(self._run, self._dynamics)

    def disturb(self, size: float | None) -> str | None:
        """Walk from the start on, disturbed unless the size is None."""
        plant, loop = make_fast_plant(self._file, robot=self._robot), self._loop
        if size is not None:
            plant.disturb(*Disturbance(self._kind, size, SETTLING_STEPS + 1))

        def over() -> bool:
            state = loop.state
            return (
                state.steps >= self._last or state.stamp - max(state.touchdown, 0.0) > self._longest
            )

        ticks = max(1, round(self._last * self._longest / loop.period))
        walk = Walk(plant, loop, self._file.start, ticks)
        walk.go(ticks, until=over)
        self._run = run = walk.finish()
        if run.fault is not None:
            return str(run.fault)
        return None if run.steps[-1] >= self._last else 'made no further step'
