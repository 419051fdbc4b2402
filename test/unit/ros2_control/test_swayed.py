# SPDX-License-Identifier: Apache-2.0
"""`check --live` names the sensor that lies about a robot that somebody sways on its feet."""

from functools import cache
from itertools import product

import pytest
from standing_lies import judge_swung, lies_about, try_swung_lies
from swung import swung

from walking_control.loading import load_robot


@cache
def swayed(robot):
    """Return the robot file of a robot, and what is measured while it is swayed."""
    robot_file = load_robot(robot)
    return robot_file, swung(robot_file)


QUICK = ('lab', 'dribbel'), ('none', 'humanoid'), ('rough', 'walker3d')


@pytest.mark.parametrize(
    'noise, robot',
    [
        each if each in QUICK else pytest.param(*each, marks=pytest.mark.long)
        for each in product(['none', 'lab', 'rough'], ['walker3d', 'humanoid', 'dribbel'])
    ],
)
def test_a_good_robot_passes(robot, noise):
    """If it failed, somebody would look for a fault that is not there."""
    robot_file = load_robot(robot)
    rows = swung(robot_file, noise, seed=1)
    assert judge_swung(robot_file, lambda m, past: None, (), rows)[0] == ''


@pytest.mark.parametrize(
    'robot, lie, words',
    [
        pytest.param('walker3d', 'acc late', 'acceleration of the IMU', marks=pytest.mark.long),
        ('walker3d', 'orientation inverse', 'orientation of the IMU'),
        ('walker3d', 'orientation late', 'orientation of the IMU'),
        ('walker3d', 'IMU turned 180 z', 'IMU of imu_link'),
        pytest.param('humanoid', 'IMU turned 180 x', 'IMU of imu_link', marks=pytest.mark.long),
        ('humanoid', 'IMU late', 'IMU is'),
        ('humanoid', 'IMU frozen', 'still'),
        ('walker3d', 'left_hip_roll inverted', 'position of joint left_hip_roll'),
        ('humanoid', 'left_hip_roll frozen', 'position of joint left_hip_roll'),
        ('walker3d', 'left_knee offset -0.3', 'left_knee'),
        ('humanoid', 'encoders late', 'encoders is'),
        ('dribbel', 'feet swapped', 'force on foot outer_foot'),
        ('humanoid', 'first foot frozen', 'force on foot left_sole'),
        ('dribbel', 'first foot dead', 'force on foot outer_foot'),
    ],
)
def test_a_lie_is_named(robot, lie, words):
    """If it failed, what only motion shows would be found when the robot walks, by a fall."""
    robot_file, rows = swayed(robot)
    spoil, says = lies_about(robot_file.robot)[lie]
    said, right = judge_swung(robot_file, spoil, says, rows)
    assert right and words in said, said


@pytest.mark.long
@pytest.mark.parametrize('robot, least', [('walker3d', 40), ('humanoid', 40), ('dribbel', 36)])
def test_so_many_lies_are_named(robot, least):
    """If it failed, the numbers of doc/sensor_lies.md would be another robot's."""
    assert sum(right for _, _, right in try_swung_lies(robot)) >= least
