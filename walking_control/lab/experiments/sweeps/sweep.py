# SPDX-License-Identifier: Apache-2.0
"""Walk all rows of a sweep, here, in worker processes or on a Dask cluster; say what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
import logging
import math
from pathlib import Path
import time
from typing import Any

import numpy as np

from walking_control.exceptions import import_optional, Interrupted, NotAchieved, refusing, require
from walking_control.lab.experiments.branches import count_processors
from walking_control.lab.experiments.sweeps import (
    batches,
    check_task,
    EXTRA,
    SweepTable,
    SweepTask,
    walk_rows,
    Workshop,
)
from walking_control.runs import plain

PATIENCE = 10.0  # s, for a scheduler to answer and for its first worker
LOCAL = '127.0.0.1'


@contextmanager
def hire(count: int = 1, scheduler: str | None = None) -> Iterator[Any]:
    """Give a client of local workers, or of those of a scheduler; None where one process walks.

    Those of a `scheduler`, such as ``tcp://host:8786``, need this package and see the same robot
    files.
    """
    require(count >= 1, 'workers', value=count, limit='must be at least 1')
    local = _start(count) if count > 1 else nullcontext()
    with local if scheduler is None else _connect(scheduler) as client:
        yield client


def walk_portions(
    client: Any, task: SweepTask, portions: Sequence[list[int]]
) -> Iterator[list[dict[str, Any]]]:
    """Walk portions of rows; give each as it comes, in any order.

    Args:
        client: From `hire`.
        portions: Numbers of rows.

    Raises:
        NotAchieved: A portion ended its workers again and again, or the cluster is gone.
    """
    if client is None:
        yield from (walk_rows(task, portion) for portion in portions)
        return
    distributed = import_optional('distributed', 'sweeps by several processes', EXTRA)
    futures = {client.submit(walk_rows, task, portion, pure=False): portion for portion in portions}
    for future in distributed.as_completed(futures):
        portion = futures.pop(future)
        try:
            rows = future.result()
        except distributed.KilledWorker as error:
            raise NotAchieved(
                f'rows {portion[0]} to {portion[-1]}',
                limit='ended every worker that tried them',
                remedy=f'look at one alone: --row {portion[0]}',
            ) from error
        except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
            raise NotAchieved(
                'cluster', limit='is gone', remedy='start it again and --resume the table'
            ) from error
        future.release()
        yield rows


@contextmanager
def _start(count: int) -> Iterator[Any]:
    distributed = import_optional('distributed', 'sweeps by several processes', EXTRA)
    dask = import_optional('dask', 'sweeps by several processes', EXTRA)
    with (
        dask.config.set(
            {
                'distributed.worker.multiprocessing-method': 'forkserver',
                'distributed.admin.low-level-log-length': 0,
            }
        ),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host=LOCAL,
            dashboard_address=None,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    distributed = import_optional('distributed', 'sweeps on a cluster', EXTRA)
    for name in ('distributed', 'distributed.client', 'distributed.comm'):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with refusing(
        (OSError, ValueError, TypeError),
        'scheduler',
        value=address,
        limit='does not answer: {error}',
        remedy='start one with dask scheduler, or leave out --scheduler',
    ):
        client = distributed.Client(address, timeout=PATIENCE)
    with client:
        with refusing(
            (OSError, TimeoutError),
            'scheduler',
            value=address,
            limit='has no worker',
            remedy=f'start some: dask worker {address}',
        ):
            client.wait_for_workers(1, timeout=PATIENCE)
        yield client


def run_sweep(
    task: SweepTask,
    file: Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    allow_many: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Walk a sweep; its table does not depend on who walks it: one process, several, or a cluster.

    Args:
        file: Parquet file for the table; None keeps none.
        workers: Local processes; None takes as many as there are cores, or fewer for few rows.
        scheduler: Address of a Dask scheduler to use instead.
        resume: Whether to go on with the table in `file`; of a sweep by samples, to append to it.
        allow_many: Whether more than a million rows are meant.
        progress: Called with the share of rows there are, 0 to 1.

    Returns:
        Dictionary: ``robot``, ``controller`` and ``plant``; ``runs``, rows of the ``table``, a
        `pyarrow.Table` of ``columns``, in ``file``; of them ``walked`` now, in ``wall_time`` (s) by
        ``workers``, and ``stable``, that lasted; ``chosen``, what the robot file says of the axes,
        and its ``margin`` and ``nearest_failure``, see `margin_of`; ``interrupted``.

    Raises:
        InvalidInput: A task, table or scheduler that cannot be used.
        NotAchieved: The table cannot be written, or workers do not last.
        Interrupted: Somebody stopped it; the table keeps what was done.
    """
    begin = time.perf_counter()
    check_task(task, allow_many)
    workshop = Workshop(task)
    workshop.check()  # better now than in every row
    table = SweepTable(task, file, resume)
    missing = [row for row in range(task.rows) if row not in table.done]
    portions = batches(missing, task.rows)
    count = (workers or min(count_processors(), 1 + len(missing) // 20)) if portions else 1
    try:
        with hire(count, scheduler if portions else None) as client:
            hired = len(client.nthreads()) if scheduler and portions else count
            for rows in walk_portions(client, task, portions):
                table.append(rows)
                progress(len(table.done) / task.rows)
    except KeyboardInterrupt:
        raise Interrupted(
            {'runs': len(table.done), 'file': file and str(file), 'interrupted': True}
        ) from None
    whole = table.finish()
    chosen = chosen_point(workshop)
    return {
        'robot': workshop.base.robot.name,
        'controller': workshop.controller,
        'plant': workshop.plant,
        'runs': whole.num_rows,
        'walked': len(missing),
        'stable': sum(whole['stable'].to_pylist()),
        'wall_time': time.perf_counter() - begin,
        'workers': hired,
        'columns': whole.column_names,
        'file': str(file) if file else None,
        'chosen': plain(chosen),
        **plain(margin_of(task, whole, chosen)),
        'interrupted': False,
        'table': whole,
    }


def chosen_point(workshop: Workshop) -> dict[str, float] | None:
    """Return what the robot file itself says of the axes; None where it does not say.

    Args:
        workshop: The `Workshop`.
    """
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
    """Return how far a chosen point is from the nearest walk that did not last.

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
    return {
        'margin': float(distance[nearest]) if math.isfinite(distance[nearest]) else None,
        'nearest_failure': dict(
            zip((axis.name for axis in axes), points[nearest].tolist(), strict=True)
        ),
    }
