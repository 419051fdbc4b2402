# SPDX-License-Identifier: Apache-2.0
"""The report of a walk in space: its verdicts, its pictures, its film."""

import numpy as np
import pytest
from synthetic_space_walk import synthetic_space_walk

from walking_control.lab.reports.plots.footprints import footprint_outlines, plot_stoppable
from walking_control.lab.reports.report import write_report
from walking_control.runs.route import Route, Segment
from walking_control.runs.space import judge_route, pushes, yaw
from walking_control.simulation.disturbance import parse_disturbance

pytest.importorskip('matplotlib', reason='reports need matplotlib')
Image = pytest.importorskip('PIL.Image', reason='reports need Pillow')

ROUTE = Route(
    (
        Segment('ahead & on', 0.0, 2.0, (0.5, -0.1, 0.2), False, 0.0, 0.0, 0.0),
        Segment('pushed', 2.0, 4.0, (0.1, 0.0, 0.0), False, 0.5, 2.5, 90.0),
    )
)


@pytest.mark.long
def test_report_shows_route_and_walk(tmp_path):
    """Whoever watches a demo wants to see where it went, and whether it did what was asked."""
    run = synthetic_space_walk(ROUTE, rows=401)
    summary = {**run.summary(), 'route': judge_route(run)}
    files = write_report(run, summary, tmp_path)
    names = {path.rsplit('/', 1)[1] for path in files}
    assert {'footprints.png', 'velocities.png', 'step_sizes.png', 'animation.gif'} <= names
    page = (tmp_path / 'report.html').read_text()
    assert 'ahead &amp; on' in page and 'kept to 2 of 2 segments' in page
    assert '<th>electrical cost of transport</th><th>on the gait (%)</th>' in page
    assert '<td>0.50 (0.50)</td><td>-0.10 (-0.10)</td><td>0.20 (0.20)</td>' in page
    with Image.open(tmp_path / 'animation.gif') as film:
        assert film.size == (720, 400) and film.n_frames > 40
        film.seek(32)  # 2.56 s: the push
        pushed = np.asarray(film.convert('RGB')).astype(int)
        film.seek(20)
        red = [
            np.sum((np.abs(frame - (164, 19, 76)) < 12).all(axis=2))
            for frame in (pushed, np.asarray(film.convert('RGB')).astype(int))
        ]
    assert red[0] > 100 > red[1], 'the push is drawn while it lasts'


def test_a_walk_that_could_not_be_stopped_is_shaded():
    """If it failed, a report would not show when a robot was beyond help."""
    run = synthetic_space_walk(rows=401)
    assert plot_stoppable(run) is None, 'a law that does not say'
    steps = np.ones(401)
    steps[100:200] = -1.0
    run.telemetry |= {'stoppable_steps': steps, 'stoppable_margin': 0.01 * steps}
    top, _ = plot_stoppable(run).axes
    (band,) = top.collections
    times = band.get_paths()[0].get_extents().intervalx
    assert times == pytest.approx(run.time[[100, 199]], abs=1e-6)


def test_pushes_of_every_kind_are_found():
    """A film would not show what hit the robot at a touchdown, within a step or at a time."""
    run = synthetic_space_walk(rows=401)
    run.disturbances = tuple(
        map(
            parse_disturbance,
            (
                'push=0.5@3',
                'push=0.5@4.5:direction=180',
                'side_push=0.2@2.5s',
                'push=1@9s',
                'step_up=0.01@5',
            ),
        )
    )
    found = list(pushes(run))
    assert [run.time[push.row] for push in found] == pytest.approx([1.2, 1.8, 2.5])
    turns = [np.arctan2(*push.way[::-1]) - yaw(run)[push.row] for push in found]
    assert np.exp(1j * np.array(turns)) == pytest.approx(np.array([1.0, -1.0, 1j]))


def test_footprints_lie_where_the_stance_feet_are():
    """A picture of footprints that drift with the swing foot shows another walk."""
    run = synthetic_space_walk(rows=401)
    prints = footprint_outlines(run)
    assert [foot for _, foot, _ in prints[:2]] == [0, 1], 'all feet stand at the start'
    assert [foot for _, foot, _ in prints[2:]] == [step % 2 for step in range(1, 11)]
    outline = prints[5][2]
    assert np.ptp(outline, axis=0).max() == pytest.approx(0.13, abs=0.02)
