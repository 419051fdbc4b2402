# SPDX-License-Identifier: Apache-2.0
"""The commands that the pages show: in blocks, and as code within sentences."""

from pathlib import Path
import re
import shlex
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'doc').rglob('*.md'))]
GUIDES = ('install', 'first_walk', 'your_robot', 'setup', 'troubleshooting')  # newcomers'
PROGRAMS = 'walking_control|python|make|pytest|ros2|PYTHONPATH=[.]'


class PageCommand(NamedTuple):
    """A command of a page: its words, what the page prints below it, and whether a block shows it.

    `text` is the whole line; what is no block is code within a sentence.
    """

    text: str
    printed: tuple[str, ...]
    block: bool

    @property
    def words(self):
        """Program and arguments."""
        return shlex.split(self.text, comments=True)

    @property
    def status(self):
        """Exit status that the page promises."""
        refused = any(line.startswith(('not usable', 'error')) for line in self.printed)
        return (1 if 'cannot be held' in ' '.join(self.printed) else 2) if refused else 0


def commands_of(page):
    """Return the `PageCommand`s of a page, each one once, in the order of the page."""
    text = page.read_text(encoding='utf-8')
    found = []
    for match in re.finditer(
        r'```console\n(?P<console>.*?)```|```.*?```'
        r'|(?P<code>(?:^    [^\n]+\n)+)|`(?P<inline>[^`]+)`',
        text,
        re.S | re.M,
    ):
        if match['console']:
            for entry in re.split(r'^\$ ', match['console'], flags=re.M)[1:]:
                command, *printed = entry.replace('\\\n', ' ').strip().splitlines()
                found.append(PageCommand(_plain(command), tuple(printed), True))
        elif match['code']:
            for line in match['code'].replace('\\\n', ' ').splitlines():
                if re.match(rf'    ({PROGRAMS}) ', line):
                    found.append(PageCommand(_plain(line), (), True))
        elif match['inline'] and re.match(rf'({PROGRAMS}) ', match['inline']):
            found.append(PageCommand(_plain(match['inline']), (), False))
    return list({command.text: command for command in reversed(found)}.values())[::-1]


def _plain(text):
    return ' '.join(text.partition('  #')[0].split())
