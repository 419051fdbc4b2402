# SPDX-License-Identifier: Apache-2.0
"""Geometry that cannot walk is refused with the reason."""

import math

import pytest

from walking_control.lab.experiments.check import check_robot
from walking_control.lab.experiments.obstacles import find_walk_obstacles, remarks_on_steps
from walking_control.loading import load_robot


@pytest.mark.parametrize('name', ['walker3d', 'walker3d_points'])
def test_robots_that_walk_are_not_refused(name):
    """A check that refuses what walks is switched off, and then misses what does not."""
    assert not find_walk_obstacles(load_robot(name))
    heavy = load_robot(name, [('robot.xacro_args.leg_share', 0.3)])
    assert not find_walk_obstacles(heavy)


@pytest.mark.parametrize(
    'overrides, words',
    [
        ({'robot.xacro_args.sole_width': 0.16}, 'the soles, 0.16 m wide, overlap'),
        ({'robot.xacro_args.hip_half_width': 0.02}, 'm wide, overlap'),
        ({'stepping.narrowest': 0.03}, 'stand on each other'),
        ({'stepping.sole_length': 0.2}, 'at most that of the sole (0.12 m)'),
        ({'stepping.sole_width': 0.07}, 'at most that of the sole (0.06 m)'),
        ({'stepping.height': 0.9}, 'they reach 0.784 m'),
        ({'robot.xacro_args.thigh_length': 0.3, 'stepping.height': 0.8}, 'they reach 0.686 m'),
        ({'start.posture.left_knee': 0.9}, 'foot right_sole is 0.0541: m above the floor'),
        ({'start.posture.left_ankle_pitch': -0.4}, 'rad from lying flat'),
        (
            {
                f'start.posture.{side}_{joint}': 0.0
                for side in ('left', 'right')
                for joint in ('hip_pitch', 'knee', 'ankle_pitch')
            },
            'is all that its joints move it up',
        ),
        ({'robot.xacro_args.effort': 15.0}, 'takes 21.1 N m'),
        ({'stepping.effort_share': 0.3}, 'motor of left_knee is 18'),
    ],
)
def test_geometry_that_cannot_walk_is_refused_with_the_reason(overrides, words):
    """The robot would fall at the first step, and nobody would know why."""
    found = find_walk_obstacles(load_robot('walker3d', list(overrides.items())))
    assert any(words in str(error) for error in found), [str(error) for error in found]
    assert all(
        '\n' not in str(error) and error.remedy or 'at most that' in str(error) for error in found
    )


def test_the_knee_carries_what_statics_say():
    """A torque that is told too small lets a robot fall that the check let pass."""
    lean = math.sin(1.2354 - 0.5803)  # of the shank
    ankle, leg = 0.36 * lean, 0.75  # m from the knee, kg
    hanging = leg * (0.25 * 0.16 * lean + (0.04 + 0.09) * ankle)
    torque = 9.81 * (10.0 * ankle - hanging)
    found = find_walk_obstacles(load_robot('walker3d', [('robot.xacro_args.effort', 15.0)]))
    (knee,) = (error for error in found if 'left_knee' in str(error))
    assert float(knee.limit.split()[-3]) == pytest.approx(torque, rel=5e-3)


def test_check_says_so():
    """`check` is where people look before they try."""
    result = check_robot('walker3d', [('robot.xacro_args.effort', 15.0)])
    assert not result['ok']
    assert any('motor of left_knee' in problem['what'] for problem in result['problems'])


@pytest.mark.long
@pytest.mark.parametrize(
    'height, step_time, short',
    [(0.66, 0.335, False), (0.76, 0.33, False), (0.775, 0.33, True), (0.785, 0.36, True)],
)
def test_legs_too_short_for_the_steps_are_told(height, step_time, short):
    """A robot whose base has to sink in every step falls by itself, and nobody would say why."""
    robot_file = load_robot('walker3d', height=height, step_time=step_time)
    told = check_robot('walker3d', [('height', height), ('step_time', step_time)])['assumptions']
    assert bool(remarks_on_steps(robot_file)) == short
    assert any('lower stepping.height' in sentence for sentence in told) == short
