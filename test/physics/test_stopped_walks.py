# SPDX-License-Identifier: Apache-2.0
"""A walker that is stopped within a step stands on both feet; so does one whose law has failed."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.stops import try_stops
from walking_control.loading import load_robot
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import Walk


@pytest.mark.parametrize('category', [1, 2])
def test_an_emergency_stop_ends_on_two_feet(category):
    """If it failed, the button would fell a robot that could have stood."""
    result = try_stops(load_robot('walker3d'), category=category, starts=1, speed=0.4)
    assert result['stood'] == result['starts'] == 1 and result['fell'] == []
    assert result['category'] == category and 0.0 < result['worst_way'] < 0.6


@pytest.mark.parametrize('cause', ['internal', 'command'])
def test_a_standby_law_catches_a_law_that_failed(cause):
    """If it failed, an error in a law would be a fall although another law stands by."""
    robot_file = load_robot('walker3d', standby='stepping')
    result = try_stops(robot_file, cause, starts=1, speed=1.0)
    assert result['stood'] == 1, result['fell']


def test_a_walk_can_be_stopped_and_a_fall_cannot():
    """If it failed, `stoppable` would promise a stand to one that falls, or warn of every step."""
    robot_file = load_robot('walker3d')
    loop = ControlLoop(robot_file)
    walk = Walk(make_plant(robot_file), loop, robot_file.start, 1000)
    assert loop.controller.stoppable().steps == 0, 'it stands'
    loop.reference.velocity = np.array([0.3, 0.0, 0.0])
    walk.go(round(1.0 / loop.period))
    steps, margin = loop.controller.stoppable()
    assert 1 <= steps <= 3 and 0.0 < margin < 0.2
    engine = loop.controller.engine
    engine.fall = engine.fall._replace(velocity=np.array([3.0, 0.0]))
    steps, margin = loop.controller.stoppable()
    assert steps == -1 and margin < 0.0


def test_category_0_falls_and_is_said_so():
    """If it failed, a stop that takes the power would be counted as a stand."""
    result = try_stops(load_robot('walker3d'), category=0, starts=1, speed=1.0)
    assert result['stood'] == 0 and len(result['fell']) == 1
    assert set(result['fell'][0]) == {'phase', 'speed', 'cause'}


@pytest.mark.parametrize(
    'robot, given, words',
    [
        ('dribbel', {}, 'base: free'),
        ('walker3d', {'cause': 'nonsense'}, 'known'),
        ('walker3d', {'starts': 0}, 'at least 1'),
        ('walker3d', {'category': 3}, 'emergency_stop_category'),
        ('walker3d', {'cause': 'jump', 'category': 2}, 'on_jump'),
    ],
)
def test_what_cannot_be_tried_is_refused(robot, given, words):
    """If it failed, a question without a sense would get a number for an answer."""
    with pytest.raises(InvalidInput, match=words):
        try_stops(load_robot(robot), **given)
