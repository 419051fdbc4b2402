# SPDX-License-Identifier: Apache-2.0
"""Walk all rows of a sweep and say what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from pathlib import Path
import time
from typing import Any

import numpy as np

from walking_control.exceptions import Interrupted
from walking_control.experiments.branches import count_processors
from walking_control.experiments.sweeps.table import SweepTable
from walking_control.experiments.sweeps.task import batches, check_task, SweepTask
from walking_control.experiments.sweeps.walks import Workshop
from walking_control.experiments.sweeps.workers import Workers
from walking_control.runs.result import Result


@dataclass(eq=False)
class Sweep(Result):
    """What came of a sweep.

    ``runs``, rows of the table; ``walked``, those of them walked now; ``stable``, how many rows
    lasted; ``wall_time`` (s); ``workers``; ``columns``; ``file``; ``chosen``, what the robot file
    says of the axes, ``margin`` and ``nearest_failure``, see `margin_of`; ``table``, the
    `pyarrow.Table`.
    """

    robot: str
    controller: str
    plant: str
    runs: int
    walked: int
    stable: int
    wall_time: float
    workers: int
    columns: list[str]
    file: str | None
    chosen: dict[str, float] | None
    margin: float | None
    nearest_failure: dict[str, float] | None
    interrupted: bool
    table: Any


def run_sweep(task: SweepTask, file: Path | None = None, workers: int | None = None,
              scheduler: str | None = None, resume: bool = False, allow_many: bool = False,
              progress: Callable[[float], None] | None = None) -> Sweep:
    """Walk a sweep.

    The table does not depend on who walks it: one process, several, or a cluster.

    Args:
        file: Parquet file for the table; None keeps it in memory.
        workers: Local processes; None takes as many as there are cores, or fewer for few rows.
        scheduler: Address of a Dask scheduler to use instead.
        resume: Whether to go on with the table in `file`; of a sweep by samples, whether to append
            the rows that it lacks.
        allow_many: Whether more than a million rows are meant.
        progress: Called with the share of rows there are, 0 to 1.

    Raises:
        InvalidInput: A task, table or scheduler that cannot be used.
        NotAchieved: The table cannot be written, or workers do not last.
        Interrupted: Somebody stopped it; the table keeps what was done.
    """
    begin = time.perf_counter()
    check_task(task, allow_many)
    workshop = Workshop(task)
    workshop.check()   # better now than in every row
    table = SweepTable(task, file, resume)
    missing = [row for row in range(task.rows) if row not in table.done]
    portions = batches(missing, task.rows)
    count = workers or min(count_processors(), 1 + len(missing) // 20)
    try:
        with Workers(count if portions else 1, scheduler if portions else None) as crew:
            for rows in crew.walk(task, portions):
                table.append(rows)
                if progress is not None:
                    progress(len(table.done) / task.rows)
    except KeyboardInterrupt:
        raise Interrupted({'runs': len(table.done), 'file': file and str(file),
                           'interrupted': True}) from None
    whole = table.finish()
    chosen = chosen_point(workshop)
    return Sweep(
        workshop.base.robot.name, workshop.controller, workshop.plant, whole.num_rows, len(missing),
        sum(whole['stable'].to_pylist()), time.perf_counter() - begin, crew.count,
        whole.column_names, str(file) if file else None, chosen, interrupted=False,
        table=whole, **margin_of(task, whole, chosen))


def chosen_point(workshop: Workshop) -> dict[str, float] | None:
    """Return what the robot file itself says of the axes; None where it does not say."""
    from walking_control.controllers.registry import CONTROLLERS
    table = CONTROLLERS.find(workshop.controller).parameters
    values = workshop.base.values(table)
    point = {}
    for axis in workshop.task.axes:
        leaf = axis.name.rpartition('.')[2]
        value = getattr(values, leaf, None)
        if leaf in table.rows and isinstance(value, (int, float)):
            point[axis.name] = float(value)
    return point if len(point) == len(workshop.task.axes) else None


def margin_of(task: SweepTask, table: Any, chosen: dict[str, float] | None) -> dict[str, Any]:
    """Return how far a point is from the nearest walk that did not last.

    Args:
        chosen: The point.

    Returns:
        Dictionary: ``margin``, the distance in widths of the axes (None: no such walk, or no
        point), and ``nearest_failure``, where that walk is.
    """
    stable = np.array(table['stable'].to_pylist(), dtype=bool)
    if chosen is None or stable.all():
        return {'margin': None, 'nearest_failure': None}
    axes = [axis for axis in task.axes if axis.high != axis.low]
    points = np.column_stack([table[axis.name].to_numpy() for axis in axes])[~stable]
    away = (points - [chosen[axis.name] for axis in axes]) / [axis.high - axis.low for axis in axes]
    distance = np.linalg.norm(away, axis=1)
    nearest = int(np.argmin(distance))
    return {'margin': float(distance[nearest]) if math.isfinite(distance[nearest]) else None,
            'nearest_failure': dict(zip((axis.name for axis in axes), points[nearest].tolist(),
                                        strict=True))}
