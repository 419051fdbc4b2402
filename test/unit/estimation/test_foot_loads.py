# SPDX-License-Identifier: Apache-2.0
"""Forces on feet without sensors, from motors and IMU."""

from dataclasses import replace

import foot_contact
import numpy as np
import pytest

import walking_control as wc
from walking_control.estimation.foot_loads import FootLoads, require_loads
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import RobotFileError
from walking_control.models.actuators import JointFriction
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import CONTACT, Measurement, sensors_of
from walking_control.ros.ros2_control.files import controllers_of, HARDWARE
from walking_control.ros.ros2_control.wiring import wire
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

MOTORS = ('robot.foot_forces', 'motors')
GRAVITY = 9.81


def _loads(robot_file, delay=0.0):
    return FootLoads(robot_file.robot, robot_file.values(EstimatorParameters), GRAVITY, delay)


def _standing(robot_file):
    """Return a measurement at rest in the start posture, and efforts that hold it alike."""
    robot = robot_file.robot
    measurement, dynamics = Measurement(robot), Dynamics(robot)
    measurement.position[:] = robot_file.start.posture
    measurement.linear_acceleration[2] = GRAVITY
    q = dynamics.configuration(measurement.position)
    weights = dynamics.gravity_efforts(q)
    J = np.concatenate([dynamics.frame_jacobian(q, frame) for frame in dynamics.frames.values()])
    wrenches = np.linalg.lstsq(J[:, :6].T, weights[:6], rcond=None)[0]
    return measurement, weights[6:] - J[:, 6:].T @ wrenches, dynamics.weight


def test_standing_feet_carry_the_weight():
    """If it failed, the loads of a robot at rest would not add up to its weight."""
    robot_file = wc.load_robot('walker3d', [MOTORS])
    loads, (measurement, efforts, weight) = _loads(robot_file), _standing(robot_file)
    contact = np.ones(2, bool)
    for _ in range(50):
        measurement.stamp += 0.002
        loads.update(measurement, efforts, contact)
    assert loads.forces[:, 2].sum() == pytest.approx(weight, rel=0.01)
    assert loads.forces[0, 2] == pytest.approx(loads.forces[1, 2], rel=0.01)


@pytest.mark.parametrize(('aside', 'carries'), [(0.25, 0), (-0.25, 1)])
def test_without_efforts_the_pressure_says_which_foot_carries(aside, carries):
    """If it failed, odometry by an IMU alone would take the wrong foot for the one that rests."""
    robot_file = wc.load_robot('walker3d', [('robot.foot_forces', 'imu')])
    loads, (measurement, efforts, weight) = _loads(robot_file), _standing(robot_file)
    # as if it leant until its weight is over one foot
    measurement.linear_acceleration[:] = 0.0, GRAVITY * -aside * 0.4, GRAVITY
    for _ in range(50):
        measurement.stamp += 0.002
        loads.update(measurement, 9.0 * efforts, np.ones(2, bool))
    assert loads.forces[:, 2].sum() == pytest.approx(weight, rel=0.02)
    assert loads.forces[carries, 2] > 0.75 * weight


def test_loads_are_filtered_where_measurements_are_rare():
    """If it failed, a robot at 100 Hz would take the noise of one sample for the load of a foot."""
    robot_file = wc.load_robot('walker3d', [('robot.foot_forces', 'imu')])
    loads, (measurement, _, weight) = _loads(robot_file), _standing(robot_file)
    for _ in range(20):
        measurement.stamp += 0.01
        loads.update(measurement, None, np.ones(2, bool))
    measurement.stamp += 0.01
    measurement.linear_acceleration[2] *= 2.0
    loads.update(measurement, None, np.ones(2, bool))
    assert loads.forces[:, 2].sum() < 1.7 * weight


def test_nothing_is_carried_in_flight():
    """If it failed, a robot that falls freely would be told that its feet carry it."""
    robot_file = wc.load_robot('walker3d', [MOTORS])
    loads, (measurement, _, _) = _loads(robot_file), _standing(robot_file)
    measurement.linear_acceleration[:] = 1e-6, 0.0, 0.0  # zeros say that there is none
    for _ in range(50):
        measurement.stamp += 0.002
        loads.update(measurement, np.zeros(12), np.ones(2, bool))
    np.testing.assert_allclose(loads.forces, 0.0, atol=1e-3)


@pytest.mark.parametrize('push', [-49.0, 49.0])
def test_a_push_on_the_body_is_no_load_of_the_foot_in_the_air(push):
    """If it failed, a robot that is pushed would take its swing foot for one that touches."""
    robot_file = wc.load_robot('walker3d', [MOTORS, *noise_overrides('lab')])
    loads, (measurement, _, weight) = _loads(robot_file), _standing(robot_file)
    dynamics = Dynamics(robot_file.robot, gravity=0.0)
    q, up = dynamics.configuration(measurement.position), np.zeros(dynamics.nv)
    up[2], sideways = GRAVITY, np.zeros(dynamics.nv)
    stance = dynamics.frame_jacobian(q, next(iter(dynamics.frames.values())))
    measurement.linear_acceleration[1] = sideways[1] = push / dynamics.mass
    still, moved = (dynamics.inverse(q, 0.0 * up, each) for each in (up, up + sideways))
    efforts = moved[6:] - stance[:, 6:].T @ np.linalg.solve(stance[:, :6].T, still[:6])
    for _ in range(20):
        measurement.stamp += 0.002
        loads.update(measurement, efforts, np.array([True, False]))
    assert loads.forces[1, 2] < 0.5 * loads.thresholds(1)[0]
    assert loads.forces[0, 2] == pytest.approx(weight, rel=0.1)


def test_efforts_count_when_they_act():
    """If it failed, a robot whose commands take time would be judged by efforts still to come."""
    robot_file = wc.load_robot('walker3d', [MOTORS])
    measurement, efforts, weight = _standing(robot_file)
    late, told = _loads(robot_file, delay=0.01), []
    for tick in range(60):
        measurement.stamp = 0.002 * tick
        # from 0.06 s on the left foot would be pulled, had it been asked for at once
        asked = efforts if tick < 31 else efforts + 20.0 * (np.arange(12) == 3)
        late.update(measurement, asked, np.ones(2, bool))
        told.append(late.forces[0, 2])
    assert told[34] == pytest.approx(0.5 * weight, rel=0.01)
    assert abs(told[45] - 0.5 * weight) > 0.1 * weight


def _by_joint(robot_file, efforts):
    """Return efforts in the order of the row that tells them."""
    robot = robot_file.robot
    return [efforts[robot.joints.index(joint)] for joint in robot.signals['torque'].of]


def _walk(robot_file, duration):
    """Return true and known loads of a walk with perfect sensors, ``(T, 2)`` each."""
    true, known, loop = [], [], wc.ControlLoop(robot_file)
    plant, measurement = wc.make_plant(robot_file), Measurement(robot_file.robot)
    plant.reset(robot_file.start)
    loop.reference.velocity = np.array([0.4, 0.0, 0.0])
    for _ in range(round(duration / loop.period)):
        plant.measure(measurement)
        command = loop.tick(measurement)
        assert loop.fault is None
        true.append(np.linalg.norm(plant.truth.foot_force, axis=1))
        known.append(measurement.foot_force[:, 2].copy())
        plant.step(command, loop.period)
    return np.array(true), np.array(known)


def _tell_efforts(tree):
    tree['robot'] |= {'foot_forces': 'motors', 'signals': {'torque': {'kind': 'effort'}}}


@pytest.mark.parametrize('measured', [False, pytest.param(True, marks=pytest.mark.long)])
def test_loads_of_a_walk_are_those_of_the_plant(edited_robot_file, measured):
    """If it failed, rotors, gravity or the motion of the base would be missing in the observer."""
    if measured:
        robot_file = wc.load_robot(edited_robot_file(_tell_efforts, 'walker3d'))
    else:
        robot_file = wc.load_robot('walker3d', [MOTORS])
    true, known = _walk(robot_file, 2.0)
    carried = (true > 60.0) & (true < 140.0)
    carried[:100] = False
    assert np.median(np.abs(known - true)[carried]) < 4.0
    assert np.abs(known[true < 1.0]).mean() < 4.0


@pytest.mark.parametrize(
    ('turned', 'named'), [((), ''), (range(12), 'left_knee, right_knee'), ((3,), '')]
)
def test_efforts_of_the_other_sign_are_named_as_it_stands(edited_robot_file, turned, named):
    """If it failed, a driver of another convention would make feet carry that hang, and it falls.

    What one knee says alone could be that the other leg stands, and is not named.
    """
    robot_file = wc.load_robot(edited_robot_file(_tell_efforts, 'walker3d'))
    loads, (measurement, efforts, _) = _loads(robot_file), _standing(robot_file)
    efforts[list(turned)] *= -1.0
    measurement.own['torque'][:] = _by_joint(robot_file, efforts)
    noise = np.random.default_rng(0)
    for _ in range(200):
        measurement.stamp += 0.002
        measurement.velocity[:] = noise.normal(0.0, 0.3, 12)
        loads.update(measurement, None, np.ones(2, bool))
    assert loads.signs.judged
    words = f'efforts of {named} have the other sign, as the robot stands' if named else ''
    assert loads.signs.flaw == words


def test_a_robot_with_efforts_of_the_other_sign_is_stopped(edited_robot_file):
    """If it failed, it would be known in the estimator alone, and the robot would walk."""
    robot_file = wc.load_robot(edited_robot_file(_tell_efforts, 'walker3d'))
    loop, (measurement, efforts, _) = wc.ControlLoop(robot_file), _standing(robot_file)
    measurement.own['torque'][:] = _by_joint(robot_file, efforts)
    loop.estimator.foot_loads.signs.flaw = 'efforts of left_knee have the other sign'
    loop.tick(measurement)
    assert loop.fault.code == 'signal' and 'left_knee have the other sign' in loop.fault.message


def test_no_sensor_is_awaited_in_the_feet():
    """If it failed, a robot without force sensors would wait for their topics for ever."""
    robot_file = wc.load_robot('walker3d', [MOTORS])
    assert all(sensor.kind != CONTACT for sensor in sensors_of(robot_file.robot))
    assert not any('sole' in name for name in controllers_of(wire(robot_file), HARDWARE))


def test_odometry_beside_another_controller_needs_efforts(edited_robot_file):
    """If it failed, odometry would go on with efforts of zero where nobody tells them."""
    with pytest.raises(RobotFileError, match='signals: {torque: {kind: effort}}'):
        require_loads(wc.load_robot('walker3d', [MOTORS]).robot)
    require_loads(wc.load_robot('walker3d').robot)
    require_loads(wc.load_robot('walker3d', [('robot.foot_forces', 'imu')]).robot)
    require_loads(wc.load_robot(edited_robot_file(_tell_efforts, 'walker3d')).robot)


@pytest.mark.parametrize(
    ('robot', 'told', 'words'),
    [
        ('dribbel', 'motors', 'moves freely in space'),
        ('walker3d', 'motor', 'one of sensors, motors, imu'),
    ],
)
def test_who_cannot_do_without_sensors_is_refused(robot, told, words):
    """If it failed, a robot that nobody can know the loads of would be walked."""
    with pytest.raises(wc.InvalidInput, match=words):
        wc.load_robot(robot, [('robot.foot_forces', told)])


@pytest.mark.parametrize(
    ('told', 'late'), [((1.3, 1.6), 0.0), ((1.31, 1.6), 0.01), ((1.29, 1.6), -0.01), ((), np.inf)]
)
def test_the_benchmark_tells_how_late_a_touchdown_is(told, late):
    """If it failed, a contact that is told too early, late or never would count as in time."""
    time = np.arange(1000) * 0.002
    true, known = (time >= 1.3) & (time < 1.6), np.zeros(1000, bool)
    if told:
        known = (time >= told[0] - 1e-9) & (time < told[1])
    assert foot_contact.delays(true, known, 0.002) == pytest.approx([late])


@pytest.mark.long
def test_dry_friction_is_learned_from_legs_in_the_air():
    """If it failed, drives that rub more than is known would make a touchdown too faint to see."""
    known = wc.load_robot('walker3d', [MOTORS])
    body = known.robot
    knees = [body.joint_index(f'{side}_knee') for side in ('left', 'right')]
    rubs = {joint: JointFriction(0.0, 3.0) for joint in body.actuators}
    plant = wc.make_plant(replace(known, robot=replace(body, friction=rubs)))
    loop = wc.ControlLoop(known)
    loop.reference.velocity = np.array([0.4, 0.0, 0.0])
    loads = loop.estimator.foot_loads
    assert run_plant(plant, loop, known.start, 2.5).fault is None
    np.testing.assert_allclose(loads.friction[knees], 3.0, atol=0.8)
    assert loads.sigmas.max() < 0.95 * loads.sigma


def test_a_dead_sensor_is_replaced_by_the_motors():
    """If it failed, a robot whose sensor dies would know of that foot only what others leave."""
    dead = [('sensors.stuck_foot', 1), ('sensors.stuck_after', 0.0)]
    robot_file = wc.load_robot('walker3d', dead)
    plant, loop = wc.make_plant(robot_file), wc.ControlLoop(robot_file)
    assert run_plant(plant, loop, robot_file.start, 0.5).fault is None
    assert loop.state.mistrusted.tolist() == [True, False]
    told, true = (each[:, 2] for each in (loop._told.foot_force, plant.truth.foot_force))
    np.testing.assert_allclose(told, true, atol=0.05 * 98.0)
    loop.estimator.trust()
    assert not loop.state.mistrusted.any()


def test_noise_and_lag_of_joint_rates_widen_what_is_known_of_loads():
    """If it failed, heavy legs that swing would be felt as loads, as on Unitree's G1."""
    exact = wc.load_robot('walker3d', [MOTORS])
    noisy = wc.load_robot('walker3d', [MOTORS, ('estimator.velocity_sigma', 0.25)])
    late = wc.load_robot('walker3d', [MOTORS, ('estimator.velocity_lag', 0.004)])
    measurement, efforts, _ = _standing(exact)
    jump = efforts + 20.0 * (np.arange(12) == 3)
    known = [_loads(robot_file) for robot_file in (exact, noisy, late)]
    for tick in range(50):
        measurement.stamp += 0.002
        for loads in known:
            loads.update(measurement, jump if tick == 49 else efforts, np.ones(2, bool))
    precise, shaken, behind = (loads.sigmas for loads in known)
    assert (shaken > 1.1 * precise).all()
    assert behind[0] > 1.2 * precise[0]
    assert behind[0] > 1.1 * behind[1]
