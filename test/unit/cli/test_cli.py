# SPDX-License-Identifier: Apache-2.0
"""The command line keeps its contract: JSON on stdout, one line on errors, exit status."""

import json
import sys

from programs import run
import pytest

from walking_control import __version__
from walking_control.cli import main
from walking_control.cli.output import print_summary

WALK_KEYS = {
    'robot',
    'controller',
    'plant',
    'fell',
    'fall_reason',
    'duration',
    'steps',
    'distance',
    'speed',
    'cost_of_transport',
    'cost_of_transport_electrical',
    'peak_effort',
    'peak_current',
    'files',
    'min_normal_force',
    'max_friction_ratio',
    'energy_injected',
    'squared_effort_per_step',
}


def test_simulate_prints_one_json_document(capsys):
    """Scripts parse stdout: anything but one document there breaks them."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    assert main(['simulate', 'dribbel', '--duration', '3', '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert WALK_KEYS <= set(result)
    assert result['robot'] == 'dribbel' and result['fell'] is False and result['steps'] > 3


def test_a_fall_is_exit_status_1(capsys):
    """A fall reported as success would spoil every sweep."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    assert main(['simulate', 'dribbel', '--json', '--set', 'start.v=[0.8, 0.0, 0.0, 0.0]']) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)['fell'] is True
    assert 'fell' in captured.err


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['simulate', 'nobody'], "robot is 'nobody'"),
        (['simulate', 'dribbel', '--controller', 'magic'], "controller is 'magic'"),
        (['simulate', 'dribbel', '--plant', 'real'], "plant is 'real'"),
        (['simulate', 'dribbel', '--set', 'set_point=9'], 'from 0.05 to 0.8 rad'),
        (['simulate', 'dribbel', '--set', 'set_point=.nan'], 'must be finite'),
        (['simulate', 'dribbel', '--set', 'foot_mass=-1'], 'must not be negative'),
        (['simulate', 'dribbel', '--set', 'setpoint=0.3'], 'unknown'),
        (['simulate', 'dribbel', '--set', 'timestep=0.003'], 'multiple of mujoco.timestep'),
        (['simulate', 'dribbel', '--set', 'rate=12.5'], 'one and a half control periods'),
        (['simulate', 'dribbel', '--out', '/proc/nowhere'], 'cannot be made'),
        (['gait', 'cycle', 'humanoid'], 'planar'),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(capsys, arguments, words):
    """A stack trace is no answer to a typing error."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.startswith('error: ') and captured.err.count('\n') == 1
    assert words in captured.err


@pytest.mark.parametrize(
    'arguments',
    [
        ['walk'],
        ['simulate'],
        ['simulate', 'dribbel', '--duration', '-1'],
        ['simulate', 'dribbel', '--slope-deg', 'nan'],
        ['simulate', 'dribbel', '--seed', '-1'],
        ['simulate', 'dribbel', '--set', 'x'],
    ],
)
def test_bad_usage_is_one_line_and_exit_status_2(capsys, arguments):
    """Usage errors follow the same rule as bad values."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.err.startswith('error: ') and captured.err.count('\n') == 1


def test_alone_it_says_what_to_do_first(capsys):
    """Whoever types the name of the program to see what it is would get an error."""
    assert main([]) == 0
    said = capsys.readouterr().out
    assert 'What to do first:' in said and 'adopt FILE' in said


def test_a_slip_of_the_keyboard_names_its_neighbour(capsys):
    """A list of all verbs and robots would have to be read through."""
    with pytest.raises(SystemExit):
        main(['simulte', 'dribbel'])
    assert 'did you mean simulate' in capsys.readouterr().err
    assert main(['simulate', 'dribel']) == 2
    assert 'did you mean dribbel?' in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(['simulate', 'dribbel', '--controler', 'none'])
    assert 'simulate; did you mean --controller?' in capsys.readouterr().err
    assert main(['simulate', 'dribbel', '--set', 'hip_switching.set_pint=0.3']) == 2
    assert 'did you mean hip_switching.set_point, ' in capsys.readouterr().err


def test_a_summary_without_files_is_printed(capsys):
    """A verb that writes nothing would end in a traceback where people read its answer."""
    print_summary({'speed': 0.5})
    assert 'speed: 0.5' in capsys.readouterr().out


@pytest.mark.parametrize('verb', ['demo', 'simulate', 'check'])
def test_help_has_an_example(capsys, verb):
    """A verb without an example leaves new users guessing."""
    with pytest.raises(SystemExit) as caught:
        main([verb, '--help'])
    assert caught.value.code == 0
    assert f'walking_control {verb}' in capsys.readouterr().out.split('Example:')[1]


def test_check_names_problems(capsys, edited_robot_file):
    """`check` must say what is wrong instead of failing on it."""
    path = edited_robot_file(lambda tree: tree['robot'].update(feet=['outer_foot']))
    assert main(['check', str(path), '--json']) == 2
    result = json.loads(capsys.readouterr().out)
    assert result['ok'] is False
    assert result['problems'][0]['what'] == 'robot.feet' and result['problems'][0]['limit']


def test_check_shipped_robot(capsys):
    """A shipped robot must pass its own check, with what is assumed spelt out."""
    assert main(['check', 'dribbel', '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert result['ok'] and result['assumptions']
    assert result['facts']['mass'] == pytest.approx(9.2)


def test_controller_that_does_not_fit(capsys, edited_robot_file):
    """A controller on the wrong robot must be refused, not run."""
    path = edited_robot_file(lambda tree: tree['robot'].update(actuators={}))
    assert main(['simulate', str(path)]) == 2
    assert 'needs a planar robot with one motor' in capsys.readouterr().err


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['--set', 'rate=200'], 'at a rate of 200 Hz'),
        (['--set', 'gait=nowhere'], 'gait file nowhere'),
    ],
)
def test_an_override_means_the_chosen_controller(capsys, arguments, words):
    """It would silently change a controller that does not run, or be called ambiguous."""
    assert (
        main(
            [
                'simulate',
                'compass',
                '--controller',
                'curve_tracking',
                '--duration',
                '0.1',
                '--set',
                'bandwidth=1000',
                *arguments,
            ]
        )
        == 2
    )
    assert words in capsys.readouterr().err


def test_runs_as_a_module():
    """If it failed, `python -m walking_control` would not be the command."""
    done = run(sys.executable, '-m', 'walking_control', '--version')
    assert done.returncode == 0 and done.stdout.strip() == __version__
