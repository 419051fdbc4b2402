# SPDX-License-Identifier: Apache-2.0
"""The simulated IMU against gravity, differences of the motion, MuJoCo's own and impulses."""

from dataclasses import replace
import math

import numpy as np
import pinocchio as pin
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command, Measurement
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import InertialUnit

SLOPE = 0.1


def at_start(plant, name='dribbel', *overrides):
    """Return a plant of a robot in its start state, a command that holds knees, a measurement."""
    robot_file = load_robot(name, overrides)
    world = make_plant(robot_file, plant)
    world.reset(robot_file.start)
    command = Command(robot_file.robot)
    command.lock[:] = True
    return world, command, Measurement(robot_file.robot)


def rotation(measurement):
    """Return the rotation from the IMU to the gravity-aligned world."""
    return pin.Quaternion(*measurement.orientation[[3, 0, 1, 2]]).toRotationMatrix()


@pytest.mark.parametrize('plant', ['rigid', 'mujoco'])
def test_at_rest_the_accelerometer_carries_the_robot(plant):
    """On a slope too, it must read +g along the world's vertical where nothing moves."""
    world, _, measurement = at_start(plant, 'dribbel', ('slope', SLOPE))
    world.measure(measurement)
    up = rotation(measurement) @ measurement.linear_acceleration
    assert up == pytest.approx([0.0, 0.0, 9.81], abs=1e-9)
    assert abs(measurement.linear_acceleration[0]) > 0.1  # it is felt in the IMU's axes


@pytest.mark.parametrize('plant', [pytest.param('rigid', marks=pytest.mark.long), 'mujoco'])
def test_sum_of_specific_forces_is_the_motion(plant):
    """If it failed, an estimator that integrates the IMU would drift from the robot's motion.

    Over touchdowns as well: positions of the IMU by kinematics, twice integrated specific force.
    """
    world, command, measurement = at_start(plant)
    dynamics = Dynamics(world.robot)
    frame = dynamics.frame(world.robot.imu_link)
    period, gravity = 0.002, np.array([0.0, 0.0, -9.81])

    def place():
        return dynamics.placement(world.truth.q, frame)[0]

    world.measure(measurement)
    start, velocity, moved = place(), None, np.zeros(3)
    before = rotation(measurement)
    for _ in range(400):
        world.step(command, period)
        world.measure(measurement)
        after = rotation(measurement)
        halfway = before @ pin.exp3(0.5 * pin.log3(before.T @ after))
        gained = (halfway @ measurement.linear_acceleration + gravity) * period
        if velocity is None:  # the first step says with what velocity it began
            velocity = (place() - start) / period - 0.5 * gained
        moved += (velocity + 0.5 * gained) * period
        velocity, before = velocity + gained, after
    assert moved == pytest.approx(place() - start, abs=2e-3)
    assert np.abs(place() - start).max() > 0.1
    assert world.truth.foot_force.any()


def test_mujoco_agrees_with_its_own_accelerometer():
    """In smooth motion the average over a step must be MuJoCo's specific force at the link."""
    import mujoco

    world, command, measurement = at_start('mujoco', 'dribbel', ('slope', SLOPE))
    engine = world.engine
    link = mujoco.mj_name2id(engine.model, mujoco.mjtObj.mjOBJ_BODY, world.robot.imu_link)
    limits = [world.robot.limits[joint] for joint in world.robot.joints]
    middle = [0.5 * (limit.lower + limit.upper) for limit in limits]
    engine.data.qpos[engine._qpos[1:]] = 10.0, 0.3, *middle  # in the air, swinging, off the stops
    engine.data.qvel[engine._dof[2:]] = 1.0, -2.0, 0.5, 0.3

    def theirs():
        out = np.zeros(6)
        mujoco.mj_rnePostConstraint(engine.model, engine.data)
        mujoco.mj_objectAcceleration(
            engine.model, engine.data, mujoco.mjtObj.mjOBJ_BODY, link, out, 1
        )
        return out[3:]

    command.lock[:] = False
    world.step(command, 0.002)
    world.measure(measurement)
    for _ in range(10):
        before = theirs()
        world.step(command, 0.002)
        world.measure(measurement)
        assert measurement.linear_acceleration == pytest.approx(0.5 * (before + theirs()), abs=0.02)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(
            engine.model, engine.data, mujoco.mjtObj.mjOBJ_BODY, link, velocity, 1
        )
        assert measurement.angular_velocity == pytest.approx(velocity[:3], abs=1e-9)
    assert np.abs(measurement.linear_acceleration).max() > 0.1


def test_an_impulse_weighs_as_much_as_it_pushes():
    """If it failed, an impact between two measurements would be lost to the accelerometer."""
    free, pushed = (at_start('rigid', 'compass', ('slope', 0.0)) for _ in range(2))
    gained = []
    for world, command, measurement in (free, pushed):
        world.measure(measurement)
        if world is pushed[0]:
            world.push(0.5)
        world.step(command, 0.001)
        world.measure(measurement)
        gained.append(rotation(measurement) @ measurement.linear_acceleration * 0.001)
    base = [world.truth.base.linear[0] for world, _, _ in (free, pushed)]
    assert (gained[1] - gained[0])[0] == pytest.approx(base[1] - base[0], rel=1e-3)
    assert base[1] - base[0] > 0.01


def test_a_mounted_imu_measures_in_its_own_axes():
    """If it failed, a plant would measure as though every IMU lay along the base."""
    robot_file = load_robot('humanoid')
    urdf = robot_file.robot.urdf
    at = urdf.index('child link="imu_link"')
    origin = urdf.index('rpy="', urdf.rindex('<joint', 0, at)) + len('rpy="')
    turned = f'{urdf[:origin]}0 {math.pi / 2} 0{urdf[urdf.index(chr(34), origin) :]}'
    robot = replace(robot_file.robot, urdf=turned)
    measurement = Measurement(robot)
    dynamics = Dynamics(robot)
    q = dynamics.configuration(np.zeros(len(robot.joints)))
    v = np.zeros(dynamics.nv)
    v[3:6] = 0.0, 0.0, 1.0  # about the base's z axis, which is the IMU's -x
    unit = InertialUnit(dynamics, 0.0, dynamics.robot.imu_link)
    unit.measure(q, v, 0.0, measurement.parts['imu'])
    assert measurement.linear_acceleration == pytest.approx([-9.81, 0.0, 0.0], abs=1e-9)
    assert measurement.angular_velocity == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)
    assert rotation(measurement) @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 0.0, -1.0], abs=1e-12)
