# SPDX-License-Identifier: Apache-2.0
"""The sheet of `robustness --stop`: a table and a page to print, of causes, speeds and phases."""

from __future__ import annotations

import csv
from html import escape
from pathlib import Path
from typing import Any

from walking_control.exceptions import writing_to
from walking_control.lab.reports.page import format_number, write_page

COLUMNS = (
    ('category', 'category', '', 1),
    ('stood', 'on two feet', '', 1),
    ('starts', 'of', '', 1),
    ('soon', 'within 1.5 s', '', 1),
    ('median_time', 'median s', 's', 3),
    ('worst_time', 'worst s', 's', 3),
    ('worst_way', 'worst m', 'm', 3),
    ('said_no', 'plan said no', '', 1),
    ('said_yes_and_fell', 'said yes, fell', '', 1),
    ('fell', 'fell', '', 1),
    ('warned', 'no 0.3 s before', '', 1),
)


def write_stop_sheet(result: dict[str, Any], folder: Path) -> list[str]:
    """Write a sheet and its numbers; return their paths as text.

    Args:
        result: What `try_stops` returned.
        folder: Where to.

    Returns:
        ``stops.html`` and ``stops.csv``, one line a start.
    """
    head = ''.join(f'<th>{title}</th>' for _, title, _, _ in COLUMNS)
    rows = ''.join(
        f'<tr><th>{escape(row["cause"])}</th>'
        + ''.join(
            f'<td>{format_number(row[name], unit, digits)}</td>'
            for name, _, unit, digits in COLUMNS
        )
        + '</tr>'
        for row in result['causes']
    )
    parts = [
        f'<p class="world">{escape(_conditions(result))}</p>',
        f'<table><thead><tr><th>cause</th>{head}</tr></thead><tbody>{rows}</tbody></table>',
        *(_map(row['cause'], result['trials']) for row in result['causes']),
        '<p class="notes">Time until the base was at rest on both feet, and how far it went until '
        'then. In the maps: seconds where it stood, x where it fell; - where the step plan said '
        'that it could not be stopped.</p>',
    ]
    with writing_to(folder):
        page = folder / 'stops.html'
        page.write_text(write_page(f'Stops of {result["robot"]}', parts), encoding='utf-8')
        with (folder / 'stops.csv').open('w', newline='', encoding='utf-8') as file:
            table = csv.DictWriter(file, list(result['trials'][0]))
            table.writeheader()
            table.writerows(result['trials'])
    return [str(page), str(folder / 'stops.csv')]


def _conditions(result: dict[str, Any]) -> str:
    words = f'{result["controller"]}, plant {result["plant"]}, sensors {result["noise"]}'
    least, most = result['push']
    size = f'{least:g}' if least == most else f'{least:g} to {most:g}'
    pushed = f', pushed by {size} N s/kg 0.2 s before' if most else ''
    return f'{words}, up to {result["speed"]:g} m/s{pushed}'


def _map(cause: str, trials: list[dict[str, Any]]) -> str:
    """Return speeds by phases of a cause in HTML."""
    ours = {(trial['speed'], trial['phase']): trial for trial in trials if trial['cause'] == cause}
    speeds, phases = (sorted({key[i] for key in ours}) for i in range(2))
    head = ''.join(f'<th>{phase:.2f}</th>' for phase in phases)
    rows = ''.join(
        f'<tr><th>{speed:.2g} m/s</th>'
        + ''.join(f'<td>{_cell(ours.get((speed, phase)))}</td>' for phase in phases)
        + '</tr>'
        for speed in speeds
    )
    return (
        f'<h2>{escape(cause)}</h2><div class="wide"><table><thead><tr><th>part of a step</th>'
        f'{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _cell(trial: dict[str, Any] | None) -> str:
    if trial is None:
        return ''
    sign = '-' if (trial['stoppable_steps'] or 0) < 0 else ''
    return sign + (f'{trial["time"]:.2f}' if trial['stood'] else '<b>x</b>')
