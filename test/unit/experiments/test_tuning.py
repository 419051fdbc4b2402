# SPDX-License-Identifier: Apache-2.0
"""Tuning: margins are kept, cost falls, what is written is what was found."""

import json

import pytest

from walking_control.cli import main
from walking_control.exceptions import Interrupted, InvalidInput, NotAchieved
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.lab.experiments.tuning import Goal, pareto_front, Trial, tune
from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate

pytest.importorskip('cma')
pytest.importorskip('numba')

AXES = (Axis('set_point', 0.25, 0.4), Axis('proportional_gain', 5.0, 12.0))


def task(*axes, **others):
    """Return a task on Dribbel, plant rigid."""
    return SweepTask('dribbel', axes or AXES, plant='rigid', duration=4.0, **others)


@pytest.mark.long
def test_tuned_file_keeps_its_margins_at_less_cost(tmp_path, capsys):
    """If it failed, the file written would not keep the margins, or cost no less than before."""
    assert (
        main(
            [
                'tune',
                'dribbel',
                '--plant',
                'rigid',
                '--duration',
                '6',
                '--grid',
                'set_point=0.25:0.4',
                '--grid',
                'proportional_gain=5:12',
                '--margin',
                'speed=0.38',
                '--margin',
                'step_down=0.004',
                '--evaluations',
                '12',
                '--seed',
                '2',
                '--out',
                str(tmp_path),
                '--json',
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert result['cost'] < 0.9 * result['cost_before']
    assert (tmp_path / 'pareto.png').stat().st_size > 5000
    robot_file = load_robot(result['file'])
    for name, value in result['parameters'].items():
        assert robot_file.sections['hip_switching'][name] == value
    steady = simulate(robot_file, duration=6.0).summary()['steady']
    assert steady['speed'] == pytest.approx(result['margins']['speed']['kept'], rel=1e-6)
    assert steady['speed'] >= 0.38
    assert steady['cost_of_transport_electrical'] == pytest.approx(result['cost'], rel=1e-6)
    assert (
        find_first_failure(robot_file, 'step_down', largest=0.004, resolution=0.001).first_failure
        is None
    )


def test_same_seed_same_gains():
    """If it failed, a tuning could not be repeated."""
    found = [tune(task(seed=3), [Goal('speed', 0.3)], evaluations=6)['points'] for _ in range(2)]
    assert found[0] == found[1]


def test_margins_out_of_reach_are_said():
    """If it failed, gains that keep no margin would be written as tuned."""
    with pytest.raises(NotAchieved, match='lacks speed 0.*of 2'):
        tune(task(), [Goal('speed', 2.0)], evaluations=6)


@pytest.mark.long
def test_margins_of_the_whole_chain():
    """If it failed, delay or noise could be no goal."""
    result = tune(task(), [Goal('delay', 0.002)], 'cost_of_transport', evaluations=1)
    assert result['margins']['delay']['kept'] >= 0.002


def test_interrupted_search_gives_the_best_so_far():
    """If it failed, Ctrl-C would throw away what was found."""

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        tune(task(), [], evaluations=18, progress=stop)
    assert stopped.value.result['interrupted'] and stopped.value.result['parameters']


def test_pareto_front_of_few():
    """If it failed, a point that another beats in both would be on the front."""
    trials = [
        Trial({'a': i}, cost, {'speed': share}, 0.0)
        for i, (share, cost) in enumerate(
            [(1.0, 3.0), (0.5, 1.0), (0.9, 4.0), (0.7, 2.0), (0.7, 2.5)]
        )
    ]
    assert [entry[2]['a'] for entry in pareto_front(trials)] == [1, 3, 0]


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['--grid', 'set_point=0.2:0.4'], 'two or more'),
        (['--grid', 'set_point=0.2:0.4', '--grid', 'rate=100:100'], 'higher end'),
        (['--grid', 'set_point=0.2:0.4', '--grid', 'magic=1:2'], 'unknown in this robot file'),
        (['--grid', 'set_point=0.2:0.4', '--grid', 'start.v.q3=-1:0'], 'is no gain'),
        (
            [
                '--grid',
                'set_point=0.2:0.4',
                '--grid',
                'proportional_gain=5:9',
                '--margin',
                'luck=1',
            ],
            'known: speed',
        ),
        (
            [
                '--grid',
                'set_point=0.2:0.4',
                '--grid',
                'proportional_gain=5:9',
                '--margin',
                'push=0',
            ],
            'other than 0',
        ),
        (
            ['--grid', 'set_point=0.2:0.4', '--grid', 'proportional_gain=5:9', '--cost', 'beauty'],
            'known: cost_of_transport_electrical',
        ),
    ],
)
def test_bad_requests_are_refused(arguments, words, capsys):
    """If it failed, a tuning that means nothing would start, or end in a traceback."""
    assert main(['tune', 'dribbel', *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and len(error.strip().splitlines()) == 1


def test_nothing_that_walks_is_said():
    """If it failed, axes on which no robot walks would end in a crash."""
    with pytest.raises(NotAchieved, match='none of .* walks'):
        tune(
            task(Axis('set_point', 0.3, 0.4), Axis('proportional_gain', 40.0, 50.0)),
            [],
            evaluations=6,
        )
    with pytest.raises(InvalidInput, match='evaluations'):
        tune(task(), [], evaluations=0)
