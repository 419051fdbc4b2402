# SPDX-License-Identifier: Apache-2.0
"""Laws of a biped in space, walked side by side."""

import json

import numpy as np
import pytest

from walking_control.cli import main
from walking_control.lab.experiments.comparison import measure_gait
from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate


@pytest.mark.long
def test_a_gait_is_measured():
    """Speed or cost would be those of the start, of half a stride, or of another energy."""
    run = simulate(load_robot('walker3d', speed=0.5), duration=4.0)
    gait = measure_gait(run)
    assert gait['survived'] and gait['reason'] is None
    assert gait['speed'] == pytest.approx(0.5, rel=0.1)
    energy = run.electrical_energy[-1] - run.electrical_energy[len(run.time) // 2]
    way = run.base.position[-1, 0] - run.base.position[len(run.time) // 2, 0]
    assert gait['cost_of_transport_electrical'] == pytest.approx(
        energy / (10.0 * 9.81 * way), rel=0.1
    )
    assert 0.25 < gait['step_time'] < 0.4 and 0.0 < gait['heading'] < 10.0
    half, robot = len(run.time) // 2, run.robot
    rates = np.diff(run.q[half:, 7:], axis=0) / np.diff(run.time[half:])[:, None]
    alone = sum(
        np.maximum(
            motor.electrical_power(run.effort[half:-1, i], rates[:, robot.joint_index(joint)]), 0.0
        ).sum()
        for i, (joint, motor) in enumerate(robot.actuators.items())
    )
    assert gait['cost_of_transport_each_joint'] == pytest.approx(
        alone * np.diff(run.time).mean() / (10.0 * 9.81 * way), rel=0.1
    )
    assert gait['cost_of_transport_each_joint'] > 1.02 * gait['cost_of_transport_electrical']


@pytest.mark.long
def test_the_shipped_comparison_walks(capsys, tmp_path):
    """The law could not be set beside itself at one time, or not all of them would walk."""
    status = main(
        [
            'compare',
            'walker3d',
            '--speeds',
            '0.5:0.5:1',
            '--duration',
            '4',
            '--json',
            '--gait',
            'walker3d_exchange',
        ]
    )
    result = json.loads(capsys.readouterr().out)
    assert status == 0
    variants = {variant['name']: variant for variant in result['variants']}
    assert len(variants) == 3 and all(variant['survived'] for variant in variants.values())
    assert variants['fixed time']['settings']['timing'] == 'fixed'
    assert all(
        variant['gaits'][0]['speed'] == pytest.approx(0.5, rel=0.2) for variant in variants.values()
    )
    natural, squat = (
        variants[name]['gaits'][0]['cost_of_transport_electrical']
        for name in ('natural walking', 'stepping')
    )
    assert natural < 0.5 * squat


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['walker3d', '--phases', '4'], 'without --robustness'),
        (['compass', '--speeds', '0.2:0.4:2'], 'no effect'),
        (['walker3d', '--gait', 'nowhere'], 'variant natural walking: gait file'),
    ],
)
def test_bad_options_are_refused(capsys, arguments, words):
    """An option would be ignored in silence, or a law that does not fit be found after minutes."""
    assert main(['compare', *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count('\n') == 1
