# SPDX-License-Identifier: Apache-2.0
"""One published number and what comes of computing it."""

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
    """A published result.

    Args:
        id: Name of the row, the source first.
        source: Key of doc/references.md.
        place: Where it is printed.
        what: What it is.
        unit: Its unit, ``'1'`` without.
        published: The number, or words where the source has words.
        compute: Returns ours.
        tolerance: Difference that counts as the same, as a rule half of the last printed digit;
            None where words are compared.
        note: Why it differs, if it does.
        own: Whether the source's number follows from the source's own equations.
        command: Who wants to see it with his own eyes types this.
        quick: Whether it takes a second or less.
        digits: Of ours, in the page.
    """

    id: str
    source: str
    place: str
    what: str
    unit: str
    published: float | str
    compute: Callable[[], float | str]  # returns ours
    # difference that counts as the same, as a rule half of the last printed digit; None where words
    # are compared
    tolerance: float | None
    note: str = ''
    own: bool = True
    command: str = ''
    quick: bool = True
    digits: int = 3


def judge(row: Row) -> dict[str, Any]:
    """Return a row with our number, ready for JSON.

    Returns:
        Dictionary: ``id``, ``source``, ``place``, ``what``, ``unit``, ``published``, ``ours``,
        ``status`` (one of `STATUSES`), ``note``, ``command``.
    """
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
