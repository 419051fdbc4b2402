# SPDX-License-Identifier: Apache-2.0
"""A sensor that begins to lie is named before it moves the robot much (doc/sensor_checks.md)."""

import pytest
from standing_lies import try_standing_lies

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


@pytest.mark.parametrize(
    'robot, lie, word',
    [
        ('dribbel', 'acc in g', 'in g'),
        ('dribbel', 'acc x inverted', 'the accelerometer'),
        ('humanoid', 'acc in g', 'in g'),
        ('humanoid', 'first foot inverted', 'left_sole'),
        ('dribbel', 'feet frozen', 'repeats itself'),
        ('humanoid', 'gyro y dead', 'y of the gyroscope repeats itself'),
        pytest.param('walker3d', 'acc x offset', 'the accelerometer', marks=pytest.mark.long),
        pytest.param('walker3d', 'orientation late', 'late', marks=pytest.mark.long),
        pytest.param('walker3d', 'feet swapped', 'swapped', marks=pytest.mark.long),
        pytest.param('walker3d', 'gyro y dead', 'gyroscope', marks=pytest.mark.long),
        pytest.param('walker3d', 'acc free of gravity', 'weight', marks=pytest.mark.long),
    ],
)
def test_a_standing_lie_is_named(robot, lie, word):
    """If it failed, a wrong unit, sign or plug would end in a fall without a reason."""
    begin = None if lie == 'feet swapped' else 1.0  # it has to walk by then
    outcome = next(try_standing_lies(robot, at=begin, seconds=1.5, only=lie))
    assert outcome.right and word in outcome.words, str(outcome)
