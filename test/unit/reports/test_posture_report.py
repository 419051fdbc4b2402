# SPDX-License-Identifier: Apache-2.0
"""Report and check of a robot in space: complete, readable, true to the run."""

import csv
import json
from pathlib import Path
import re

import numpy as np
import pytest
from synthetic_posture_run import ALONE, KNEE, ROWS, synthetic_posture_run

from walking_control.cli import main
from walking_control.lab.experiments.check import check_robot
from walking_control.lab.reports.animations.film import write_animation
from walking_control.lab.reports.report import write_report
from walking_control.lab.reports.scene import Scene, telling_rows
from walking_control.lab.reports.sections import POSTURE
from walking_control.runs.metrics import summarize

PIL_Image = pytest.importorskip('PIL.Image')
pytest.importorskip('matplotlib')


@pytest.fixture(scope='module')
def report(tmp_path_factory):
    """Return (run, summary, files) of a report."""
    run = synthetic_posture_run(routine='hold')
    summary = summarize(run)
    files = write_report(run, summary, tmp_path_factory.mktemp('report'))
    return run, summary, {Path(file).name: Path(file) for file in files}


@pytest.mark.long
def test_all_files_are_written(report):
    """A figure of the report would be missing."""
    _, _, files = report
    assert set(files) == {
        'report.html',
        'summary.json',
        'heat.png',
        'run.csv',
        'animation.gif',
        *(f'{name}.png' for name, _, _ in POSTURE.figures[:5]),
    }
    assert all(path.stat().st_size > 0 for path in files.values())


@pytest.mark.long
def test_page_tells_what_happened(report):
    """The page would say that the robot did not take a step, or hide the drift."""
    _, _, files = report
    text = re.sub(r'base64,[A-Za-z0-9+/=]+', '', files['report.html'].read_text(encoding='utf-8'))
    assert '<h1>humanoid stands</h1>' in text
    assert '0.7 s on the left sole alone' in text
    assert f'<td>{KNEE:#.2g}</td><td class="unit">rad</td>' in text
    assert '<td>left knee</td>' in text and '<td>50.0 to 100</td>' in text
    assert 'None' not in text and 'nan' not in text


@pytest.mark.long
def test_table_names_base_and_joints_in_space(report):
    """A column of the table would stand under the name of another coordinate."""
    run, _, files = report
    with open(files['run.csv'], newline='', encoding='utf-8') as file:
        header, *rows = csv.reader(file)
    column = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert len(column) == len(header)
    knee = run.robot.joint_index('left_knee')
    for name, values in (
        ('y [m]', run.q[:, 1]),
        ('quaternion_w [1]', run.q[:, 6]),
        ('left_knee [rad]', run.q[:, 7 + knee]),
        ('right_sole_force_z [N]', run.foot_force[:, 1, 2]),
    ):
        assert column[name] == pytest.approx(values, rel=1e-8), name
    assert 'angular_velocity_z [rad/s]' in column and 'left_knee_rate [rad/s]' in column


def test_pictures_show_each_support_once():
    """The page would show the same stance twice and the single support not at all."""
    run = synthetic_posture_run()
    rows = telling_rows(run)
    assert [run.contact[row].tolist() for row, _ in rows] == [[True, False], [True, True]]
    assert ALONE.start <= rows[0][0] < ALONE.stop
    run.fell = True
    assert telling_rows(run)[-1] == (ROWS - 1, 'the end')


def test_arrow_starts_at_its_sole_and_grows_with_the_force():
    """An arrow would point elsewhere or tell another force than acted."""
    run = synthetic_posture_run()
    scene = Scene(run)
    both, alone = scene.pose(0), scene.pose(ALONE.start)
    assert set(both.arrows) == {0, 1} and set(alone.arrows) == {0}
    arrows = [pose.arrows[0][1] - pose.arrows[0][0] for pose in (both, alone)]
    assert arrows[1] == pytest.approx(2.0 * arrows[0])
    force = run.foot_force[0, 0]
    assert arrows[0] @ force == pytest.approx(np.linalg.norm(arrows[0]) * np.linalg.norm(force))
    assert 0.1 < arrows[0][2] / scene.height < 0.5
    assert both.arrows[1][0] == pytest.approx(both.soles[1][:-1].mean(axis=0))
    assert both.plumb[2] == pytest.approx(0.0, abs=1e-12)


def test_animation_moves_and_is_small(tmp_path):
    """The animation would be one frozen frame, or too large for a page."""
    write_animation(synthetic_posture_run(), tmp_path / 'stand.gif')
    assert (tmp_path / 'stand.gif').stat().st_size < 1.5e6
    pictures = set()
    with PIL_Image.open(tmp_path / 'stand.gif') as image:
        for frame in range(0, image.n_frames, 10):
            image.seek(frame)
            pictures.add(image.convert('L').resize((140, 95)).tobytes())
    assert len(pictures) >= 3


@pytest.mark.parametrize('rows', [1, pytest.param(2, marks=pytest.mark.long)])
def test_shortest_runs_can_be_reported(tmp_path, rows):
    """A fault in the first ticks would end in a crash instead of a report."""
    run = synthetic_posture_run()
    run.columns = {name: column[:rows] for name, column in run.columns.items()}
    run.fell, run.fall_reason = True, 'stopped'
    for file in write_report(run, summarize(run), tmp_path):
        assert Path(file).stat().st_size > 0


def test_check_tells_soles_and_start_posture(capsys):
    """`check` of a robot in space would not say whether it can stand."""
    assert main(['check', 'humanoid', '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert result['facts']['mass'] == pytest.approx(31.6)
    assert result['facts']['soles'] == [f'{side} sole 0.2 m x 0.1 m' for side in ('left', 'right')]
    assert result['facts']['start'].startswith('posture can be held on left sole and right sole')
    assert 'centre_of_pressure' in result['facts']['left sole alone']
    assert not any('x-z plane' in sentence for sentence in result['assumptions'])


def test_check_finds_a_posture_that_falls_over():
    """`check` would call a robot usable that falls over at the start."""
    overrides = [(f'start.posture.{side}_ankle_pitch', -0.6) for side in ('left', 'right')]
    overrides += [(f'start.posture.{side}_hip_pitch', 0.0) for side in ('left', 'right')]
    result = check_robot('humanoid', overrides)
    assert not result['ok']
    assert [problem['what'] for problem in result['problems']] == ['start.posture']


def test_check_finds_soles_that_do_not_lie_on_the_floor():
    """Statics would be judged for soles that touch the floor with an edge only."""
    overrides = [(f'start.posture.{side}_ankle_pitch', 0.0) for side in ('left', 'right')]
    (problem,) = check_robot('humanoid', overrides)['problems']
    assert problem['limit'].startswith('no sole lies flat')
