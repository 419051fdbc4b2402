# SPDX-License-Identifier: Apache-2.0
"""First failing sizes by direction and phase, from trials in processes of their own."""

from functools import partial
import json
import os

import numpy as np
import pytest

from walking_control.cli import main
from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.experiments import envelope as envelopes
from walking_control.lab.experiments.branches import Branches
from walking_control.lab.experiments.envelope import Cell, even_grid, find_envelope
from walking_control.loading import load_robot
from walking_control.models.templates import fill
from walking_control.simulation.simulate import simulate

SIZES = np.round(0.1 * np.arange(1, 17), 12)


@pytest.mark.parametrize('limit', [0.05, 0.1, 0.77, 1.6, 9.0])
def test_bisection_finds_the_first_failing_size(limit):
    """A cell would be said to survive what fells it, or the search would not end."""
    cell, trials = Cell(0.0, 0.0, SIZES), 0
    while (trial := cell.next_trial()) is not None:
        assert cell.next_trial() is None  # while it is being tried
        # what is too large for the whole walk shows late above a half
        fails = trial.size > (limit if trial.to_the_end else max(limit, 0.5))
        cell.note(*trial[1:], 'fell' if fails else None)
        trials += 1
    wanted = [size for size in SIZES if size > limit]
    assert cell.first_failure == (wanted[0] if wanted else None)
    assert trials <= 11 and cell.is_known
    assert cell.survived == max((size for size in SIZES if size <= limit), default=0.0)


def test_holes_below_the_worst_failure_are_found():
    """A size that fells the robot would be hidden by a larger one that does not."""
    cell = Cell(0.0, 0.0, SIZES)
    while (trial := cell.next_trial()) is not None:
        cell.note(*trial[1:], 'fell' if trial.size > 1.0 or trial.size == 0.3 else None)
    assert cell.first_failure == 1.1
    rest = []
    while (given := cell.give_untried()) is not None:
        rest.append(given.size)
    assert 0.3 in rest and len(rest) + len(cell.reasons) == len(
        [s for s in SIZES if s < 1.1]
    ) + sum(size >= 1.1 for size in cell.reasons)
    for size in rest:
        cell.note(size, False, 'fell' if size == 0.3 else None)
    assert cell.first_failure == 0.3 and cell.survived == 0.2


def test_branches_begin_where_the_parent_is():
    """Trials would disturb each other's walk, or be lost without a word when they break."""
    state = [1]

    def change(by):
        state[0] += by
        return state[0], os.getpid()

    with Branches(2) as branches:
        found = dict(branches.work((by, partial(change, by)) for by in (10, 20, 30)))
    assert {by: result[0] for by, result in found.items()} == {10: 11, 20: 21, 30: 31}
    assert state == [1] and len({pid for _, pid in found.values()} | {os.getpid()}) == 4

    def refuse():
        raise InvalidInput('gait', value='x', limit='is none')

    for task, error in (
        (lambda: 1 / 0, ZeroDivisionError),
        (lambda: os._exit(3), RuntimeError),
        (refuse, InvalidInput),
    ):
        with Branches(1) as branches, pytest.raises(error):
            list(branches.work([('bad', task)]))


@pytest.fixture(scope='module')
def walker():
    return load_robot('walker3d', [('stepping.speed', 0.5)])


@pytest.fixture(scope='module')
def envelope(walker):
    """Return pushes far too hard, ahead and to the left, at two phases, and one that is not."""
    grid = even_grid(4, 2, 0.6)._replace(settling=5)
    return find_envelope(
        walker,
        'push',
        largest=3.0,
        resolution=2.8,
        processes=2,
        grid=grid._replace(directions=grid.directions[:2], phases=(0.0, 0.5)),
    )


@pytest.mark.long
def test_every_failure_can_be_repeated_alone(walker, envelope):
    """The table could not be believed: a trial from the middle of a walk would be another walk."""
    worst = envelope['worst']
    run = simulate(walker, duration=worst['duration'], disturb=[worst['disturb']])
    assert str(run.fault) == worst['reason']


@pytest.mark.long
def test_a_tiny_envelope(envelope):
    """Sizes, cells or the undisturbed walk would be reported wrong."""
    assert envelope.first_failure == 2.8 and envelope.largest_survived == 0.0
    assert [(cell['direction_deg'], cell['phase']) for cell in envelope['cells']] == [
        (0.0, 0.0),
        (0.0, 0.5),
        (90.0, 0.0),
        (90.0, 0.5),
    ]
    assert 0.1 < envelope['nominal_speed'] < 0.6 and 0.25 < envelope['step_time'] < 0.4
    assert len(envelope.samples) >= 4 and not envelope.interrupted
    lines = fill('walking_control.cli', 'envelope.txt', **envelope.summary()).splitlines()
    assert len(lines) == 3 and '2.8' in lines[1]


@pytest.mark.long
def test_floors_are_tried_at_places(walker):
    """Steps would come where no foot meets them, or be survived for want of a step."""
    grid = even_grid(1, 1, 0.5)._replace(settling=5)
    found = find_envelope(walker, 'step_up', largest=0.3, resolution=0.3, grid=grid, processes=1)
    assert found.first_failure == 0.3 and found['worst']['disturb'].startswith('step_up=0.3@')
    assert found['cells'][0]['direction_deg'] is None


def test_what_has_no_envelope_is_refused(monkeypatch):
    """A robot that stands or does not walk in space would give an empty table."""
    monkeypatch.setattr(envelopes, 'SETTLING_TIME', 0.5)
    with pytest.raises(InvalidInput, match='--margin'):
        find_envelope(load_robot('dribbel'))
    with pytest.raises(InvalidInput, match='known: step_down, step_up, push'):
        find_envelope(load_robot('walker3d'), 'quake')
    with pytest.raises(NotAchieved, match='--speed'):
        find_envelope(load_robot('walker3d', [('stepping.speed', 0.0)]))


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['walker3d', '--phase', '1.5'], 'from 0, below 1'),
        (['walker3d', '--margin', 'delay', '--phases', '4'], 'no effect'),
        (['compass', '--disturbance', 'push', '--quick'], 'no effect'),
        (['compass', '--disturbance', 'push', '--speed', '0.3'], 'no effect'),
        (['dribbel'], '--disturbance or --margin'),
    ],
)
def test_bad_options_are_refused(capsys, arguments, words):
    """An option would be ignored in silence."""
    assert main(['robustness', *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count('\n') == 1


@pytest.mark.long
def test_an_interrupted_envelope_keeps_its_trials(capsys, monkeypatch, tmp_path):
    """An hour of work would be lost with one key, or pass for a whole table."""
    collect, count = Branches._collect, iter(range(10))

    def stop(self):
        if next(count) == 2:
            raise KeyboardInterrupt
        yield from collect(self)

    monkeypatch.setattr(Branches, '_collect', stop)
    status = main(
        [
            'robustness',
            'walker3d',
            '--direction',
            '0',
            '--phase',
            '0,0.5',
            '--max',
            '2.8',
            '--resolution',
            '2.8',
            '--settling',
            '5',
            '--after',
            '0.5',
            '--processes',
            '1',
            '--json',
            '--out',
            str(tmp_path),
        ]
    )
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert status == 130 and 'interrupted after 1 sizes' in captured.err
    assert result['interrupted'] is True
    assert [cell['known'] for cell in result['cells']] == [True, False]
    assert sorted(path.name for path in tmp_path.iterdir()) == ['robustness.json', 'robustness.png']
