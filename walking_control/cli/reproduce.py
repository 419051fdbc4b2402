# SPDX-License-Identifier: Apache-2.0
"""The verb reproduce."""

from __future__ import annotations

import sys
from typing import Any, TYPE_CHECKING

from walking_control.cli.inputs import make_folder
from walking_control.cli.output import print_files, print_json, show_share, suggest_compiler

if TYPE_CHECKING:
    from argparse import Namespace

PAGE = 'reproduction.md'


def reproduce(options: Namespace) -> int:
    """Compute the numbers the sources print and say which hold."""
    from walking_control.reports.page import writing_to
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
    if options.json:
        print_json(result)
    else:
        for row in rows:
            why = f' ({row["note"]})' if row['note'] else ''
            print(f'{row["id"]}: published {row["published"]}, ours {row["ours"]} {row["unit"]}: '
                  f'{row["status"]}{why}')
        print_files(result)
    open_rows = [row['id'] for row in rows if row['status'] == UNEXPLAINED]
    if open_rows:
        print(f'error: unexplained: {", ".join(open_rows)}', file=sys.stderr)
    return 1 if open_rows else 0
