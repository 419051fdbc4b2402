# SPDX-License-Identifier: Apache-2.0
"""Sweeps: the same table whoever walks it and whatever stops it; nothing without meaning begun."""

import errno
import json
import os
from pathlib import Path
import signal
import sys

import numpy as np
from programs import run
import pytest

from walking_control.cli import main
from walking_control.exceptions import Interrupted, InvalidInput, NotAchieved
from walking_control.lab.experiments.sweeps import table as tables
from walking_control.lab.experiments.sweeps.sweep import hire, margin_of, run_sweep
from walking_control.lab.experiments.sweeps.task import Axis, batches, check_task, SweepTask
from walking_control.lab.experiments.sweeps.walks import Workshop
from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate

pytest.importorskip('numba')
pytest.importorskip('pyarrow')

GRID = [
    'sweep',
    'compass',
    '--duration',
    '2',
    '--grid',
    'slope=0.04:0.06:2',
    '--grid',
    'start.v.q3=-1.3:-0.8:12',
]
TASK = SweepTask(
    'compass', (Axis('slope', 0.04, 0.06, 2), Axis('start.v.q3', -1.3, -0.8, 12)), duration=2.0
)


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """Return the table of `TASK`, walked at once by one process."""
    file = tmp_path_factory.mktemp('whole') / 'sweep.parquet'
    return file, run_sweep(TASK, file, workers=1)


def test_rows_follow_the_grid():
    """If it failed, a row would hold another point than its table says, or one would be missing."""
    task = SweepTask('compass', (Axis('a', 0.0, 1.0, 3), Axis('b', 5.0, 6.0, 2)), repeats=2, seed=7)
    assert task.rows == 12
    assert [task.point(row) for row in (0, 1, 2, 11)] == [
        {'a': 0.0, 'b': 5.0},
        {'a': 0.0, 'b': 5.0},
        {'a': 0.0, 'b': 6.0},
        {'a': 1.0, 'b': 6.0},
    ]
    assert [task.seed_of(row) for row in (0, 1, 2)] == [7, 8, 7]
    for total in (1, 486, 10**6):
        portions = batches(range(total), total)
        assert [row for portion in portions for row in portion] == list(range(total))
        assert len(portions) <= 2000


def test_samples_stand_alone():
    """If it failed, a sample would depend on how many are drawn, and could not be appended to."""
    few, many = (SweepTask('compass', (Axis('a', 0.0, 1.0),), samples=n, seed=3) for n in (5, 50))
    assert [few.point(row) for row in range(5)] == [many.point(row) for row in range(5)]
    values = [many.point(row)['a'] for row in range(50)]
    assert len(set(values)) == 50 and 0.0 <= min(values) < 0.2 and 0.8 < max(values) <= 1.0


@pytest.mark.long
def test_row_is_the_walk_of_simulate():
    """If it failed, a sweep would walk another robot than simulate, or measure it otherwise."""
    task = SweepTask('dribbel', (Axis('set_point', 0.25, 0.35, 3),), plant='rigid', duration=6.0)
    row = Workshop(task).walk(1)
    run = simulate(load_robot('dribbel', [('plant', 'rigid'), ('set_point', 0.3)]), duration=6.0)
    steady = run.summary()['steady']
    for name in (
        'speed',
        'mechanical_power',
        'cost_of_transport',
        'cost_of_transport_electrical',
        'step_length',
        'step_time',
        'foot_clearance',
        'asymmetry',
    ):
        assert row[name] == pytest.approx(steady[name], rel=1e-6), name
    assert row['stable'] and row['steps'] == run.steps[-1]


def test_any_plant_and_sensors(tmp_path):
    """If it failed, repeats would not differ by their seeds alone, or disturbances be left out."""
    task = SweepTask(
        'dribbel',
        (Axis('set_point', 0.3, 0.3),),
        plant='rigid',
        duration=3.0,
        settings=(('sensors.position_noise', 0.002),),
        repeats=2,
        seed=4,
    )
    table = run_sweep(task, workers=1)['table']
    assert table['seed'].to_pylist() == [4, 5]
    assert len(set(table['distance'].to_pylist())) == 2
    pushed = run_sweep(
        SweepTask(
            'compass',
            (Axis('slope', 0.0523, 0.0524, 2),),
            duration=5.0,
            disturb=('step_down=0.2@2',),
        ),
        workers=1,
    )
    assert pushed['stable'] == 0 and pushed['table']['reason'].to_pylist()[0]


def test_table_says_what_it_is(whole):
    """If it failed, a table would not tell which walks it holds."""
    file, result = whole
    table = tables.read_table(file)
    assert table.num_rows == result['runs'] == 24 and result['walked'] == 24
    assert 0 < result['stable'] < 24 and result['file'] == str(file)
    assert json.loads(tables._task_text(table))['robot'] == 'compass'
    reasons = table['reason'].to_pylist()
    assert all(
        (reason is None) == stable
        for reason, stable in zip(reasons, table['stable'].to_pylist(), strict=True)
    )
    assert not file.with_name('sweep.parts').exists()


def test_row_alone(whole, capsys):
    """If it failed, no row of a table could be looked at again."""
    for row in ('0', '17'):
        assert main([*GRID, '--row', row, '--resume', str(whole[0]), '--json']) == 0
        assert json.loads(capsys.readouterr().out)['matches'] is True
    other = [word.replace('-0.8', '-0.7') for word in GRID]
    assert main([*other, '--row', '17', '--resume', str(whole[0])]) == 1
    assert main([*GRID, '--row', '24']) == 2


# dies by SIGKILL while it writes its sixth part
KILLED = """
import os, signal, sys
from walking_control.cli import main
from walking_control.lab.experiments.sweeps.table import SweepTable

write, parts = SweepTable._write, []

def write_or_die(content, path):
    parts.append(path)
    if len(parts) > 5:
        path.write_bytes(b'PAR1 and half of')
        os.kill(os.getpid(), signal.SIGKILL)
    write(content, path)

SweepTable._write = staticmethod(write_or_die)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.long
def test_killed_and_resumed(whole, tmp_path):
    """If it failed, a kill would lose rows that were done, repeat them, or change the table."""
    killed = run(
        sys.executable, '-c', KILLED, *GRID, '--workers', '1', '--out', tmp_path, timeout=120.0
    )
    kept = len(list((tmp_path / 'sweep.parts').glob('rows-*')))
    assert killed.returncode == -signal.SIGKILL and kept == 5
    file = tmp_path / 'sweep.parquet'
    with pytest.raises(InvalidInput, match='unfinished'):
        run_sweep(TASK, file, workers=1)
    result = run_sweep(TASK, file, workers=1, resume=True)
    assert result['walked'] == 24 - kept and result['runs'] == 24
    assert file.read_bytes() == whole[0].read_bytes()
    again = run_sweep(TASK, file, workers=1, resume=True)  # nothing left to do
    assert again['walked'] == 0 and file.read_bytes() == whole[0].read_bytes()


@pytest.mark.long
def test_killed_worker_on_a_cluster(whole, tmp_path):
    """If it failed, a cluster would make another table, or lose the rows of a killed worker."""
    distributed = pytest.importorskip('distributed')
    file, killed = tmp_path / 'sweep.parquet', []
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            host='127.0.0.1',
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())
        assert len(workers) == 2 and os.getpid() not in workers

        def kill_one(share):
            if share > 0.1 and not killed:
                killed.append(workers[0])
                os.kill(workers[0], signal.SIGKILL)

        result = run_sweep(TASK, file, scheduler=cluster.scheduler_address, progress=kill_one)
    assert killed and result['workers'] == 2 and result['runs'] == 24
    assert file.read_bytes() == whole[0].read_bytes()


def test_interrupted_by_hand(whole, tmp_path):
    """If it failed, Ctrl-C would lose rows, or leave no way on."""

    def stop(share):
        if share > 0.3:
            raise KeyboardInterrupt

    file = tmp_path / 'sweep.parquet'
    with pytest.raises(Interrupted):
        run_sweep(TASK, file, workers=1, progress=stop)
    assert run_sweep(TASK, file, workers=1, resume=True)['walked'] < 18
    assert file.read_bytes() == whole[0].read_bytes()


def test_full_disk(whole, tmp_path, monkeypatch):
    """If it failed, a full disk would end in a traceback, or leave half a part that counts."""
    write, calls = tables.SweepTable._write, []

    def fills_up(table, path):
        calls.append(path)
        if len(calls) > 3:
            Path(path).write_bytes(b'half')
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(table, path)

    monkeypatch.setattr(tables.SweepTable, '_write', staticmethod(fills_up))
    file = tmp_path / 'sweep.parquet'
    with pytest.raises(NotAchieved, match='No space left.*--resume'):
        run_sweep(TASK, file, workers=1)
    monkeypatch.undo()
    assert not list(tmp_path.rglob('*.new'))
    assert run_sweep(TASK, file, workers=1, resume=True)['walked'] == 21
    assert file.read_bytes() == whole[0].read_bytes()


def test_samples_are_appended(tmp_path):
    """If it failed, more points would walk the old ones again, or differ from a single sweep."""

    def task(points):
        return SweepTask('compass', (Axis('slope', 0.04, 0.06),), duration=1.0, samples=points)

    file, other = tmp_path / 'sweep.parquet', tmp_path / 'other.parquet'
    run_sweep(task(6), file, workers=1)
    assert run_sweep(task(9), file, workers=1, resume=True)['walked'] == 3
    run_sweep(task(9), other, workers=1)
    assert file.read_bytes() == other.read_bytes()
    with pytest.raises(InvalidInput, match='another one: duration'):
        run_sweep(
            SweepTask('compass', (Axis('slope', 0.04, 0.06),), duration=2.0, samples=9),
            file,
            workers=1,
            resume=True,
        )


def test_another_sweep_in_the_same_folder(tmp_path):
    """If it failed, a second sweep would mix with the table of the first, or stumble over it."""
    file = tmp_path / 'sweep.parquet'
    for name, low, high, count in (('slope', 0.04, 0.06, 3), ('gravity', 9.0, 10.0, 2)):
        task = SweepTask('compass', (Axis(name, low, high, count),), duration=0.5)
        run_sweep(task, file, workers=1)
        table = tables.read_table(file)
        assert table.num_rows == count and name in table.column_names
    # what an interrupted third one leaves does not take up the second
    third = SweepTask('compass', (Axis('friction', 0.5, 1.0, 2),), duration=0.5)

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run_sweep(third, file, workers=1, progress=stop)
    assert run_sweep(third, file, workers=1, resume=True)['runs'] == 2


def test_impossible_points_are_rows(tmp_path):
    """If it failed, one point that makes no robot would end the sweep of all others."""
    task = SweepTask(
        'dribbel',
        (Axis('rate', 10.0, 2000.0, 2), Axis('set_point', 0.3, 0.3)),
        plant='rigid',
        duration=0.5,
    )
    rows = run_sweep(task, workers=1)['table'].to_pylist()
    assert len(rows) == 2 and all('rate' in row for row in rows)
    bad = Workshop(SweepTask('compass', (Axis('start.q.q3', 0.3, 3.0, 2),), duration=1.0)).walk(1)
    assert not bad['stable'] and bad['reason']


def test_margin_is_the_nearest_failure():
    """If it failed, a point at the edge of its region would look safe."""
    pa = pytest.importorskip('pyarrow')
    task = SweepTask('compass', (Axis('a', 0.0, 10.0, 3), Axis('b', 0.0, 1.0, 2)))
    table = pa.table(
        {
            'a': [0.0, 0.0, 5.0, 5.0, 10.0, 10.0],
            'b': [0.0, 1.0] * 3,
            'stable': [True, False, True, True, True, True],
        }
    )
    found = margin_of(task, table, {'a': 5.0, 'b': 0.5})
    assert found['margin'] == pytest.approx(np.hypot(0.5, 0.5))
    assert found['nearest_failure'] == {'a': 0.0, 'b': 1.0}
    assert margin_of(task, table, None)['margin'] is None


@pytest.mark.parametrize(
    'arguments, words',
    [
        (['--grid', 'slope'], 'LO:HI:N'),
        (['--grid', 'slope=0:1:0'], 'LO:HI:N'),
        (['--grid', 'slope=0:nan:2'], 'not a finite number'),
        (['--grid', 'speed=0:1:2'], 'name the parameter with its section'),
        (['--grid', 'slip=0:1:2'], 'unknown in this robot file'),
        (['--grid', 'start.q.q9=0:1:2'], 'did you mean start.q.q'),
        (['--grid', 'slope=0:9:2'], 'must be from -0.5 to 0.5'),
        (['--grid', 'slope=0:0.1:2', '--grid', 'slope=0:0.1:2'], 'named twice'),
        (['--grid', 'slope=0:0.1:2000', '--grid', 'gravity=9:10:2000'], '4000000'),
        (['--grid', 'slope=0:0.1:2', '--scheduler', 'tcp://127.0.0.1:9'], 'does not answer'),
        (['--grid', 'slope=0:0.1:2', '--scheduler', 'nonsense://x'], 'does not answer'),
        (['--grid', 'slope=0:0.1:2', '--workers', '0'], 'whole number from 1'),
        (['--grid', 'slope=0:0.1:2', '--resume', 'nowhere.parquet'], 'is not there'),
        (['--grid', 'slope=0:0.1:2', '--disturb', 'earthquake=1@3'], 'earthquake'),
    ],
)
def test_bad_requests_are_refused(arguments, words, capsys, monkeypatch):
    """If it failed, a sweep that means nothing would start, or end in a traceback."""
    monkeypatch.setattr('walking_control.lab.experiments.sweeps.sweep.PATIENCE', 1.0)
    try:
        status = main(['sweep', 'compass', *arguments])
    except SystemExit as stopped:
        status = stopped.code
    error = capsys.readouterr().err
    assert status == 2 and words in error and len(error.strip().splitlines()) == 1


def test_workers_must_be_some():
    """If it failed, a sweep without workers would wait for ever."""
    with pytest.raises(InvalidInput), hire(0):
        pass
    with pytest.raises(InvalidInput):
        check_task(SweepTask('compass', ()))
