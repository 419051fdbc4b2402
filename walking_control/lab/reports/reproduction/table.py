# SPDX-License-Identifier: Apache-2.0
"""All rows, and the page they make."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from walking_control.exceptions import require
from walking_control.lab.reports import pages
from walking_control.lab.reports.reproduction.row import judge, read_rows, Row, STATUSES

ROWS: tuple[Row, ...] = read_rows()


def reproduce(
    only: Sequence[str] = (),
    quick: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> list[dict[str, Any]]:
    """Return what `judge` says of each row asked for; `quick`: of a second at most."""
    for name in only:
        require(
            any(row.id.startswith(name) for row in ROWS),
            'only',
            value=name,
            limit='no row begins with that',
            remedy='ids stand in doc/reproduction.md',
        )
    rows = [
        row
        for row in ROWS
        if (row.quick or not quick) and (not only or any(row.id.startswith(name) for name in only))
    ]
    require(
        rows,
        'only',
        value=', '.join(only),
        limit='takes longer than --quick allows',
        remedy='leave out --quick',
    )
    judged = []
    for row in rows:
        judged.append(judge(row))
        progress(len(judged) / len(rows))
    return judged


def write_page(rows: Sequence[dict[str, Any]], folder: Path) -> str:
    """Write the page of all rows to a folder; return its path as text."""
    counts = {status: sum(row['status'] == status for row in rows) for status in STATUSES}
    return pages.write_page(folder / 'reproduction.md', rows=rows, counts=counts)
