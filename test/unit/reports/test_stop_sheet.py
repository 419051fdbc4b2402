# SPDX-License-Identifier: Apache-2.0
"""The sheet of stops shows every cause, and where the robot fell."""

import csv

from walking_control.lab.reports.pages import write_stop_sheet


def a_trial(cause, stood, steps=1):
    return {
        'cause': cause,
        'phase': 0.5,
        'speed': 0.1,
        'stood': stood,
        'time': 0.75 if stood else None,
        'way': 0.125 if stood else None,
        'why': None if stood else 'fell <here>',
        'stoppable_steps': steps,
        'stoppable_margin': 0.01,
    }


def a_row(cause, stood):
    return {
        'cause': cause,
        'category': 2,
        'starts': 1,
        'stood': stood,
        'soon': stood,
        'median_time': 0.75 if stood else None,
        'worst_time': 0.75 if stood else None,
        'worst_way': 0.125 if stood else None,
        'said_no': 0,
        'said_yes_and_fell': 1 - stood,
        'fell': 1 - stood,
        'warned': 0,
    }


def test_the_sheet_has_every_cause_and_every_start(tmp_path):
    """If it failed, a printed sheet would hide the starts at which the robot fell."""
    result = {
        'robot': 'walker3d',
        'controller': 'stepping',
        'plant': 'mujoco',
        'noise': 'lab',
        'speed': 0.5,
        'push': (0.5, 0.5),
        'causes': [a_row('emergency_stop', 1), a_row('stale_imu', 0)],
        'trials': [a_trial('emergency_stop', True), a_trial('stale_imu', False, steps=-1)],
    }
    files = write_stop_sheet(result, tmp_path)
    page = (tmp_path / 'stops.html').read_text(encoding='utf-8')
    assert [path.rpartition('/')[2] for path in files] == ['stops.html', 'stops.csv']
    assert 'sensors lab' in page and 'pushed by 0.5 N s/kg' in page
    assert page.count('<h2>') == 2 and '0.75' in page and '-<b>x</b>' in page
    with (tmp_path / 'stops.csv').open(encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    assert [row['stood'] for row in rows] == ['True', 'False'] and rows[1]['why'] == 'fell <here>'
