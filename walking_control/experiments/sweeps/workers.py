# SPDX-License-Identifier: Apache-2.0
"""Who walks the rows of a sweep: this process, local worker processes, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, ExitStack
import logging
from typing import Any

from walking_control.exceptions import import_optional, InvalidInput, NotAchieved
from walking_control.experiments.sweeps.table import EXTRA
from walking_control.experiments.sweeps.task import SweepTask
from walking_control.experiments.sweeps.walks import walk_rows

PATIENCE = 10.0   # s, for a scheduler to answer and for its first worker
LOCAL = '127.0.0.1'


class Workers:
    """Workers of a sweep, to be used in a ``with`` statement.

    Args:
        count: Of local processes; 1 walks in this one, without Dask.
        scheduler: Address of a running Dask scheduler instead, such as ``tcp://host:8786``. Its
            workers need this package and see the same robot files.

    Attributes:
        count: How many there are.

    Raises:
        InvalidInput: No such scheduler, or it has no worker.
    """

    def __init__(self, count: int = 1, scheduler: str | None = None) -> None:
        if count < 1:
            raise InvalidInput('workers', value=count, limit='must be at least 1')
        self.count, self._scheduler = count, scheduler
        self._client: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> Workers:
        """Start them."""
        if self._scheduler is not None:
            self._client = self._stack.enter_context(_connect(self._scheduler))
            self.count = len(self._client.nthreads())
        elif self.count > 1:
            self._client = self._stack.enter_context(_start(self.count))
        return self

    def __exit__(self, *error: object) -> None:
        """Stop them, if they are ours."""
        self._stack.close()

    def walk(self, task: SweepTask,
             portions: Sequence[list[int]]) -> Iterator[list[dict[str, Any]]]:
        """Walk portions of rows; give each as it comes, in any order.

        Raises:
            NotAchieved: A portion ended its workers again and again, or the cluster is gone.
        """
        if self._client is None:
            for portion in portions:
                yield walk_rows(task, portion)
            return
        distributed = import_optional('distributed', 'sweeps by several processes', EXTRA)
        futures = {self._client.submit(walk_rows, task, portion, pure=False): portion
                   for portion in portions}
        for future in distributed.as_completed(futures):
            portion = futures.pop(future)
            try:
                rows = future.result()
            except distributed.KilledWorker as error:
                raise NotAchieved(f'rows {portion[0]} to {portion[-1]}',
                                  limit='ended every worker that tried them',
                                  remedy=f'look at one alone: --row {portion[0]}') from error
            except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
                raise NotAchieved('cluster', limit='is gone',
                                  remedy='start it again and --resume the table') from error
            future.release()
            yield rows


@contextmanager
def _start(count: int) -> Iterator[Any]:
    distributed = import_optional('distributed', 'sweeps by several processes', EXTRA)
    dask = import_optional('dask', 'sweeps by several processes', EXTRA)
    with dask.config.set({'distributed.worker.multiprocessing-method': 'forkserver',
                          'distributed.admin.low-level-log-length': 0}), \
            distributed.LocalCluster(n_workers=count, threads_per_worker=1, host=LOCAL,
                                     dashboard_address=None, memory_limit=None,
                                     silence_logs=logging.CRITICAL) as cluster, \
            distributed.Client(cluster) as client:
        yield client


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    distributed = import_optional('distributed', 'sweeps on a cluster', EXTRA)
    for name in ('distributed', 'distributed.client', 'distributed.comm'):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput('scheduler', value=address, limit=f'does not answer: {error}',
                           remedy='start one with dask scheduler, or leave out --scheduler') \
            from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError) as error:
            raise InvalidInput('scheduler', value=address, limit='has no worker',
                               remedy=f'start some: dask worker {address}') from error
        yield client
