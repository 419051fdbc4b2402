# SPDX-License-Identifier: Apache-2.0
"""A number that a sensor gets wrong: a fault, or hardly another effort (doc/sensor_checks.md)."""

import pytest
from sensor_lies import all_lies, is_borne, LIMITS, try_lies, WALKS

from walking_control.loading import load_robot

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


def check(robot, **how):
    """Tell lies about a robot; return the outcomes."""
    outcomes = list(try_lies(robot, **how))
    bad = [str(outcome) for outcome in outcomes if not is_borne(robot, outcome)]
    assert not bad, f'{len(bad)} of {len(outcomes)}: {bad[:5]}'
    return outcomes


@pytest.mark.long
@pytest.mark.parametrize(
    'robot, noise, moment',
    [
        ('dribbel', 'none', 3.0),
        ('walker3d', 'none', 1.08),
        ('walker3d', 'lab', 1.2),
        ('humanoid', 'none', 0.5),
    ],
)
def test_some_lies(robot, noise, moment):
    """If it failed, one wrong number would put torque on the joints, and no fault would say so."""
    few = 20 / len(all_lies(load_robot(robot)))
    check(robot, noise=noise, moments=[moment], share=few)
    check(robot, noise=noise, moments=[moment], channels='foot', share=0.25)


@pytest.mark.long
def test_a_spinning_gyroscope_and_a_touch_that_is_none():
    """If it failed, a spike of the gyroscope would turn all joints of a robot in space at once."""
    outcomes = check('walker3d', moments=[1.12], channels='angular')
    assert {o.fault for o in outcomes if o.lie.length == 20} == {'gyroscope', 'not_finite'}
    assert all(not o.fault for o in outcomes if o.lie.length == 1), 'one message is bridged'
    assert max(o.change for o in outcomes) < LIMITS[''][0]


@pytest.mark.slow
@pytest.mark.timeout(10800)
@pytest.mark.parametrize('noise', ['none', 'lab'])
@pytest.mark.parametrize('robot', WALKS)
def test_all_lies(robot, noise):
    """The long form of the above: every number, at moments all through a step."""
    check(robot, noise=noise)
