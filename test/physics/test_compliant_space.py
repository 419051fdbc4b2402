# SPDX-License-Identifier: Apache-2.0
"""The compliant plant in space: rest, friction, what the method takes, pushes; and refusals."""

import numpy as np
import pinocchio as pin
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import IncompatiblePlant, InvalidInput
from walking_control.loading import load_robot
from walking_control.models.signals import Command
from walking_control.runs.kinematics import foot_positions
from walking_control.simulation.disturbance import How, plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant


def held(plant, start, command, duration, gain=400.0):
    """Hold the posture of a start by stiff joints."""
    base = plant.robot.base
    target = np.array(start.posture)
    driven = [plant.robot.joint_index(joint) for joint in plant.robot.actuators]
    for _ in range(round(duration / 0.002)):
        away = target - plant.truth.q[base.nq :]
        command.effort[:] = (gain * away - 0.05 * gain * plant.truth.v[base.nv :])[driven]
        plant.step(command, 0.002)


@pytest.fixture(scope='module')
def standing():
    """Return the humanoid's plant after 0.4 s of standing with held joints."""
    robot_file = load_robot('humanoid')
    plant = make_plant(robot_file, 'compliant')
    plant.reset(robot_file.start)
    held(plant, robot_file.start, Command(plant.robot), 0.25)
    return plant


def test_soles_carry_the_weight(standing):
    """If it failed, a robot in space would hang, or sink by another depth than the table says."""
    force, weight = standing.truth.foot_force.sum(axis=0), standing.engine.dynamics.weight
    assert force[2] == pytest.approx(weight, rel=0.02)
    depths = np.maximum(0.0, -standing.engine._heights())
    assert depths.sum() * standing.engine._values.stiffness == pytest.approx(weight, rel=0.03)
    assert np.abs(force[:2]).max() < 0.05 * weight


@pytest.mark.parametrize('kind', ['kelvin_voigt', 'hunt_crossley'])
def test_what_the_method_takes_falls_with_the_step(kind):
    """If it failed, the ledger would have a hole that no finer step closes."""
    taken = []
    for timestep in (0.001, 0.0001):
        robot_file = load_robot(
            'walker3d_points', [('compliant.timestep', timestep), ('compliant.kind', kind)]
        )
        plant = make_plant(robot_file, 'compliant')
        plant.reset(robot_file.start)
        plant.push(2.0, 0.3)
        plant.step(Command(plant.robot), 0.05)
        energies = plant.engine.energies()
        taken.append(abs(energies['integration']))
        assert energies['damped'] > 0.0 and energies['slipped'] > -1e-9
    assert taken[1] < 0.4 * taken[0]


def test_feet_slip_at_the_cone():
    """If it failed, friction in space would hold more, or less, than its coefficient."""
    robot_file = load_robot('humanoid', [('world.friction', 0.1)])
    plant = make_plant(robot_file, 'compliant')
    plant.reset(robot_file.start)
    command = Command(plant.robot)
    held(plant, robot_file.start, command, 0.1)
    plant.push(6.0, 0.0)
    held(plant, robot_file.start, command, 0.02)
    force = plant.truth.foot_force
    for x, y, z in force[force[:, 2] > 1.0]:
        assert np.hypot(x, y) <= 0.1 * z * (1.0 + 1e-6)
    assert plant.engine.energies()['slipped'] > 0.0


def test_pushes_give_their_impulse():
    """If it failed, a planned push would have another size or side than it is asked for."""
    robot_file = load_robot(
        'walker3d_points', [('world.friction', 0.01), ('compliant.timestep', 0.0015)]
    )
    plant = make_plant(robot_file, 'compliant')
    plant.disturb('side_push', 0.3, 0, How(time=0.0))
    plant.reset(robot_file.start)
    held(plant, robot_file.start, Command(plant.robot), 0.11)
    dynamics = plant.engine.dynamics
    velocity = (
        pin.computeCentroidalMomentum(
            dynamics.model,
            dynamics.data,
            dynamics.to_pinocchio(plant.truth.q),
            dynamics.to_pinocchio_velocity(plant.truth.v),
        ).linear
        / dynamics.mass
    )
    assert velocity[1] == pytest.approx(0.3, rel=0.1) and abs(velocity[0]) < 0.03


def test_what_it_cannot_do_is_refused():
    """If it failed, the plant would leave a lock, a floor or a step away in silence."""
    with pytest.raises(IncompatiblePlant, match='its feet are those of the URDF'):
        make_plant(load_robot('humanoid', [('compliant.foot_radius', 0.1)]), 'compliant')
    plant = make_plant(load_robot('walker3d'), 'compliant')
    with pytest.raises(InvalidInput, match='step_down.*plant compliant.*upright edge'):
        plant.disturb('step_down', 0.02, 0, How(place=0.3))
    with pytest.raises(IncompatiblePlant, match='needs a planar robot'):
        make_plant(load_robot('walker3d_point'), 'compliant')


@pytest.mark.long
@pytest.mark.parametrize(
    'heights, disturb',
    [
        ((0.0, 0.01, -0.005, 0.0), []),
        ((), ['slope_change=0.05@0.05m']),
        ((), ['step_up=0.004@2']),
        ((), ['slope_change=0.04@2']),
    ],
)
def test_feet_stand_on_the_floor_there_is(heights, disturb):
    """Feet would float over a floor that sinks, or the books of energy miss what it does."""
    places = (0.0, 0.1, 0.2, 0.4) if heights else ()
    robot_file = load_robot(
        'walker3d_points',
        [('stepping.speed', 0.4), ('world.floor_places', places), ('world.floor_heights', heights)],
    )
    plant = make_plant(robot_file, 'compliant')
    plan_disturbances(plant, disturb)
    run = run_plant(plant, ControlLoop(robot_file), robot_file.start, 1.5)
    assert run.fault is None and run.steps[-1] >= 4
    loaded = run.foot_force[:, :, 2] > 0.5 * plant.engine.dynamics.weight
    assert loaded.sum() > 300
    assert run.foot_height[loaded].max() < 2e-4 and run.foot_height[loaded].min() > -0.006
    feet = foot_positions(plant.engine.dynamics, run.q)
    standing = feet[loaded][:, 2] - np.median(feet[:20, :, 2])
    assert np.ptp(standing) > 0.003, 'they rise or sink with it'
    ledger = plant.engine.energies()
    assert abs(ledger['integration']) < 0.15 * ledger['work']
