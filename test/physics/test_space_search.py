# SPDX-License-Identifier: Apache-2.0
"""Gaits in space: what the search finds is a gait to Pinocchio too, and costs what it says."""

from dataclasses import replace
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

from walking_control.cli import main  # noqa: E402
from walking_control.exceptions import InvalidInput  # noqa: E402
from walking_control.gaits.gait_family import GaitFamily  # noqa: E402
from walking_control.gaits.step_judgement import asymmetry  # noqa: E402
from walking_control.lab.experiments.gait_search import family_members, find_gaits, save_gaits  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.models.resources import gait_path  # noqa: E402
from walking_control.models.robot_file import with_section  # noqa: E402
from walking_control.search.space import SpaceSearch, wind  # noqa: E402

COARSE = {'degree': 8, 'nodes': 12}
SPEEDS = (0.1, 0.4, 0.6, 0.8, 1.0, 1.2)


def coarse(robot_file=None):
    """Return a robot, walker3d unless given, whose gaits are searched coarsely."""
    return with_section(robot_file or load_robot('walker3d'), 'search', COARSE)


@pytest.fixture(scope='module')
def found():
    """Return a coarse search at one speed."""
    return find_gaits(coarse(), [0.8])


@pytest.mark.long
def test_a_gait_to_pinocchio(found):
    """Equations apart from the search's must find the same motion periodic and its power closed."""
    (member,) = found.members
    assert member.reason is None
    assert max(member.judgement.periodicity) < 1e-8
    assert abs(member.judgement.power_mismatch) < 1e-6
    assert member.judgement.cost_of_transport_electrical < 0.08


@pytest.mark.long
def test_within_what_was_asked(found):
    """A gait at the edge of its sole, of friction or of the floor leaves a law no room."""
    judgement, values = found.members[0].judgement, found.values
    half = 0.5 * values.sole_share * np.array([0.10, 0.05])
    assert (np.abs(judgement.pressure).max(axis=0) < half + 1e-3).all()
    assert judgement.friction_ratio < values.relied_friction + 0.01
    assert judgement.wrench[:, 2].min() > 0.0
    np.testing.assert_allclose(judgement.step[1:], (-0.17, 0.0), atol=1e-6)
    middle = np.abs(judgement.s - 0.5) < 0.05
    assert judgement.swing[middle, 2].min() > 0.9 * values.sole_clearance
    corners = np.array([[x, y, 0.0] for x in (0.05, -0.05) for y in (0.025, -0.025)])
    landing = judgement.twist[:3] + np.cross(judgement.twist[3:], corners)
    assert (-0.26 < landing[:, 2]).all() and (landing[:, 2] < 1e-6).all()
    assert np.abs(landing[:, :2]).max() < values.landing_slip + 1e-6


def change_limits(robot_file, joints, **changed):
    """Return a robot file with other limits of some joints."""
    robot = robot_file.robot
    limits = {
        joint: replace(limit, **changed) if joint.endswith(joints) else limit
        for joint, limit in robot.limits.items()
    }
    return replace(robot_file, robot=replace(robot, limits=limits))


@pytest.mark.parametrize(
    'joint, limits', [('_knee', {'upper': 0.15}), ('_hip_roll', {'lower': -0.01, 'upper': 0.01})]
)
def test_joints_without_room_are_named(joint, limits):
    """Knees that hardly bend, or hips that do not roll, would end in words about bounds."""
    stiff = change_limits(load_robot('walker3d'), joint, **limits)
    with pytest.raises(InvalidInput, match=f'{joint}.*leaves a gait no room'):
        find_gaits(coarse(stiff), [0.8])


@pytest.mark.long
def test_motors_without_a_gait_are_named():
    """Whoever's motors are too slow for any gait would read about solvers."""
    slow = change_limits(load_robot('walker3d'), ('_hip_pitch', '_knee'), velocity=0.1)
    (member,) = find_gaits(coarse(slow), [0.8]).members
    assert re.search('would need .* rad/s', member.reason) and 'may be asked of it' in member.reason


@pytest.mark.long
def test_a_slope_is_the_level_price_and_the_height():
    """Power of the way down would be lost, or the search would walk on level floor for it."""
    found = find_gaits(coarse(), [0.8], slopes=[0.07, -0.07])
    assert [member.summary['slope'] for member in found.members] == [-0.07, 0.07]
    for member in found.members:
        assert member.reason is None and abs(member.judgement.power_mismatch) < 1e-6
    up, down = (member.judgement.cost_of_transport_electrical for member in found.members)
    assert up - down == pytest.approx(2.0 * np.sin(0.07), rel=0.2)


@pytest.mark.long
def test_joints_are_no_faster_than_they_may_be(found):
    """A gait would ask for rates that stop the robot by a fault on its first step."""
    (slow,) = find_gaits(
        with_section(coarse(), 'space_search', {'rate_share': 0.25}), [0.8]
    ).members
    free, slowed = (
        np.abs(member.result.gait.phases[0].motion(np.linspace(0.0, 1.0, 60))[1]).max()
        for member in (found.members[0], slow)
    )
    assert slow.reason is None and slowed < 1.02 * 0.25 * 12.0 < free


def test_a_trunk_that_leans_to_one_side_is_unequal():
    """A gait of a robot with one arm held aside would be refused as inexact."""
    robot = load_robot('walker3d').robot
    assert asymmetry(robot) < 1e-9
    aside = robot.urdf.replace(
        'xyz="0 0 0.06"/><mass value="8.5"', 'xyz="0 0.02 0.06"/><mass value="8.5"', 1
    )
    assert asymmetry(replace(robot, urdf=aside)) > 1e-3


@pytest.mark.long
def test_file_and_verb(found, tmp_path, capsys, monkeypatch):
    """A script reads the costs in the output, a law the gait in the file."""
    family = GaitFamily.read(save_gaits(found, tmp_path), load_robot('walker3d'))
    assert family.speeds == pytest.approx((0.8,))
    (member,) = found.members
    missed = replace(member.result, attempt=replace(member.result.attempt, converged=False))
    for result, status, lines in ((member.result, 0, 0), (missed, 1, 1)):
        monkeypatch.setattr(SpaceSearch, 'find', lambda *given, result=result, **more: result)
        assert main(['gait', 'search', 'walker3d', '--speed', '0.8', '--json', '--quiet']) == status
        captured = capsys.readouterr()
        (row,) = json.loads(captured.out)['members']
        assert row['converged'] is (status == 0) and 0.05 < row['cost_of_transport_electrical']
        assert len(captured.err.splitlines()) == lines


@pytest.mark.long
def test_a_family_without_a_slope_is_kept(found, tmp_path, monkeypatch):
    """Slopes would take minutes after the first that has no gait, or lose those on level floor."""
    (member,) = found.members
    asked = []

    def find(case, values, speed, start=None, slope=0.0, strength=1.0):
        asked.append((speed, slope))
        attempt = replace(member.result.attempt, converged=slope <= 0.0)
        return replace(member.result, speed=speed, slope=slope, attempt=attempt)

    monkeypatch.setattr(SpaceSearch, 'find', find)
    robot_file, speeds, slopes = load_robot('walker3d'), [0.6, 0.8], [-0.07, 0.0, 0.07]
    some = find_gaits(coarse(robot_file), speeds, slopes=slopes)
    assert len([speed for speed, slope in asked if slope > 0.0]) == 1
    assert sorted({each.result.slope for each in family_members(some)}) == [-0.07, 0.0]
    asked.clear()
    late = find_gaits(coarse(robot_file), [0.8], slopes=slopes, patience=0.0)
    assert len(asked) == len(family_members(late)) == 1
    assert GaitFamily.read(save_gaits(late, tmp_path), robot_file).slopes == (0.0,)


@pytest.mark.long
def test_heat_that_is_assumed_is_said(found):
    """A cost without heat would be taken for the one that was minimised."""
    assert found.assumed is None
    cold = SimpleNamespace(actuators={'knee': SimpleNamespace(resistance=0.0)})
    told = replace(found, robot_file=SimpleNamespace(robot=cold)).assumed
    assert 'no motor tells its resistance' in told and '0.8 m g sqrt(g L)' in told
    robot_file = load_robot('walker3d')
    bare = replace(
        robot_file.robot,
        actuators={
            j: replace(m, resistance=0.0, supply_voltage=0.0)
            for j, m in robot_file.robot.actuators.items()
        },
    )
    scale, winds = robot_file.scale, wind(bare, robot_file.scale).actuators
    assert wind(robot_file.robot, scale) is robot_file.robot
    for motor, limit in zip(winds.values(), bare.effort_limits, strict=True):
        heat = motor.electrical_power(limit, 0.0) / (
            scale.mass * 9.81 * (9.81 * scale.length) ** 0.5
        )
        assert heat == pytest.approx(0.8)  # so the price that is printed is the one minimised


@pytest.mark.parametrize(
    'arguments, reason',
    [
        (['walker3d', '--quadrature', 'riemann'], 'has no effect on bipeds on soles'),
        (['compass', '--width', '0.1'], 'has no effect on robots other than'),
        (['walker3d', '--speeds', '0.6,0.8', '--optimise', 'spring'], 'a family is of one robot'),
        (['walker3d', '--speed', '0'], 'must be a number other than 0 m/s'),
        (['walker3d', '--speed', '0.8', '--slopes-deg=-8:8:3'], 'needs --speeds'),
        (['walker3d', '--speeds', '0.8,1', '--slopes-deg', '0,40'], 'must be within 0.3 rad'),
        (['compass', '--slopes-deg', '0:4:2'], 'has no effect on robots other than'),
        (['walker3d_points'], 'legs of fewer joints walk by stepping'),
        (['humanoid', '--speed', '0.4'], 'needs two legs of six joints'),
    ],
)
def test_bad_tasks(arguments, reason, capsys):
    """What has no meaning in space gets one line, not a search."""
    assert main(['gait', 'search', *arguments, '--quiet']) == 2
    error = capsys.readouterr().err
    assert reason in error and len(error.splitlines()) == 1


HIP_SPRINGS = [
    (f'robot.springs.{side}_hip_roll.{name}', value)
    for side, rest in (('left', 0.125), ('right', -0.125))
    for name, value in (('stiffness', 40.0), ('rest', rest))
]


@pytest.mark.parametrize(
    'name, overrides, speeds, most',
    [
        ('walker3d', [], SPEEDS, 0.09),
        ('walker3d_exchange', [], SPEEDS[1:], 0.08),
        ('walker3d_hip_springs', HIP_SPRINGS, SPEEDS[2:5], 0.035),
        ('walker3d_both_ways', [], (-0.4, -0.25, -0.1, 0.1, 0.25, 0.4, 0.6, 0.8), 0.09),
        ('walker3d_built', [], (0.1, 0.25, 0.4, 0.6, 0.8, 1.0), 0.21),
    ],
)
def test_shipped_families(name, overrides, speeds, most):
    """What is shipped must be gaits of the shipped robot and cost what the page says."""
    robot = name if name == 'walker3d_built' else 'walker3d'
    family = GaitFamily.read(gait_path(name), load_robot(robot, overrides))
    np.testing.assert_allclose(family.speeds, speeds, atol=1e-6)
    for speed, judgement in zip(speeds, family.judgements, strict=True):
        assert max(judgement.periodicity) < 1e-6 and abs(judgement.power_mismatch) < 1e-6
        assert judgement.cost_of_transport_electrical < most * max(1.0, 0.35 / abs(speed))
    for slope in family.slopes:
        assert family.at(0.8, slope).costs['cost_of_transport_electrical'] == pytest.approx(
            family.at(0.8).costs['cost_of_transport_electrical'] - np.sin(slope), abs=0.08
        )
    for speed in np.arange(speeds[0] + 0.05, speeds[-1], 0.1):  # the step must go on closing
        gait = family.at(speed)
        partners, signs = gait.mirror
        np.testing.assert_allclose(
            signs * gait.sample(1.0)[0][partners], gait.sample(0.0)[0], atol=1e-9
        )


@pytest.mark.slow
def test_shipped_family_is_found_again():
    """The command that the page gives must find what is shipped."""
    shipped = GaitFamily.read(gait_path('walker3d'), load_robot('walker3d'))
    again = find_gaits(load_robot('walker3d'), SPEEDS)
    for member, judgement in zip(again.members, shipped.judgements, strict=True):
        assert member.judgement.cost_of_transport_electrical == pytest.approx(
            judgement.cost_of_transport_electrical, rel=0.01
        )
