# SPDX-License-Identifier: Apache-2.0
"""Joints are mapped by name; what is missing is named."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from walking_control.exceptions import MeasurementError
from walking_control.nodes.messages import JointStateReader


def read(message, joints=('a', 'b', 'c')):
    """Return positions and velocities of a message."""
    position, velocity = np.zeros(len(joints)), np.zeros(len(joints))
    JointStateReader(list(joints)).read(message, position, velocity)
    return position.tolist(), velocity.tolist()


def test_shuffled_names():
    """JointState promises no order: reading by position would swap legs."""
    message = JointState(name=['c', 'x', 'a', 'b'], position=[3.0, 9.0, 1.0, 2.0],
                         velocity=[0.3, 0.9, 0.1, 0.2])
    assert read(message) == ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])


def test_order_may_change_between_messages():
    """The order seen first must not be taken for granted."""
    reader = JointStateReader(['a', 'b'])
    position = np.zeros(2)
    for names in (['a', 'b'], ['b', 'a']):
        reader.read(JointState(name=names, position=[1.0, 2.0]), position)
    assert position.tolist() == [2.0, 1.0]


@pytest.mark.parametrize('message, words', [
    (JointState(name=['a', 'b'], position=[1.0, 2.0], velocity=[0.0, 0.0]), 'lacks the joint c'),
    (JointState(name=['a', 'b', 'c'], position=[1.0], velocity=[0.0]), 'positions is 1'),
    (JointState(name=['a', 'b', 'c'], position=[1.0, 2.0, 3.0]), 'velocities is 0'),
])
def test_incomplete_joint_state(message, words):
    """A missing joint must be named, not read as zero."""
    with pytest.raises(MeasurementError, match=words):
        read(message)
