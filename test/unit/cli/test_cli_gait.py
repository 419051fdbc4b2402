# SPDX-License-Identifier: Apache-2.0
"""The verbs gait cycle, gait impact and robustness as a script sees them."""

import json

import pytest
import yaml

from walking_control.cli import main
from walking_control.gaits.gait_file import read_gait
from walking_control.lab.experiments.cycles import RobotCycles
from walking_control.models.resources import share_directory

pytest.importorskip('casadi')
pytest.importorskip('numba')


def run(capsys, *arguments):
    """Run a verb with --json and return (status, document)."""
    status = main([*arguments, '--json'])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else output.err


@pytest.mark.long
def test_gait_cycle(capsys, tmp_path):
    """If it failed, promised keys of a cycle would be missing, or the shipped gait out of date."""
    status, result = run(capsys, 'gait', 'cycle', 'compass', '--out', str(tmp_path))
    assert status == 0
    assert [cycle['stable'] for cycle in result['cycles']] == [True, False]
    cycle = result['cycles'][0]
    assert set(cycle) >= {
        'q',
        'v',
        'period',
        'step_length',
        'speed',
        'eigenvalues',
        'stable',
        'residual',
    }
    assert cycle['q'][1] == pytest.approx(-2 * cycle['q'][0])
    assert len(cycle['eigenvalues'][0]) == 2
    assert result['files'][:2] == [str(tmp_path / f'cycle_{i}.yaml') for i in (0, 1)]
    assert cycle['file'] == result['files'][0]
    made, shipped = (
        read_gait(path)
        for path in (cycle['file'], share_directory() / 'config' / 'gaits' / 'compass.yaml')
    )
    assert made['provenance']['controller'] == 'none' and made['provenance']['plant'] == 'rigid'
    assert made['robot'] == shipped['robot'] and made['world'] == shipped['world']
    assert made['found']['fit_error_q'] < 1e-9 and made['found']['fit_error_v'] < 1e-7
    for new, old in zip(made['phases'], shipped['phases'], strict=True):
        assert new['duration'] == pytest.approx(old['duration'], abs=1e-9)
        for name in ('q3', 'q4'):
            assert new['values'][name] == pytest.approx(old['values'][name], abs=1e-9)


def test_gait_impact_accepts_negative_numbers(capsys, tmp_path):
    """If it failed, the angles of the stance leg, negative at touchdown, could not be given."""
    status, result = run(
        capsys, 'gait', 'impact', 'compass', '--q', '-0.25,0.5', '--out', str(tmp_path / 'out')
    )
    assert status == 0
    assert result['singular_values'] == pytest.approx([0.99715, 0.27043], abs=1e-4)
    assert result['instantaneous'] is True
    assert all(
        (tmp_path / 'out').joinpath(name).is_file()
        for name in ('impact_losses.png', 'mass_ratio.png')
    )


def test_gait_impact_of_dribbel_takes_three_angles(capsys):
    """If it failed, Dribbel's coordinates on the command line would not be q3, q5, q6."""
    status, result = run(capsys, 'gait', 'impact', 'dribbel', '--q', '-0.15,0.3,0')
    assert status == 0 and result['coordinates'] == ['q3', 'q5']
    assert result['q'] == pytest.approx([-0.15, 0.0, 0.3, 0.0])


def test_robustness(capsys):
    """If it failed, scripts would not find the first failing size."""
    status, result = run(
        capsys,
        'robustness',
        'compass',
        '--disturbance',
        'step_down',
        '--max',
        '0.018',
        '--resolution',
        '0.001',
    )
    assert status == 0
    assert result['first_failure'] == pytest.approx(0.017)
    assert result['largest_survived'] == pytest.approx(0.016)
    assert result['samples'][0] == [pytest.approx(0.001), True, None]
    assert result['nominal_squared_effort'] == 0.0


@pytest.mark.long
def test_stops_are_one_command_and_a_sheet(capsys, tmp_path):
    """If it failed, nobody could print how a robot ends that is stopped."""
    words = 'robustness walker3d --stop --starts 1 --cause emergency_stop,stale_imu'
    status = main([*words.split(), '--category', '2', '--out', str(tmp_path)])
    text = capsys.readouterr().out
    assert status == 0 and 'stale_imu' in text and 'worst m' in text
    for name in ('stops.html', 'stops.csv', 'stops.json'):
        assert (tmp_path / name).is_file() and name in text
    assert 'stale_imu' in (tmp_path / 'stops.html').read_text(encoding='utf-8')


@pytest.mark.parametrize(
    'arguments, status, reason',
    [
        (['gait', 'impact', 'compass', '--q', '1'], 2, 'must be 2 finite numbers'),
        (
            ['simulate', 'compass', '--gait', 'README.md'],
            2,
            'controller none follows no gait; choose '
            '--controller curve_tracking or natural_walking or '
            'time_pd',
        ),
        (
            [
                'robustness',
                'compass',
                '--disturbance',
                'push',
                '--controller',
                'time_pd',
                '--gait',
                'nowhere.yaml',
            ],
            2,
            'nowhere.yaml: cannot be read: No such file',
        ),
        (['gait', 'cycle', 'compass', '--set', 'leg_mass=-1'], 2, 'must not be negative'),
        (['gait', 'cycle', 'compass', '--plant', 'mujoco'], 2, 'runs on plant rigid'),
        (['gait', 'cycle', 'compass', '--slope-deg', '-4'], 1, 'starts'),
        (['robustness', 'walker3d', '--stop', '--cause', 'a_bee'], 2, 'unknown'),
        (['robustness', 'walker3d', '--stop', '--pushed', '0,1,2'], 2, 'the least and the largest'),
        (['robustness', 'compass', '--disturbance', 'quake'], 2, 'known: step_down'),
        (['robustness', 'compass', '--disturbance', 'push', '--slope-deg', '-4'], 1, 'undisturbed'),
    ],
)
def test_bad_input_and_failure_say_why(capsys, arguments, status, reason):
    """If it failed, nonsense would crash or a missing gait would look like success."""
    assert main(arguments) == status
    error = capsys.readouterr().err
    assert reason in error and error.count('\n') == 1


@pytest.mark.parametrize(
    'arguments, reason',
    [
        (['--gait', 'compass'], 'is not a file of gaits in space'),
        (['--gait', 'walker3d', '--set', 'leg_share=0.2'], 'the robot walker3d has [8.0'),
        (
            ['--gait', 'walker3d', '--set', 'robot.actuators.left_knee.current_limit=3'],
            'asks for more than the 6 N m of left_knee',
        ),
        (['--gait', 'hole.yaml'], 'the family has a hole from 0.1 to 1.2 m/s'),
        (['--gait', 'walker3d', '--on-gait'], 'begins standing'),
    ],
)
def test_gaits_in_space_that_do_not_fit(capsys, tmp_path, monkeypatch, arguments, reason):
    """If it failed, a family of another robot would be walked, or its option refused for good."""
    monkeypatch.chdir(tmp_path)
    shipped = yaml.safe_load((share_directory() / 'config/gaits/walker3d.yaml').read_text())
    members = [member for member in shipped['members'] if not member.get('slope')]
    (tmp_path / 'hole.yaml').write_text(
        yaml.safe_dump({**shipped, 'members': [members[0], members[-1]]})
    )
    walk = ['simulate', 'walker3d', '--controller', 'natural_walking', '--duration', '0.1']
    assert main([*walk, *arguments]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count('\n') == 1


def test_a_family_is_walked_by_its_name(capsys):
    """If it failed, only --set would choose a family of gaits in space."""
    status, result = run(
        capsys,
        'simulate',
        'walker3d',
        '--controller',
        'natural_walking',
        '--gait',
        'walker3d_exchange',
        '--speed',
        '0.8',
        '--duration',
        '0.1',
    )
    assert status == 0 and result['controller'] == 'natural_walking'


@pytest.mark.long
def test_curve_tracking_walks_with_any_gait_file(capsys, tmp_path):
    """If it failed, a gait found by search or cycle could not be walked."""
    assert (
        main(
            [
                'gait',
                'search',
                'compass',
                '--speed',
                '0.75',
                '--starts',
                '2',
                '--quiet',
                '--out',
                str(tmp_path),
            ]
        )
        == 0
    )
    capsys.readouterr()
    shipped = share_directory() / 'config' / 'gaits' / 'compass.yaml'
    for path in (tmp_path / 'compass_gait.yaml', shipped):
        status, result = run(
            capsys,
            'simulate',
            'compass',
            '--controller',
            'curve_tracking',
            '--gait',
            str(path),
            '--duration',
            '2.5',
        )
        assert status == 0 and result['steps'] >= 2
        assert result['squared_effort_per_step'] < 0.02
    assert result['controller'] == 'curve_tracking'


def test_slow_strides_are_explained(capsys, monkeypatch):
    """Otherwise a user without compiler waits minutes, and never hears that seconds would do."""
    monkeypatch.setattr(
        'walking_control.lab.experiments.cycles.find_robot_cycles',
        lambda *_, **__: RobotCycles('', '', '', [], 0.0, 0, []),
    )
    assert main(['gait', 'cycle', 'compass']) == 0
    assert 'pip install' not in capsys.readouterr().err
    monkeypatch.setattr('walking_control.models.support.compiled.has_compiler', lambda: False)
    assert main(['gait', 'cycle', 'compass']) == 0
    assert 'pip install "walking_control[fast]"' in capsys.readouterr().err
