# SPDX-License-Identifier: Apache-2.0
"""What a sweep is to do: plain data, the same for whoever does it, so that any row stands alone."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
import json
import math
from typing import Any

import numpy as np

from walking_control import __version__
from walking_control.exceptions import InvalidInput, require
from walking_control.loading import REGISTRIES
from walking_control.models import Choice

MOST = 1_000_000  # runs without being asked for


@dataclass(frozen=True)
class Axis:
    """A parameter or entry of the initial state that changes from row to row.

    Args:
        name: As of ``--set``; or ``start.q.NAME`` and ``start.v.NAME`` of a coordinate.
        low: First value.
        high: Last value.
        count: How many, evenly apart; of a sweep by samples it has no meaning.
    """

    name: str
    low: float
    high: float
    count: int = 1

    def value(self, index: int) -> float:
        """Return a value of the axis."""
        return self.low + (self.high - self.low) * index / max(1, self.count - 1)


@dataclass(frozen=True)
class SweepTask:
    """The whole of a sweep.

    Args:
        robot: Name of a robot or path of a robot file; workers read it.
        axes: The `Axis` list; the last one changes fastest.
        controller: Name of the controller; None takes the robot file's default.
        plant: Name of the plant; None takes the robot file's default.
        duration: Simulated time of each walk, s.
        settings: Pairs (name, value) that hold for every row.
        disturb: Planned disturbances, as text.
        samples: Rows drawn at random between the ends of the axes; 0 takes the grid.
        repeats: Walks of each point, each with its own seed of the sensors' errors.
        seed: Of the first of them, and of samples.
    """

    robot: str
    axes: tuple[Axis, ...]
    controller: Choice = None
    plant: Choice = None
    duration: float = 10.0
    settings: tuple[tuple[str, Any], ...] = ()
    disturb: tuple[str, ...] = ()
    samples: int = 0
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Keep what other processes can read: names and settings, instead of classes."""
        for part, registry in REGISTRIES.items():
            name, given = registry.choose(getattr(self, part))
            object.__setattr__(self, part, name)
            object.__setattr__(self, 'settings', (*self.settings, *given))

    @property
    def rows(self) -> int:
        """Number of walks."""
        points = self.samples or math.prod(axis.count for axis in self.axes)
        return points * self.repeats

    def point(self, row: int) -> dict[str, float]:
        """Return name -> value of the axes in a row."""
        index = row // self.repeats
        if self.samples:
            rng = np.random.default_rng([self.seed, index])
            return {axis.name: float(rng.uniform(axis.low, axis.high)) for axis in self.axes}
        places = np.unravel_index(index, [axis.count for axis in self.axes])
        return {axis.name: axis.value(int(i)) for axis, i in zip(self.axes, places, strict=True)}

    def seed_of(self, row: int) -> int:
        """Return the seed of the sensors' errors in a row: one for all walks of a repeat."""
        return self.seed + row % self.repeats

    def text(self) -> str:
        """Return the task as it is stored with its table."""
        return json.dumps({'version': __version__, **asdict(self)}, sort_keys=True)

    def grows_from(self, text: str) -> str | None:
        """Return None if the rows of another task begin this one, else what differs.

        Args:
            text: Of the other `SweepTask`.
        """
        mine, other = json.loads(self.text()), json.loads(text)
        if self.samples and other.get('samples') and other['samples'] < self.samples:
            other['samples'] = self.samples
        differs = [name for name in mine if mine[name] != other.get(name)]
        return (
            None
            if not differs
            else ', '.join(
                f'{name} was {other.get(name)!r} and is {mine[name]!r}' for name in differs
            )
        )


def check_task(task: SweepTask, allow_many: bool = False) -> None:
    """Refuse a sweep without rows, or with more than a million unless many are allowed.

    Raises:
        InvalidInput: It is empty, too large, or names an axis twice.
    """
    require(task.axes, 'grid', limit='has no axis', remedy='for example --grid set_point=0.1:0.5:9')
    names = [axis.name for axis in task.axes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput('grid', value=twice[0], limit='is named twice')
    for axis in task.axes:
        require(
            axis.count >= 1 and all(map(math.isfinite, (axis.low, axis.high))),
            f'grid {axis.name}',
            value=(axis.low, axis.high, axis.count),
            limit='must be two finite numbers and how many values from 1',
        )
    require(
        task.samples >= 0 and task.repeats >= 1,
        'samples and repeats',
        value=(task.samples, task.repeats),
        limit='must be at least 1',
    )
    require(
        task.rows <= MOST or allow_many,
        'runs of the sweep',
        value=task.rows,
        limit=f'more than {MOST:,}',
        remedy='--yes if that is meant; --samples N draws N points instead',
    )


def batches(rows: Sequence[int], total: int) -> list[list[int]]:
    """Return rows in the portions that workers take and tables keep at a time.

    Args:
        rows: Those still to be done.
        total: Of the whole sweep.
    """
    size = min(500, max(1, total // 100))
    return [list(rows[i : i + size]) for i in range(0, len(rows), size)]
