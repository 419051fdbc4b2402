# SPDX-License-Identifier: Apache-2.0
"""The verbs gait cycle, gait impact and robustness as a script sees them."""

import json

import pytest

from walking_control.cli import main

pytest.importorskip('casadi')
pytest.importorskip('numba')


def run(capsys, *arguments):
    """Run a verb with --json and return (status, document)."""
    status = main([*arguments, '--json'])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else output.err


def test_gait_cycle(capsys):
    """If it failed, the promised keys of a cycle would be missing or not JSON."""
    status, result = run(capsys, 'gait', 'cycle', 'compass')
    assert status == 0
    assert [cycle['stable'] for cycle in result['cycles']] == [True, False]
    cycle = result['cycles'][0]
    assert set(cycle) >= {'q', 'v', 'period', 'step_length', 'speed', 'eigenvalues', 'stable',
                          'residual'}
    assert cycle['q'][1] == pytest.approx(-2 * cycle['q'][0])
    assert len(cycle['eigenvalues'][0]) == 2


def test_gait_impact_accepts_negative_numbers(capsys, tmp_path):
    """If it failed, the angles of the stance leg, negative at touchdown, could not be given."""
    status, result = run(capsys, 'gait', 'impact', 'compass', '--q', '-0.25,0.5', '--out',
                         str(tmp_path / 'out'))
    assert status == 0
    assert result['singular_values'] == pytest.approx([0.99715, 0.27043], abs=1e-4)
    assert result['instantaneous'] is True
    assert all((tmp_path / 'out').joinpath(name).is_file()
               for name in ('impact_losses.png', 'mass_ratio.png'))


def test_gait_impact_of_dribbel_takes_three_angles(capsys):
    """If it failed, Dribbel's coordinates on the command line would not be q3, q5, q6."""
    status, result = run(capsys, 'gait', 'impact', 'dribbel', '--q', '-0.15,0.3,0')
    assert status == 0 and result['coordinates'] == ['q3', 'q5']
    assert result['q'] == pytest.approx([-0.15, 0.0, 0.3, 0.0])


def test_robustness(capsys):
    """If it failed, scripts would not find the first failing size."""
    status, result = run(capsys, 'robustness', 'compass', '--disturbance', 'step_down',
                         '--max', '0.018', '--resolution', '0.001')
    assert status == 0
    assert result['first_failure'] == pytest.approx(0.017)
    assert result['largest_survived'] == pytest.approx(0.016)
    assert result['samples'][0] == [pytest.approx(0.001), True, None]
    assert result['nominal_squared_effort'] == 0.0


@pytest.mark.parametrize('arguments, status, reason', [
    (['gait', 'impact', 'compass', '--q', '1'], 2, 'must be 2 finite numbers'),
    (['gait', 'cycle', 'compass', '--set', 'leg_mass=-1'], 2, 'must not be negative'),
    (['gait', 'cycle', 'compass', '--plant', 'mujoco'], 2, 'runs on plant rigid'),
    (['gait', 'cycle', 'compass', '--slope-deg', '-4'], 1, 'starts'),
    (['robustness', 'compass', '--disturbance', 'quake'], 2, 'known: step_down'),
    (['robustness', 'compass', '--disturbance', 'push', '--slope-deg', '-4'], 1, 'undisturbed'),
])
def test_bad_input_and_failure_say_why(capsys, arguments, status, reason):
    """If it failed, nonsense would crash or a missing gait would look like success."""
    assert main(arguments) == status
    assert reason in capsys.readouterr().err
