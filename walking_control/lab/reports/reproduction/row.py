# SPDX-License-Identifier: Apache-2.0
"""One published number and what comes of computing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from walking_control.exceptions import WalkingControlError

REPRODUCED, DIFFERS = 'reproduced', 'differs'
NOT_ITS_OWN, UNEXPLAINED = 'not from its own equations', 'unexplained'
STATUSES = (REPRODUCED, DIFFERS, NOT_ITS_OWN, UNEXPLAINED)


@dataclass(frozen=True)
class Row:
    """A published result."""

    id: str  # name of the row, the source first
    source: str  # key of doc/references.md
    place: str  # where it is printed
    what: str  # what it is
    unit: str  # its unit, ``'1'`` without
    published: float | str  # the number, or words where the source has words
    compute: Callable[[], float | str]  # returns ours
    # difference that counts as the same, as a rule half of the last printed digit; None where words
    # are compared
    tolerance: float | None
    note: str = ''  # why it differs, if it does
    own: bool = True  # whether the source's number follows from the source's own equations
    command: str = ''  # who wants to see it with his own eyes types this
    quick: bool = True  # whether it takes a second or less
    digits: int = 3  # of ours, in the page


def judge(row: Row) -> dict[str, Any]:
    """Return a row with our number, ready for JSON; its ``status`` is one of `STATUSES`."""
    try:
        ours = row.compute()
    except WalkingControlError as error:
        ours = f'none: {error}'
    if isinstance(ours, float):
        ours = float(f'{ours:.{row.digits}g}')
    near = (
        row.tolerance is not None
        and isinstance(ours, float)
        and isinstance(row.published, float)
        and abs(ours - row.published) <= row.tolerance
    )
    if near or (row.tolerance is None and ours == row.published):
        status, note = REPRODUCED, ''
    elif not row.note:
        status, note = UNEXPLAINED, ''
    else:
        status, note = (DIFFERS if row.own else NOT_ITS_OWN), row.note
    return {
        'id': row.id,
        'source': row.source,
        'place': row.place,
        'what': row.what,
        'unit': row.unit,
        'published': row.published,
        'ours': ours,
        'status': status,
        'note': note,
        'command': row.command or f'walking_control reproduce --only {row.id}',
    }


def read_rows() -> tuple[Row, ...]:
    """Return the rows of published.yaml, which says what its entries mean."""
    rows = []
    for entry in yaml.safe_load(Path(__file__).with_name('published.yaml').read_text('utf-8')):
        place, *given = entry.pop('by')
        named = given.pop() if given and isinstance(given[-1], dict) else {}
        module, _, function = place.partition('.')
        ours = getattr(import_module(f'{__package__}.{module}'), function)
        rows.append(
            Row(
                source=entry['id'].partition('-')[0].upper(),
                compute=partial(ours, *given, **named),
                **{'tolerance': None, **entry},
            )
        )
    return tuple(rows)
