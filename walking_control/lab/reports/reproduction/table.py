# SPDX-License-Identifier: Apache-2.0
"""All rows, and the page they make."""

from collections.abc import Callable, Sequence
from typing import Any

from walking_control.exceptions import InvalidInput
from walking_control.lab.reports.reproduction.row import judge, read_rows, Row, STATUSES

ROWS: tuple[Row, ...] = read_rows()
_NOTES = [*dict.fromkeys(row.note for row in ROWS if row.note)]
_HEAD = """# Reproduction of published numbers

Made by `walking_control reproduce --out doc`, which computes every row anew; `--quick` takes those
that need a second or less, `--only ID` one row, or all whose names begin so. `--json` adds the
command of another verb that gives the number. {counts}

*Reproduced*: within half of the last printed digit, or 4 % where a search has a cost (Table 5.2:
10 %). *Differs*: the source leaves something open. *Not from its own equations*: the source's
equations give our number, not the printed one; the [errata](errata.md) name the tests. A number in
brackets leads to the [reason](#reasons). Sources: [references](references.md). [STATIC] and [Mor17]
print no results in numbers, but formulas that tests check. Data that the sources print and we take
over, such as masses, have no rows.

| id | place | what | unit | published | ours | verdict |
|---|---|---|---|---|---|---|
"""


def reproduce(
    only: Sequence[str] = (), quick: bool = False, progress: Callable[[float], None] | None = None
) -> list[dict[str, Any]]:
    """Return what `judge` says of each row asked for; `quick`: of a second at most."""
    for name in only:
        if not any(row.id.startswith(name) for row in ROWS):
            raise InvalidInput(
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
    if not rows:
        raise InvalidInput(
            'only',
            value=', '.join(only),
            limit='takes longer than --quick allows',
            remedy='leave out --quick',
        )
    judged = []
    for row in rows:
        judged.append(judge(row))
        if progress is not None:
            progress(len(judged) / len(rows))
    return judged


def page_line(row: dict[str, Any]) -> str:
    """Return a row as a line of the page."""
    cells = (
        row['id'],
        f'[{row["source"]}] {row["place"]}',
        row['what'],
        row['unit'],
        row['published'],
        row['ours'],
        row['status'] + (f' ({_NOTES.index(row["note"]) + 1})' if row['note'] else ''),
    )
    return '| ' + ' | '.join(str(cell) for cell in cells) + ' |'


def write_page(rows: Sequence[dict[str, Any]]) -> str:
    """Return the page of all rows."""
    counts = {status: sum(row['status'] == status for row in rows) for status in STATUSES}
    words = ', '.join(f'{count} {status}' for status, count in counts.items() if count)
    lines = [page_line(row) for row in rows]
    reasons = [f'{number}. {note[0].upper()}{note[1:]}.' for number, note in enumerate(_NOTES, 1)]
    head = _HEAD.format(counts=f'{len(rows)} numbers: {words}.')
    return head + '\n'.join([*lines, '', '## Reasons', '', *reasons, ''])
