# SPDX-License-Identifier: Apache-2.0
"""Left and right in the names that makers give to links and joints."""

import re

_WORDS = (('left', 'right'), ('Left', 'Right'), ('LEFT', 'RIGHT'), ('fl', 'fr'), ('FL', 'FR'),
          ('hl', 'hr'), ('HL', 'HR'), ('l', 'r'), ('L', 'R'))


def partner_name(name: str) -> str | None:
    """Return a name with left and right exchanged; None of one that has no side."""
    found = _find_side(name)
    return None if found is None else name[:found[0]] + found[3] + name[found[1]:]


def side_of(name: str) -> int:
    """Return 1 of a name that says left, -1 of right, 0 of neither."""
    found = _find_side(name)
    return 0 if found is None else found[2]


def without_side(name: str) -> str:
    """Return a name without the word that says its side, as it is without one."""
    found = _find_side(name)
    if found is None:
        return name
    rest = name[:found[0]].rstrip('_-.') + '_' + name[found[1]:].lstrip('_-.')
    return rest.strip('_') or name


def _find_side(name: str) -> tuple[int, int, int, str] | None:
    """Return begin, end, side and opposite of the word in a name that says its side."""
    for pair in _WORDS:
        for side, word, other in ((1, pair[0], pair[1]), (-1, pair[1], pair[0])):
            # long words stand anywhere, letters alone between breaks or before a capital
            pattern = word if len(word) > 2 else \
                rf'(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])' + (
                    rf'|(?<![A-Za-z0-9]){word}(?=[A-Z][a-z])' if len(word) == 1 else '')
            found = re.search(pattern, name)
            if found:
                return found.start(), found.end(), side, other
    return None
