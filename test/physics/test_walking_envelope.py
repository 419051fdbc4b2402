# SPDX-License-Identifier: Apache-2.0
"""Floors, loads and faults nobody told of: the page doc/envelope.md in short, and how it judges."""

import math

import pytest
from walking_envelope import burden, CONDITIONS, heaviest_link, Outcome, row, walk

from walking_control.loading import load_robot

SLOW = ('stairs_told', 'stairs_blind', 'downhill', 'uphill', 'commands')
BLIND = ('stairs_blind', 2)  # ran down the stairs ever faster, while each step came late
EDGE = ('tiles', 1)  # took a sole on an edge for a slope of 16 degrees


@pytest.mark.parametrize(
    'name',
    [
        'payload',
        *(pytest.param(name, marks=pytest.mark.long) for name in ('weak_motor', 'silence')),
    ],
)
def test_it_bears_what_it_was_not_told(name):
    """If it failed, a load, a weak motor or a gap in the sensors would fell the robot at once."""
    outcome = walk(CONDITIONS[name], 1, duration=2.5)
    assert outcome.reason is None
    assert outcome.speed == pytest.approx(0.5, abs=0.15)


@pytest.mark.long
@pytest.mark.parametrize('name, seed', [EDGE, BLIND])
def test_edges_that_nobody_told_of(name, seed):
    """If it failed, one sole on an edge would tilt the plan, or a late floor make the robot run."""
    assert walk(CONDITIONS[name], seed).reason is None


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize('name', CONDITIONS)
def test_the_whole_page(name):
    """If it failed, a row of the page would promise what the robot does not keep."""
    seconds = min(CONDITIONS[name].duration, 600.0)  # the hour of commands takes an hour
    for seed in range(1, 4 if name in SLOW else 21):
        assert walk(CONDITIONS[name], seed, duration=seconds).reason is None, (name, seed)


def test_a_fall_is_counted_and_says_why():
    """If it failed, a robot that fell or stopped would be in the table as survived."""
    fallen = walk(CONDITIONS['level'], 1, duration=0.8, more=[('safety.fall_height', 0.9)])
    assert 'above the stance foot' in fallen.reason and math.isnan(fallen.speed)
    stopped = walk(CONDITIONS['level'], 1, duration=0.8, more=[('stepping.speed_limit', 0.0)])
    assert 'went' in stopped.reason
    line = row('level', [fallen, Outcome(None, 0.5, 0.01)])
    assert '1 of 2' in line and '0.500 to 0.500' in line and '0.57' in line


def test_a_payload_weighs_what_it_says():
    """If it failed, the row of the payload would be of another robot, or of none."""
    text = load_robot('walker3d').robot.urdf
    link, mass = heaviest_link(text)
    assert link == 'pelvis' and mass == pytest.approx(10.0)
    assert heaviest_link(burden(text, link, 0.2 * mass))[1] == pytest.approx(12.0)
