# SPDX-License-Identifier: Apache-2.0
"""Families of gaits in space: what is written comes back, what does not fit is refused."""

import numpy as np
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

from walking_control.gaits.gait import GaitError  # noqa: E402
from walking_control.gaits.gait_family import family_document, GaitFamily  # noqa: E402
from walking_control.gaits.gait_file import GaitFileError, write_gait  # noqa: E402
from walking_control.gaits.step_judgement import judge_step  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.search.space import SpaceSearch  # noqa: E402
from walking_control.search.space_parameters import SpaceSearchParameters  # noqa: E402


@pytest.fixture(scope='module')
def members():
    """Return first guesses, which walk through the air as well as gaits do."""
    robot_file = load_robot('walker3d')
    case, values = SpaceSearch(robot_file), robot_file.values(SpaceSearchParameters)
    return [case.guess(values, speed) for speed in (0.4, 0.6, 0.8, 1.2)]


@pytest.fixture
def path(members, tmp_path):
    """Return the path of a family of them, with a hole between 0.8 and 1.2 m/s."""
    file = tmp_path / 'family.yaml'
    write_gait(family_document(load_robot('walker3d'), members, [{}] * 4, [0.0] * 4, {}), file)
    return file


@pytest.fixture
def sloped(members, tmp_path):
    """Return the path of a family on level floor and 0.1 rad uphill."""
    file = tmp_path / 'sloped.yaml'
    slopes = [-0.1] * 3 + [0.0] * 3
    document = family_document(
        load_robot('walker3d'), members[:3] * 2, [{}] * 6, slopes, {'by': 'hand'}
    )
    write_gait(document, file)
    return file


def test_slopes_come_back(members, path, sloped):
    """A law on a slope would be given the pressure and efforts of a level floor."""
    family, level = (GaitFamily.read(file, load_robot('walker3d')) for file in (sloped, path))
    assert family.slopes == (-0.1, 0.0) and family.speeds == level.speeds[:3]
    flat, up = family.at(0.6), family.at(0.6, -0.1)
    np.testing.assert_allclose(flat.efforts(0.3), level.at(0.6).efforts(0.3))
    judged = judge_step(load_robot('walker3d').robot, members[1], 9.81, -0.1)
    np.testing.assert_allclose(up.efforts(judged.s), judged.effort, atol=0.1)
    between = family.at(0.6, -0.025)
    np.testing.assert_allclose(
        between.efforts(0.3), 0.75 * flat.efforts(0.3) + 0.25 * up.efforts(0.3)
    )
    assert between.slope == -0.025 and between.speed == 0.6


@pytest.mark.parametrize('slope', [-0.11, 0.01, np.nan])
def test_slopes_without_a_gait(sloped, slope):
    """A gait beyond the family's slopes would be made up."""
    with pytest.raises(GaitError, match='slope of the gait .* the family goes from -5.73 to 0 deg'):
        GaitFamily.read(sloped, load_robot('walker3d')).at(0.6, slope)


@pytest.mark.parametrize(
    'old, new, reason',
    [
        ('slope: -0.1', 'slope: steep', 'has a slope that is no number'),
        ('slope: -0.1', 'slope: .nan', 'slopes of gait file .* must be within 0.3 rad'),
        ('slope: -0.1', 'slope: -0.2', 'must go over the speeds'),
    ],
)
def test_broken_slopes(sloped, old, new, reason):
    """A slope that is no number, or lacks speeds, would become a gait all the same."""
    sloped.write_text(sloped.read_text().replace(old, new, 1))
    with pytest.raises(GaitError, match=reason):
        GaitFamily.read(sloped, load_robot('walker3d'))


def test_members_come_back(members, path):
    """A gait that changes on its way through a file is another gait."""
    family = GaitFamily.read(path, load_robot('walker3d'))
    np.testing.assert_allclose(family.speeds, (0.4, 0.6, 0.8, 1.2), atol=1e-9)
    for speed, gait in zip(family.speeds, members, strict=True):
        motion = gait.phases[0].motion([0.0, 0.3, 1.0])
        member = family.at(speed)
        for order, (ours, theirs) in enumerate(
            zip(member.sample([0.0, 0.3, 1.0]), motion, strict=True)
        ):
            np.testing.assert_allclose(ours, theirs * gait.period**order, atol=1e-8)
        assert member.step_length == pytest.approx(speed * gait.period)


def test_forces_are_those_of_the_motion(path):
    """A law fed with other efforts than the motion takes works against itself."""
    family = GaitFamily.read(path, load_robot('walker3d'))
    gait, judged = family.at(0.6), family.judgements[1]
    np.testing.assert_allclose(gait.efforts(judged.s), judged.effort, atol=0.05)
    np.testing.assert_allclose(gait.pressure(judged.s), judged.pressure, atol=1e-3)


def test_between_members(path):
    """Half-way between two speeds the joints lie half-way, nearly, and the step goes on closing."""
    family = GaitFamily.read(path, load_robot('walker3d'))
    slow, middle, fast = (family.at(speed) for speed in (0.4, 0.5, 0.6))
    np.testing.assert_allclose(middle.posture, 0.5 * (slow.posture + fast.posture), atol=0.01)
    partners, signs = middle.mirror
    np.testing.assert_allclose(
        signs * middle.sample(1.0)[0][partners], middle.sample(0.0)[0], atol=1e-9
    )


@pytest.mark.parametrize('speed', [0.39, 1.3, 1.0, np.nan])
def test_speeds_without_a_gait(path, speed):
    """Beyond its ends and in its holes a family knows nothing, and must say so."""
    with pytest.raises(GaitError, match='the family'):
        GaitFamily.read(path, load_robot('walker3d')).at(speed)


@pytest.mark.parametrize(
    'overrides, reason',
    [
        ([('xacro_args.mass', 10.5)], 'mass .*10.0: the robot walker3d has 10.5'),
        ([('xacro_args.thigh_length', 0.41)], 'places of joints .*left_knee'),
        ([('name', 'other'), ('xacro_args.mass', 10.5)], 'the robot other has 10.5'),
        ([('right_knee.rotor_inertia', 5e-5)], 'rotor inertias .*right_knee'),
        ([('world.gravity', 1.62)], 'gravity'),
        ([('robot.friction.left_knee.coulomb', 0.3)], 'friction of joints.* left_knee'),
    ],
)
def test_other_robots(path, overrides, reason):
    """A gait of another robot falls; the refusal names what differs."""
    with pytest.raises(GaitFileError, match=reason):
        GaitFamily.read(path, load_robot('walker3d', overrides))


def test_a_robot_by_another_name(path):
    """A family found by bring-up would be refused for the robot file it was found from."""
    robot_file = load_robot('walker3d', [('name', 'walker3d_legs')])
    assert len(GaitFamily.read(path, robot_file).speeds) == 4


def test_weak_motors(path):
    """A gait beyond the motors cannot be walked, and the file's reader must hear it first."""
    weak = [(f'{side}_knee.current_limit', 0.5) for side in ('left', 'right')]
    with pytest.raises(GaitError, match='asks for more than the 1 N m of .*_knee'):
        GaitFamily.read(path, load_robot('walker3d', weak))
