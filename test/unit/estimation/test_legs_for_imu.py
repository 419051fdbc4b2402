# SPDX-License-Identifier: Apache-2.0
"""What stands in for a lost sensor says what the sensor would have said."""

import numpy as np
import pinocchio as pin
import pytest

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.estimation.stand_in import dispensable, StandIn
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement, WalkerState

ALL = {'gyroscope', 'orientation', 'accelerometer'}
TICK = 1e-5


def base_on_foot(robot, dynamics, position, foot):
    """Return how the base is turned where a foot lies flat and looks ahead, ``(3, 3)``."""
    dynamics.place(dynamics.configuration(position))
    return dynamics.foot_rotation(robot.feet[foot]).T.copy()


def standing(robot, foot=0, contact=True):
    """Return the state of a robot on a foot."""
    state = WalkerState(robot)
    state.support, state.contact[:] = foot, contact
    return state


@pytest.mark.parametrize('foot', [0, 1])
def test_a_leg_that_stands_says_how_the_base_turns(foot):
    """If it failed, a robot without IMU would balance on a base that turns elsewhere."""
    robot = load_robot('walker3d').robot
    dynamics, rng = Dynamics(robot), np.random.default_rng(1)
    rate = rng.uniform(-1.0, 1.0, len(robot.joints))
    position = 0.5 * rng.uniform(-1.0, 1.0, len(robot.joints))
    turns = [base_on_foot(robot, dynamics, position + rate * time, foot) for time in (0.0, TICK)]
    before, now = Measurement(robot), Measurement(robot)
    before.orientation[:] = pin.Quaternion(turns[0]).coeffs()
    now.stamp, now.position[:], now.velocity[:] = TICK, position + 0.5 * rate * TICK, rate
    now.linear_acceleration[:] = 1.0
    expected = pin.log3(turns[0].T @ turns[1]) / TICK
    before.angular_velocity[:] = expected  # else it is smoothed
    told = StandIn(robot).replace(now, ALL, before, standing(robot, foot, contact=False))
    assert told.angular_velocity == pytest.approx(expected, abs=1e-4)
    assert not told.linear_acceleration.any() and (now.linear_acceleration == 1.0).all()
    turned = pin.Quaternion(told.orientation.copy()).toRotationMatrix()
    assert pin.log3(turned.T @ turns[1]) == pytest.approx(np.zeros(3), abs=1e-8)
    assert (told.position == now.position).all() and told.stamp == TICK


def test_what_is_not_lost_is_kept():
    """If it failed, a robot would doubt sensors that are sound."""
    robot = load_robot('walker3d').robot
    now, before = Measurement(robot), Measurement(robot)
    now.values[:] = np.arange(len(now.values))
    told = StandIn(robot).replace(now, {'foot'}, before, standing(robot))
    assert (told.values == now.values).all()


@pytest.mark.parametrize(
    'name, able',
    [('walker3d', {*ALL, 'foot'}), ('walker3d_points', {'foot'}), ('dribbel', set())],
)
def test_who_can_do_without(name, able):
    """If it failed, feet that are points would be asked how the base is turned."""
    robot_file = load_robot(name)
    assert dispensable(robot_file.robot, robot_file.values(EstimatorParameters)) == able


def test_a_rate_of_joints_is_smoothed():
    """If it failed, the noise of encoders would keep a robot that stands from being believed."""
    robot = load_robot('walker3d').robot
    now, told, stand_in = Measurement(robot), Measurement(robot), StandIn(robot)
    now.velocity[:] = 1.0
    settled = []
    for now.stamp in (0.02, 0.04, 1.0, 1.02):
        told = stand_in.replace(now, ALL, told, standing(robot))
        settled.append(told.angular_velocity.copy())
    assert settled[0] == pytest.approx(settled[-1] * (1.0 - np.exp(-1.0)), abs=1e-9)
    assert settled[1] == pytest.approx(settled[-1] * (1.0 - np.exp(-2.0)), abs=1e-9)


@pytest.mark.parametrize('slope', [0.0, 0.1])
def test_a_sole_that_stands_says_where_up_is(slope):
    """If it failed, what a frozen IMU said until it was noticed would tilt the robot for good."""
    robot = load_robot('walker3d').robot
    now, told, stand_in = Measurement(robot), Measurement(robot), StandIn(robot, slope)
    told.orientation[:] = pin.Quaternion(pin.exp3(np.array([0.1, -0.2, 0.3]))).coeffs()
    for now.stamp in np.arange(0.0, 0.5, 0.01):
        told = stand_in.replace(now, ALL, told, standing(robot))
    turned = pin.Quaternion(told.orientation.copy()).toRotationMatrix()
    downhill = np.array([np.sin(slope), 0.0, np.cos(slope)])
    assert turned[:, 2] == pytest.approx(downhill, abs=1e-4)
    assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.3, abs=0.05), 'heading'
