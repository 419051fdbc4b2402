# SPDX-License-Identifier: Apache-2.0
"""Dribbel's model: Table 4.1, and MuJoCo and Pinocchio agreeing on the same URDF."""

import numpy as np
import pinocchio as pin
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command
from walking_control.simulation.registry import make_plant


def test_table_4_1_gives_the_rounded_model(dribbel):
    """[DS09] (4.24)-(4.26): 3.0 kg, 0.108 kg m2, 0.35 m; 1.6 kg, 0.059 kg m2, 0.215 m."""
    model = pin.buildModelFromXML(dribbel.robot.urdf)
    # links hang on joints: hip carries the inner thigh, a knee carries a shank
    thigh = model.inertias[model.getJointId('hip')]
    shank = model.inertias[model.getJointId('inner_knee')]
    assert thigh.mass == pytest.approx(3.0) and shank.mass == pytest.approx(1.6)
    assert round(thigh.inertia[1, 1], 3) == 0.108 and round(shank.inertia[1, 1], 3) == 0.059
    assert round(0.47 + thigh.lever[2], 2) == 0.35
    assert shank.lever[2] == pytest.approx(-0.215)
    assert Dynamics(dribbel.robot).mass == pytest.approx(9.2)
    assert Dynamics(dribbel.robot).standing_height() == pytest.approx(0.9)


def test_motor(dribbel):
    """Reflected inertia N^2 J, torque N kt i, copper loss R i^2."""
    motor = dribbel.robot.actuators['hip']
    assert motor.armature == pytest.approx(74**2 * 1.57e-5)
    assert motor.effort_limit == pytest.approx(74 * 0.0302 * 8.0)
    effort = 74 * 0.0302 * 2.0
    assert motor.current(effort) == pytest.approx(2.0)
    assert motor.electrical_power(effort, 0.5) == pytest.approx(0.5 * effort + 0.3 * 4.0)


@pytest.fixture
def plant(dribbel):
    """Return Dribbel in MuJoCo."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    return make_plant(dribbel, 'mujoco')


def test_mujoco_has_the_same_mass_matrix_and_bias(plant, dribbel):
    """Two dynamics of one URDF that differ would make every comparison of plants worthless."""
    import mujoco

    dynamics = Dynamics(dribbel.robot)
    rng = np.random.default_rng(2)
    engine = plant.engine
    model, data = engine.model, engine.data
    order = np.ix_(engine._dof, engine._dof)
    for _ in range(20):
        q, v = rng.uniform(-1.0, 1.0, 6), rng.uniform(-2.0, 2.0, 6)
        q[1] = 5.0
        data.qpos[engine._qpos], data.qvel[engine._dof] = q, v
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        assert np.allclose(full[order], dynamics.mass_matrix(q), atol=1e-11)
        assert np.allclose(data.qfrc_bias[engine._dof], dynamics.bias(q, v), atol=1e-11)


def test_energy_is_conserved_in_free_fall(dribbel):
    """Passive joints must swing freely: hidden friction would change every gait."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    robot_file = load_robot('dribbel', [('mujoco.timestep', 1e-5)])
    plant = make_plant(robot_file, 'mujoco')
    plant.reset(robot_file.start)
    dynamics = Dynamics(robot_file.robot)
    engine = plant.engine
    engine.data.qpos[engine._qpos[1]] = 10.0
    engine.data.qpos[engine._qpos[4:]] = -0.5
    engine.data.qvel[engine._dof] = [0.3, 0.0, 1.0, -2.0, 1.5, -1.0]
    command = Command(robot_file.robot)  # nothing locked, no torque
    plant.step(command, 1e-5)
    energies = []
    for _ in range(2):
        energies.append(
            dynamics.kinetic_energy(plant.truth.q, plant.truth.v)
            + dynamics.potential_energy(plant.truth.q)
        )
        plant.step(command, 0.2)
    moving = dynamics.kinetic_energy(plant.truth.q, plant.truth.v)
    assert abs(energies[1] - energies[0]) < 1e-4 * moving


def test_standing_weight(plant, dribbel):
    """At rest on both feet the floor must carry the weight, through the measured forces."""
    command = Command(dribbel.robot)
    command.lock[:] = True
    start = dribbel.start
    start.q[:] = [0.0, 0.0, 0.0, 0.0]
    start.v[:] = 0.0
    plant.reset(start)
    plant.step(command, 0.1)
    assert plant.truth.foot_force[:, 2].sum() == pytest.approx(9.2 * 9.81, rel=0.02)


def test_lock_holds_and_releases(plant, dribbel):
    """A lock that does not hold lets the stance knee buckle; one that does not open, no step."""
    command = Command(dribbel.robot)
    plant.reset(dribbel.start)
    engine = plant.engine
    engine.data.qpos[engine._qpos[1]] = 10.0
    engine.data.qvel[engine._dof[3:]] = [0.0, -3.0, -3.0]
    command.lock[:] = [True, False]
    for _ in range(20):
        plant.step(command, 0.01)
    outer, inner = plant.truth.q[4], plant.truth.q[5]
    assert plant.truth.locked.tolist() == [True, False]
    assert abs(outer) < 0.05 and inner < -0.2


def test_reset_gives_the_same_run(plant, dribbel):
    """A run that depends on what ran before cannot be repeated."""
    command = Command(dribbel.robot)
    states = []
    for _ in range(2):
        plant.reset(dribbel.start)
        for _ in range(30):
            plant.step(command, 0.01)
        states.append(plant.truth.q.copy())
    assert np.array_equal(*states)


def test_push_changes_momentum(plant, dribbel):
    """A push must add its impulse to the horizontal momentum, no more and no less."""
    plant.reset(dribbel.start)
    plant.engine.data.qpos[plant.engine._qpos[1]] = 10.0
    dynamics = Dynamics(dribbel.robot)
    before = (dynamics.mass_matrix(plant.truth.q) @ plant.truth.v)[0]
    plant.push(1.5)
    after = (dynamics.mass_matrix(plant.truth.q) @ plant.truth.v)[0]
    assert after - before == pytest.approx(1.5, rel=1e-6)


def test_sensors_on_a_slope(dribbel):
    """On a slope the IMU must count from gravity and feel its pull."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    from walking_control.models.signals import Measurement

    robot_file = load_robot('dribbel', [('slope', 0.1)])
    plant = make_plant(robot_file, 'mujoco')
    robot_file.start.q[:] = 0.0
    robot_file.start.v[:] = 0.0
    plant.reset(robot_file.start)
    command = Command(robot_file.robot)
    command.lock[:] = True
    plant.step(command, 0.02)
    measurement = Measurement(robot_file.robot)
    plant.measure(measurement)
    pitch = 2.0 * np.arctan2(measurement.orientation[1], measurement.orientation[3])
    assert pitch == pytest.approx(plant.truth.q[2] + 0.1, abs=1e-9)
    assert measurement.linear_acceleration[2] == pytest.approx(9.81, rel=0.1)
