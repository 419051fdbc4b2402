# SPDX-License-Identifier: Apache-2.0
"""What README and pages say of the compass, its price and its margins, is what was measured."""

from pathlib import Path
import re

import generate
import pytest

from walking_control.models.yaml_text import read_yaml

DOC = Path(__file__).parents[2] / 'doc'
NUMBERS = 'no one two three four five six seven eight nine ten'.split()
FAST, TUNED = 'curve_tracking, 1.2 m/s', 'hip_pd, tuned for margins alone'


@pytest.fixture(scope='module')
def points():
    """Return (price, worst margin) with the true state and in the lab, by walk."""
    return generate.margin_points()


@pytest.fixture(scope='module')
def rows():
    """Return what was measured, by walk."""
    return read_yaml(DOC / 'data' / 'price_noise.yaml', 'prices and margins under noise')


def words_of(path):
    """Return a page's text with single spaces."""
    return ' '.join((DOC / path).read_text(encoding='utf-8').split())


@pytest.mark.parametrize('noise', [0, 1])
def test_no_rival_is_better_in_both(points, noise):
    """The picture would show a rival above and left of a gait that the page calls unbeaten."""
    ours = [pair[noise] for name, pair in points.items() if name.startswith('curve_tracking')]
    rivals = [pair[noise] for name, pair in points.items() if name.startswith('hip_pd')]
    assert len(ours) == 3 and len(rivals) == 5
    for price, worst in rivals:
        assert not any(price <= mine and worst >= margin for mine, margin in ours), (price, worst)


def test_readme_says_what_was_measured(points, rows):
    """Somebody would choose the law by a sentence that the data do not bear."""
    (said,) = re.findall(r'\| How is it tracked\? \| [^|]*', words_of('../README.md'))
    share, seeds = re.search(
        r'disturbances ([0-9.]+) as large .*a fifth .*a quarter.*\(compass, (\w+) seeds\)', said
    ).groups()
    for noise, part in enumerate((5, 4)):
        (price, worst), (dear, most) = points[FAST][noise], points[TUNED][noise]
        assert round(dear / price) == part and worst / most > float(share)
    told = NUMBERS.index(seeds) if seeds in NUMBERS else int(seeds)
    assert {len(row['prices']) for row in rows.values()} == {told}


def test_page_has_the_table_of_the_data(points, rows):
    """The page would keep the numbers of fewer seeds."""
    page = (DOC / 'controllers' / 'curve_tracking_evidence.md').read_text(encoding='utf-8')
    table = re.search(r'\| walk \| price, true.*?\n((?:\|.*\n)+)', page)[1].splitlines()[1:]
    assert len(table) == len(points)
    for line, (name, ((price, worst), (lab, bears))) in zip(table, points.items()):
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        assert cells[0].startswith(name.split(',')[0].replace('hip_pd', 'hip PD'))
        assert float(cells[1]) == pytest.approx(price, rel=0.02)
        assert [float(cell.split()[0]) for cell in cells[2:5]] == pytest.approx(
            [lab, worst, bears], rel=0.01, abs=0.005
        )
        kept = rows[name]['kept']
        order = 'step_down', 'step_up', 'push_along', 'push_against'
        assert [float(cell) for cell in cells[5].split('/')] == [kept[own] for own in order]
