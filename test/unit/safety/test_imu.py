# SPDX-License-Identifier: Apache-2.0
"""IMUs that cannot be right: upside down, lying, frozen."""

import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import RobotFileError
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.safety.imu import ImuCheck
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.supervisor import Supervisor
from walking_control.simulation.injection import turned
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

ROBOT = load_robot('dribbel').robot
G = 9.81


@pytest.fixture
def check():
    """Return an `ImuCheck` on earth."""
    return ImuCheck(ROBOT, SafetyParameters.read({}), G)


def feel(check, force, angle=0.0, ticks=11, age=0.01, load=90.0):
    """Return what the check says after some measurements of a specific force in the world."""
    measurement = Measurement(ROBOT)
    measurement.orientation[:] = turned(measurement.orientation, angle)
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = force
    measurement.linear_acceleration[:] = c * x - s * z, y, s * x + c * z
    measurement.foot_force[0, 2] = load
    for _ in range(ticks):
        words = dict(check.feel(measurement, age))['imu_gravity']
        if words:
            return words
    return None


@pytest.mark.parametrize('force', [(0.0, 0.0, -G), (1.2 * G, 0.0, 0.0), (0.0, -G, -0.1)])
def test_gravity_elsewhere_is_said_soon(check, force):
    """If it failed, a robot with its IMU upside down, or on its side, would be let go."""
    assert feel(check, force, ticks=19) is None  # 0.2 s outlast an impact
    assert 'away from gravity' in feel(check, force, ticks=2)


def test_a_start_in_free_fall_is_no_fault(check):
    """If it failed, a robot let go before its controller answers would be told a broken IMU."""
    assert feel(check, (0.3, 0.0, -0.2), ticks=200, age=0.001, load=0.0) is None
    assert feel(check, (0.0, 0.0, G + 150.0), ticks=5, age=0.001) is None  # 0.75 m/s, landing
    assert feel(check, (0.0, 0.0, G), ticks=500, age=0.001) is None


@pytest.mark.parametrize('angle', [-1.0, 0.0, 0.5])
@pytest.mark.parametrize('force', [(0.0, 0.0, G), (3.0, 2.0, G + 3.0), (0.0, 0.0, 0.1)])
def test_motion_and_free_fall_are_no_fault(check, force, angle):
    """If it failed, a walk, a lean or a fall would pass for a broken IMU."""
    assert feel(check, force, angle, ticks=100) is None


def test_an_impact_is_no_fault_once_it_walks(check):
    """If it failed, each hard step would stop the robot."""
    assert feel(check, (0.0, 0.0, G)) is None
    assert feel(check, (0.0, 0.0, 20.0 * G), ticks=1) is None  # 2 m/s within a tick
    assert feel(check, (0.0, 0.0, -G), ticks=100) is not None  # and then it hangs upside down


def shove(
    force, turning=0.0, silence=0.0, samples=25, pressed=0.0, flips=math.inf, load=98.1, held=False
):
    """Return the fault after a walker in space felt a force, m/s^2, for some samples of 2 ms.

    Its feet are `pressed` by so much of it, kg, and one by a `load`, N. After `flips` samples it is
    the opposite. If it is `held`, the first one comes again and again under new stamps.
    """
    robot = load_robot('walker3d').robot
    supervisor, measurement = Supervisor(robot, SafetyParameters.read({}), period=0.002), None
    for tick in range(50 + samples):
        measurement = Measurement(robot) if measurement is None else measurement
        measurement.stamp += 0.002 if tick != 51 else 0.002 + silence
        if not held or tick <= 50:
            measurement.linear_acceleration[:] = 1e-3 * (tick % 2), 0.0, G
        if tick == 50 or tick > 50 and not held:
            measurement.linear_acceleration[0] += force if tick < 50 + flips else -force
            measurement.foot_force[0] = 0.0, 0.0, load
            measurement.foot_force[1] = pressed * force, 0.0, 0.0
            measurement.angular_velocity[1] += 0.002 * turning
        supervisor.check_measurement(measurement)
    return supervisor.fault


def test_a_silence_between_two_impacts_is_no_acceleration():
    """If it failed, samples lost between two impacts would end a walk that nothing disturbs."""
    assert shove(60.0, silence=0.05, samples=2) is None


def test_an_impact_that_is_told_again_and_again_is_no_acceleration():
    """If it failed, one sample of an impact, held over missed ticks, would end a walk."""
    assert shove(70.0, held=True) is None
    assert shove(70.0).code == 'accelerometer'


def test_a_push_that_the_legs_show_is_no_lie():
    """If it failed, a robot that bears a push would be let go; and if nothing moves, the IMU lies.

    The whole robot turns over its feet, 0.9 m below the IMU, as fast as it says.
    """
    assert shove(30.0, turning=30.0 / 0.9) is None
    fault = shove(30.0)
    assert fault.code == 'accelerometer' and 'no leg' in fault.message


def test_a_foot_that_slips_is_no_lie():
    """If it failed, a leg that shows what is not there would accuse an IMU that felt hardly any."""
    assert shove(40.0, turning=-40.0, flips=10) is None
    assert shove(40.0, load=5.0) is None  # in the air legs throw the base about


def test_a_stumble_that_the_feet_feel_is_no_lie():
    """If it failed, a robot that stumbles would be stopped though it may go on, or a lie pass.

    Neither foot rests then, so that no leg shows what throws it; the feet of 10 kg feel it.
    """
    assert shove(60.0, pressed=7.0) is None
    assert shove(60.0, pressed=3.0).code == 'accelerometer'
    assert shove(60.0, pressed=-7.0).code == 'accelerometer'


def test_an_imu_without_accelerometer_is_left_alone(check):
    """Zeros on all axes are a sensor that has none, as attitude-only drivers send."""
    assert feel(check, (0.0, 0.0, 0.0), ticks=100) is None


def test_a_frozen_imu_is_seen_once_the_joints_move(check):
    """If it failed, a driver that repeats its last message would walk the robot blindly."""
    still, moving = Measurement(ROBOT), Measurement(ROBOT)
    for tick in range(100):  # a robot that stands still proves nothing
        still.stamp = 0.01 * tick
        assert check.stand_still(still, 0.01) is None
    moving.position[0], moving.stamp = 0.25, 1.0
    assert '0.25 rad' in check.stand_still(moving, 0.01)
    moving.linear_acceleration[1] = 1e-9  # it lives
    assert check.stand_still(moving, 0.01) is None


@pytest.mark.parametrize(
    'robot, controller, duration',
    [
        ('dribbel', None, 3.0),
        pytest.param('compass', 'curve_tracking', 1.0, marks=pytest.mark.long),
        ('humanoid', None, 1.0),
    ],
)
def test_good_sensors_never_look_broken(robot, controller, duration):
    """If it failed, walking itself would stop a robot, or noise would."""
    robot_file = load_robot(robot, noise_overrides('lab'))
    run = run_plant(
        make_plant(robot_file), ControlLoop(robot_file, controller), robot_file.start, duration
    )
    assert run.fault is None or not run.fault.code.startswith('imu'), run.fault


@pytest.mark.parametrize('foot', [0, 1])
def test_a_contact_that_never_comes_is_named(foot):
    """If it failed, a dead foot sensor would end in a fall without a reason."""
    robot_file = load_robot('dribbel')
    plant, loop = make_plant(robot_file, 'rigid'), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    measurement = Measurement(robot_file.robot)
    for _ in range(200):
        plant.measure(measurement)
        measurement.foot_force[foot] = 0.0
        plant.step(loop.tick(measurement), loop.period)
        if loop.fault is not None:
            break
    assert loop.fault is not None and loop.fault.code == 'stuck_contact', loop.fault


def test_an_unknown_imu_frame_is_refused_by_name():
    """If it failed, an attitude would be taken in axes that are not there."""
    with pytest.raises(RobotFileError, match='did you mean imu_link'):
        load_robot('dribbel', [('robot.imu_link', 'imu_lnk')])
    with pytest.raises(RobotFileError, match='left_shank.*moves against pelvis by joint left_knee'):
        load_robot('walker3d', [('robot.imu_link', 'left_shank')])  # or a head


def test_gravity_is_that_of_the_world():
    """If it failed, a robot on the moon would be told that its IMU is broken."""
    for gravity, upset in ((1.62, False), (-1.62, True)):
        robot_file = load_robot('dribbel', [('world.gravity', 1.62)])
        loop, measurement = ControlLoop(robot_file), Measurement(ROBOT)
        measurement.position[:] = robot_file.robot.joint_lifts['outer_foot'] @ robot_file.start.q
        measurement.linear_acceleration[2] = gravity
        measurement.foot_force[0, 2] = 50.0
        for tick in range(22):
            measurement.stamp = 0.01 * tick
            loop.tick(measurement)
        assert (loop.fault is not None) == upset, loop.fault
        assert np.isfinite(loop.command.effort).all()
