# SPDX-License-Identifier: Apache-2.0
"""Masses, first moments and inertias are found again: of made records, a walk, a real pendulum."""

from inertias import identify_inertias, Motion, read_motion, show
import numpy as np
import pinocchio as pin
import pytest
from test_real_logs import DATA

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.runs.tables import write_run_table
from walking_control.simulation.simulate import simulate


def swing(model, duration=10.0, dt=0.002):
    """Return the `Motion` of joints under torques of several frequencies, with encoder noise."""
    data, time = model.createData(), np.arange(0.0, duration, dt)
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    rows, efforts = [], []
    for now in time:
        rows.append(q.copy())
        effort = 0.3 * np.sin(np.outer(1.0 + np.arange(model.nv), [4.1, 9.7]) * now).sum(axis=1)
        efforts.append(effort)
        for _ in range(4):
            v = v + dt / 4 * pin.aba(model, data, q, v, effort - 0.02 * v)
            q = pin.integrate(model, q, dt / 4 * v)
    noise = np.random.default_rng(0).normal(0.0, 3e-4, (len(time), model.nq))
    return Motion(time, np.array(rows) + noise, np.array(efforts), np.full(len(time), -1))


@pytest.fixture(scope='module')
def rods():
    """Return the rough model of the example and the one that makes the record."""
    import real_pendulum

    true = real_pendulum.rods()
    true.inertias[2] = pin.Inertia(0.7, np.array([0.01, 0.0, -0.13]), np.diag([4e-3, 4e-3, 1e-4]))
    return real_pendulum.rods(), true


def test_what_a_record_was_made_with_is_found(rods):
    """Inertial parameters would be wrong, impossible, or surer than they are."""
    rough, true = rods
    result = identify_inertias(rough, swing(true))
    found, told = (
        result['parameters'],
        dict(
            zip(
                ('mass', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz'),
                true.inertias[2].toDynamicParameters(),
                strict=True,
            )
        ),
    )
    assert result['base_parameters'] == 6 and result['condition'] < 20.0
    for name in 'mx', 'mz', 'Iyy':
        it = found[f'elbow.{name}']
        assert it['told'] and it['low'] <= told[name] <= it['high'], name
        assert it['high'] - it['low'] < 0.1 * abs(told['mz'])
    assert found['elbow.viscous']['value'] == pytest.approx(0.02, abs=0.003)
    assert result['held_out']['identified'] < 0.02 * result['held_out']['effort']
    assert result['held_out']['robot_file'] > 0.2 * result['held_out']['effort']
    assert not found['elbow.my']['told']  # no equation of joints that turn about y has it
    p = np.array([found[f'elbow.{name}']['value'] for name in told])
    assert np.all(np.linalg.eigvalsh(pin.PseudoInertia.FromDynamicParameters(p).toMatrix()) > 0.0)


def test_too_short_a_record_is_refused(rods):
    """Intervals would be made of a handful of equations."""
    with pytest.raises(InvalidInput, match='record is .* windows.*must have at least 20.*longer'):
        identify_inertias(rods[0], swing(rods[1], 2.0))


def test_a_real_pendulum(capsys):
    """Parameters would be found in records that we make ourselves alone."""
    import real_pendulum

    path = DATA / 'double_pendulum' / '20220812-055640-PM.csv'
    if not path.is_file():
        pytest.skip(
            'measurements of real robots are not here: set WALKING_CONTROL_DATA; the double'
            ' pendulum is in dfki-ric-underactuated-lab/double_pendulum'
        )
    found = real_pendulum.main(path)
    held_out, authors = found['held_out'], real_pendulum.AUTHORS
    assert held_out['identified'] < 0.1 * held_out['effort'] < 0.2 * held_out['robot_file']
    for name in 'elbow.mz', 'elbow.Iyy':
        it = found['parameters'][name]
        assert it['low'] <= authors[name] <= it['high']
    assert 'held out' in capsys.readouterr().out
    assert found['reach'] == pytest.approx(authors['reach'], rel=0.1)


@pytest.mark.long
def test_a_walker_that_carries_more_than_its_file_says(tmp_path, capsys):
    """A load on a walking robot would not be found, or put where it is not."""
    pytest.importorskip('mujoco')
    run = simulate(
        load_robot('walker3d', [('mass', 11.0), ('stepping.speed', 0.5)]), 'stepping', duration=8.0
    )
    write_run_table(run, tmp_path / 'run.csv')
    result = identify_inertias(*read_motion(tmp_path, load_robot('walker3d')), window=0.15)
    found, held_out = result['parameters'], result['held_out']
    assert found['root_joint.mass']['value'] == pytest.approx(9.35, rel=0.02)  # the file: 8.5
    assert 100.0 * held_out['identified'] < held_out['effort'] < 50.0 * held_out['robot_file']
    assert result['seen'] < result['base_parameters'] == 94
    true = [
        inertia.toDynamicParameters()
        for inertia in Dynamics(load_robot('walker3d', [('mass', 11.0)]).robot).model.inertias
    ][1:]
    inside = [
        it['low'] <= value <= it['high']
        for value, it in zip(np.concatenate(true), found.values(), strict=False)
        if it['told']
    ]
    assert np.mean(inside) > 0.8
    capsys.readouterr()
    show(result)
    assert 'base parameters' in capsys.readouterr().out
