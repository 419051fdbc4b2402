# SPDX-License-Identifier: Apache-2.0
"""The floor's slope as feet feel it."""

import math

import numpy as np
import pinocchio as pin
import pytest

from walking_control.estimation.estimator import make_estimator
from walking_control.estimation.floor_slope import FloorSlope, STEEPEST
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement, WalkerState


def stand(robot_file, tilt, ticks=150, kind='kinematic'):
    """Return the state of a robot that stands tilted with its soles under it."""
    estimator = make_estimator(robot_file)
    robot = robot_file.robot
    measurement = Measurement(robot)
    measurement.orientation[:] = pin.Quaternion(pin.utils.rotate('y', tilt)).coeffs()
    measurement.foot_force[:, 2] = 50.0
    measurement.linear_acceleration[:] = pin.utils.rotate('y', tilt).T @ [0.0, 0.0, 9.81]
    for i in range(ticks):
        measurement.stamp = 0.002 * i
        state = estimator.update(measurement)
    return state


@pytest.mark.parametrize('tilt', [0.14, -0.1])
def test_soles_show_the_slope(tilt):
    """If it failed, the law would walk over a level floor that is not there, and run away."""
    state = stand(load_robot('walker3d'), tilt)
    assert state.floor_slope == pytest.approx([-math.tan(tilt), 0.0], abs=0.01)


def test_a_floor_is_as_the_file_says_unless_it_may_differ():
    """If it failed, robots on a floor that is known would walk by noise."""
    state = stand(load_robot('walker3d', [('estimator.floor_variation', 0.0)]), 0.1)
    assert not state.floor_slope.any()


def test_no_slope_is_steeper_than_what_is_walked_on():
    """If it failed, a robot on its side would plan steps up a wall."""
    assert np.abs(stand(load_robot('walker3d'), 0.6).floor_slope).max() <= STEEPEST


def test_points_show_the_slope_by_their_footholds():
    """If it failed, robots on points would never learn of a slope."""
    robot_file = load_robot('walker3d_points', [('estimator.floor_variation', 0.05)])
    dynamics = Dynamics(robot_file.robot)
    floor = FloorSlope(dynamics, robot_file.values(EstimatorParameters))
    state = WalkerState(robot_file.robot)
    slope = np.array([-0.12, 0.05])
    places = [[0.0, 0.1, 0.005], [0.0, -0.1, -0.005]]
    for step in range(8):
        state.stamp, state.steps, state.support = 0.3 * step, step, step % 2
        way = np.array([0.2, 0.2 * (1 if state.support == 0 else -1)])
        places[state.support] = [*way, float(way @ slope)]
        places[1 - state.support] = [0.0, 0.0, 0.0]
        floor.update(state, places)
    assert floor.value == pytest.approx(slope, abs=0.01)
    assert np.linalg.eigvalsh(floor.covariance).min() > 0.0
