# SPDX-License-Identifier: Apache-2.0
"""A sensor that begins to lie is named before it moves the robot much (doc/sensor_lies.md)."""

import pytest
from standing_lies import try_standing_lies

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


@pytest.mark.parametrize(
    'robot, lie, word',
    [
        pytest.param('dribbel', 'acc in g', 'in g', marks=pytest.mark.long),
        ('dribbel', 'acc x inverted', 'the accelerometer'),
        pytest.param('humanoid', 'acc in g', 'in g', marks=pytest.mark.long),
        ('humanoid', 'first foot inverted', 'left_sole'),
        pytest.param('dribbel', 'feet frozen', 'repeats itself', marks=pytest.mark.long),
        pytest.param(
            'humanoid', 'gyro y dead', 'y of the gyroscope repeats itself', marks=pytest.mark.long
        ),
        pytest.param('walker3d', 'acc x offset', 'the accelerometer', marks=pytest.mark.long),
        pytest.param('walker3d', 'orientation late', 'late', marks=pytest.mark.long),
        pytest.param('walker3d', 'gyro y dead', 'gyroscope', marks=pytest.mark.long),
        pytest.param('walker3d', 'acc free of gravity', 'weight', marks=pytest.mark.long),
    ],
)
def test_a_standing_lie_is_named(robot, lie, word):
    """If it failed, a wrong unit, sign or plug would end in a fall without a reason."""
    outcome = next(try_standing_lies(robot, at=1.0, seconds=1.5, only=lie))
    assert outcome.right and word in outcome.words, str(outcome)


@pytest.mark.long
def test_feet_that_are_exchanged_are_named_before_the_first_walk():
    """If it failed, a robot would walk with exchanged plugs; within a walk it may fall by them."""
    outcome = next(try_standing_lies('walker3d', at=None, seconds=0.3, only='feet swapped'))
    assert outcome.before and outcome.code != 'fall', str(outcome)
