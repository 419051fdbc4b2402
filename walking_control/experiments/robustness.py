# SPDX-License-Identifier: Apache-2.0
"""How large a one-off disturbance a walker survives: the work behind `robustness`.

Sets of survived disturbances have holes, so every size of the grid is tried and the first failing
one is reported. The walk starts from the robot file's start state; the disturbance comes with a
step once the walk has settled, and counts as survived after a number of further steps. Walks are
compiled and know the state exactly; on demand, with errors of the sensors and on other plants than
rigid they go through the whole chain of estimator, law and safety, see `chain_trial`, which takes
some hundred times as long.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from walking_control.exceptions import Interrupted, InvalidInput, NotAchieved
from walking_control.experiments.chain_trial import ChainTrial, LONGEST
from walking_control.experiments.sizes import judge_sizes, size_grid
from walking_control.models.base import Base
from walking_control.models.registry import Choice
from walking_control.models.robot_file import RobotFile, World
from walking_control.simulation.registry import choose_parts
from walking_control.simulation.rigid.compiled import make_walker
from walking_control.simulation.rigid.model import (
    CHATTERED,
    DIVERGED,
    DONE,
    FELL,
    foot_in_floor,
    forget_depths,
    MAX_FRICTION,
    MIN_NORMAL,
    SQUARED_EFFORT,
    STEPPED,
    STEPS,
    TIME,
    TRIPPED,
)
from walking_control.simulation.sensors import has_errors, SensorParameters

FURTHER_STEPS = 20
SETTLING_STEPS = 30
# kind -> (largest size, resolution, unit)
KINDS = {'step_down': (0.3, 0.001, 'm'), 'step_up': (0.1, 0.001, 'm'),
         'push': (1.6, 0.01, 'N s/kg'), 'side_push': (1.6, 0.01, 'N s/kg'),
         'slope_change': (0.1, 0.002, 'rad')}
REASONS = {FELL: 'fell', DONE: 'made no further step', DIVERGED: 'the integration diverged',
           CHATTERED: 'contacts chattered', TRIPPED: 'tripped'}


def find_first_failure(robot_file: RobotFile, kind: str, controller: Choice = None,
                       plant: Choice = 'rigid', largest: float | None = None,
                       resolution: float | None = None,
                       progress: Callable[[float], None] | None = None,
                       chain: bool = False, heavier: float = 0.0) -> dict[str, Any]:
    """Try disturbances of rising size.

    Args:
        robot_file: The `RobotFile`.
        kind: ``'step_down'``, ``'step_up'`` (m), ``'push'`` (N s per kg of robot, along the walk
            positive), ``'side_push'`` (likewise, to the left, in space alone) or
            ``'slope_change'`` (rad, downhill positive, in the plane alone).
        controller: Name of the controller; None takes the robot file's default.
        plant: Name of the plant; any but ``'rigid'`` walks through the whole chain, see
            `ChainTrial`.
        largest: Last size tried; below 0, sizes fall from 0, as for pushes against the walk. None
            takes the kind's own.
        resolution: Distance between sizes.
        progress: Called with the share of sizes tried, 0 to 1, after each.
        chain: Whether to walk through the whole chain in any case.
        heavier: Share by which all masses and inertias are larger than the controller knows;
            through the chain.

    Returns:
        Dictionary: ``chain`` (whether the walks went through it), ``heavier``, ``first_failure``
        (None: none up to the last), ``largest_survived`` (farthest from 0), ``largest_tried``,
        ``samples`` as [size, survived, reason], ``holes`` (survived sizes beyond the first
        failure), ``nominal_speed`` along the floor (m/s), ``nominal_squared_effort`` per step,
        ``min_normal_force``, ``max_friction_ratio`` of the undisturbed walk and what
        `foot_in_floor` says of it; ``survivors``, the worst of these last over the sizes below the
        first failure; ``interrupted``, False.

    Raises:
        InvalidInput: An unknown kind, or sizes that make no grid.
        NotAchieved: The undisturbed robot does not walk.
        Interrupted: Somebody stopped it; holds the result of the sizes tried.
    """
    robot_file, controller, world = choose_parts(robot_file, controller, plant)
    plant = world or 'rigid'
    sizes = _sizes(kind, largest, resolution)
    if not -0.95 <= heavier <= 10.0:
        raise InvalidInput('heavier', value=heavier, limit='must be from -0.95 to 10, a share')
    chain = chain or heavier != 0.0 or plant != 'rigid' \
        or has_errors(robot_file.values(SensorParameters))
    trial: _Trial | ChainTrial = \
        ChainTrial(robot_file, controller, kind, SETTLING_STEPS, FURTHER_STEPS, plant, heavier) \
        if chain else _Trial(robot_file, controller, kind)
    nominal = trial.settle()
    names = {'robot': robot_file.robot.name, 'controller': controller or robot_file.controller,
             'plant': plant, 'chain': chain, 'heavier': heavier, 'disturbance': kind,
             'unit': KINDS[kind][2], 'further_steps': FURTHER_STEPS}
    samples, depths = [], []
    try:
        for size in sizes:
            reason = trial.disturb(size)
            samples.append([float(size), reason is None, reason])
            depths.append(trial.depth)
            if progress is not None:
                progress(len(samples) / len(sizes))
    except KeyboardInterrupt:
        raise Interrupted({**names, **_judge(samples, depths), 'interrupted': True, **nominal,
                           'samples': samples}) from None
    return {**names, **_judge(samples, depths), 'interrupted': False, **nominal,
            'samples': samples}


def _judge(samples: list[list[Any]], depths: list[dict[str, float | None]]) -> dict[str, Any]:
    """Return what the tried sizes say."""
    judged = judge_sizes(samples)
    first, sizes = judged['first_failure'], [size for size, *_ in samples]
    return {**judged,
            'holes': [size for size, survived, _ in samples
                      if survived and first is not None and abs(size) > abs(first)],
            'survivors': worst_depths(depths if first is None else depths[:sizes.index(first)])}


def worst_depths(walks: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the deepest foot and the longest reach of several `foot_in_floor`."""
    deepest = max(walks, key=lambda walk: walk['foot_depth'] or 0.0, default=None)
    reaches = [walk['scuff_reach'] for walk in walks if walk['scuff_reach'] is not None]
    return {**(deepest or {'foot_depth': None, 'foot_depth_ahead': None}),
            'scuff_reach': max(reaches, default=None)}


def _sizes(kind: str, largest: float | None, resolution: float | None) -> np.ndarray:
    if kind not in KINDS:
        raise InvalidInput('disturbance', value=kind, limit='unknown',
                           remedy='known: ' + ', '.join(KINDS))
    largest = KINDS[kind][0] if largest is None else largest
    return size_grid(largest, KINDS[kind][1] if resolution is None else resolution, 100000)


class _Trial:
    """A walk that can be brought back to the same step again and again."""

    def __init__(self, robot_file: RobotFile, controller: str | None, kind: str) -> None:
        apart = {'side_push': Base.TRANSLATING, 'slope_change': Base.PLANAR}
        if apart.get(kind, robot_file.robot.base) is not robot_file.robot.base:
            raise InvalidInput('disturbance', value=kind, limit='is none of '
                               f'{robot_file.robot.name}: of {apart[kind].value} bases alone',
                               remedy='known: ' + ', '.join(KINDS))
        self._kind, self._file = kind, robot_file
        self._at = SETTLING_STEPS + 1
        # a floor change of size zero keeps a place for the real one
        self._walker = make_walker(robot_file, controller, ((self._at, 0.0, 0.0),))
        self._mass = robot_mass(robot_file)
        pendulum_time = (self._walker.leg_length / robot_file.values(World).gravity) ** 0.5
        self._longest = LONGEST * pendulum_time

    def settle(self) -> dict[str, float | None]:
        """Walk undisturbed and keep the state; return the measures of that walk."""
        walker, start = self._walker, self._file.start
        walker.start(self._file.robot.feet.index(start.support), start.q, start.v)
        for _ in range(SETTLING_STEPS):
            status = self._step()
            if status != STEPPED:
                raise NotAchieved(f'{self._file.robot.name} undisturbed',
                                  value=int(walker.state.mode[STEPS]),
                                  limit=f'{REASONS[status]} after that many steps',
                                  remedy='change start, slope or controller')
        self._kept = [array.copy() for array in self._arrays()]
        memo = walker.state.memo
        return {**foot_in_floor(memo),
                'nominal_speed': float(walker.state.y[0] / memo[TIME]),
                'nominal_squared_effort': float(memo[SQUARED_EFFORT]) / SETTLING_STEPS,
                'min_normal_force': float(memo[MIN_NORMAL]),
                'max_friction_ratio': float(memo[MAX_FRICTION])}

    def _step(self) -> int:
        return self._walker.walk(self._longest, True)

    @property
    def depth(self) -> dict[str, float | None]:
        """What `foot_in_floor` says since the disturbance."""
        return foot_in_floor(self._walker.state.memo)

    def _arrays(self) -> tuple[np.ndarray, ...]:
        """Return everything that a walk changes."""
        walker = self._walker
        return (*walker.state, walker.data.phases, walker.data.memory)

    def disturb(self, size: float) -> str | None:
        """Disturb the settled walk; return None if it survives, else why not."""
        walker, model = self._walker, self._walker.model
        for array, kept in zip(self._arrays(), self._kept, strict=True):
            array[:] = kept
        forget_depths(walker.state.memo)
        if self._kind in ('step_down', 'step_up'):
            model.drops[self._at] = size if self._kind == 'step_down' else -size
        elif self._kind == 'slope_change':
            model.tilts[self._at:] = size
        elif self._kind == 'side_push':
            walker.push(size * self._mass, 0.5 * np.pi)   # type: ignore[call-arg]
        else:
            walker.push(size * self._mass)
        for _ in range(1 + FURTHER_STEPS):
            status = self._step()
            if status != STEPPED:
                return REASONS[status]
        return None


def robot_mass(robot_file: RobotFile) -> float:
    """Return the mass of a robot, kg."""
    from walking_control.models.dynamics import Dynamics
    return float(Dynamics(robot_file.robot).mass)
