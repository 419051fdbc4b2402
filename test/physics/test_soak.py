# SPDX-License-Identifier: Apache-2.0
"""A minute of walking with random faults."""

import pytest
from soak import soak

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


@pytest.mark.long
def test_a_minute_of_random_faults(dribbel):
    """An unsafe command or an unnoticed fault here is one on the robot."""
    result = soak(dribbel, 60.0, seed=1)
    assert not result.unsafe
    assert not result.unnoticed
    assert len(result.injected) >= 5, 'the seed must bring a mixture'
    assert sum(result.faults.values()) >= 5
    assert result.growth < 100_000
