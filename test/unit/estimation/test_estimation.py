# SPDX-License-Identifier: Apache-2.0
"""Contacts are debounced, the stance foot changes at touchdown and only then."""

import math

import numpy as np
import pinocchio as pin
import pytest

from walking_control.estimation.contact import ContactEvidence, lift_load
from walking_control.estimation.estimator import Estimator
from walking_control.estimation.odometry import LegOdometry
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.loading import load_robot
from walking_control.models.base import Base
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement, WalkerState


def contact_of(on, off, hold):
    """Return the evidence of a foot whose sensor has a noise of 10 N."""
    contact = ContactEvidence(hold)
    contact.expect(on, off, 10.0)
    return contact


def test_contact_is_seen_at_once_and_flicker_is_not():
    """A delayed touchdown or a flickering switch would switch the set point wrongly."""
    contact = contact_of(35.0, 25.0, 0.02)
    assert contact.update(90.0, 0.0)
    assert contact.update(0.0, 0.01), 'a dropout within the hold time is flicker'
    assert contact.update(30.0, 0.03), 'between the thresholds nothing changes'
    assert not contact.update(0.0, 0.04)
    assert not contact.update(30.0, 0.08)


def test_a_faint_load_must_last():
    """One odd reading would be a touchdown, or a foot that bears a little would never be one."""
    contact = contact_of(20.0, 10.0, 0.02)
    assert not contact.update(45.0, 0.0)
    assert not contact.update(0.0, 0.002), 'evidence against it takes back what was for it'
    ticks = [contact.update(30.0, 0.004 + 0.002 * i) for i in range(20)]
    assert not ticks[2] and ticks[-1]


def test_noise_alone_changes_no_contact():
    """Noise of a tenth of the weight once made Dribbel change its stance foot in mid-swing."""
    rng = np.random.default_rng(1)
    on_floor, in_air = (contact_of(35.0, 25.0, 0.0) for _ in range(2))
    on_floor.update(90.0, 0.0)
    for tick in range(20000):
        noise = 10.0 * rng.standard_normal(2)
        assert on_floor.update(70.0 + noise[0], 0.002 * tick)
        assert not in_air.update(noise[1], 0.002 * tick)


def test_a_foot_up_in_the_air_needs_a_greater_load():
    """A noisy reading would count as touchdown while the foot is far from the floor."""
    heights = [lift_load(height, 0.0, 0.02, 0.02, 35.0) for height in (-0.1, 0.0, 0.01, 0.1)]
    assert heights == [0.0, 0.0, 17.5, 35.0]
    assert lift_load(0.01, -1.0, 0.02, 0.02, 35.0) == 0.0, 'on its way down it may land'


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
    estimator = Estimator(dribbel.robot, dribbel.values(EstimatorParameters))
    estimator.reset('outer_foot')
    return estimator


def test_coordinates_of_both_supports(estimator, dribbel):
    """q3 and q5 must mean the same leg angles whichever foot stands."""
    robot = dribbel.robot
    state = estimator.update(measurement_of(robot, 0.0, -0.15, [-0.3, 0.0, 0.0], [90.0, 0.0]))
    assert np.allclose(state.coordinates, [0.15, 0.0, -0.3, 0.0])
    # inner foot 0.27 m ahead: it takes over, its leg leans back by 0.15
    state = estimator.update(measurement_of(robot, 1.0, 0.15, [0.3, 0.0, 0.0], [90.0, 90.0]))
    assert robot.feet[state.support] == 'inner_foot' and state.steps == 1
    assert np.allclose(state.coordinates, [0.15, 0.0, -0.3, 0.0])
    assert state.step_length == pytest.approx(2 * 0.9 * math.sin(0.15))
    assert state.base.position[2] == pytest.approx(0.9 * math.cos(0.15))


def test_slope_is_subtracted(dribbel):
    """The IMU counts from gravity, q3 from the floor normal: on a slope they differ."""
    estimator = Estimator(dribbel.robot, dribbel.values(EstimatorParameters), slope=0.05)
    state = estimator.update(
        measurement_of(dribbel.robot, 0.0, -0.15, [-0.3, 0.0, 0.0], [90.0, 0.0], slope=0.05)
    )
    assert state.coordinates[0] == pytest.approx(0.15)


@pytest.mark.parametrize(
    'stamp, hip, knee, why',
    [
        (1.0, 0.0, -0.1, 'a scuff beside the stance foot'),
        (1.0, -0.3, 0.0, 'a foot behind'),
        (1.0, 0.3, 0.0, None),
    ],
)
def test_only_a_touchdown_ahead_counts(estimator, dribbel, stamp, hip, knee, why):
    """A scuff that changed the stance foot would reverse the hip torque in mid-swing."""
    estimator.update(measurement_of(dribbel.robot, 0.0, -0.15, [-0.3, 0.0, 0.0], [90.0, 0.0]))
    state = estimator.update(
        measurement_of(dribbel.robot, stamp, 0.5 * hip, [hip, 0.0, knee], [90.0, 90.0])
    )
    assert state.steps == (0 if why else 1)


def test_lone_contact_takes_over_in_the_end(estimator, dribbel):
    """If a touchdown was missed, the foot that stands alone must become the stance foot."""
    robot = dribbel.robot
    for stamp in (1.0, 1.02, 1.04):
        state = estimator.update(measurement_of(robot, stamp, 0.0, [0.0, -0.1, 0.0], [0.0, 90.0]))
        assert robot.feet[state.support] == 'outer_foot'
    state = estimator.update(measurement_of(robot, 1.06, 0.0, [0.0, -0.1, 0.0], [0.0, 90.0]))
    assert robot.feet[state.support] == 'inner_foot'


def test_support_of_a_standing_robot_does_not_follow_noise():
    """A robot on both feet would be told another stance foot, and base height, at every tick."""
    robot_file = load_robot('humanoid')
    estimator = Estimator(robot_file.robot, robot_file.values(EstimatorParameters))
    estimator.reset('left_sole')
    measurement, rng, supports = Measurement(robot_file.robot), np.random.default_rng(2), []
    for tick in range(200):
        measurement.stamp = 0.002 * tick
        measurement.foot_force[:, 2] = 155.0 + 3.0 * rng.standard_normal(2)
        supports.append(estimator.update(measurement).support)
    assert set(supports) == {0}
    measurement.foot_force[:, 2] = 100.0, 210.0
    assert estimator.update(measurement).support == 1


def test_start_state_stands_on_the_floor(dribbel):
    """The documented start must put the stance foot on the floor and at rest."""
    robot, start = dribbel.robot, dribbel.start
    dynamics = Dynamics(robot)
    q, v = dynamics.base_from_coordinates(start.support, start.q, start.v)
    dynamics.place(q)
    assert np.allclose(dynamics.foot_position(start.support), 0.0, atol=1e-15)
    assert np.allclose(dynamics.foot_jacobian(q, start.support) @ v, 0.0, atol=1e-14)
    assert np.allclose(robot.supports[start.support] @ q[2:], start.q)


def test_base_does_not_jump_at_a_step(estimator, dribbel):
    """Odometry would lose a step or count it twice whenever the stance foot changes."""
    robot, pose = dribbel.robot, (0.15, [0.3, 0.0, 0.0])
    before = estimator.update(measurement_of(robot, 0.9, *pose, [90.0, 0.0])).base.position.copy()
    state = estimator.update(measurement_of(robot, 1.0, *pose, [90.0, 90.0]))
    assert state.steps == 1 and state.foothold[0] == state.step_length > 0.2
    assert state.base.position == pytest.approx(before, abs=1e-12)


def stand_on(robot, foot, rng):
    """Return dynamics and generalised motion with a foot at rest at the origin."""
    dynamics = Dynamics(robot)
    q = dynamics.configuration(rng.uniform(-0.3, 0.3, len(robot.joints)))
    v = rng.normal(0.0, 0.5, dynamics.nv)
    if robot.base is Base.PLANAR:
        q[2] = 0.2
    if robot.base is Base.FREE:
        q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, -0.2, 0.3)).coeffs()
    axes = len(robot.base.axes)
    dynamics.place(q)
    q[:axes] = [-dynamics.foot_position(foot)[axis] for axis in robot.base.axes]
    jacobian = dynamics.foot_jacobian(q, foot)
    v[:axes] = -np.linalg.solve(jacobian[:, :axes], jacobian[:, axes:] @ v[axes:])
    return dynamics, q, v


@pytest.mark.parametrize('name', ['dribbel', 'walker3d_point', 'humanoid'])
def test_base_in_space_of_every_robot(name):
    """A robot whose base moves otherwise would be told a wrong place, speed or turn of its base."""
    slope, rng = 0.1, np.random.default_rng(3)
    robot_file = load_robot(name)
    robot = robot_file.robot
    dynamics, q, v = stand_on(robot, robot.feet[1], rng)
    truth = robot.base.state(q, v)
    measurement = Measurement(robot)
    measurement.position[:], measurement.velocity[:] = q[robot.base.nq :], v[robot.base.nv :]
    _, base = dynamics.placement(q, dynamics.frame(robot.base_link))
    _, imu = dynamics.placement(q, dynamics.frame(robot.imu_link))
    level = pin.rpy.rpyToMatrix(0.0, slope, 0.0)
    measurement.orientation[:] = pin.Quaternion(level @ imu).coeffs()
    measurement.angular_velocity[:] = imu.T @ base @ truth.angular
    measurement.foot_force[1, 2] = 500.0
    estimator = Estimator(robot, robot_file.values(EstimatorParameters), slope)
    estimator.reset(robot.feet[1])
    state = estimator.update(measurement)
    assert robot.feet[state.support] == robot.feet[1]
    assert state.base.position == pytest.approx(truth.position, abs=1e-12)
    assert state.base.linear == pytest.approx(truth.linear, abs=1e-12)
    assert state.base.angular == pytest.approx(truth.angular, abs=1e-12)
    assert state.base.rotation == pytest.approx(truth.rotation, abs=1e-12)
    if robot.coordinates:
        angles = np.concatenate(([truth.pitch] * len(robot.base.angles), measurement.position))
        assert state.coordinates == pytest.approx(robot.supports[robot.feet[1]] @ angles, abs=1e-12)
        assert np.abs(state.rates).max() > 0.0


def test_a_foot_that_has_just_come_down_does_not_throw_the_base():
    """A swing foot that met an edge carried while it moved, and the base seemed to stand still."""
    robot = load_robot('walker3d').robot
    odometry, state = LegOdometry(Dynamics(robot)), WalkerState(robot)
    q = Dynamics(robot).configuration(np.zeros(len(robot.joints)))
    v, forces = np.zeros(Dynamics(robot).nv), np.zeros((2, 3))
    v[6 + robot.joint_index('left_hip_pitch')] = -1.0  # seen from the hip, the left foot swings

    def base_speed(support, contact):
        state.support, state.contact[:] = support, contact
        odometry.update(state, odometry.place_feet(q, v), forces)
        return float(np.linalg.norm(state.base.linear))

    assert base_speed(1, [False, True]) == pytest.approx(0.0)
    assert base_speed(0, [True, True]) == pytest.approx(0.0)
    assert base_speed(0, [True, False]) > 0.5, 'a foot that stands alone is believed'
    odometry.reset()
    assert base_speed(0, [True, True]) > 0.5
