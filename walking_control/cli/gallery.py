# SPDX-License-Identifier: Apache-2.0
"""Verb gallery: robots that were brought up, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from walking_control.cli.options import Answered
from walking_control.cli.output import print_files, tell
from walking_control.cli.verb import argument, option, verb


class _Gallery(Answered):
    folders: Sequence[Path] = argument('that bring-up wrote, in the order of the page', 'DIR',
                                       nargs='+', type=Path)
    out: Path = option('Markdown page; pictures go to a folder of its name. Of a page that is '
                       'there only what stands between the marks of a gallery is replaced',
                       'FILE.md', required=True)


@verb('walking_control gallery my_robot/up another/up --out gallery.md')
def gallery(options: _Gallery) -> int:
    """Put robots that were brought up on one page: picture, numbers, commands."""
    from walking_control.reports.gallery import write_gallery
    tell(options, {'files': write_gallery(options.folders, options.out)}, print_files)
    return 0
