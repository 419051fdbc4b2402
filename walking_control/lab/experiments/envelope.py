# SPDX-License-Identifier: Apache-2.0
"""What walkers in space survive from every side: the work behind `robustness` on a free base.

A push is tried from several directions and at several parts of a step, a change of the floor at
several places within a step. Of each such cell the first failing size is found by bisection on a
grid, in trials of a few seconds; the size before it has to be walked with to the end. Sets of
survived sizes have holes, so that the worst cell is tried at every smaller size besides. The whole
chain walks in every trial: plant, sensors, estimator, law, supervisor.

Pushes begin from one and the same state of one walk, which is copied with its process (see
`branches`); each can be repeated alone by `simulate --disturb`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
import math
from typing import Any, NamedTuple

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import Interrupted, NotAchieved, require, require_known
from walking_control.lab.experiments import (
    Branches,
    count_processors,
    describe_walks,
    DISTURBANCES,
    FirstFailure,
    size_grid,
)
from walking_control.models import Dynamics, RobotFile, World
from walking_control.runs import motors
from walking_control.simulation import (
    Disturbance,
    has_errors,
    How,
    make_plant,
    plan_disturbances,
    SensorParameters,
    Touchdowns,
    Walk,
)

SPEED = 0.5  # m/s: of robots that would stand otherwise
AHEAD = 2.0  # steps from there to where the floor may change
SETTLING = 12  # touchdowns before the disturbance
SETTLING_TIME = 20.0  # s: by then they must have been made
MEASURED = 4  # steps before it that are measured
STEADY = 0.02  # share by which the last two strides before may differ in speed
PRICE = 'cost_of_transport_electrical'  # of the walk before the disturbance, beside its margin
LOOK = 4.0  # s afterwards: most who fall have fallen by then
STALLED = 4.0  # steps without a touchdown: it walks no longer


class Grid(NamedTuple):
    """What is tried.

    Attributes:
        directions: Of pushes, rad from ahead to the left.
        phases: Parts of a step, 0 up to 1.
        after: How long it walks afterwards, s.
        settling: Least touchdowns before; a walk whose speed still changes makes more.
        coarseness: By how much sizes are further apart than usual.
    """

    directions: tuple[float, ...]
    phases: tuple[float, ...]
    after: float = 20.0
    settling: int = SETTLING
    coarseness: float = 1.0


def even_grid(directions: int = 12, phases: int = 8, after: float = 20.0) -> Grid:
    """Return the `Grid` of directions all around and phases through a step, evenly spaced."""
    return Grid(
        tuple(2.0 * math.pi * i / directions for i in range(directions)),
        tuple(i / phases for i in range(phases)),
        after,
    )


QUICK = even_grid(4, 2, 5.0)._replace(coarseness=2.0)


@dataclass
class Cell:
    """One direction and phase, or one place: what has been tried there.

    Args:
        phase: Part of a step.
        direction: rad; None of changes of the floor.
        sizes: The grid.

    Attributes:
        reasons: size -> None where it was survived, else why not.
    """

    phase: float
    direction: float | None
    sizes: np.ndarray = field(repr=False)
    reasons: dict[float, str | None] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # between the last size known to be survived and the first known to fail
        self._low, self._high = -1, len(self.sizes)
        self._busy, self._given = False, set[float]()
        self._confirmed = -1  # index of the last size that was survived to the end

    def next_trial(self) -> Trial | None:
        """Return what to try next; None while something is tried, or once all is known.

        It is the size that halves what is not known, looked at for a short time, and in the end
        the largest one survived, walked on to the end.
        """
        if self._busy or self.is_known:
            return None
        self._busy = True
        if self._high - self._low < 2:
            return Trial(self, self.survived, True)
        # the last to be tried, if survived, would have to be walked to the end next
        return Trial(
            self, float(self.sizes[(self._low + self._high) // 2]), self._high - self._low == 2
        )

    def note(self, size: float, to_the_end: bool, reason: str | None) -> None:
        """Take note of a trial; None is survival."""
        self.reasons[size], self._busy = reason, False
        index = int(np.argmin(np.abs(self.sizes - size)))
        if reason is not None:
            self._high = min(self._high, index)
            self._low = min(self._low, self._high - 1)
        elif index < self._high:
            self._low = max(self._low, index)
            if to_the_end:
                self._confirmed = index

    def give_untried(self) -> Trial | None:
        """Return one of the sizes below the first failing one that have not been tried."""
        for size in self.sizes[: self._high].tolist():
            if size not in self.reasons and size not in self._given:
                self._given.add(size)
                return Trial(self, size, False)
        return None

    @property
    def is_known(self) -> bool:
        """Whether the first failing size is, and the one before was survived to the end."""
        return self._high - self._low < 2 and self._confirmed == self._low

    @property
    def first_failure(self) -> float | None:
        """First failing size found; None: none so far."""
        return float(self.sizes[self._high]) if self._high < len(self.sizes) else None

    @property
    def survived(self) -> float:
        """Largest size known to be survived below the first failing one; 0 without one."""
        return float(self.sizes[self._low]) if self._low >= 0 else 0.0

    def summary(self) -> dict[str, Any]:
        """Return what is known of it, ready for JSON."""
        first = self.first_failure
        return {
            'direction_deg': None
            if self.direction is None
            else round(math.degrees(self.direction), 6),
            'phase': self.phase,
            'first_failure': first,
            'largest_survived': self.survived,
            'known': self.is_known,
            'reason': None if first is None else self.reasons[first],
        }


class Trial(NamedTuple):
    """A walk to be made: a cell, a size, and whether to walk on to the end."""

    cell: Cell
    size: float
    to_the_end: bool


def reach(cell: Cell) -> float:
    """Return the first failing size of a cell, infinity without one, to compare cells by."""
    return math.inf if cell.first_failure is None else abs(cell.first_failure)


def find_envelope(
    robot_file: RobotFile,
    kind: str = 'push',
    largest: float | None = None,
    resolution: float | None = None,
    grid: Grid | None = None,
    processes: int | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> FirstFailure:
    """Find the first failing size of a disturbance in every cell.

    Args:
        robot_file: The `RobotFile`; its law must walk.
        kind: One of `DISTURBANCES` that is tried in space.
        largest: Last size tried; below 0, of slopes, uphill. None takes the kind's own.
        resolution: Distance between sizes.
        grid: The `Grid`; None takes `even_grid`.
        processes: How many trials at once; None: as many as there are processors.
        progress: Called with the share of the work done, 0 to 1.

    Returns:
        `FirstFailure`, of the worst cell and of survival in every cell. Its measures are ``cells``,
        what is known of each, and ``worst``, the worst cell, with ``disturb`` and ``duration`` that
        repeat its failure by `simulate`, None without one; its conditions ``nominal_speed`` (m/s),
        ``step_time`` (s) and `PRICE` of the undisturbed walk, None without motors.

    Raises `InvalidInput`: an unknown kind, sizes that make no grid, or a robot on a base that is
    not free. `NotAchieved`: the undisturbed robot does not walk. `Interrupted`: somebody stopped
    it; holds the result of the trials made.
    """
    require(
        robot_file.robot.is_free,
        f'envelope of {robot_file.robot.name}',
        limit='is of robots with base: free',
        remedy='choose --disturbance or --margin',
    )
    usual = {name: each.in_space for name, each in DISTURBANCES.items() if each.in_space}
    require_known(kind, usual, 'disturbance', value=kind, limit='has no envelope')
    grid = grid or even_grid()
    largest = usual[kind][0] if largest is None else largest
    resolution = grid.coarseness * usual[kind][1] if resolution is None else resolution
    sizes = size_grid(largest, resolution, 10000)
    require(
        grid.settling > MEASURED,
        'settling',
        value=grid.settling,
        limit=f'must be at least {MEASURED + 1} touchdowns',
    )
    trial = _Trial(robot_file, kind, grid)
    nominal = trial.settle()
    cells = [
        Cell(phase, direction, sizes)
        for direction in (grid.directions if kind == 'push' else (None,))
        for phase in grid.phases
    ]
    conditions = {
        **describe_walks(robot_file),
        'disturbance': kind,
        'unit': DISTURBANCES[kind].unit,
        'after': grid.after,
        'resolution': resolution,
        'largest': largest,
        'noise': has_errors(robot_file.values(SensorParameters)),
        **nominal,
    }
    try:
        with Branches[Trial](processes or count_processors()) as branches:
            _try_cells(cells, trial.attempt, branches, grid.after, progress)
    except KeyboardInterrupt:
        raise Interrupted(_judge(conditions, cells, trial, True)) from None
    return _judge(conditions, cells, trial, False)


def _judge(
    conditions: dict[str, Any], cells: Sequence[Cell], trial: _Trial, interrupted: bool
) -> FirstFailure:
    """Return what the cells say."""
    worst = min(cells, key=reach)
    first = worst.first_failure
    samples: list[list[Any]] = [
        [size, reason is None, reason, i]
        for i, cell in enumerate(cells)
        for size, reason in cell.reasons.items()
    ]
    repeated = (
        None
        if first is None
        else {
            **worst.summary(),
            'disturb': str(trial.disturbance(worst, first)),
            'duration': trial.duration,
        }
    )
    return FirstFailure(
        conditions,
        first,
        min((cell.survived for cell in cells), key=abs),
        max((size for size, *_ in samples), key=abs, default=0.0),
        samples,
        {'worst': repeated, 'cells': [cell.summary() for cell in cells]},
        interrupted,
    )


def _try_cells(
    cells: Sequence[Cell],
    attempt: Callable[[Trial], str | None],
    branches: Branches[Trial],
    after: float,
    progress: Callable[[float], None],
) -> None:
    """Bisect every cell, then look for holes below the first failure of the worst."""

    def bisect() -> Trial | None:
        return next((trial for cell in cells if (trial := cell.next_trial()) is not None), None)

    def show() -> None:
        progress(0.99 * sum(cell.is_known for cell in cells) / len(cells))

    undisturbed = Cell(cells[0].phase, cells[0].direction, np.zeros(1))
    first = iter([Trial(undisturbed, 0.0, True)])
    _make_trials(lambda: next(first, None), attempt, branches)
    reason = undisturbed.reasons[0.0]
    require(
        reason is None,
        'the walk undisturbed',
        limit=f'{reason}; must last {after:g} s more',
        remedy='change speed, controller or --noise',
        error=NotAchieved,
    )
    _make_trials(bisect, attempt, branches, show)
    _make_trials(min(cells, key=reach).give_untried, attempt, branches)
    progress(1.0)


def _make_trials(
    give: Callable[[], Trial | None],
    attempt: Callable[[Trial], str | None],
    branches: Branches[Trial],
    then: Callable[[], None] = lambda: None,
) -> None:
    """Make all trials that are given, as there is room; note what comes of them.

    None is given when nothing can begin before something else has ended, or ever.
    """

    def tasks() -> Iterator[tuple[Trial, Callable[[], str | None]] | None]:
        while True:
            trial = give()
            yield None if trial is None else (trial, partial(attempt, trial))

    for (cell, size, to_the_end), reason in branches.work(tasks()):
        cell.note(size, to_the_end, reason)
        then()


class _Trial:
    """Walks that are disturbed after a number of touchdowns."""

    def __init__(self, robot_file: RobotFile, kind: str, grid: Grid) -> None:
        self._file, self._kind, self._grid = robot_file, kind, grid
        self._loop = ControlLoop(robot_file)
        self._walk, self._touchdowns = self._begin(())

    def _begin(self, disturbances: Sequence[Disturbance]) -> tuple[Walk, Touchdowns]:
        plant = make_plant(self._file)
        plan_disturbances(plant, disturbances)
        return Walk(plant, self._loop, self._file.start, self._ticks(60.0)), plant.touchdowns

    def settle(self) -> dict[str, float | None]:
        """Walk to the touchdown before the disturbance; return what the last steps are like."""
        walk, touchdowns, count = self._walk, self._touchdowns, self._grid.settling
        robot, truth = self._file.robot, walk.plant.truth
        seen: list[tuple[float, np.ndarray, float]] = []

        def settled() -> bool:
            if touchdowns.count > len(seen):
                seen.append(
                    (touchdowns.last, truth.base.position[:2].copy(), truth.electrical_energy)
                )
            return len(seen) >= count and _is_steady(seen)

        walk.go(self._ticks(SETTLING_TIME), until=settled)
        require(
            walk.fault is None and len(seen) >= count,
            f'{self._file.robot.name} undisturbed',
            value=f'{len(seen)} steps',
            limit=str(walk.fault or f'{count} must be made within {SETTLING_TIME:g} s'),
            remedy='give it a speed (--speed 0.5), or change controller or --noise',
            error=NotAchieved,
        )
        (begin, here, before), (end, there, after) = seen[-1 - MEASURED], seen[-1]
        self._time, self._base, self._settled = end, float(there[0]), len(seen)
        self._step_time = (end - begin) / MEASURED
        self._step_length = float(there[0] - here[0]) / MEASURED
        way = float(np.hypot(*(there - here)))
        load = Dynamics(robot, self._file.values(World).gravity).weight * way
        return {
            'settling': len(seen),
            'nominal_speed': way / (end - begin),
            'step_time': self._step_time,
            PRICE: (after - before) / load if motors(robot) and load > 0.0 else None,
        }

    def _ticks(self, duration: float) -> int:
        return round(duration / self._loop.period)

    def disturbance(self, cell: Cell, size: float) -> Disturbance:
        """Return the `Disturbance` of a trial."""
        if cell.direction is not None:
            return Disturbance(
                self._kind, size, self._settled, How(phase=cell.phase, direction=cell.direction)
            )
        place = self._base + (AHEAD + cell.phase) * self._step_length
        return Disturbance(self._kind, size, 0, How(place=round(place, 4)))

    @property
    def duration(self) -> float:
        """How long a trial lasts from the start, s."""
        before = (
            self._step_time + self._walk.plant.engine.push_duration
            if self._kind == 'push'
            else (AHEAD + 1.0) * self._step_time
        )
        return round(self._time + before + self._grid.after, 3)

    def attempt(self, trial: Trial) -> str | None:
        """Disturb the walk, which is nobody else's then; return None if it survives, or why not.

        A walk in which no foot comes down any more has ended, too.
        """
        walk, touchdowns = self._walk, self._touchdowns
        disturbance = self.disturbance(trial.cell, trial.size)
        if trial.cell.direction is None:  # the floor is there from the start on
            walk, touchdowns = self._begin([disturbance] if trial.size != 0.0 else [])
        elif trial.size != 0.0:
            plan_disturbances(walk.plant, [disturbance])
        spared = 0.0 if trial.to_the_end else max(0.0, self._grid.after - LOOK)
        walk.go(self._ticks(self.duration - spared - walk.plant.time))
        if walk.fault is not None:
            return str(walk.fault)
        stood = walk.plant.time - touchdowns.last
        return 'made no further step' if stood > STALLED * self._step_time else None


def _is_steady(seen: Sequence[tuple[float, np.ndarray, float]]) -> bool:
    """Return whether the last two strides were equally fast; of touchdowns, time and place."""
    (first, a, _), (middle, b, _), (last, c, _) = seen[-5], seen[-3], seen[-1]
    before, after = np.hypot(*(b - a)) / (middle - first), np.hypot(*(c - b)) / (last - middle)
    return bool(abs(after - before) <= STEADY * max(float(after), SPEED))
