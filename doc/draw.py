# SPDX-License-Identifier: Apache-2.0
"""Draw equations, lemmas and the like of the sources at random; run the command of each.

`python doc/draw.py 12 --seed 1` draws twelve of all equations and numbered statements, a third of
them from the appendices, and runs what coverage.md names for each.
"""

import argparse
import random
import re

import generate
from reached import called_by, places_in

STATEMENTS = 'Definition', 'Example', 'Lemma', 'Remark', 'Theorem'
KINDS = {'': 'equation', 'Fig. ': 'figure', 'Table ': 'table'}
KINDS |= {f'{name} ': 'statement' for name in STATEMENTS}
NAMES = ''.join(f'{name} |' for name in STATEMENTS)
ITEM = rf'(Fig\. |Table |{NAMES}\()([AB]?[\d.]+)\)?(?:-\(?([AB]?[\d.]+)\)?)?'


def items_of(text):
    """Return (kind, chapter, number) of everything a cell of items names."""
    items = []
    for item in text.split(', '):
        found = re.fullmatch(ITEM, item)
        assert found, f'{item!r} is no place in a source'
        kind, first, last = found.groups()
        chapter, _, low = first.rpartition('.')
        other, _, high = (last or first).rpartition('.')
        assert chapter == other and int(low) <= int(high), item
        items += [(KINDS[kind.strip('(')], chapter, n) for n in range(int(low), int(high) + 1)]
    return items


def main():
    """Draw, tell and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('count', type=int, nargs='?', default=12)
    parser.add_argument('--seed', type=int, default=1)
    given = parser.parse_args()
    found = []
    for source, commands in generate.runs():
        named = {row[0]: command for command, rows in commands.items() for row in rows}
        for row in source['rows']:
            found += [
                (source['key'], kind, f'{chapter}.{number}'.lstrip('.'), row, named.get(row[0]))
                for kind, chapter, number in items_of(row[0])
                if kind in ('equation', 'statement')
            ]
    appended = [each for each in found if each[2][0] in 'AB']
    drawn, third = random.Random(given.seed), given.count // 3
    chosen = drawn.sample(found, given.count - third) + drawn.sample(appended, third)
    missing, ran = 0, {}
    for key, kind, number, row, command in chosen:
        if command and command not in ran:
            ran[command] = called_by(command)
        wanted = {
            f'{path.relative_to(generate.FOLDER.parent)}:{name}'
            for path, name in generate.places(row[3])
        }
        reached = places_in(ran.get(command, set()), wanted)
        missing += not command
        print(f'[{key}] {kind} {number}, {row[1]} ({row[0]}):')
        print(f'    {command or "no command"}: calls {", ".join(sorted(reached)) or "nothing"}')
    raise SystemExit(f'{missing} of {given.count} lead nowhere' if missing else 0)


if __name__ == '__main__':
    main()
