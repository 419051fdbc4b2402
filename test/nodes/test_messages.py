# SPDX-License-Identifier: Apache-2.0
"""Joints are mapped by name; what is missing is named; the work of a step is that of its ticks."""

from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from walking_control.exceptions import MeasurementError
from walking_control.ros.nodes.messages import JointStateReader
from walking_control.ros.nodes.telemetry import StepWork


def read(message, joints=('a', 'b', 'c')):
    """Return positions and velocities of a message."""
    position, velocity = np.zeros(len(joints)), np.zeros(len(joints))
    JointStateReader(list(joints)).read(message, position, velocity)
    return position.tolist(), velocity.tolist()


def test_shuffled_names():
    """JointState promises no order: reading by position would swap legs."""
    message = JointState(
        name=['c', 'x', 'a', 'b'], position=[3.0, 9.0, 1.0, 2.0], velocity=[0.3, 0.9, 0.1, 0.2]
    )
    assert read(message) == ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])


def test_order_may_change_between_messages():
    """The order seen first must not be taken for granted."""
    reader = JointStateReader(['a', 'b'])
    position = np.zeros(2)
    for names in (['a', 'b'], ['b', 'a']):
        reader.read(JointState(name=names, position=[1.0, 2.0]), position)
    assert position.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    'message, words',
    [
        (
            JointState(name=['a', 'b'], position=[1.0, 2.0], velocity=[0.0, 0.0]),
            'lacks the joint c',
        ),
        (JointState(name=['a', 'b', 'c'], position=[1.0], velocity=[0.0]), 'position is 1'),
        (JointState(name=['a', 'b', 'c'], position=[1.0, 2.0, 3.0]), 'velocity is 0'),
    ],
)
def test_incomplete_joint_state(message, words):
    """A missing joint must be named, not read as zero."""
    with pytest.raises(MeasurementError, match=words):
        read(message)


def test_work_of_a_step_is_that_of_its_ticks():
    """Energy told per step that leaks from one step to the next hides what a push-off costs."""
    robot = SimpleNamespace(actuators={'b': None}, joint_index=lambda joint: 1)
    state = SimpleNamespace(steps=0, velocity=np.array([9.0, 0.5]))
    loop = SimpleNamespace(robot=robot, state=state, command=SimpleNamespace(effort=np.zeros(1)))
    work = StepWork(loop)
    for tick in range(21):
        state.steps = tick // 10
        loop.command.effort[0] = 4.0 if tick % 10 < 5 else -2.0
        work.add(0.01 * tick)
    assert work.power == 2.0
    assert work.positive == pytest.approx(5 * 0.01 * 2.0)
    assert work.net == pytest.approx(5 * 0.01 * (2.0 - 1.0))
    work.add(0.0)  # another walk
    state.steps += 1
    work.add(0.01)
    assert work.positive == pytest.approx(0.01 * 2.0)
