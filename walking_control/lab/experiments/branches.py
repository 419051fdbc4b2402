# SPDX-License-Identifier: Apache-2.0
"""Work in forked copies of this process: trials that begin alike, from one state of a walk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
import contextlib
import multiprocessing as mp
from multiprocessing.connection import Connection, wait
import os
import signal
from typing import Any, cast, Generic, TypeVar

from walking_control.exceptions import IncompatiblePlant, require

Label = TypeVar('Label')


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1


class Branches(Generic[Label]):
    """Up to `processes` children at work, as a context that ends them; some systems cannot fork."""

    def __init__(self, processes: int) -> None:
        require(
            'fork' in mp.get_all_start_methods(),
            'trials from one state of a walk',
            limit='need an operating system with fork, as Linux',
            error=IncompatiblePlant,
        )
        self._context = mp.get_context('fork')
        self._processes = processes
        self._running: dict[Connection, tuple[Label, mp.process.BaseProcess]] = {}

    def __enter__(self) -> Branches[Label]:
        return self

    def __exit__(self, *error: object) -> None:
        for connection, (_, process) in self._running.items():
            process.terminate()
            process.join()
            connection.close()
        self._running.clear()

    def work(
        self, tasks: Iterable[tuple[Label, Callable[[], Any]] | None]
    ) -> Iterator[tuple[Label, Any]]:
        """Do tasks in children, begun as there is room; yield label and result of each that ends.

        Args:
            tasks: Label and task of each; None where none can begin before another one has ended.
        """
        waiting = iter(tasks)
        while True:
            while len(self._running) < self._processes and (task := next(waiting, None)):
                self._begin(*task)
            if not self._running:
                return
            yield from self._collect()

    def _begin(self, label: Label, task: Callable[[], Any]) -> None:
        """Do a task in a child; `_collect` gives what it returns, with the label."""
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_work, args=(theirs, task), daemon=True)
        process.start()
        theirs.close()
        self._running[ours] = label, process

    def _collect(self) -> Iterator[tuple[Label, Any]]:
        """Wait until a task ends; yield label and result of each that did, or raise its error."""
        for connection in cast('list[Connection]', wait(list(self._running))):
            label, process = self._running.pop(connection)
            try:
                result, error = connection.recv()
            except EOFError:
                process.join()
                raise RuntimeError(
                    f'a trial ({label}) died with status {process.exitcode}'
                ) from None
            finally:
                connection.close()
            process.join()
            if error is not None:
                raise error
            yield label, result


def _work(connection: Connection, task: Callable[[], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    answer: tuple[Any, Exception | None]
    try:
        answer = task(), None
    except Exception as error:  # noqa: BLE001  # for the parent to raise
        answer = None, error
    with contextlib.suppress(BrokenPipeError):
        connection.send(answer)
    connection.close()
