# SPDX-License-Identifier: Apache-2.0
"""Files of a report: complete, self-contained, readable by others, small."""

import csv
import io
import json
from pathlib import Path
import re
import sys

import numpy as np
import pytest
from synthetic_run import STEP_LENGTH, STEP_TICKS, synthetic_run

from walking_control.exceptions import InvalidInput, MissingDependency
from walking_control.lab.reports.animations.film import write_animation
from walking_control.lab.reports.plots import style
from walking_control.lab.reports.plots import walk as plots
from walking_control.lab.reports.report import write_report
from walking_control.lab.reports.sections import HEAT, WALK
from walking_control.runs.metrics import summarize
from walking_control.runs.tables import run_columns
from walking_control.simulation.disturbance import Disturbance

PIL_Image = pytest.importorskip('PIL.Image')
pytest.importorskip('matplotlib')


@pytest.fixture(scope='module')
def report(tmp_path_factory):
    """Return (run, summary, files) of a report of five steps."""
    run = synthetic_run(steps=5)
    summary = summarize(run)
    directory = tmp_path_factory.mktemp('report') / 'new' / 'folder'
    files = write_report(run, summary, directory)
    return run, summary, {Path(file).name: Path(file) for file in files}


def test_all_files_are_listed_and_exist(report):
    """The list of files given to scripts would name what is not there, or hide what is."""
    _, _, files = report
    names = {'report.html', 'summary.json', 'run.csv', 'animation.gif'}
    assert set(files) == names | {f'{name}.png' for name, _, _ in (*WALK.figures[:6], HEAT)}
    directory = files['report.html'].parent
    assert {path.name for path in directory.iterdir()} == set(files)
    assert all(path.stat().st_size > 0 for path in files.values())


def test_page_needs_nothing_else(report):
    """The page would lose its pictures when mailed, or call out to a server."""
    _, _, files = report
    text = files['report.html'].read_text(encoding='utf-8')
    sources = re.findall(r'src="([^"]*)"', text)
    assert len(sources) == 1 + sum(name.endswith('.png') for name in files) > 6
    assert all(
        re.match(r'data:image/(png|gif);base64,[A-Za-z0-9+/=]+$', source) for source in sources
    )
    bare = re.sub(r'base64,[A-Za-z0-9+/=]+', '', text)
    for outside in ('http', 'href', '<link', '<script', 'url(', '.png', '.gif', '.csv'):
        assert outside not in bare


def test_page_opens_with_the_numbers(report):
    """Speed, clearance and cost of transport would not stand in the page's table."""
    _, summary, files = report
    text = files['report.html'].read_text(encoding='utf-8')
    table = text[text.index('<table>') : text.index('</table>')]
    steady = summary['steady']
    for value in (
        steady['speed'],
        steady['cost_of_transport'],
        steady['foot_clearance'],
        summary['speed'],
    ):
        assert f'<td>{value:#.3g}</td>' in table
    assert text.index('<table>') < text.index('image/png')


@pytest.mark.long
def test_fall_and_its_reason_stand_on_the_page_escaped(tmp_path):
    """A fall would go unmentioned, or its reason break the page."""
    run = synthetic_run(steps=2)
    run.fell, run.fall_reason = True, 'base < 0.4 m & sinking'
    write_report(run, summarize(run), tmp_path)
    text = (tmp_path / 'report.html').read_text(encoding='utf-8')
    assert 'base &lt; 0.4 m &amp; sinking' in text
    assert 'None' not in re.sub(r'base64,[A-Za-z0-9+/=]+', '', text)


def test_summary_file_is_the_summary(report):
    """The file would differ from what the command prints."""
    _, summary, files = report
    written = json.loads(files['summary.json'].read_text(encoding='utf-8'))
    assert sorted(written.pop('files')) == sorted(str(path) for path in files.values())
    assert written == {name: value for name, value in summary.items() if name != 'files'}


def test_table_reads_back_with_units(report):
    """A column would be lost, shifted or without its unit."""
    run, _, files = report
    with open(files['run.csv'], newline='', encoding='utf-8') as file:
        header, *rows = csv.reader(file)
    assert all(re.fullmatch(r'\w+ \[[^\]]+\]', name) for name in header)
    assert len(set(header)) == len(header)
    numbers = np.array(rows, dtype=float)
    assert numbers.shape == (len(run.time), len(header))
    column = dict(zip(header, numbers.T, strict=True))
    assert column['time [s]'] == pytest.approx(run.time)
    assert column['hip [rad]'] == pytest.approx(run.q[:, 3], rel=1e-8)
    assert column['q3 [rad]'] == pytest.approx(run.coordinates[:, 0], rel=1e-8)
    assert column['inner_foot_force_z [N]'] == pytest.approx(run.foot_force[:, 1, 2], rel=1e-8)
    assert column['hip_current [A]'] * 74.0 * 0.0302 == pytest.approx(
        column['hip_effort [N m]'], rel=1e-7
    )


def test_current_is_not_listed_without_a_motor():
    """A current would be made up for a robot that models none."""
    names = run_columns(synthetic_run(steps=1, overrides=[('resistance', 0.0)]))
    assert 'hip_effort [N m]' in names and 'hip_current [A]' not in names


@pytest.mark.long
def test_animation_runs_in_real_time_and_is_small(tmp_path):
    """The animation would be one frozen frame, too fast, or too large for a page."""
    run = synthetic_run(steps=14)
    write_animation(run, tmp_path / 'walk.gif', longest=6.0)
    assert (tmp_path / 'walk.gif').stat().st_size < 1.5e6
    duration, pictures = 0, set()
    with PIL_Image.open(tmp_path / 'walk.gif') as image:
        assert image.info['loop'] == 0
        for frame in range(image.n_frames):
            image.seek(frame)
            duration += image.info['duration']
            pictures.add(image.convert('RGB').resize((140, 95)).tobytes())
    assert duration == pytest.approx(6000, abs=45)
    assert len(pictures) > 100


@pytest.mark.long
def test_animation_follows_the_robot(tmp_path):
    """The robot would walk out of the picture."""
    run = synthetic_run(steps=14)
    assert run.q[-1, 0] > 12 * STEP_LENGTH
    write_animation(run, tmp_path / 'walk.gif')
    with PIL_Image.open(tmp_path / 'walk.gif') as image:
        for frame in (0, image.n_frames // 2, image.n_frames - 1):
            image.seek(frame)
            pixels = np.asarray(image.convert('RGB')).astype(int)
            coloured = np.ptp(pixels, axis=2) > 60
            across = np.flatnonzero(coloured.any(axis=0))
            assert 150 < across[0] and across[-1] < 410


@pytest.fixture(scope='module')
def lowered():
    """Return a run that goes down a step of 0.2 m at its third touchdown."""
    run = synthetic_run(steps=6)
    run.columns['q'][run.steps >= 3, 1] -= 0.2
    run.disturbances = (Disturbance('step_down', 0.2, 3),)
    return run


def test_animation_stands_on_the_floor_below_a_step(lowered, tmp_path):
    """The walker would sink into a floor drawn where it no longer is, or out of the picture."""
    write_animation(lowered, tmp_path / 'walk.gif')
    with PIL_Image.open(tmp_path / 'walk.gif') as image:
        image.seek(image.n_frames - 1)
        pixels = np.asarray(image.convert('RGB')).astype(int)
    coloured = np.ptp(pixels, axis=2) > 60
    lowest = np.flatnonzero(coloured.any(axis=1))[-1]
    floor = np.flatnonzero(pixels[:, -20].max(axis=1) < 90)[-1]
    assert abs(lowest - floor) < 10
    assert 300 < floor < 330


def test_stick_figure_stands_on_the_floor_below_a_step(lowered):
    """The last steps would be drawn under a floor left behind."""
    figure = plots.plot_stick_figure(lowered)
    for axis in figure.axes:
        place = [line.get_xy1() for line in axis.lines if hasattr(line, 'get_xy1')]
        assert place[0][1] == pytest.approx(-0.2, abs=1e-3)


@pytest.mark.parametrize('steps', [1, 2, 3])
def test_stick_figure_has_room_for_its_words(steps):
    """Legend, titles and labels would lie on each other or beyond the edge."""
    figure = plots.plot_stick_figure(synthetic_run(steps=6), steps=steps)
    style.save(figure, io.BytesIO())
    legend = figure.legends[0].get_window_extent()
    for axis in figure.axes:
        assert not legend.overlaps(axis._left_title.get_window_extent())
        assert axis.xaxis.label.get_window_extent().y0 >= 0.0


@pytest.mark.parametrize(
    'rows', [1, *(pytest.param(rows, marks=pytest.mark.long) for rows in (2, STEP_TICKS // 2))]
)
def test_shortest_runs_can_be_reported(tmp_path, rows):
    """A fault in the first ticks would end in a crash instead of a report."""
    run = synthetic_run(steps=1)
    run.columns = {name: column[:rows] for name, column in run.columns.items()}
    run.fell, run.fall_reason = True, 'stopped'
    files = write_report(run, summarize(run), tmp_path)
    assert all(Path(file).stat().st_size > 0 for file in files)


def test_passive_robot_has_no_plot_of_actuators():
    """A robot without actuators could not be plotted."""
    run = synthetic_run(steps=2)
    object.__setattr__(run.robot, 'actuators', {})
    run.columns['effort'] = run.effort[:, :0]
    run.columns['work'] = run.work[:, :0]
    assert plots.plot_actuators(run) is None
    summary = summarize(run)
    assert summary['cost_of_transport'] == 0.0
    assert summary['cost_of_transport_electrical'] is None and summary['peak_effort'] is None


@pytest.mark.parametrize('missing', ['matplotlib', 'PIL'])
def test_missing_package_is_named_before_anything_is_written(tmp_path, monkeypatch, missing):
    """A report would stop half written, or with a bare ImportError."""
    for name in [name for name in sys.modules if name.split('.')[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    run = synthetic_run(steps=2)
    with pytest.raises(MissingDependency, match='pip install'):
        write_report(run, summarize(run), tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


def test_unwritable_directory_is_refused(tmp_path):
    """A wrong --out would end in a traceback."""
    (tmp_path / 'file').write_text('')
    run = synthetic_run(steps=1)
    with pytest.raises(InvalidInput, match='cannot be written'):
        write_report(run, summarize(run), tmp_path / 'file')


@pytest.mark.long
def test_run_with_steps_and_a_posture_shows_both(tmp_path):
    """A law that steps and holds a posture would get half a report."""
    run = synthetic_run(steps=4)
    run.settings['routine'] = 'hold'
    summary = summarize(run)
    assert summary['steady'] is not None and summary['posture']['max_tilt'] >= 0.0
    names = {Path(file).name for file in write_report(run, summary, tmp_path)}
    assert {'steps.png', 'joint_motion.png', 'base.png', 'heat.png', 'animation.gif'} <= names
    page = (tmp_path / 'report.html').read_text(encoding='utf-8')
    assert 'Speed' in page and 'Largest tilt of the base' in page
