# SPDX-License-Identifier: Apache-2.0
"""Gains that keep stated margins at the least cost, by CMA-ES: the work behind `tune`.

A margin is kept where the walker survives every size up to it, of a grid of quarters; in space a
disturbance comes from four sides at two parts of a step.
"""

from collections.abc import Callable, Mapping, Sequence
import contextlib
from dataclasses import dataclass
import math
import time
from typing import Any

import numpy as np

from walking_control.exceptions import (
    import_optional,
    Interrupted,
    NotAchieved,
    require,
    require_known,
    WalkingControlError,
)
from walking_control.lab.experiments import envelope, margins, robustness
from walking_control.lab.experiments.sweeps import chosen_point, measure, SweepTask, Workshop
from walking_control.models import RobotFile

QUARTER, MOST = 0.25, 1.5  # of a margin: distance between sizes, and the last
COSTS = (
    'cost_of_transport_electrical',
    'cost_of_transport_positive',
    'cost_of_transport',
    'mechanical_power',
    'peak_effort',
    'squared_effort_per_step',
)
SEEDS = 2  # of walks with errors
SPREAD = 0.2  # of the first points, of the width of the axes
FALLS = 10.0  # objective of a walk that falls at once


@dataclass(frozen=True)
class Goal:
    """A margin to be kept.

    Args:
        kind: ``'speed'`` (m/s at least), a disturbance of `robustness` or a kind of margin.
        wanted: Its size.
    """

    kind: str
    wanted: float


@dataclass
class Trial:
    """A point that was tried.

    Args:
        point: name -> value.
        cost: None where it does not walk.
        shares: kind -> what is kept of a margin, over what is wanted.
        objective: Below 1 with all margins kept.
    """

    point: dict[str, float]
    cost: float | None
    shares: dict[str, float]
    objective: float

    @property
    def worst(self) -> float:
        """The least share of a margin kept, 0 where it does not walk."""
        return min(self.shares.values(), default=1.0) if self.cost is not None else 0.0


def check_goals(goals: Sequence[Goal], cost: str) -> None:
    """Refuse goals that nobody can measure.

    Raises:
        InvalidInput: Unknown, without a size, or named twice.
    """
    known = ('speed', *margins.DISTURBANCES, *margins.MARGINS)
    for goal in goals:
        require_known(goal.kind, known, 'margin', value=goal.kind)
        require(
            math.isfinite(goal.wanted) and goal.wanted != 0.0,
            f'margin {goal.kind}',
            value=goal.wanted,
            limit='must be a finite number other than 0',
        )
    require(len({goal.kind for goal in goals}) >= len(goals), 'margin', limit='is named twice')
    require_known(cost, COSTS, 'cost', value=cost)


def tune(
    task: SweepTask,
    goals: Sequence[Goal],
    cost: str = COSTS[0],
    evaluations: int = 150,
    progress: Callable[[float], None] = lambda share: None,
    patience: float = math.inf,
) -> dict[str, Any]:
    """Search the cheapest point between axes that keeps all margins.

    `cost` is one of `COSTS`; after `patience`, s of processor time, no further point is tried.

    Returns:
        Dictionary: ``parameters``, name -> value of the best; ``margins``, kind -> ``wanted``,
        ``kept`` (a size up to which every one tried was survived); ``cost``; ``cost_before`` and
        ``margins_before``, of the robot file as it is, None where it has no such point;
        ``trials``, how many; ``pareto``, list of [worst share of a margin, cost, parameters], none
        of which another beats in both; ``points``, [worst share, cost] of all that walk;
        ``robot_file``, the best `RobotFile`.

    Raises:
        NotAchieved: No point keeps all margins; says which came nearest.
        Interrupted: Somebody stopped it; holds the best so far.
    """
    check_goals(goals, cost)
    require(evaluations >= 1, 'evaluations', value=evaluations, limit='must be at least 1')
    until = time.process_time() + patience
    bench = _Bench(task, goals, cost)
    cma = import_optional('cma', 'tuning', 'walking_control[tune]')
    before = chosen_point(bench.workshop)
    reference = None if before is None else bench.try_point(before)
    inside = before is not None and all(
        axis.low <= before[axis.name] <= axis.high for axis in task.axes
    )
    trials = [reference] if reference is not None and inside else []
    search = cma.CMAEvolutionStrategy(
        bench.share_of(before),
        SPREAD,
        {'bounds': [0.0, 1.0], 'seed': task.seed + 1, 'maxfevals': evaluations, 'verbose': -9},
    )
    try:
        while len(trials) < evaluations and not search.stop() and time.process_time() < until:
            shares = search.ask()
            found: list[Trial] = []
            for share in shares[: evaluations - len(trials)]:
                if time.process_time() > until:
                    break
                found.append(bench.try_point(bench.point_at(share)))
                progress(min(1.0, (len(trials) + len(found)) / evaluations))
            trials += found
            if len(found) == len(shares):
                search.tell(shares, [trial.objective for trial in found])
    except KeyboardInterrupt:
        raise Interrupted({**_judge(bench, trials, reference), 'interrupted': True}) from None
    return {**_judge(bench, trials, reference), 'interrupted': False}


class _Bench:
    """Tries points.

    Args:
        task: The `SweepTask`.
        goals: The `Goal` list.
        cost: One of `COSTS`.
    """

    def __init__(self, task: SweepTask, goals: Sequence[Goal], cost: str) -> None:
        widths = [axis.high - axis.low for axis in task.axes]
        require(
            len(widths) >= 2 and min(widths) > 0.0,
            'axes',
            value=len(widths),
            limit='must be two or more, each from a lower to a higher end',
            remedy='for one: walking_control sweep',
        )
        for axis in task.axes:
            require(
                not axis.name.startswith('start.'),
                'axis',
                value=axis.name,
                limit='is no gain',
                remedy='a start that walks is found by walking_control sweep',
            )
        self.task, self.goals, self.cost = task, tuple(goals), cost
        self.workshop = Workshop(task)
        self.workshop.check()

    def share_of(self, point: Mapping[str, float] | None) -> list[float]:
        """Return where a point lies between the axes' ends, 0 to 1 each."""
        return [
            0.5
            if point is None
            else float(np.clip((point[axis.name] - axis.low) / (axis.high - axis.low), 0.05, 0.95))
            for axis in self.task.axes
        ]

    def point_at(self, share: Sequence[float]) -> dict[str, float]:
        """Return name -> value of such a place, in the digits a file shows."""
        return {
            axis.name: float(f'{axis.low + (axis.high - axis.low) * float(part):.6g}')
            for axis, part in zip(self.task.axes, share, strict=True)
        }

    def robot_file(self, point: Mapping[str, float]) -> RobotFile:
        """Return the `RobotFile` of a point, as it is written."""
        return self.workshop.load(point.items())

    def try_point(self, point: dict[str, float]) -> Trial:
        """Return the `Trial` of a point."""
        try:
            robot_file = self.workshop.robot_file_at(point, self.task.seed)
            run, dynamics = self.workshop.run(robot_file)
        except WalkingControlError:  # no such robot
            return Trial(point, None, {}, FALLS + 1.0)
        measures = measure(run, dynamics)
        cost = measures[self.cost]
        if margins.why_it_stopped(run) is not None or cost is None:
            return Trial(point, None, {}, FALLS - measures['time'] / self.task.duration)
        shares = {
            goal.kind: (measures['speed'] if goal.kind == 'speed' else self._kept(robot_file, goal))
            / goal.wanted
            for goal in self.goals
        }
        lacks = sum(max(0.0, 1.0 - share) for share in shares.values())
        return Trial(point, cost, shares, 1.0 + lacks if lacks > 1e-9 else cost / (1.0 + abs(cost)))

    def _kept(self, robot_file: RobotFile, goal: Goal) -> float:
        """Return the size up to which every one is survived."""
        sizes = MOST * goal.wanted, abs(QUARTER * goal.wanted)
        result: margins.FirstFailure | None = None
        with contextlib.suppress(NotAchieved):  # falls even undisturbed, after longer
            if goal.kind in margins.DISTURBANCES and robot_file.robot.is_free:
                result = envelope.find_envelope(robot_file, goal.kind, *sizes, envelope.QUICK, 1)
            elif goal.kind in margins.DISTURBANCES:
                plant = self.workshop.plant
                result = robustness.find_first_failure(
                    robot_file, goal.kind, *sizes, None if plant == 'rigid' else plant
                )
            else:
                result = margins.find_margin(
                    robot_file, goal.kind, *sizes, SEEDS, self.task.duration
                )
        if result is None:
            return 0.0
        first = result.first_failure
        return float(
            MOST * goal.wanted if first is None else first - math.copysign(sizes[1], goal.wanted)
        )


def _judge(bench: _Bench, trials: Sequence[Trial], reference: Trial | None) -> dict[str, Any]:
    walks = [trial for trial in trials if trial.cost is not None]
    require(
        walks,
        'tuning',
        limit=f'none of {len(trials)} points walks',
        remedy='name other axes, or a start on its gait',
        error=NotAchieved,
    )
    best = min(walks, key=lambda trial: trial.objective)
    kept = _margins(bench, best)
    if best.objective >= 1.0:
        lacking = ', '.join(
            f'{kind} {entry["kept"]:.4g} of {entry["wanted"]:.4g}'
            for kind, entry in kept.items()
            if best.shares[kind] < 1.0
        )
        raise NotAchieved(
            'margins',
            limit=f'no point of {len(trials)} keeps all; the nearest, '
            + ', '.join(f'{name} {value:.4g}' for name, value in best.point.items())
            + f', lacks {lacking}',
            remedy='ask for less, or let more change',
        )
    return {
        'robot': bench.workshop.base.robot.name,
        'controller': bench.workshop.controller,
        'plant': bench.workshop.plant,
        'parameters': best.point,
        'margins': kept,
        'cost_name': bench.cost,
        'cost': best.cost,
        'cost_before': reference and reference.cost,
        'margins_before': _margins(bench, reference) if reference else None,
        'trials': len(trials),
        'walking': len(walks),
        'pareto': pareto_front(walks),
        'points': [[trial.worst, trial.cost] for trial in walks],
        'robot_file': bench.robot_file(best.point),
    }


def _margins(bench: _Bench, trial: Trial) -> dict[str, Any]:
    return {
        goal.kind: {
            'wanted': goal.wanted,
            'kept': trial.shares[goal.kind] * goal.wanted if trial.shares else None,
        }
        for goal in bench.goals
    }


def pareto_front(trials: Sequence[Trial]) -> list[list[Any]]:
    """Return [worst share, cost, point] of trials that none beats in both, cheapest first.

    Args:
        trials: Those that walk.
    """
    front: list[list[Any]] = []
    for trial in sorted(trials, key=lambda trial: (trial.cost, -trial.worst)):
        if not front or trial.worst > front[-1][0]:
            front.append([trial.worst, trial.cost, trial.point])
    return front
