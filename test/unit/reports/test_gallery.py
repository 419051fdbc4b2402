# SPDX-License-Identifier: Apache-2.0
"""The gallery: robots that were brought up, from the folders of their bring-ups."""

import json
import re

import pytest

from walking_control.cli import main
from walking_control.lab.reports import gallery
from walking_control.lab.reports.gallery import MARKS
from walking_control.loading import load_robot


def step(name, ok=True, what='', value=None, limit=None, **figures):
    return {
        'name': name,
        'ok': ok,
        'what': what,
        'value': value,
        'limit': limit,
        'figures': figures,
    }


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a bring-up, beside that of an adoption."""
    images = pytest.importorskip('PIL.Image', reason='pictures need the package pillow')
    up = tmp_path / 'bot' / 'up'
    up.mkdir(parents=True)
    images.new('RGB', (1100, 760), 'white').save(up.parent / 'my_bot.png')
    (up.parent / 'adoption.json').write_text(
        json.dumps({'robot': 'my_bot', 'command': ['adopt', 'my bot.urdf', '--out', 'bot']})
    )
    (up / 'summary.json').write_text(
        json.dumps(
            {
                'robot': 'bot/my_bot.yaml',
                'command': ['bring-up', 'bot/my_bot.yaml', '--out', 'bot/up'],
                'steps': [
                    step('check', mass=12.34),
                    step('stand', what='still, leaning 0.1 rad'),
                    step('gait', what='0.4 m/s'),
                    step(
                        'walk (rigid)',
                        what='walks',
                        duration=20.0,
                        speed=0.4321,
                        peak_effort=7.0,
                        cost_of_transport_positive=0.2,
                    ),
                    step('walk (MuJoCo)', False, 'fell | hard', 3.2, 's of 20 s', speed=0.1),
                    step('margins', delay='0.004 s and more'),
                    {
                        **step(
                            'natural gait',
                            what='',
                            speed=0.65,
                            stepping=0.48,
                            on_gait=0.957,
                            cost_of_transport_positive=0.11,
                        ),
                        'verdict': 'passed',
                    },
                    step('gait margins', what='turning 5 s, push 20 s'),
                    {**step('speed'), 'value': 0.312},
                ],
            }
        )
    )
    return up


def test_figures_pictures_and_commands(folder, tmp_path, capsys):
    """A page would show other numbers than were found, or count a fall as a walk."""
    page = tmp_path / 'doc' / 'robots.md'
    assert main(['gallery', str(folder), '--out', str(page), '--json']) == 0
    files = json.loads(capsys.readouterr().out)['files']
    picture = page.parent / 'robots' / 'my_bot.png'
    assert files == [str(page), str(picture)] and picture.stat().st_size < 1e5
    text = page.read_text()
    card = text.partition('<div class="card">')[2].partition('</div>')[0]
    assert [line for line in card.splitlines() if line] == [
        '![my bot](robots/my_bot.png)',
        '**my bot**',
        '- mass, kg: 12.3',
        '- stands: still, leaning 0.1 rad',
        '- walks: 20 s in rigid',
        '- speed, m/s: 0.432',
        '- peak effort, N m: 7',
        '- work / (m g distance): 0.2',
        '- survives: delay ≥ 0.004 s',
        '- on its gait: 0.65 m/s, 96% of the time on it; work / (m g distance), '
        'natural_walking: 0.11, stepping: 0.48',
        '- bears on its gait: turning 5 s, push 20 s',
        '- fastest, sqrt(g L): 0.312',
    ]
    assert 'walk (MuJoCo) did not pass: fell | hard, 3.2 s of 20 s.' in text
    assert "$ walking_control adopt 'my bot.urdf' --out bot\n$ walking_control bring-up" in text


@pytest.mark.parametrize(
    'words, said',
    [
        (['--films', '--policy', 'your bot,a.pt,b'], 'names no robot among my bot'),
        (['--policy', 'my bot,a.pt,b'], 'with --films'),
        (['--films', '--policy', 'my bot'], 'takes a robot'),
    ],
)
def test_policies_of_other_robots_are_refused(folder, tmp_path, capsys, words, said):
    """A policy would be left out without a word."""
    page = tmp_path / 'robots.md'
    assert main(['gallery', str(folder), *words, '--out', str(page)]) == 2
    assert said in capsys.readouterr().err and not page.exists()


@pytest.mark.long
def test_robots_are_filmed_on_their_gaits(folder, tmp_path, monkeypatch):
    """A page would show no film, or prices of other walks than it shows."""
    monkeypatch.setattr(gallery, 'FILMED', 3.0)
    natural = tmp_path / 'my_bot_natural.yaml'
    load_robot('walker3d', controller='natural_walking').write(natural)
    summary = json.loads((folder / 'summary.json').read_text())
    entry = next(entry for entry in summary['steps'] if entry['name'] == 'natural gait')
    entry['files'] = [str(natural)]
    (folder / 'summary.json').write_text(json.dumps(summary))
    page = tmp_path / 'robots.md'
    assert main(['gallery', str(folder), '--films', '--out', str(page)]) == 0
    assert (tmp_path / 'robots' / 'my_bot.gif').stat().st_size > 1e4
    row = next(line for line in page.read_text().splitlines() if 'my_bot.gif' in line)
    costs = [float(cost) for cost in re.findall(r'(?:natural_walking|stepping): ([0-9.]+)', row)]
    assert costs[0] < costs[1]


def test_a_policy_moves_the_robot_that_was_adopted(folder, tmp_path, monkeypatch):
    """A policy of all joints would be asked to move the legs alone, and be refused."""
    summary = json.loads((folder / 'summary.json').read_text())
    entry = next(entry for entry in summary['steps'] if entry['name'] == 'natural gait')
    entry['files'] = ['up/my_bot_legs_natural.yaml']
    (folder / 'summary.json').write_text(json.dumps(summary))
    loaded, filmed = {}, []
    monkeypatch.setattr(gallery, 'load_robot', lambda file, pairs: (file, dict(pairs)))
    monkeypatch.setattr(gallery, 'simulate', lambda loads, duration: loads)
    monkeypatch.setattr(gallery, 'write_space_film', lambda *runs, longest: filmed.append(longest))

    def read(run):
        loaded[run[1]['controller']] = run[0]
        return {'steady': {gallery.WORK: 0.1 * len(loaded)}}

    monkeypatch.setattr(gallery, 'summarize', read)
    page = tmp_path / 'robots.md'
    words = ['--policy', 'my bot,motion.pt,unitree_g1']
    assert main(['gallery', str(folder), '--films', *words, '--out', str(page)]) == 0
    legs = 'up/my_bot_legs_natural.yaml'
    assert loaded == {'policy': 'bot/my_bot.yaml', 'natural_walking': legs, 'stepping': legs}
    assert 'stepping: 0.3, policy: 0.1 ![my bot on its gait]' in page.read_text()
    assert 'natural_walking: 0.2, stepping: 0.3' in page.read_text()
    assert filmed == [0.5 * gallery.FILMED]  # what was measured


def test_words_of_the_writer_stay(folder, tmp_path):
    """Made anew, the page would lose what somebody wrote on it."""
    page = tmp_path / 'robots.md'
    page.write_text(f'# Mine\n\nBefore.\n\n{MARKS[0]}\nold\n{MARKS[1]}\n\nAfter.\n')
    for _ in range(2):
        assert main(['gallery', str(folder), '--out', str(page)]) == 0
    text = page.read_text()
    assert text.startswith('# Mine\n\nBefore.\n\n<!--') and text.endswith('-->\n\nAfter.\n')
    assert 'old' not in text and text.count('**my bot**') == 1


@pytest.mark.parametrize(
    'spoil, words',
    [
        (lambda folder, page: page.write_text('# Mine\n'), 'without the two marks'),
        (lambda folder, page: (folder / 'summary.json').unlink(), 'no summary of a bring-up'),
        (lambda folder, page: (folder / 'summary.json').write_text('{'), 'cannot be read'),
    ],
)
def test_bad_input_is_one_line(folder, tmp_path, capsys, spoil, words):
    """A page that is something else would be overwritten, or an empty folder shown as a robot."""
    page = tmp_path / 'robots.md'
    spoil(folder, page)
    before = page.read_text() if page.is_file() else None
    assert main(['gallery', str(folder), '--out', str(page)]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count('\n') == 1
    assert (page.read_text() if page.is_file() else None) == before
