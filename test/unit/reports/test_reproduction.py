# SPDX-License-Identifier: Apache-2.0
"""Published numbers beside ours: the quick rows anew, the page as it stands."""

import json
from pathlib import Path
import re

import pytest

from walking_control.cli import main
from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.reports.reproduction.row import judge, Row
from walking_control.lab.reports.reproduction.table import reproduce, ROWS, write_page

pytest.importorskip('casadi')
pytest.importorskip('numba')
PAGE = Path(__file__).parents[3] / 'doc/reproduction.md'


def reproduced(text):
    """Return the ids of which the page says no more than that their numbers are reproduced."""
    said = re.search(r'^Reproduced without exception: (.*)\.$', text, re.M)
    names = re.findall(r'`(\S+)`', said[1])
    for name in [name for name in names if name.endswith('…')]:
        names += [row.id for row in ROWS if re.fullmatch(re.escape(name[:-1]) + '[0-9.]+', row.id)]
    return [name for name in names if not name.endswith('…')]


def entries(text):
    """Return what the page says of each row: place and quantity, and its numbers, by id."""
    found = {name: ('', 'reproduced') for name in reproduced(text)}
    for name, what, numbers in re.findall(r'^\| (\S+) \| (.+?) \| (.+) \|$', text, re.M):
        if name.endswith('…'):
            numbers, _, note = numbers.partition('; each ')  # a reason that all of them have
            for each in numbers.split('; '):
                last, _, number = each.partition(': ')
                found[name[:-1] + last] = what, f'{number} {note}'.strip()
        elif name != 'id':
            found[name] = what, numbers
    return found


@pytest.mark.long
def test_quick_rows_are_those_of_the_page(tmp_path):
    """If it failed, the page would promise numbers that the program no longer gives."""
    page = entries(PAGE.read_text(encoding='utf-8'))
    rows = reproduce(quick=True)
    assert len(rows) > 15
    ours = Path(write_page(rows, tmp_path)).read_text(encoding='utf-8')
    for name, (_, numbers) in entries(ours).items():
        said = re.sub(r'\(\d+\)', '()', page[name][1])  # numbers of reasons are those of the page
        assert said == re.sub(r'\(\d+\)', '()', numbers), name


def test_page_has_every_row_once():
    """If it failed, a row would be on no page, or a page would hold a row that nobody computes."""
    ids = [row.id for row in ROWS]
    assert len(set(ids)) == len(ids)
    page = entries(PAGE.read_text(encoding='utf-8'))
    assert sorted(page) == sorted(ids)
    for row in ROWS:
        what, numbers = page[row.id]
        if numbers == 'reproduced':
            continue
        assert what.startswith(f'{row.place}: ') and numbers.startswith(str(row.published)), row.id
    assert 'unexplained' not in PAGE.read_text()


def row(published, compute, **others):
    """Return a row of one number."""
    return Row(
        'x',
        'DS09',
        '1',
        'a number',
        '1',
        published,
        compute,
        others.pop('tolerance', 0.05),
        **others,
    )


@pytest.mark.parametrize(
    'it, status',
    [
        (row(1.0, lambda: 1.04), 'reproduced'),
        (row(1.0, lambda: 1.06, note='because'), 'differs'),
        (row(1.0, lambda: 1.06, note='because', own=False), 'not from its own equations'),
        (row(1.0, lambda: 1.06), 'unexplained'),
        (row('up', lambda: 'up', tolerance=None), 'reproduced'),
        (row('up', lambda: 'down', tolerance=None), 'unexplained'),
    ],
)
def test_verdicts(it, status):
    """If it failed, a number that differs would pass for reproduced, or the other way round."""
    assert judge(it)['status'] == status


def test_a_number_that_cannot_be_computed_is_no_agreement():
    """If it failed, a computation that breaks would take all other rows along, or count."""

    def fails():
        raise NotAchieved('gait')

    judged = judge(row(1.0, fails))
    assert judged['status'] == 'unexplained' and judged['ours'] == 'none: gait'


def test_verb(tmp_path, capsys, monkeypatch):
    """If it failed, a single row could not be asked for, or an unexplained one be overlooked."""
    assert main(['reproduce', '--only', 'sr20-backward', '--json', '--out', str(tmp_path)]) == 0
    (found,) = json.loads(capsys.readouterr().out)['rows']
    assert {'id', 'source', 'published', 'ours', 'status', 'note'} <= set(found)
    assert reproduced((tmp_path / 'reproduction.md').read_text()) == ['sr20-backward']
    assert main(['reproduce', '--only', 'nothing']) == 2
    with pytest.raises(InvalidInput, match='longer than --quick'):
        reproduce(['ds09-table-4.2'], quick=True)
    monkeypatch.setattr(
        'walking_control.lab.reports.reproduction.table.ROWS', (row(1.0, lambda: 2.0),)
    )
    capsys.readouterr()
    assert main(['reproduce']) == 1 and 'unexplained: x' in capsys.readouterr().err


@pytest.mark.slow
def test_light_legs_cost_less_than_the_printed_ones():
    """If it failed, the printed masses of Table 5.2 might be the best, and the erratum wrong."""
    from walking_control.lab.reports.reproduction.gaits import compass

    assert compass(1.0, [], 'cost', 0.57) > 5.0 * 0.012  # printed mass and cost at 1 m/s
    assert compass(1.0, [], 'cost', 0.1) < 0.012


def test_every_row_finds_what_computes_it():
    """If it failed, a row of the table of published numbers would name no function."""
    assert len(ROWS) > 150 and all(callable(row.compute) for row in ROWS)
