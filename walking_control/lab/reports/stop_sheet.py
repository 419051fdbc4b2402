# SPDX-License-Identifier: Apache-2.0
"""The sheet of `robustness --stop`: a table and a page to print, of causes, speeds and phases."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from walking_control.exceptions import writing_to
from walking_control.lab.reports.templates import write_page


def write_stop_sheet(result: dict[str, Any], folder: Path) -> list[str]:
    """Write a sheet and its numbers; return their paths as text.

    Args:
        result: What `try_stops` returned.
        folder: Where to.

    Returns:
        ``stops.html`` and ``stops.csv``, one line a start.
    """
    page = write_page(folder / 'stops.html', result=result)
    with writing_to(folder):
        with (folder / 'stops.csv').open('w', newline='', encoding='utf-8') as file:
            table = csv.DictWriter(file, list(result['trials'][0]))
            table.writeheader()
            table.writerows(result['trials'])
    return [page, str(folder / 'stops.csv')]
