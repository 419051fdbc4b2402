# SPDX-License-Identifier: Apache-2.0
"""The estimator as a Kalman filter: legs, slope, robots of every base, what may go wrong."""

import math

import numpy as np
import pinocchio as pin
import pytest

from walking_control.estimation import inertial_odometry
from walking_control.estimation.estimator import Estimator, make_estimator
from walking_control.estimation.foot_updates import make_sample, RESTS, write_base
from walking_control.estimation.invariant import shift
from walking_control.estimation.leg_chains import find_leg_chains, follow_legs
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.estimation.turns import write_turn
from walking_control.loading import load_robot
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.signals import Measurement

ROBOTS = ['compass', 'dribbel', 'humanoid', 'walker3d_point']
DT = 0.005
LAB = {
    'gyro_sigma': 0.005,
    'gyro_bias_sigma': 0.0035,
    'acceleration_sigma': 0.05,
    'acceleration_bias_sigma': 0.05,
    'orientation_sigma': 0.01,
    'position_sigma': 1e-3,
    'velocity_sigma': 0.05,
}


def filter_of(robot, **values):
    """Return (estimator, robot) of a robot file with the filter on."""
    parameters = {**LAB, **values}
    robot_file = load_robot(
        robot, [(f'estimator.{name}', value) for name, value in parameters.items()]
    )
    estimator = make_estimator(robot_file)
    estimator.reset(robot_file.start.support)
    return estimator, robot_file


def at_rest(robot_file, pitch=0.0, slope=0.0):
    """Return the measurement of a robot at rest, its base turned by pitch from the floor."""
    measurement, start = Measurement(robot_file.robot), robot_file.start
    measurement.position[:] = (
        start.posture
        if start.posture is not None
        else robot_file.robot.joint_lifts[start.support] @ start.q
    )
    half = 0.5 * (pitch + slope)
    measurement.orientation[:] = 0.0, math.sin(half), 0.0, math.cos(half)
    world = pin.Quaternion(measurement.orientation).toRotationMatrix()
    measurement.linear_acceleration[:] = world.T @ [0.0, 0.0, 9.81]
    measurement.foot_force[robot_file.robot.feet.index(start.support), 2] = 500.0
    return measurement


def stand(estimator, measurement, ticks=100):
    """Return the state after ticks at rest."""
    for _ in range(ticks):
        measurement.stamp += DT
        state = estimator.update(measurement)
    return state


@pytest.mark.parametrize('name', ROBOTS)
def test_legs_are_those_of_the_model(name):
    """Feet at the wrong place would be taken for a base that moves."""
    robot, rng = load_robot(name).robot, np.random.default_rng(0)
    dynamics, n = Dynamics(robot), len(robot.joints)
    sample = make_sample(2)
    position, velocity, body = (0.5 * rng.standard_normal(size) for size in (n, n, 3))
    follow_legs(find_leg_chains(dynamics), position, velocity, body, sample)
    q, v = dynamics.configuration(position), np.zeros(dynamics.nv)
    v[robot.base.nv :] = velocity
    dynamics.move(q, v)
    for i, foot in enumerate(robot.feet):
        assert np.allclose(sample.places[i], dynamics.foot_position(foot) - body, atol=1e-12)
        assert np.allclose(sample.speeds[i], dynamics.foot_velocity(foot), atol=1e-12)
    for i, foot in enumerate(robot.feet):
        leg = dynamics.foot_twist_jacobian(q, foot)[:3, robot.base.nv :]
        assert np.allclose(sample.grams[i], leg @ leg.T, atol=1e-12)


def test_a_turn_is_written_as_pinocchio_has_it():
    """A robot that looks back has another largest part: its heading would jump."""
    rng, largest = np.random.default_rng(0), set()
    for _ in range(500):
        rotation, out = (
            pin.exp3(rng.uniform(-2.0, 2.0, 3)) + 1e-9 * rng.standard_normal(),
            np.zeros(4),
        )
        turn = pin.Quaternion(rotation).normalized()
        write_turn(rotation, out)
        np.testing.assert_allclose(out, turn.coeffs(), rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(rotation, turn.toRotationMatrix(), rtol=0.0, atol=1e-15)
        largest.add(int(np.abs(out).argmax()))
    assert largest == {0, 1, 2, 3}


@pytest.mark.parametrize('name', ROBOTS)
def test_a_robot_at_rest_rests(name):
    """A filter that drifts on a robot at rest would make it lean and creep."""
    estimator, robot_file = filter_of(name)
    measurement = at_rest(robot_file, slope=robot_file.values(World).slope)
    kinematic = make_estimator(load_robot(name))
    kinematic.reset(robot_file.start.support)
    state, truth = stand(estimator, measurement).base, kinematic.update(measurement).base
    assert np.allclose(state.orientation, truth.orientation, atol=1e-9)
    assert np.allclose(state.position, truth.position, atol=1e-9)
    assert np.allclose(state.linear, 0.0, atol=1e-9)


@pytest.mark.parametrize('name', ['dribbel', 'humanoid'])
def test_plain_and_compiled_see_the_same_memory(name, monkeypatch):
    """What compiled code takes as one block, plain code and the rest of the class see as arrays."""
    runs = []
    for _ in range(2):
        estimator, robot_file = filter_of(name)
        measurement = at_rest(robot_file, 0.1)
        measurement.angular_velocity[1] = 0.02
        base = stand(estimator, measurement, 12).base
        runs.append([base.position, base.linear, base.orientation, *estimator._odometry.filter])
        monkeypatch.setattr(inertial_odometry, 'compile_where_possible', lambda function: function)
    assert isinstance(estimator._odometry._memory, tuple), 'the second is plain'
    for a, b in zip(*runs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('name', ['dribbel', 'humanoid'])
@pytest.mark.parametrize('slope', [-0.1, 0.1])
def test_slope(name, slope):
    """q3 counts from the floor's normal, the IMU from gravity: one taken for the other tilts."""
    robot_file = filter_of(name)[1]
    values = robot_file.values(EstimatorParameters)
    estimator = Estimator(robot_file.robot, values, slope)
    estimator.reset(robot_file.start.support)
    state = stand(estimator, at_rest(robot_file, 0.2, slope), 400)
    assert state.base.pitch == pytest.approx(0.2, abs=1e-9)
    assert np.allclose(state.base.linear, 0.0, atol=1e-9)
    level = Estimator(robot_file.robot, values)
    level.reset(robot_file.start.support)
    state = stand(level, at_rest(robot_file, 0.2, slope), 400)
    assert state.base.pitch == pytest.approx(0.2 + slope, abs=1e-9), 'from gravity on level floor'


@pytest.mark.parametrize('name', ['dribbel', 'humanoid'])
def test_wrong_start_is_corrected(name):
    """The orientation with which it begins may be wrong; gravity and the legs know better."""
    estimator, robot_file = filter_of(name, orientation_sigma=0.05, acceleration_bias_sigma=0.01)
    measurement = at_rest(robot_file)
    half = 0.5 * 0.05
    measurement.orientation[:] = 0.0, math.sin(half), 0.0, math.cos(half)
    stand(estimator, measurement, 1)
    assert estimator.state.base.pitch == pytest.approx(0.05)
    state = stand(estimator, measurement, 1000)
    sigma = math.sqrt(state.covariance[1, 1])
    assert abs(state.base.pitch) < 3.0 * sigma < 0.01


def test_a_base_that_does_not_turn_knows_its_turn():
    """walker3d_point's hip has no orientation: nothing of the IMU may turn it."""
    estimator, robot_file = filter_of('walker3d_point')
    assert robot_file.robot.base is Base.TRANSLATING
    measurement = at_rest(robot_file)
    measurement.angular_velocity[:] = 1.0, 2.0, 3.0
    state = stand(estimator, measurement)
    assert np.array_equal(state.base.orientation, [0.0, 0.0, 0.0, 1.0])
    assert not state.base.angular.any() and not state.covariance[:3].any()
    assert np.all(np.diag(state.covariance)[3:] > 0.0)


def test_a_repeated_measurement_says_nothing_new():
    """Over ROS a set may come twice; counted twice it would make the filter too sure."""
    estimator, robot_file = filter_of('dribbel')
    measurement = at_rest(robot_file)
    stand(estimator, measurement)
    P = estimator._odometry.filter.P.copy()
    estimator.update(measurement)
    assert np.array_equal(P, estimator._odometry.filter.P)


def test_after_a_long_silence_it_begins_anew():
    """What the IMU said before a gap is no motion over the gap."""
    estimator, robot_file = filter_of('humanoid')
    measurement = at_rest(robot_file)
    stand(estimator, measurement)
    measurement.angular_velocity[1] = 3.0
    stand(estimator, measurement, 1)
    before = estimator.state.base.position.copy()
    measurement.angular_velocity[1], measurement.stamp = 0.0, measurement.stamp + 5.0
    state = stand(estimator, measurement, 1)
    assert abs(state.base.pitch) < 0.01
    assert np.allclose(state.base.position, before, atol=0.02)
    assert np.isfinite(state.covariance).all()


def test_a_contact_that_never_comes():
    """A dead contact would leave the IMU to drift away; a robot that is carried stands."""
    estimator, robot_file = filter_of('humanoid')
    measurement = at_rest(robot_file)
    measurement.foot_force[:] = 0.0
    measurement.linear_acceleration[0] += 0.05
    measurement.angular_velocity[1] += 0.005
    state = stand(estimator, measurement, 1000)
    assert state.contact.any() and state.mistrusted.any()
    assert np.abs(state.base.linear).max() < 0.005 and abs(state.base.pitch) < 0.015
    assert np.diag(state.covariance)[3:6].max() < 0.02**2


def test_an_imu_without_accelerometer():
    """Zeros of a missing accelerometer taken for free fall would tear the feet off the floor."""
    estimator, robot_file = filter_of('humanoid')
    measurement = at_rest(robot_file)
    measurement.foot_force[:, 2], measurement.linear_acceleration[:] = 150.0, 0.0
    state = stand(estimator, measurement, 300)
    assert np.all(estimator._odometry.sample.verdicts == RESTS)
    assert np.abs(state.base.linear).max() < 1e-3 and abs(state.base.pitch) < 1e-3


def test_in_the_air_nothing_stands():
    """A foot taken for a stance foot in free fall would hide the fall."""
    estimator, robot_file = filter_of('humanoid')
    measurement = at_rest(robot_file)
    stand(estimator, measurement)
    measurement.foot_force[:], measurement.linear_acceleration[:] = 0.0, 1e-6
    known = stand(estimator, measurement, 8).covariance.copy()  # until contacts are given up
    state = stand(estimator, measurement, 12)
    assert state.base.linear[2] < -9.81 * 11 * DT
    assert np.all(np.diag(state.covariance)[3:6] > np.diag(known)[3:6])


def test_covariance_is_of_the_base_and_not_of_the_imu():
    """The IMU sits beside the base's origin: the arm between them carries turn into place."""
    estimator, robot_file = filter_of('humanoid')
    stand(estimator, at_rest(robot_file), 20)
    odometry, rng = estimator._odometry, np.random.default_rng(0)
    state = odometry.filter
    L = np.linalg.cholesky(state.P[np.ix_(*(np.flatnonzero(np.diag(state.P)),) * 2)])
    entries = np.flatnonzero(np.diag(state.P))
    kept, seen = [part.copy() for part in state], []
    odometry._imu[:] = 0.3, -0.2, 0.5
    position, velocity, covariance = np.zeros(3), np.zeros(3), np.zeros((9, 9))
    write_base(state, odometry.sample.rate, odometry._imu, 0.0, position, velocity, covariance)
    middle = np.concatenate((velocity, position))
    for _ in range(3000):
        xi = np.zeros(len(state.P))
        xi[entries] = L @ rng.standard_normal(len(entries))
        shift(state, xi)
        turn = pin.log3(state.rotation @ kept[0].T)
        write_base(
            state, odometry.sample.rate, odometry._imu, 0.0, position, velocity, np.zeros((9, 9))
        )
        seen.append(np.concatenate((turn, np.concatenate((velocity, position)) - middle)))
        for part, old in zip(state, kept, strict=True):
            part[:] = old
    scale = np.sqrt(np.diag(covariance))
    assert np.abs((np.cov(np.array(seen).T) - covariance) / np.outer(scale, scale)).max() < 0.1
