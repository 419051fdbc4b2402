# SPDX-License-Identifier: Apache-2.0
"""The table of a sweep as Parquet: it grows part by part and loses no row to whatever stops it.

Every portion of rows is a whole file in a folder beside the table; the end of the sweep puts them
together, sorted by row: who walked which row, and when, leaves no trace in the bytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import shutil
import tempfile
from typing import Any

from walking_control.exceptions import import_optional, InvalidInput, NotAchieved, refusing, require
from walking_control.lab.experiments.sweeps import MEASURES, SweepTask

TASK = b'walking_control.sweep'  # key of the task among the metadata of a table
GROUP = 65536  # rows
EXTRA = 'walking_control[sweep]'


def _arrow() -> tuple[Any, Any]:
    return (
        import_optional('pyarrow', 'tables of sweeps', EXTRA),
        import_optional('pyarrow.parquet', 'tables of sweeps', EXTRA),
    )


class SweepTable:
    """The table of a sweep, in a folder that goes with this object where no file is named.

    Args:
        file: Of the table; None keeps none.
        resume: Whether rows that are there already count.

    Attributes:
        done: Numbers of the rows that are there.

    Raises:
        InvalidInput: The file is that of another sweep, or of an unfinished one that is not to be
            resumed, or cannot be read.
    """

    def __init__(self, task: SweepTask, file: Path | None, resume: bool = False) -> None:
        self.task, self._goes_on = task, resume
        self.done: set[int] = set()
        if file is None:
            self._scratch = tempfile.TemporaryDirectory()  # goes with us
            file = Path(self._scratch.name) / 'sweep.parquet'
        self.file, self._parts = file, file.with_name(f'{file.stem}.parts')
        if resume:
            self._check()
            self.done = {row for part in self._stored() for row in part['row'].to_pylist()}
        else:
            require(
                not self._parts.exists(),
                f'sweep in {file.parent}',
                limit='is unfinished',
                remedy=f'--resume {file} goes on with it; remove {self._parts} to give it up',
            )
        with self._writing():
            self._parts.mkdir(parents=True, exist_ok=True)
            self._replace(
                self._parts / 'task.json',
                lambda path: path.write_text(task.text(), encoding='utf-8'),
            )

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Keep rows for good.

        Raises:
            NotAchieved: They cannot be written, as on a full disk; what was there stays.
        """
        rows = [row for row in rows if row['row'] not in self.done]
        if not rows:
            return
        numbers = {row['row'] for row in rows}
        path = self._parts / f'rows-{min(numbers):09d}-{max(numbers):09d}.parquet'
        with self._writing():
            self._replace(path, lambda path: self._write(self._make(rows), path))
        self.done |= numbers

    def finish(self) -> Any:
        """Put all parts together; return the table, a `pyarrow.Table` sorted by row."""
        pa, _ = _arrow()
        whole = pa.concat_tables([self._make([]), *self._stored()]).sort_by('row')
        numbers = whole['row'].to_pylist()
        if len(set(numbers)) < len(numbers):  # killed between the table and the end of its parts
            first = {row: i for i, row in reversed(list(enumerate(numbers)))}
            whole = whole.take(sorted(first.values()))
        with self._writing():
            self._replace(self.file, lambda path: self._write(whole, path))
            shutil.rmtree(self._parts)
        return whole

    def _make(self, rows: Sequence[dict[str, Any]]) -> Any:
        pa, _ = _arrow()
        kinds = {
            'row': pa.int64(),
            **{axis.name: pa.float64() for axis in self.task.axes},
            'seed': pa.int64(),
            'stable': pa.bool_(),
            'reason': pa.string(),
            **{name: pa.float64() for name in MEASURES},
            'steps': pa.int64(),
        }
        schema = pa.schema(list(kinds.items()), metadata={TASK: self.task.text().encode()})
        return pa.Table.from_pylist(sorted(rows, key=lambda row: row['row']), schema=schema)

    @staticmethod
    def _write(table: Any, path: Path) -> None:
        _, parquet = _arrow()
        parquet.write_table(table, path, compression='zstd', row_group_size=GROUP)

    @staticmethod
    def _replace(path: Path, write: Any) -> None:
        """Write a file at once or not at all."""
        new = path.with_name(f'.{path.name}.new')
        try:
            write(new)
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise NotAchieved(
                f'table {self.file}',
                limit=f'cannot be written: {error.strerror or error}',
                remedy=f'make room, then --resume {self.file}; {len(self.done)} rows are kept',
            ) from error

    def _stored(self) -> Iterator[Any]:
        """Return the tables that are there, as this task's."""
        files = sorted(self._parts.glob('rows-*.parquet'))
        if (
            self._goes_on
            and self.file.exists()
            and self.task.grows_from(_task_text(read_table(self.file))) is None
        ):
            files.insert(0, self.file)
        schema = self._make([]).schema
        for file in files:
            yield read_table(file).replace_schema_metadata(schema.metadata).cast(schema)

    def _check(self) -> None:
        file, task = self.file, self._parts / 'task.json'
        if task.exists():
            text = task.read_text(encoding='utf-8')
        elif file.exists():
            text = _task_text(read_table(file))
        else:
            raise InvalidInput(
                f'sweep {file}', limit='is not there', remedy='begin it with --out DIR'
            )
        differs = self.task.grows_from(text)
        require(
            differs is None,
            f'sweep {file}',
            limit=f'is another one: {differs}',
            remedy='name what it was begun with, or another file',
        )


def read_table(file: Path) -> Any:
    """Return a table of a sweep as `pyarrow.Table`.

    Raises:
        InvalidInput: It is none.
    """
    pa, parquet = _arrow()
    with refusing(
        (OSError, pa.ArrowException),
        f'table {file}',
        limit='cannot be read: {error}',
        remedy='name a file that walking_control sweep wrote',
    ):
        return parquet.read_table(file, partitioning=None)


def _task_text(table: Any) -> str:
    text: bytes = (table.schema.metadata or {}).get(TASK, b'{}')
    return text.decode()
