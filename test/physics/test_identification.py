# SPDX-License-Identifier: Apache-2.0
"""Friction and motor constants are found again in runs that were made with them."""

import json

import numpy as np
import pytest

from walking_control.cli import main
from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.identification import identify
from walking_control.lab.reports.report import write_report
from walking_control.loading import load_robot
from walking_control.runs.metrics import summarize
from walking_control.runs.tables import read_recording, Recording
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

TRUE = {
    'hip.torque_constant': 0.0302,
    'hip.efficiency': 0.8,
    'hip.driving_gain': 0.8,
    'hip.viscous': 0.05,
    'hip.coulomb': 0.1,
    'outer_knee.viscous': 0.02,
    'inner_knee.viscous': 0.02,
    'outer_knee.coulomb': 0.0,
    'inner_knee.coulomb': 0.0,
}
LOSSES = [
    ('robot.friction.hip.coulomb', 0.1),
    ('robot.friction.hip.viscous', 0.05),
    ('robot.friction.outer_knee.viscous', 0.02),
    ('robot.friction.inner_knee.viscous', 0.02),
    ('robot.actuators.hip.efficiency', 0.8),
]


def recording_of(run):
    """Return the `Recording` of a `Run`."""
    return Recording(
        run.time,
        run.coordinates,
        run.rates,
        run.support,
        run.steps,
        run.contact,
        run.locked,
        run.effort,
    )


def hits(result):
    """Return which true values lie in their intervals."""
    return [
        found['low'] <= TRUE[name] <= found['high'] for name, found in result['parameters'].items()
    ]


@pytest.fixture(scope='module', params=['mujoco', 'rigid'])
def run(request):
    """Return a walk of a Dribbel with losses."""
    if request.param == 'mujoco':
        pytest.importorskip('mujoco')
    return simulate(load_robot('dribbel', LOSSES), 'hip_switching', request.param, 10.0)


@pytest.mark.long
def test_what_a_run_was_made_with_is_found(dribbel, run):
    """A robot's friction would be written down wrong, or with confidence it does not deserve."""
    result = identify(dribbel, recording_of(run))
    assert all(hits(result)), result['parameters']
    # narrow enough to be of use
    width = {name: found['high'] - found['low'] for name, found in result['parameters'].items()}
    assert width['hip.efficiency'] < 0.08 and width['hip.coulomb'] < 0.2
    assert width['hip.torque_constant'] < 0.003 and width['outer_knee.viscous'] < 0.03


@pytest.mark.long
def test_intervals_hold_what_they_promise(dribbel, run):
    """Noise of encoders would move the values further than the intervals say."""
    recording, kept = recording_of(run), []
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(0.0, 5e-4, recording.q.shape)
        result = identify(dribbel, recording._replace(q=recording.q + noise), model_error=0.0)
        kept += hits(result)
    assert np.mean(kept) >= 0.9
    assert result['parameters']['hip.driving_gain']['high'] < 0.9  # and are not just wide


@pytest.mark.long
def test_sensors_of_a_laboratory(dribbel):
    """A real robot, whose encoders and contacts are noisy, could not be identified."""
    pytest.importorskip('mujoco')
    robot_file = load_robot('dribbel', [*LOSSES, *noise_overrides('lab')])
    result = identify(dribbel, recording_of(simulate(robot_file, 'hip_switching', 'mujoco', 15.0)))
    assert np.mean(hits(result)) >= 0.85
    assert result['parameters']['hip.driving_gain']['value'] == pytest.approx(0.8, rel=0.1)


def test_a_walk_without_motion_is_refused(dribbel):
    """Numbers would be printed that the run does not tell."""
    run = simulate(dribbel, 'none', 'rigid', 0.3)
    with pytest.raises(InvalidInput, match='excitation .* is 1: .*hip moves.*record') as caught:
        identify(dribbel, recording_of(run))
    assert '\n' not in str(caught.value)


def test_an_idle_motor_is_refused(dribbel):
    """A motor that did nothing would get an efficiency."""
    recording = recording_of(simulate(dribbel, 'none', 'rigid', 0.3))
    with pytest.raises(InvalidInput, match='excitation of the run'):
        identify(dribbel, recording._replace(effort=0.0 * recording.effort, q=0.0 * recording.q))


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return the folder of a report of a short walk."""
    pytest.importorskip('mujoco')
    pytest.importorskip('matplotlib')
    pytest.importorskip('PIL')
    path = tmp_path_factory.mktemp('walk')
    walked = simulate(load_robot('dribbel', LOSSES), 'hip_switching', 'mujoco', 10.0)
    write_report(walked, summarize(walked), path)
    return path


@pytest.fixture(scope='module')
def short_folder(tmp_path_factory):
    """Return the folder of a report of two steps."""
    pytest.importorskip('matplotlib')
    pytest.importorskip('PIL')
    path = tmp_path_factory.mktemp('two_steps')
    walked = simulate(load_robot('dribbel', LOSSES), 'hip_switching', 'rigid', 1.5)
    write_report(walked, summarize(walked), path)
    return path


@pytest.mark.long
def test_verb_reads_what_simulate_writes(capsys, dribbel, folder):
    """The table on disk would say something else than the run it came from."""
    assert main(['identify', str(folder), '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert result['robot'] == 'dribbel' and result['files'] == []
    assert all(hits(result)), result['parameters']
    again = identify(dribbel, read_recording(folder / 'run.csv', dribbel.robot))
    assert again['parameters']['hip.efficiency']['value'] == pytest.approx(
        result['parameters']['hip.efficiency']['value'], rel=1e-9
    )
    assert main(['identify', str(folder)]) == 0
    assert 'hip.coulomb' in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    'arguments, words',
    [
        (['--robot', 'compass'], 'is of another robot than compass'),
        (['--set', 'hip_mass=5.0'], 'another mass'),
        (['--confidence', '1.5'], 'must be between 0 and 1'),
    ],
)
def test_another_robots_run_is_refused(capsys, short_folder, arguments, words):
    """A run would be explained by the masses of a robot that did not walk it."""
    assert main(['identify', str(short_folder), *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count('\n') == 1


def test_tables_of_others_are_refused(capsys, tmp_path):
    """A stranger's table would end in a stack trace."""
    (tmp_path / 'run.csv').write_text('time [s],hop [rad]\n0,1\n1,2\n')
    for path, robot, words in (
        (tmp_path, ['--robot', 'dribbel'], 'has no column'),
        (tmp_path, [], 'does not say which robot'),
        (tmp_path / 'nothing', ['--robot', 'dribbel'], 'cannot be read'),
    ):
        assert main(['identify', str(path), *robot]) == 2
        error = capsys.readouterr().err
        assert words in error and error.count('\n') == 1
    (tmp_path / 'run.csv').write_text('time [s],hop [rad]\n0,1\nten,1\n')
    assert main(['identify', str(tmp_path), '--robot', 'dribbel']) == 2
    assert 'no table of numbers' in capsys.readouterr().err
