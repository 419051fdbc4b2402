# SPDX-License-Identifier: Apache-2.0
"""A gait of one step is a gait of a robot whose legs are alike; the model is asked whether they
are."""

from dataclasses import replace
import re

import pytest
from stranger import write_rabbit

from walking_control.exceptions import InvalidInput
from walking_control.gaits.gait_file import load_gait
from walking_control.lab.experiments.cycles import find_robot_cycles
from walking_control.loading import load_robot
from walking_control.models.resources import gait_path, robot_names
from walking_control.models.symmetry import leg_difference, NEARLY


@pytest.mark.parametrize('name', robot_names())
def test_shipped_robots_are_symmetric(name):
    """A gait of a shipped robot would be refused."""
    assert leg_difference(load_robot(name).robot) is None


def lame(name, pattern, text):
    """Return a robot file with the first match of a pattern in its URDF replaced."""
    robot_file = load_robot(name)
    urdf = re.sub(pattern, text, robot_file.robot.urdf, count=1)
    assert urdf != robot_file.robot.urdf
    return replace(robot_file, robot=replace(robot_file.robot, urdf=urdf))


@pytest.mark.parametrize(
    'name, pattern, text',
    [
        ('compass', 'mass value="1.0"', 'mass value="1.3"'),
        ('compass', 'xyz="0 0 -0.5"', 'xyz="0 0 -0.52"'),
        ('compass', 'xyz="0 0 -1.0"', 'xyz="0 0 -1.001"'),
        ('walker3d_point', 'mass value="1.0"', 'mass value="1.01"'),
    ],
)
def test_unequal_legs_are_seen(name, pattern, text):
    """Half a cycle of a lame robot would pass for half its gait, planar or in space."""
    assert 'on' in leg_difference(lame(name, pattern, text).robot)


def test_legs_as_drawings_have_them_are_near_enough_for_a_gait():
    """CAD draws legs that differ by 0.01 %; a law that looks at the robot corrects that."""
    robot = lame('compass', 'mass value="1.0"', 'mass value="1.001"').robot
    assert leg_difference(robot, NEARLY) is None
    assert leg_difference(robot) is not None  # a return map of one step needs them equal


@pytest.mark.parametrize(
    'change, words',
    [
        (
            lambda robot: {'springs': {**robot.springs, 'left_knee': robot.springs['hip_like']}},
            'springs of left_knee',
        ),
        (
            lambda robot: {
                'actuators': {
                    **robot.actuators,
                    'left_hip': replace(robot.actuators['left_hip'], current_limit=1.0),
                }
            },
            'motors of left_hip',
        ),
        (
            lambda robot: {
                'limits': {
                    **robot.limits,
                    'right_knee': replace(robot.limits['right_knee'], upper=1.0),
                }
            },
            'limits of left_knee',
        ),
    ],
)
def test_unequal_joints_are_seen(tmp_path, change, words):
    """A spring, motor or stop on one leg alone makes the other step another one."""
    robot = load_robot(write_rabbit(tmp_path)).robot
    from walking_control.models.actuators import JointSpring

    robot = replace(robot, springs={'hip_like': JointSpring(3.0, 0.0, 0.1)})
    assert leg_difference(robot) is None
    assert words in leg_difference(replace(robot, **change(robot)))


def test_no_cycle_of_a_lame_walker():
    """A cycle that does not exist would be certified as stable."""
    with pytest.raises(InvalidInput, match='gait cycle of compass: its legs differ'):
        find_robot_cycles(lame('compass', 'xyz="0 0 -0.5"', 'xyz="0 0 -0.52"'))


def test_no_gait_file_for_a_lame_walker():
    """Curve tracking would follow the mirror image of a step the other leg cannot make."""
    robot_file = load_robot('dribbel')
    lock = replace(robot_file.robot.locks[0], capture=0.02)
    robot = replace(robot_file.robot, locks=(lock, *robot_file.robot.locks[1:]))
    with pytest.raises(InvalidInput, match='its legs differ .the locks'):
        load_gait(gait_path('dribbel'), replace(robot_file, robot=robot))


def test_no_search_for_a_lame_walker(tmp_path):
    """Gait search would find a gait for the left leg alone."""
    pytest.importorskip('casadi')
    from walking_control.lab.experiments.gait_search import find_gait

    with pytest.raises(InvalidInput, match='gait search of rabbit: its legs differ'):
        find_gait(load_robot(write_rabbit(tmp_path, offset=0.02)))
