# SPDX-License-Identifier: Apache-2.0
"""What the feet carry is what the robot weighs, whatever one sensor says."""

import numpy as np
import pytest

from walking_control.estimation.contact import LoadBalance
from walking_control.exceptions import ParameterError
from walking_control.loading import load_robot
from walking_control.simulation.registry import make_plant

WEIGHT, TICK = 100.0, 0.002


def step(told, carried, heights, weighed=WEIGHT, time=0.3):
    """Return (loads, who was named) after a time of one posture; `told` is what sensors say."""
    lies = np.zeros(2, dtype=bool)
    balance = LoadBalance(0.4 * WEIGHT, 15.0, 0.02, lies)
    for tick in range(round(time / TICK)):
        loads = list(told)
        balance.correct(loads, weighed, heights, int(np.argmax(carried)), tick * TICK)
    return loads, lies.tolist()


@pytest.mark.parametrize(
    'told, carried, heights, named',
    [
        ((0.0, 0.0), (100.0, 0.0), (0.0, 0.05), 0),  # dead, stands alone
        ((0.0, 50.0), (50.0, 50.0), (0.0, 0.0), 0),  # dead, with another
        ((100.0, 100.0), (0.0, 100.0), (0.05, 0.0), 0),  # stuck, in the air
        ((40.0, 0.0), (100.0, 0.0), (0.0, 0.05), 0),  # stuck, says too little
        ((100.0, 0.0), (100.0, 0.0), (0.0, 0.05), None),
        ((60.0, 40.0), (60.0, 40.0), (0.1, 0.0), None),  # on a stair
    ],
)
def test_the_sensor_that_lies_is_found(told, carried, heights, named):
    """If it failed, the wrong foot would be blamed, or one that tells the truth."""
    loads, lies = step(told, carried, heights)
    assert lies == [foot == named for foot in range(2)]
    np.testing.assert_allclose(loads, carried, atol=16.0)


def test_nobody_lies_in_flight_or_for_a_moment():
    """If it failed, a jump or a late sensor would take a good sensor away."""
    assert step((0.0, 0.0), (0.0, 0.0), (0.0, 0.0), weighed=5.0)[1] == [False, False]
    assert step((0.0, 0.0), (100.0, 0.0), (0.0, 0.05), time=0.15)[1] == [False, False]


def test_a_foot_that_is_none_cannot_be_stuck():
    """If it failed, an index error would end the simulation without a word."""
    with pytest.raises(ParameterError, match='sensors.stuck_foot.*3.*2 feet'):
        make_plant(load_robot('walker3d', [('sensors.stuck_foot', 3)]))
