# SPDX-License-Identifier: Apache-2.0
"""Pictures and tables of envelopes and of laws side by side."""

import math

import numpy as np
import pytest

from walking_control.cli import output
from walking_control.lab.experiments.comparison import outcome, Walk
from walking_control.lab.experiments.variants import Variant
from walking_control.lab.reports.comparison_page import (
    rows_of,
    summarize_comparison,
    text_of,
    write_comparison,
)
from walking_control.lab.reports.plots.comparison import plot_envelope, plot_gaits

DIRECTIONS, PHASES = (0.0, 90.0, 180.0, 270.0), (0.0, 0.5)


@pytest.fixture
def envelope():
    """Return a result whose first failing size tells its direction and phase; none at 180."""
    cells = [
        {
            'direction_deg': direction,
            'phase': phase,
            'known': direction != 270.0,
            'first_failure': None
            if direction >= 180.0
            else round(0.5 + direction / 180.0 + 0.2 * phase, 3),
            'largest_survived': 0.4,
        }
        for direction in DIRECTIONS
        for phase in PHASES
    ]
    return {
        'cells': cells,
        'largest': 1.6,
        'noise': True,
        'robot': 'walker3d',
        'controller': 'stepping',
        'nominal_speed': 0.5,
        'disturbance': 'push',
        'unit': 'N s/kg',
        'after': 20.0,
        'first_failure': 0.5,
        'reason': None,
        'largest_tried': 1.6,
        'cost_of_transport_electrical': 0.456,
    }


def test_the_polar_plot_shows_the_sizes_where_they_are(envelope):
    """A push from the left would be drawn at the right, or the least not be the least."""
    figure = plot_envelope(envelope)
    axis = figure.axes[0]
    assert axis.get_theta_offset() == pytest.approx(0.5 * math.pi)
    assert axis.get_theta_direction() == 1
    least = next(line for line in axis.get_lines() if line.get_label() == 'the least')
    np.testing.assert_allclose(least.get_xdata()[:4], np.radians(DIRECTIONS))
    np.testing.assert_allclose(least.get_ydata(), [0.5, 1.0, 1.6, 0.4, 0.5])
    line = next(line for line in axis.get_lines() if line.get_label() == '0.5')
    np.testing.assert_allclose(line.get_ydata()[:2], [0.6, 1.1])


def test_the_table_tells_survived_from_unknown(envelope, capsys):
    """What nobody tried would look like what was survived."""
    output.text('envelope.txt')(envelope)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ['0', '0.5', '0.6'],
        ['90', '1', '1.1'],
        ['180', '>', '1.6', '>', '1.6'],
        ['270', '?', '?'],
    ]


def test_places_are_drawn(envelope, capsys):
    """The plot of a floor would fail after minutes of trials."""
    for cell in envelope['cells']:
        cell['direction_deg'] = None
    envelope |= {'cells': envelope['cells'][:2], 'disturbance': 'step_up', 'unit': 'm'}
    bars = plot_envelope(envelope).axes[0].patches
    assert [bar.get_height() for bar in bars] == [0.5, 0.6]
    output.text('envelope.txt')(envelope)
    assert 'step up' in capsys.readouterr().out.splitlines()[1]


def test_laws_side_by_side(envelope, tmp_path, capsys):
    """A comparison would show one law's numbers under another's name, or not be made."""

    def gait(commanded, speed):
        return {
            'commanded': commanded,
            'survived': speed is not None,
            'reason': None,
            'steps': 9,
            'speed': speed,
            'cost_of_transport_electrical': 0.7,
            'cost_of_transport_each_joint': 0.8,
            'step_time': 0.3,
            'heading': 1.0,
        }

    walks = [
        Walk(
            Variant(name, 'stepping'),
            {
                'survived': True,
                'reason': None,
                'disturbed': True,
                'steps': 18,
                'gaits': [gait(0.2, speed), gait(0.4, None)],
                'robustness': {'push': {**envelope, 'first_failure': push}},
            },
        )
        for name, speed, push in (('law', 0.21, 0.5), ('rival', 0.19, None))
    ]
    summary = summarize_comparison(walks, 'walker3d', [], 12.0)
    output.text('comparison.txt', rows=rows_of(summary), outcome=outcome, text_of=text_of)(summary)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[-2:] == ['0.210', '0.190'] for line in lines)
    assert any('First failing push' in line and 'none to 1.6' in line for line in lines)
    assert lines[-1].split()[-2:] == ['0.456', '0.456']  # price beside margin
    assert '0.456' in plot_envelope(envelope).axes[0].get_title()
    axes = plot_gaits(walks).axes
    assert [line.get_ydata()[0] for line in axes[0].get_lines()[:2]] == [0.21, 0.19]
    assert len(axes) == 3 and len(axes[2].get_lines()) == 2
    files = write_comparison(walks, summary, tmp_path)
    assert any(name.endswith('gaits.png') for name in files)
    page = (tmp_path / 'comparison.html').read_text()
    assert 'first failing' in page.lower() and 'rival' in page
    for walk in walks:
        del walk.measures['robustness']
    assert len(plot_gaits(walks).axes) == 2
