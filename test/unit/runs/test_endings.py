# SPDX-License-Identifier: Apache-2.0
"""A run that a fault ended says so everywhere, with code and time."""

import json

import numpy as np
import pytest

from walking_control.cli import main
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import NotAchieved
from walking_control.lab.reports.report import write_report
from walking_control.runs.metrics import summarize
from walking_control.runs.quantities import ending, failure
from walking_control.runs.run import FIRST_CAPACITY, Recorder
from walking_control.safety.faults import Fault, KINDS, read_fault
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant

SLOW = ['--set', 'safety.velocity_limit_factor=0.3']  # a hip that may not swing is a fault


@pytest.mark.parametrize('code', KINDS)
def test_a_fault_survives_its_text(code):
    """The simulator would record another fault than the controller sent."""
    fault = Fault(code, 'joint hip (at 3 s) moves at 3.2 rad/s; limit 3', 12.340001)
    assert read_fault(str(fault)) == fault
    assert read_fault('') is None
    assert str(fault).startswith(f'{code}: ')


def test_a_fault_is_said_everywhere(capsys, tmp_path):
    """A robot stopped by a fault was said to have fallen, or to walk; nobody learnt when."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    status = main(
        ['simulate', 'dribbel', '--duration', '2', '--json', '--out', str(tmp_path), *SLOW]
    )
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert status == 1
    assert result['fault'] == 'velocity_limit' and result['fell'] is False
    assert 0.0 < result['fault_time'] < 0.3
    assert result['fault_time'] == pytest.approx(result['duration'])
    assert 'velocity_limit' in captured.err and f'{result["fault_time"]:.2f} s' in captured.err
    page = (tmp_path / 'report.html').read_text()
    assert '<title>dribbel was stopped</title>' in page
    assert 'by the fault velocity_limit: the velocity of joint hip' in page
    assert 'without falling' not in page
    assert json.loads((tmp_path / 'summary.json').read_text())['fault'] == 'velocity_limit'


def test_a_fall_is_a_fault_with_a_time(capsys):
    """Text and JSON would disagree on what ended a walk that fell."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    assert main(['simulate', 'dribbel', '--set', 'start.v=[0.8, 0.0, 0.0, 0.0]']) == 1
    captured = capsys.readouterr()
    assert 'fault: fall' in captured.out and 'fault time: 1.' in captured.out
    assert captured.err.startswith('error: dribbel fell at 1.')


@pytest.mark.long
def test_a_robot_in_space_says_its_fault(tmp_path, standing_run):
    """Its report had a text of its own, which knew of falls only."""
    standing_run.fault = Fault('stale_imu', 'nothing heard for 0.2 s; limit 0.05 s', 0.25)
    write_report(standing_run, summarize(standing_run), tmp_path)
    page = (tmp_path / 'report.html').read_text()
    assert 'Was stopped at 0.25 s by the fault stale_imu: nothing heard for 0.2 s' in page
    assert 'without falling' not in page


@pytest.fixture
def standing_run():
    """Return a run of the humanoid, all columns at rest."""
    from synthetic_posture_run import synthetic_posture_run

    return synthetic_posture_run()


def test_what_happened_after_a_fault(standing_run):
    """A controller damps after a fault; that the robot then fell must not hide the fault."""
    standing_run.fault = Fault('stale_imu', 'nothing heard', 0.25)
    standing_run.fell, standing_run.fall_reason = True, 'the base leans'
    text = failure(ending(standing_run))
    assert (
        text == 'was stopped at 0.25 s by the fault stale_imu: nothing heard; then it fell: '
        'the base leans'
    )
    standing_run.fault = Fault('not_finite', 'x', float('nan'))
    assert ending(standing_run)['fault_time'] is None and 'nan' not in failure(ending(standing_run))


@pytest.mark.parametrize(
    'error',
    [
        NotAchieved('posture', limit='out of reach'),
        ZeroDivisionError('division'),
        np.linalg.LinAlgError('singular'),
    ],
)
def test_a_law_without_an_answer_is_a_fault(dribbel, monkeypatch, error):
    """In a script the error of a law ended the run without a record, in a node with one."""

    def update(*_):
        raise error

    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    loop = ControlLoop(dribbel)
    monkeypatch.setattr(loop.controller, 'update', update)
    run = run_plant(make_plant(dribbel), loop, dribbel.start, 0.1)
    assert run.fault.code == 'internal' and str(error) in run.fault.message and not run.fell
    assert np.isfinite(run.effort).all()


def test_a_record_grows_as_it_goes(dribbel):
    """A long duration took all of its memory before the first tick: 745 GiB of 1e9 s."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    plant = make_plant(dribbel)
    loop = ControlLoop(dribbel)
    recorder = Recorder(dribbel.robot, 'none', plant, capacity=10**11)
    rows = 2 * FIRST_CAPACITY + 7
    for row in range(rows):
        loop.state.steps = row
        recorder.record(plant, loop.state, loop.command)
    run = recorder.finish()
    assert np.array_equal(run.steps, np.arange(rows)) and len(run.q) == rows
    assert not run.broke_off
