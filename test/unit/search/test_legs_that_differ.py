# SPDX-License-Identifier: Apache-2.0
"""Of legs that differ a gait asks what both can do; unlike masses and lengths are refused."""

from dataclasses import replace
import re

import pytest

from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.gait_search import find_gaits
from walking_control.loading import load_robot
from walking_control.models import with_section
from walking_control.search.space import SpaceSearch


@pytest.mark.parametrize(
    'weak, other, changed',
    [
        ('left_knee', 'right_knee', {'upper': 1.2}),
        ('left_hip_roll', 'right_hip_roll', {'lower': -0.1}),
        ('right_knee', 'left_knee', {'effort': 20.0}),
        ('right_ankle_pitch', 'left_ankle_pitch', {'velocity': 5.0}),
    ],
)
def test_the_other_leg_keeps_to_the_narrower_limits(weak, other, changed):
    """Every second step would pass a joint's stop, or ask for more than its motor has."""
    robot_file, said = load_robot('walker3d'), []
    robot = robot_file.robot
    limits = robot.limits | {weak: replace(robot.limits[weak], **changed)}
    case = SpaceSearch(
        replace(robot_file, robot=replace(robot, limits=limits)), progress=said.append
    )
    (line,) = said
    assert line.startswith(f'{other} keeps to what the other leg can do')
    ours, theirs = (case.robot.limits[joint] for joint in (weak, other))
    assert (ours.effort, ours.velocity) == (theirs.effort, theirs.velocity)
    mirrored = (-ours.upper, -ours.lower) if 'roll' in weak else (ours.lower, ours.upper)
    assert (theirs.lower, theirs.upper) == mirrored
    assert all(getattr(ours, name) == value for name, value in changed.items())


def test_equal_legs_are_left_alone():
    """A gait would be searched within narrower limits, or a line printed for nothing."""
    robot_file, said = load_robot('walker3d'), []
    case = SpaceSearch(robot_file, progress=said.append)
    assert case.robot.limits == robot_file.robot.limits and said == []


@pytest.mark.parametrize(
    'pattern, factor, words',
    [
        (r'(<link name="left_shank">.*?<mass value=")([^"]*)', 5.0, 'left_knee with 0.938 kg'),
        (
            r'(<joint name="left_ankle_pitch".*?xyz="0 0 )([^"]*)',
            1.05,
            'left_ankle_pitch with 0.378 m',
        ),
    ],
)
def test_one_leg_heavier_or_longer_is_refused(pattern, factor, words):
    """A gait of the first leg would be promised for the second, which falls on it."""
    robot_file = load_robot('walker3d')
    urdf = re.sub(
        pattern,
        lambda found: found[1] + str(factor * float(found[2])),
        robot_file.robot.urdf,
        count=1,
        flags=re.DOTALL,
    )
    uneven = replace(robot_file, robot=replace(robot_file.robot, urdf=urdf))
    with pytest.raises(InvalidInput, match=words) as refused:
        SpaceSearch(uneven)
    assert 'needs legs that are alike within' in str(refused.value)
    assert 'stepping walks on legs that differ' in str(refused.value)


def test_point_feet_are_named():
    """Whoever's robot has no soles would read about bounds, not that stepping walks on points."""
    points = with_section(load_robot('walker3d'), 'stepping', {'sole_width': 0.0})
    with pytest.raises(InvalidInput, match='robots on point feet walk by stepping'):
        SpaceSearch(points)


@pytest.mark.parametrize('margin, time, bend', [(0.0, 1.2, 0.5), (1.0, 1.0, 1.0), (2.0, 0.8, 1.5)])
def test_one_number_sets_price_against_margin(monkeypatch, margin, time, bend):
    """Who wants cheaper gaits, or more room, would have to know which of twelve numbers matter."""
    asked, robot_file = [], load_robot('walker3d')

    def find(case, values, *given):
        asked.append(values)
        raise InterruptedError

    monkeypatch.setattr(SpaceSearch, 'find', find)
    for each in (1.0, margin):
        with pytest.raises(InterruptedError):
            find_gaits(with_section(robot_file, 'space_search', {'margin': each}), [0.8])
    usual, values = asked
    assert values.gait_time == pytest.approx(time * usual.gait_time)
    assert values.least_bend == pytest.approx(bend * usual.least_bend)
