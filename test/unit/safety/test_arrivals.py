# SPDX-License-Identifier: Apache-2.0
"""When a set of sensors counts as complete, on a clock of the test's own."""

import pytest

from walking_control.safety.arrivals import Arrivals

TIMEOUT = 0.05


@pytest.mark.parametrize('rate, walks', [(18.0, False), (20.0, False), (40.0, True)])
def test_a_late_first_message_makes_no_slow_sensor_fast(rate, walks):
    """If it failed, a busy start would let a robot walk on sensors that soon stop it."""
    arrivals = Arrivals({'joint_state': 'joint_state', 'imu': 'imu'}, False, TIMEOUT)
    late = 0.99 / rate
    complete = False
    for message in range(20):
        now = message / rate + (late if message == 0 else 0.0)
        for sensor in ('imu', 'joint_state'):
            complete |= arrivals.arrived(sensor, message / rate, now)
    assert complete == walks


@pytest.mark.parametrize('pace, still', [(0.0, True), (0.05, True), (0.2, False), (1.0, False)])
def test_stamps_that_crawl_stand_still(pace, still):
    """If it failed, stamps too slow for the law to have its turn would keep its last effort on."""
    arrivals = Arrivals({'joint_state': 'joint_state'}, False, TIMEOUT)
    longest = 0.0
    for message in range(40):
        now = 0.01 * message
        if arrivals.arrived('joint_state', 7.0 + pace * now, now):
            longest = max(longest, arrivals.stillness(now))
    assert (longest > TIMEOUT) == still
