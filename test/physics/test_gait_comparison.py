# SPDX-License-Identifier: Apache-2.0
"""The stepping law and its rival, walked side by side."""

import json

import pytest

from walking_control.cli import main
from walking_control.experiments.comparison import measure_gait
from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate


def test_a_gait_is_measured():
    """Speed or cost would be those of the start, of half a stride, or of another energy."""
    run = simulate(load_robot('walker3d', speed=0.5), duration=4.0)
    gait = measure_gait(run)
    assert gait['survived'] and gait['reason'] is None
    assert gait['speed'] == pytest.approx(0.5, rel=0.1)
    energy = run.electrical_energy[-1] - run.electrical_energy[len(run.time) // 2]
    way = run.base.position[-1, 0] - run.base.position[len(run.time) // 2, 0]
    assert gait['cost_of_transport_electrical'] == pytest.approx(
        energy / (10.0 * 9.81 * way), rel=0.1)
    assert 0.25 < gait['step_time'] < 0.4 and 0.0 < gait['heading'] < 10.0


def test_the_shipped_comparison_walks(capsys, tmp_path):
    """The law could not be set beside its rival, or not all of them would walk."""
    status = main(['compare', 'walker3d', '--speeds', '0.3:0.3:1', '--duration', '3', '--json'])
    result = json.loads(capsys.readouterr().out)
    assert status == 0
    assert [variant['survived'] for variant in result['variants']] == [True, True, True]
    assert {'timing': 'fixed', 'placement': 'velocity'}.items() \
        <= result['variants'][1]['settings'].items()
    assert all(variant['gaits'][0]['speed'] == pytest.approx(0.3, rel=0.2)
               for variant in result['variants'])


@pytest.mark.parametrize('arguments, words', [
    (['walker3d', '--phases', '4'], 'without --robustness'),
    (['compass', '--speeds', '0.2:0.4:2'], 'no effect')])
def test_options_without_effect_are_refused(capsys, arguments, words):
    """An option would be ignored in silence."""
    assert main(['compare', *arguments]) == 2
    assert words in capsys.readouterr().err
