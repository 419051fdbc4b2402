# SPDX-License-Identifier: Apache-2.0
"""Measured walks are read strictly, and what is wrong with one is said in a line."""

import gzip
import json
import os
from pathlib import Path
import re

from measured_set import EVENTS, MASS, write_set
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import simpson
import yaml

from walking_control.cli import main
from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.measured_walks import read_body, read_walk, walk_of_run
from walking_control.lab.reports.reproduction.humanoid import reproduce_walks
from walking_control.loading import load_robot
from walking_control.runs import indicators
from walking_control.runs.tables import write_run_table
from walking_control.simulation.simulate import simulate

DATA = Path(
    os.environ.get('WALKING_CONTROL_DATA') or Path(__file__).parents[3].parent / 'shared' / 'data'
)
REEMC = DATA / 'reemc'
needs_reemc = pytest.mark.skipif(
    not (REEMC / 'robot.yaml').is_file(),
    reason='walks of REEM-C are not here: set WALKING_CONTROL_DATA; they are in '
    'eurobench/eb_hum_bench',
)


@pytest.fixture
def walk(tmp_path):
    """Return the folder of a good walk."""
    return write_set(tmp_path)


def read(walk, mend=True):
    """Return a walk of `write_set`, and remarks."""
    return read_walk(walk, *read_body(walk.parents[1] / 'robot.yaml'), mend=mend)


def change(path, old, new, count=-1):
    """Replace words of a file, which must be there."""
    text = path.read_text('utf-8')
    assert old in text
    path.write_text(text.replace(old, new, count), encoding='utf-8')


def edit_lines(path, edit):
    """Replace the lines of a file by what a function makes of them."""
    path.write_text('\n'.join(edit(path.read_text('utf-8').splitlines())) + '\n', encoding='utf-8')


def test_walk_is_read_as_it_was_written(walk):
    """Columns, phases or the place of feet would be mixed up: all indicators would be wrong."""
    found, remarks = read(walk)
    assert remarks == []
    assert pin.computeTotalMass(found.model) == pytest.approx(MASS)
    motion = indicators.observe(found)
    assert motion['points'][0] == pytest.approx(np.array([[0, 0.1, 0], [0, -0.1, 0]]), abs=1e-12)
    assert motion['velocity'][50, 0] == pytest.approx(0.3, abs=1e-3)
    told = indicators.measure(found, indicators.series_of(found, motion))
    # the first half step ends at 0.6 s, the last begins at 2.0 s
    assert [len(steps) for steps in indicators.find_steps(found.contact)[1].values()] == [
        1,
        2,
        2,
        2,
    ]
    load = told['vertical_impact_maximum_aggregated']
    assert load['by_phase']['fr_single']['mean'] == pytest.approx(0.5 * MASS * 9.81)
    assert load['value'] == pytest.approx(MASS * 9.81)


@pytest.mark.parametrize('mark', [',', '\t'])
def test_separators_and_packing_change_nothing(walk, mark):
    """A log written by another program would be refused, or read wrongly."""
    before = read(walk)[0]
    for path in walk.glob('*.csv'):
        path.with_suffix('.csv.gz').write_bytes(
            gzip.compress(path.read_text('utf-8').replace(';', mark).encode())
        )
        path.unlink()
    after = read(walk)[0]
    assert all(np.array_equal(a, b) for a, b in zip(before[4:], after[4:], strict=True))


def test_what_a_log_leaves_out_is_taken_from_positions(walk):
    """A walk without rates, torques or loads would not be measured, though its phases are known."""
    full = read(walk)[0]
    for name in ('vel', 'acc', 'trq', 'ftl', 'ftr'):
        (walk / f'{name}.csv').unlink()
    found, remarks = read(walk)
    assert remarks == ['vel: not told, so taken from pos', 'acc: not told, so taken from pos']
    assert found.v == pytest.approx(full.v, abs=0.05)
    told = indicators.measure(found, indicators.series_of(found, indicators.observe(found)))
    assert told['center_of_pressure_average_bos_dist']['value'] is None
    assert told['residual_forces']['by_phase'] == {}
    assert told['capture_point_average_bos_dist']['value'] is not None


def test_late_rates_are_not_believed_but_kept_for_reproduction(walk):
    """Rates that contradict the positions would make a standing foot slide, unnoticed."""
    edit_lines(walk / 'vel.csv', lambda lines: [lines[0], *late(lines[1:], 10)])
    mended, remarks = read(walk)
    assert len(remarks) == 1 and remarks[0].startswith('vel: off by')
    kept, silence = read(walk, mend=False)
    assert silence == []
    assert np.abs(mended.v - kept.v).max() > 0.5


def late(lines, rows):
    """Return lines with the numbers of so many rows before, times as they are."""
    cells = [line.partition(';') for line in lines]
    return [f'{cells[i][0]};{cells[max(i - rows, 0)][2]}' for i in range(len(cells))]


def test_feet_stand_by_their_loads_without_events(walk):
    """A walk without events could not be measured, or a flicker of a sensor would be a step."""
    (walk / 'gaitEvents.yaml').unlink()
    for name, first in (('ftl', 40), ('ftr', 20)):
        edit_lines(walk / f'{name}.csv', lambda lines, first=first: swing(lines, first))
    found, remarks = read(walk)
    assert 'gaitEvents' in remarks[-1]
    assert np.flatnonzero(np.diff(found.contact[:, 0])).tolist() == [39, 59]
    assert np.flatnonzero(np.diff(found.contact[:, 1])).tolist() == [19, 39]


def swing(lines, first):
    """Return lines in which a foot is in the air for 20 rows, and for one row a second later."""
    air = [*range(first + 1, first + 21), first + 71]
    return [
        re.sub(r';0;0;[^;]*', ';0;0;-20', x, count=1) if i in air else x
        for i, x in enumerate(lines)
    ]


def events(walk, **changed):
    """Write other gait events."""
    told = {**EVENTS, **changed}
    (walk / 'gaitEvents.yaml').write_text(yaml.safe_dump(told), encoding='utf-8')


def cut_all(walk, keep):
    """Cut all tables of a walk by their lines."""
    for path in walk.glob('*.csv'):
        edit_lines(path, keep)


def damaged(text):
    """Return a packed text with some bytes lost."""
    return gzip.compress(text)[:12] + 8 * b'\xff' + gzip.compress(text)[20:]


BAD = {
    'a column is missing': (
        lambda w: change(w / 'pos.csv', 'left_joint', 'knee'),
        "pos.csv is 'left_joint': missing",
    ),
    'separated by blanks': (lambda w: change(w / 'vel.csv', ';', ' '), 'vel.csv.*separated by'),
    'separators mixed': (
        lambda w: edit_lines(
            w / 'vel.csv', lambda x: [x[0], *(y.replace(';', ',') for y in x[1:])]
        ),
        "vel.csv, line 2 is '1 columns': must be 10",
    ),
    'decimal commas': (
        lambda w: edit_lines(
            w / 'vel.csv', lambda x: [x[0], *(y.replace('.', ',') for y in x[1:])]
        ),
        'vel.csv: is no table of numbers',
    ),
    'cut within a line': (
        lambda w: (w / 'pos.csv').write_bytes((w / 'pos.csv').read_bytes()[:4000]),
        'pos.csv, line .*is it cut there',
    ),
    'one file cut': (
        lambda w: edit_lines(w / 'acc.csv', lambda x: x[:60]),
        'acc.csv.*is the run cut',
    ),
    'one row': (lambda w: cut_all(w, lambda x: x[:2]), 'pos.csv.*ten rows at least'),
    'packed and damaged': (
        lambda w: (w / 'pos.csv.gz').write_bytes(damaged((w / 'pos.csv').read_bytes())),
        'pos.csv.gz: cannot be read',
    ),
    'all files cut': (lambda w: cut_all(w, lambda x: x[:60]), 'gait events.*is the run cut'),
    'a piece cut out': (lambda w: cut_all(w, lambda x: x[:30] + x[60:]), 'pos.csv, line 31.*cut'),
    'NaN': (
        lambda w: edit_lines(
            w / 'ftl.csv', lambda x: [*x[:9], re.sub(';[^;]*', ';nan', x[9], count=1), *x[10:]]
        ),
        'ftl.csv, line 10, column force_x is nan',
    ),
    'times go back': (
        lambda w: edit_lines(w / 'pos.csv', lambda x: [*x[:50], x[20], *x[50:]]),
        'pos.csv, line 51',
    ),
    'a walk of others': (
        lambda w: edit_lines(w / 'vel.csv', lambda x: [x[0], *(f'9{y}' for y in x[1:])]),
        'vel.csv',
    ),
    'no positions': (lambda w: (w / 'pos.csv').unlink(), 'pos.csv: cannot be read'),
    'no robot': (lambda w: (w.parents[1] / 'robot.yaml').unlink(), 'robot robot.yaml: cannot be'),
    'nothing in it': (lambda w: (w / 'pos.csv').write_text(''), 'pos.csv'),
    'events out of order': (
        lambda w: events(w, l_toe_off=[1.6, 0.8]),
        'l_toe_off is .out of order',
    ),
    'two strikes in a row': (lambda w: events(w, l_toe_off=[0.8]), 'out of order'),
    'events of another run': (lambda w: events(w, r_toe_off=[0.4, 1.2, 9.0]), "is '9.0 s'"),
    'events are words': (lambda w: events(w, r_toe_off=['late']), 'must each list times'),
    'events leave one out': (
        lambda w: change(w / 'gaitEvents.yaml', 'l_toe_off', 'l_off'),
        'l_toe_off',
    ),
    'no phases at all': (
        lambda w: [(w / name).unlink() for name in ('gaitEvents.yaml', 'ftl.csv')],
        'needs gaitEvents',
    ),
    'another root': (
        lambda w: change(w.parents[1] / 'box.lua', 'box_link', 'pelvis'),
        'root pelvis.*contradicts',
    ),
    'no columns of a base': (
        lambda w: change(w.parents[1] / 'robot.yaml', 'base_link:', 'base_link: []\nbase:'),
        'root box.*contradicts',
    ),
    'a root of one axis': (
        lambda w: edit_lines(
            w.parents[1] / 'box.lua', lambda x: [*x[:6], '  joint = {0,0,0,1,0,0} },', *x[8:]]
        ),
        'root box.*contradicts',
    ),
    'a root that turns in another order': (
        lambda w: change(
            w.parents[1] / 'box.lua', '{0,1,0,0,0,0}, {1,0,0,0,0,0}', '{1,0,0,0,0,0}, {0,1,0,0,0,0}'
        ),
        'root box.*contradicts',
    ),
    'no such foot': (
        lambda w: change(w.parents[1] / 'robot.yaml', 'foot_l: left_joint', 'foot_l: toe'),
        "is 'toe'",
    ),
    'a key is missing': (
        lambda w: change(w.parents[1] / 'robot.yaml', 'sole_pos', 'sole'),
        'sole_pos',
    ),
    'a negative mass': (lambda w: change(w.parents[1] / 'box.lua', '10.0', '-10'), 'mass'),
}


@pytest.mark.parametrize('kind', BAD)
def test_what_is_wrong_is_named_in_one_line(walk, kind, capsys):
    """Bad input would be measured as if it were good, or end in a trace of the stack."""
    spoil, words = BAD[kind]
    spoil(walk)
    assert main(['measure', str(walk)]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1 and re.search(words, told[0]), told


def test_verb_tells_indicators_by_phase(walk, capsys):
    """Scripts would not find the indicators where the contract says."""
    assert main(['measure', str(walk), '--json', '--out', str(walk / 'out')]) == 0
    told = json.loads(capsys.readouterr().out)
    found = told['indicators']['zero_moment_point_average_bos_dist']
    assert set(found) == {'value', 'unit', 'by_phase'} and found['unit'] == 'm'
    assert set(found['by_phase']) == set(indicators.PHASES)
    assert found['by_phase']['fl_single']['deviation'] is None  # of one step
    assert found['by_phase']['fr_single']['steps'] == 2
    assert told['falls_from'] is None and Path(told['files'][0]).is_file()
    assert main(['measure', str(walk)]) == 0
    assert 'of a step, fl_single' in capsys.readouterr().out


@pytest.mark.long
def test_run_of_ours_is_measured_alike(tmp_path, capsys):
    """Robot and simulation could not be compared by the same names."""
    walked = simulate(load_robot('walker3d', [('stepping.speed', 0.4)]), duration=4.0)
    run = tmp_path / 'run.csv'
    write_run_table(walked, run)
    assert main(['measure', str(run), '--json', '--robot', 'walker3d']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['indicators']['distance_travelled']['value'] > 0.5
    margin = told['indicators']['zero_moment_point_average_bos_dist']
    assert margin['by_phase']['fl_single']['mean'] > 0.0
    assert told['indicators']['center_of_pressure_average_bos_dist']['value'] is None
    assert told['falls_from'] is None
    assert main(['measure', str(run), '--robot', 'dribbel']) == 2
    assert 'on two feet' in capsys.readouterr().err


def test_run_of_one_row_is_refused():
    """A run that ended at once would be answered by a trace of the stack."""
    with pytest.raises(InvalidInput, match='three rows'):
        walk_of_run(lambda *headers: np.ones((1, len(headers))), load_robot('walker3d').robot)


def test_set_without_published_figures_is_refused(walk):
    """`reproduce --data` would say that all of nothing is reproduced."""
    with pytest.raises(InvalidInput, match='nothing is published'):
        reproduce_walks(walk.parents[1])


@pytest.mark.long
@needs_reemc
def test_published_indicators_are_reproduced(monkeypatch):
    """Model, mechanics or phases of a real humanoid would differ from those of others."""
    rows = reproduce_walks(REEMC)
    open_rows = [row for row in rows if row['status'] != 'reproduced']
    assert len(rows) == 106 and len(open_rows) <= 4
    assert all('integrate' in row['what'] and 'Simpson' in row['note'] for row in open_rows)
    # the cause: for an even number of rows it is the mean of two ways

    def mean_of_two(values, time):
        if len(values) % 2:
            return simpson(values, x=time, axis=0)
        first, last = (0.5 * (values[i] + values[i + 1]) for i in (0, -2))
        ahead, behind = simpson(values[1:], axis=0), simpson(values[:-1], axis=0)
        return 0.5 * (first + ahead + behind + last)

    monkeypatch.setitem(indicators.STATISTICS, 'integrate', mean_of_two)
    assert max(row['difference'] for row in reproduce_walks(REEMC)) < 1e-3


@needs_reemc
def test_fall_is_seen_and_walks_are_not_alarmed():
    """A real fall would be missed, or a real walk stopped."""
    body, base = read_body(REEMC / 'robot.yaml')
    for folder in sorted({path.parent for path in REEMC.rglob('pos.csv*')}):
        walk, _ = read_walk(folder, body, base)
        past = indicators.series_of(walk, indicators.observe(walk))['beyond_foot']
        lost = walk.time[past > 0.0]
        if 'fall' in folder.name and 'no_fall' not in folder.name:
            assert walk.time[-1] - lost[0] > 0.3
        else:
            assert not len(lost), folder
