# SPDX-License-Identifier: Apache-2.0
"""What a newcomer reads when something is refused or goes wrong."""

import numpy as np
import pytest
from stranger import write_rabbit

from walking_control.controllers.registry import make_controller
from walking_control.exceptions import IncompatibleController, NotAchieved
from walking_control.loading import load_robot
from walking_control.runs.metrics import summarize
from walking_control.simulation.rigid import motion
from walking_control.simulation.simulate import simulate


@pytest.mark.parametrize('name', ['hip_pd', 'hip_switching'])
def test_refused_controller_is_called_by_its_name(tmp_path, name):
    """Who asks for one controller would be told about another."""
    robot_file = load_robot(write_rabbit(tmp_path))
    with pytest.raises(IncompatibleController, match=f'controller {name} on rabbit') as caught:
        make_controller(robot_file, name)
    assert 'fitting: none' in str(caught.value)


def test_chattering_contacts_are_explained(tmp_path, monkeypatch):
    """A bare number and the word chatter help nobody to another start."""
    monkeypatch.setattr(motion, 'MOST_EVENTS', 30)  # the same, sooner

    def crouch(tree):
        tree['start']['q'] = [0.0, 0.8, -0.4, -0.5, 0.8]

    robot_file = load_robot(write_rabbit(tmp_path, crouch))
    with pytest.raises(NotAchieved) as caught:
        simulate(robot_file, duration=1.0)
    text = str(caught.value)
    assert 'events within one tick of plant rigid on rabbit at 0.3' in text
    assert 'more than 1000' in text and 'straighter legs' in text


@pytest.fixture(scope='module')
def walk():
    """Return a short walk of the compass, whose plant lets scuffing legs through."""
    return simulate(load_robot('compass'), duration=2.0)


def test_scuffs_are_counted(walk):
    """Straight legs would scuff without a word."""
    assert summarize(walk)['scuffs'] == 0
    contact, at = walk.contact.copy(), []
    ends = np.flatnonzero(np.diff(walk.steps)) + 1
    for begin, end in zip(ends[:-1], ends[1:]):
        middle = (begin + end) // 2  # where the legs pass each other
        contact[middle : middle + 3, 1 - walk.support[middle]] = True
        at.append(middle)
    before, walk.columns['contact'] = walk.columns['contact'], contact
    try:
        assert len(at) > 0 and summarize(walk)['scuffs'] == len(at)
    finally:
        walk.columns['contact'] = before
