# SPDX-License-Identifier: Apache-2.0
"""The verb reproduce."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Any

from walking_control.cli.inputs import make_folder
from walking_control.cli.options import Writing
from walking_control.cli.output import print_files, show_share, suggest_compiler, tell
from walking_control.cli.verb import option, verb
from walking_control.exceptions import writing_to

PAGE = 'reproduction.md'


class _Reproduce(Writing):
    only: list[str] = option('one row, or all whose names begin so; repeatable', 'ID')
    quick: bool = option('only what takes a second or less')
    out: Path | None = option('write the page', 'DIR')


@verb('walking_control reproduce --only gcrc98')
def reproduce(options: _Reproduce) -> int:
    """Compute the numbers the sources print and say which hold."""
    from walking_control.reports.reproduction import table
    from walking_control.reports.reproduction.row import UNEXPLAINED
    make_folder(options)
    suggest_compiler()
    rows = table.reproduce(options.only, options.quick, show_share('reproduced'))
    result: dict[str, Any] = {'rows': rows, 'files': []}
    if options.out is not None:
        with writing_to(options.out):
            (options.out / PAGE).write_text(table.write_page(rows), encoding='utf-8')
        result['files'] = [str(options.out / PAGE)]
    tell(options, result, _print)
    open_rows = [row['id'] for row in rows if row['status'] == UNEXPLAINED]
    if open_rows:
        print(f'error: unexplained: {", ".join(open_rows)}', file=sys.stderr)
    return 1 if open_rows else 0


def _print(result: dict[str, Any]) -> None:
    for row in result['rows']:
        why = f' ({row["note"]})' if row['note'] else ''
        print(f'{row["id"]}: published {row["published"]}, ours {row["ours"]} {row["unit"]}: '
              f'{row["status"]}{why}')
    print_files(result)
