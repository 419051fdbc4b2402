# SPDX-License-Identifier: Apache-2.0
"""Samples of a gait: what laws follow, the free motion around it, and files that are refused."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from walking_control.exceptions import InvalidInput
from walking_control.gaits.gait import Gait, GaitError, Phase, points
from walking_control.gaits.gait_file import load_gait, read_gait
from walking_control.gaits.samples import read_samples, sample_gait
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.resources import share_directory
from walking_control.models.robot_file import World
from walking_control.models.support.dynamics import SupportDynamics

GAITS = share_directory() / 'config' / 'gaits'


def read(robot_file, path=None, **changes):
    """Return the samples of a file, by default of the passive gait, in a changed world."""
    world = SimpleNamespace(**{**vars(robot_file.values(World)), **changes})
    passive = {'compass': 'compass.yaml', 'dribbel': 'dribbel_passive.yaml'}
    return read_samples(path or GAITS / passive[robot_file.robot.name], robot_file.robot, world)


def energy_of(robot_file, slope, q, v):
    """Return the energy of the whole robot, J, first foot standing at the origin."""
    dynamics = Dynamics(robot_file.robot, robot_file.values(World).gravity, slope)
    full_q, full_v = dynamics.base_from_coordinates(robot_file.robot.feet[0], q, v)
    return dynamics.kinetic_energy(full_q, full_v) + dynamics.potential_energy(full_q)


@pytest.mark.parametrize('name, held', [('compass', [()]), ('dribbel', [(1,), (1, 3)])])
def test_pieces_go_on_by_free_motion(name, held):
    """If it failed, laws would chase a path past touchdown that the walker cannot take."""
    robot_file = load_robot(name)
    gait = read(robot_file)
    assert [piece.held for piece in gait.pieces] == held
    assert gait.pieces[0].start == 0.0 and gait.pieces[-1].end == pytest.approx(gait.period)
    for piece in gait.pieces:
        assert np.all(np.diff(piece.time) > 0.0)
        assert piece.time[0] == pytest.approx(piece.start - 0.15 * gait.period, abs=0.01)
        assert piece.time[-1] == pytest.approx(piece.end + 0.25 * gait.period, abs=0.01)
        assert {piece.start, piece.end} <= set(piece.time[piece.inside])
        # a passive gait: no effort inside, so that energy stays through all of it
        energies = [
            energy_of(robot_file, gait.slope, q, v) for q, v in zip(piece.q, piece.v, strict=True)
        ]
        assert np.ptp(energies) < 1e-6
        # and rates are the slopes of coordinates, across the joints too (central differences)
        slopes = (piece.q[2:] - piece.q[:-2]) / (piece.time[2:] - piece.time[:-2])[:, None]
        assert slopes == pytest.approx(piece.v[1:-1], abs=0.03)
        np.testing.assert_allclose(piece.q[:, piece.held], 0.0, atol=1e-9)


def test_knee_strike_is_inelastic():
    """If it failed, the rates after the strike would not be those the lock leaves."""
    dribbel = load_robot('dribbel')
    gait = read(dribbel)
    swinging, locked = gait.pieces
    q, before = (part[swinging.inside][-1] for part in (swinging.q, swinging.v))
    after = locked.v[locked.inside][0]
    support = SupportDynamics(Dynamics(dribbel.robot, gait.gravity, gait.slope))
    mass = support.layout.split(support.terms(0, q, before))['mass'][2:, 2:]
    impulse = mass @ (after - before)
    assert impulse[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-7) and abs(impulse[3]) > 0.01
    assert after[3] == pytest.approx(0.0, abs=1e-7) and before[3] > 1.0


def test_free_motion_ends_before_it_stands_still():
    """If it failed, the path would turn back on itself, with no direction at the turn."""
    dribbel = load_robot('dribbel')
    support = SupportDynamics(Dynamics(dribbel.robot, 9.81, 0.0))
    # all but the stance leg held: it rises too slowly to pass the top
    s = points(4)[:, None]
    values = s * [[-0.02, 0.0, 0.0, 0.0]] + [[0.3, 0.0, 0.0, 0.0]]
    (piece,) = sample_gait(Gait((Phase(0.05, values, (1, 2, 3)),)), support, after=40.0)
    assert piece.time[-1] < 0.05 + 40.0 * 0.05 - 0.1
    assert 0.0 < np.abs(piece.v[-1, 0]) < 0.1 * 0.4
    assert np.all(piece.v[:, 0] < 0.0) and np.isfinite(piece.q).all()


def test_another_slope_is_followed_but_not_loaded():
    """If it failed, no gait could be walked on a slope it was not found on."""
    compass = load_robot('compass')
    assert read(compass, slope=0.0).slope == pytest.approx(math.radians(3.0))
    with pytest.raises(GaitError, match='another slope'):
        load_gait(GAITS / 'compass.yaml', load_robot('compass', [('slope', 0.0)]))


@pytest.mark.parametrize(
    'edit, words',
    [
        (lambda d: d.update(walking_control_gait=0), 'is 0: is of another version than 1'),
        (lambda d: d['robot'].update(name='other'), "'other'.*another name.*find one"),
        (lambda d: d['robot'].update(coordinates=['a', 'b']), 'another coordinates'),
        (lambda d: d['robot']['parameters'].__setitem__(7, 6.1), 'other masses'),
        (lambda d: d['robot'].update(parameters=['x']), 'parameters that are not finite'),
        (lambda d: d['world'].update(gravity=1.6), 'gravity of gait file.*1.6.*9.81.*set world'),
        (lambda d: d['world'].update(slope=None), 'world.slope.*finite'),
        (lambda d: d.update(phases=[]), 'has no phases'),
        (lambda d: d['phases'][0].update(duration=math.inf), 'finite'),
        (lambda d: d['phases'][0]['values']['q3'].__setitem__(3, math.nan), 'finite'),
        (lambda d: d['phases'][0]['values']['q3'].__setitem__(-1, -0.25), 'gap.*0.04.*0.001 rad'),
        (lambda d: d['phases'].append(d['phases'][0]), 'gap between phases'),
        (lambda d: d['phases'][0].update(held=['q4']), 'held coordinates'),
        (
            lambda d: d['phases'][0].update(values={name: [0.0] * 9 for name in ('q3', 'q4')}),
            'speed at 0 s of gait file.*stands still',
        ),
    ],
)
def test_gaits_that_do_not_fit_are_refused(edit, words, tmp_path):
    """If it failed, a law would throw the walker along a path that is not its own."""
    compass, path = load_robot('compass'), tmp_path / 'gait.yaml'
    document = read_gait(GAITS / 'compass.yaml')
    edit(document)
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(GaitError, match=words) as caught:
        read(compass, path)
    assert str(path) in str(caught.value) and '\n' not in str(caught.value)
    assert isinstance(caught.value, InvalidInput)


@pytest.mark.parametrize(
    'content, words',
    [
        (None, 'cannot be read: No such file'),
        (b'{', 'not YAML in line 1'),
        (b'\xff', 'not YAML'),
        (b'robot: compass', 'is not a gait file; make one with'),
    ],
)
def test_unreadable_files_are_refused(content, words, tmp_path):
    """If it failed, a wrong path would end in a stack trace."""
    path = tmp_path / 'gait.yaml'
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GaitError, match=words) as caught:
        read(load_robot('compass'), path)
    assert '\n' not in str(caught.value)
