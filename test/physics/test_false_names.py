# SPDX-License-Identifier: Apache-2.0
"""A robot that trips calls no sensor a liar (doc/sensor_lies.md)."""

from false_names import listen, WALKS
import pytest

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


@pytest.mark.long
@pytest.mark.parametrize(
    ('speed', 'seed', 'duration'),
    [(0.8, 2, 3.7), (0.5, 5, 3.9)],
)
def test_no_sensor_is_named_in_a_stumble(speed, seed, duration):
    """The IMU would be accused of what an edge did, and a stop would go without it."""
    _, names, _ = listen(WALKS['strips 5 cm'], 'natural_walking', speed, seed, duration)
    assert names == []
