# SPDX-License-Identifier: Apache-2.0
"""Verb gallery: robots that were brought up, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from walking_control.cli.output import print_files, print_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_gallery_arguments(verb: ArgumentParser) -> None:
    """Add the arguments of gallery."""
    verb.add_argument('folders', type=Path, nargs='+', metavar='DIR',
                      help='that bring-up wrote, in the order of the page')
    verb.add_argument('--out', type=Path, required=True, metavar='FILE.md',
                      help='Markdown page; pictures go to a folder of its name. Of a page that is '
                      'there only what stands between the marks of a gallery is replaced')
    verb.add_argument('--json', action='store_true', help='print one JSON document')


def gallery(options: Namespace) -> int:
    """Put robots that were brought up on one page: picture, numbers, commands."""
    from walking_control.reports.gallery import write_gallery
    result = {'files': write_gallery(options.folders, options.out)}
    if options.json:
        print_json(result)
    else:
        print_files(result)
    return 0
