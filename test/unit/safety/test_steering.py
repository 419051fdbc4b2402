# SPDX-License-Identifier: Apache-2.0
"""What becomes of a commanded velocity: clipped, refused, taken back, stopped."""

import math

import numpy as np
import pytest

from walking_control.models.signals import Reference
from walking_control.safety.steering import Steering

FREE = math.inf, math.inf, math.inf


def make(limits=(1.0, 0.2, 0.3), hold=0.5, deceleration=0.5):
    """Return steering and its reference."""
    reference = Reference()
    return Steering(reference, lambda: limits, hold, deceleration), reference


def test_a_velocity_within_the_limits_is_taken_as_it_is():
    """Everything else here is an exception from this."""
    steering, reference = make()
    assert steering.command((0.5, -0.1, 0.2), 0.0) is None
    assert reference.velocity.tolist() == [0.5, -0.1, 0.2] and reference.speed == 0.5
    assert steering.source == 'cmd_vel' and not steering.clipped + steering.refused


@pytest.mark.parametrize('part', range(3))
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_beyond_the_limits_is_clipped_and_said(part, sign):
    """A joystick scaled too high would ask for what the robot cannot do, without a word."""
    steering, reference = make()
    velocity = np.zeros(3)
    velocity[part] = 7.0 * sign
    words = steering.command(velocity.tolist(), 0.0)
    limit = (1.0, 0.2, 0.3)[part]
    assert reference.velocity[part] == sign * limit
    assert f'{7.0 * sign:g}' in words and f'limit {limit:g}' in words and steering.clipped == 1
    assert make(FREE)[0].command(velocity.tolist(), 0.0) is None, 'no limit of its own'


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_neither_steers_nor_holds(bad):
    """A stream of NaN would keep the last good velocity alive for ever."""
    steering, reference = make()
    steering.command((0.4, 0.0, 0.0), 0.0)
    for tick in range(1, 21):
        assert 'not finite' in steering.command((0.4, bad, 0.0), 0.1 * tick)
        steering.steer(0.1 * tick)
    assert reference.velocity.tolist() == [0.0, 0.0, 0.0] and steering.refused == 20


def test_stop_brakes_and_does_not_listen_until_start():
    """A stop that the next message of a joystick undoes is none; nor is a start that leaps."""
    steering, reference = make(hold=0.0)
    steering.command((0.4, 0.0, 0.2), 1.0)
    steering.stop(2.0)
    steering.steer(2.4)
    np.testing.assert_allclose(reference.velocity, [0.2, 0.0, 0.1])
    assert steering.command((1.0, 0.0, 0.0), 2.4) is None and steering.source == 'stop'
    steering.steer(3.0)
    assert not reference.velocity.any() and reference.speed == 0.0
    steering.start()
    steering.steer(3.1)
    assert not reference.velocity.any(), 'of before the stop'
    steering.command((0.3, 0.0, 0.0), 3.2)
    assert reference.speed == 0.3


def test_stop_and_start_of_a_law_that_walks_by_its_parameters():
    """Whoever set a speed as a parameter must be able to stop, and to go on, by service."""
    steering, reference = make()
    steering.stop(None)
    steering.steer(5.0)
    assert not reference.velocity.any() and reference.speed == 0.0
    steering.stop(None)
    steering.start()
    assert reference.velocity is None and reference.speed is None
    assert steering.source == 'parameters'


def test_stop_without_a_clock_begins_with_the_next_tick():
    """In lockstep only stamps count: a stop between two ticks must not have happened before."""
    steering, reference = make()
    steering.command((0.4, 0.0, 0.0), None)
    steering.steer(10.0)
    steering.stop(None)
    steering.steer(10.2)
    assert reference.speed == 0.4
    steering.steer(10.4)
    assert reference.speed == pytest.approx(0.3)
