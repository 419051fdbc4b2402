# SPDX-License-Identifier: Apache-2.0
"""Contacts are debounced, the stance foot changes at touchdown and only then."""

import math

import numpy as np
import pytest

from walking_control.estimation.contact import ContactDebouncer
from walking_control.estimation.planar import ESTIMATOR, PlanarEstimator
from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.signals import Measurement


def test_contact_is_seen_at_once_and_flicker_is_not():
    """A delayed touchdown or a flickering switch would switch the set point wrongly."""
    contact = ContactDebouncer(15.0, 5.0, 0.02)
    assert contact.update(20.0, 0.0)
    assert contact.update(0.0, 0.01), 'a dropout within the hold time is flicker'
    assert contact.update(10.0, 0.03), 'between the thresholds nothing changes'
    assert not contact.update(1.0, 0.04)
    assert not contact.update(10.0, 0.08)


def measurement_of(robot, stamp, pitch, joints, forces, slope=0.0):
    """Return a measurement of a pose."""
    measurement = Measurement(robot)
    measurement.stamp = stamp
    measurement.position[:] = joints
    half = 0.5 * (pitch + slope)
    measurement.orientation[:] = 0.0, math.sin(half), 0.0, math.cos(half)
    measurement.foot_force[:, 2] = forces
    return measurement


@pytest.fixture
def estimator(dribbel):
    """Return an estimator that stands on the outer foot."""
    estimator = PlanarEstimator(dribbel.robot, dribbel.values(ESTIMATOR))
    estimator.reset('outer_foot')
    return estimator


def test_coordinates_of_both_supports(estimator, dribbel):
    """q3 and q5 must mean the same leg angles whichever foot stands."""
    robot = dribbel.robot
    state = estimator.update(measurement_of(robot, 0.0, -0.15, [-0.3, 0.0, 0.0], [90.0, 0.0]))
    assert np.allclose(state.q, [0.15, 0.0, -0.3, 0.0])
    # inner foot 0.27 m ahead: it takes over, its leg leans back by 0.15
    state = estimator.update(measurement_of(robot, 1.0, 0.15, [0.3, 0.0, 0.0], [90.0, 90.0]))
    assert robot.feet[state.support] == 'inner_foot' and state.steps == 1
    assert np.allclose(state.q, [0.15, 0.0, -0.3, 0.0])
    assert state.step_length == pytest.approx(2 * 0.9 * math.sin(0.15))
    assert state.base_height == pytest.approx(0.9 * math.cos(0.15))


def test_slope_is_subtracted(dribbel):
    """The IMU counts from gravity, q3 from the floor normal: on a slope they differ."""
    estimator = PlanarEstimator(dribbel.robot, dribbel.values(ESTIMATOR), slope=0.05)
    state = estimator.update(measurement_of(dribbel.robot, 0.0, -0.15, [-0.3, 0.0, 0.0],
                                            [90.0, 0.0], slope=0.05))
    assert state.q[0] == pytest.approx(0.15)


@pytest.mark.parametrize('stamp, hip, knee, why', [
    (1.0, 0.0, -0.1, 'a scuff beside the stance foot'),
    (1.0, -0.3, 0.0, 'a foot behind'),
    (1.0, 0.3, 0.0, None),
])
def test_only_a_touchdown_ahead_counts(estimator, dribbel, stamp, hip, knee, why):
    """A scuff that changed the stance foot would reverse the hip torque in mid-swing."""
    estimator.update(measurement_of(dribbel.robot, 0.0, -0.15, [-0.3, 0.0, 0.0], [90.0, 0.0]))
    state = estimator.update(measurement_of(dribbel.robot, stamp, 0.5 * hip, [hip, 0.0, knee],
                                            [90.0, 90.0]))
    assert state.steps == (0 if why else 1)


def test_lone_contact_takes_over_in_the_end(estimator, dribbel):
    """If a touchdown was missed, the foot that stands alone must become the stance foot."""
    robot = dribbel.robot
    for stamp in (1.0, 1.02, 1.04):
        state = estimator.update(measurement_of(robot, stamp, 0.0, [0.0, -0.1, 0.0], [0.0, 90.0]))
        assert robot.feet[state.support] == 'outer_foot'
    state = estimator.update(measurement_of(robot, 1.06, 0.0, [0.0, -0.1, 0.0], [0.0, 90.0]))
    assert robot.feet[state.support] == 'inner_foot'


def test_start_state_stands_on_the_floor(dribbel):
    """The documented start must put the stance foot on the floor and at rest."""
    robot, start = dribbel.robot, dribbel.start
    dynamics = PlanarDynamics(robot)
    q, v = dynamics.base_from_coordinates(start.support, start.q, start.v)
    dynamics.place(q)
    assert np.allclose(dynamics.foot_position(start.support), 0.0, atol=1e-15)
    assert np.allclose(dynamics.foot_jacobian(q, start.support) @ v, 0.0, atol=1e-14)
    assert np.allclose(robot.supports[start.support] @ q[2:], start.q)
