# SPDX-License-Identifier: Apache-2.0
"""The page on what the sources print is complete and leads somewhere."""

import os
from pathlib import Path
import re

from draw import items_of, STATEMENTS
import pytest
import reached
import yaml

ROOT = Path(__file__).parents[2]

PRINTED = {  # a word of the source, and how it prints chapter and number
    ('DS09', 'equation'): ('Dribbel', r'\(([2-6AB])\.(\d+)\)'),
    ('DS09', 'figure'): ('Dribbel', r'Fig(?:ure|s)?\.? ?([1-6AB])\.(\d+)'),
    ('DS09', 'table'): ('Dribbel', r'Table ([1-6AB])\.(\d+)'),
    ('DS09', 'statement'): ('Dribbel', rf'^(?:{"|".join(STATEMENTS)}) ([1-6AB])\.(\d+)'),
    ('SR20', 'equation'): ('TELLO', r'()\((\d+)\)\.?$'),
    ('SR20', 'figure'): ('TELLO', r'Fig\.() (\d)'),
    ('Mor17', 'figure'): ('RoToM', r'Fig\.() (\d)'),
    ('Bri26', 'equation'): ('Orthoglide', r'()(?:quad \(|tag\{)(\d+)'),
    ('STATIC', 'equation'): ('TSID', r'()space \((\d)\)'),
}
STATES = ('implemented', 'another form', 'background', 'not implemented')

GENERATOR = reached.generate
SOURCES = GENERATOR.sources()
ROWS = [(source['key'], *row) for source in SOURCES for row in source['rows']]
IDS = [f'{row[0]} {row[1]}' for row in ROWS]


@pytest.mark.parametrize('source', SOURCES, ids=lambda source: source['key'])
def test_every_number_has_one_row(source):
    """An equation, figure or table of a source would be missing, or told of twice."""
    listed = [item for row in source['rows'] for item in items_of(row[0])]
    numbered = [
        (kind, chapter, n + 1)
        for kind, chapters in source['numbered'].items()
        for chapter, count in chapters.items()
        for n in range(count)
    ]
    assert sorted(listed) == sorted(numbered)


@pytest.mark.parametrize('row', ROWS, ids=IDS)
def test_a_row_leads_somewhere(row):
    """A row would have an empty cell, or send its reader to what does not exist."""
    key, items, says, state, code, test, number = row
    assert all(isinstance(cell, str) and cell.strip() for cell in row[1:])
    kind, _, reason = state.partition(': ')
    assert kind in STATES and bool(reason) == (kind != 'implemented')
    for cell in (code, test):
        for path, name in GENERATOR.places(cell):
            assert path.is_file(), f'{items}: no file {path}'
            assert not name or name in GENERATOR.names_in(path), f'{items}: {path} has no {name}'
    tests = list(GENERATOR.places(test))
    assert all(path.name.startswith('test_') and name.startswith('test_') for path, name in tests)
    if kind in ('implemented', 'another form'):
        assert tests and list(GENERATOR.places(code)), f'{items}: no code or no test'


def test_rows_of_numbers_exist():
    """A printed number would be said to be computed anew where no row does so."""
    published = ROOT / 'walking_control' / 'lab' / 'reports' / 'reproduction' / 'published.yaml'
    ids = re.findall(r'"id": "([^"]+)"', published.read_text(encoding='utf-8'))
    assert ids
    for _, items, *_, number in ROWS:
        if not number.startswith(GENERATOR.NO_PLACE):
            for each in number.removesuffix('; erratum').split(', '):
                wanted = re.escape(each).replace(r'\*', '.*')
                assert any(re.fullmatch(wanted, one) for one in ids), f'{items}: no row {each}'


def test_the_table_counts_what_the_sources_have():
    """A number of the sources would be unknown to the table; their texts may be beside us."""
    place = os.environ.get('WALKING_CONTROL_SOURCES')
    if not place:
        pytest.skip(
            'texts of the sources are not shipped: name their folder in WALKING_CONTROL_SOURCES'
        )
    texts = [path.read_text(encoding='utf-8') for path in Path(place).glob('*.txt')]
    for (key, kind), (word, pattern) in PRINTED.items():
        (text,) = (text for text in texts if word in text)
        found = {}
        for chapter, number in re.findall(pattern, text, re.M):
            found[chapter] = max(found.get(chapter, 0), int(number))
        numbered = next(source for source in SOURCES if source['key'] == key)['numbered']
        assert found == numbered[kind], f'{key}, {kind}s'


def test_errata_are_cited_where_they_are():
    """A row would promise an erratum of a source that has none."""
    errata = (ROOT / 'doc' / 'errata.md').read_text(encoding='utf-8')
    for key, items, *_, number in ROWS:
        if number.endswith('; erratum'):
            assert f'## [{key}]' in errata, items


KEPT = yaml.safe_load(reached.KEPT.read_text(encoding='utf-8'))


def test_a_command_runs_each_row():
    """A reader would look up an equation or a lemma, and have nothing to run."""
    assert list(KEPT) == GENERATOR.coverage()['commands'], 'run doc/reached.py'
    run = [row[1] for _, rows in GENERATOR.runs() for each in rows.values() for row in each]
    for _, items, says, state, *_ in ROWS:
        owed = state.partition(': ')[0] in ('implemented', 'another form')
        if owed or any(word in items for word in ('(', 'Lemma', 'Theorem')):
            assert says in run, f'{items}, {says}: no command of coverage.yaml calls its code'


@pytest.mark.long
@pytest.mark.parametrize('command', KEPT)
def test_a_command_calls_what_the_page_says(command):
    """The page would lead to a command that fails, or that never comes to the equation."""
    pytest.importorskip('matplotlib', reason='figures need the package matplotlib')
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    found = reached.places_in(reached.called_by(command), KEPT[command])
    assert found == set(KEPT[command])
