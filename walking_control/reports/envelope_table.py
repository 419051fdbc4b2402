# SPDX-License-Identifier: Apache-2.0
"""An envelope as a table: first failing sizes by direction and phase."""


from typing import Any


def format_cells(result: dict[str, Any]) -> list[str]:
    """Return the lines of a table of `find_envelope`'s result for a terminal.

    A row for each direction, a column for each phase; ``>`` marks what was survived to the last
    size, ``?`` what has not been found out.
    """
    cells = result['cells']
    phases = list(dict.fromkeys(cell['phase'] for cell in cells))
    pushes = cells[0]['direction_deg'] is not None
    title = 'direction (deg) \\ phase' if pushes else 'place (steps)'
    lines = [f'{title:>26}' + ''.join(f'{phase:>8.4g}' for phase in phases)]
    for direction in dict.fromkeys(cell['direction_deg'] for cell in cells):
        row = [cell for cell in cells if cell['direction_deg'] == direction]
        name = f'{direction:g}' if pushes else result['disturbance'].replace('_', ' ')
        lines.append(f'{name:>26}' + ''.join(f'{cell_text(cell, result):>8}' for cell in row))
    return lines


def cell_text(cell: dict[str, Any], result: dict[str, Any]) -> str:
    """Return the first failing size of a cell as people read it."""
    if not cell['known']:
        return '?'
    first = cell['first_failure']
    return f'> {result["largest"]:g}' if first is None else f'{first:g}'
