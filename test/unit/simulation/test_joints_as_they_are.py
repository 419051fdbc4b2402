# SPDX-License-Identifier: Apache-2.0
"""Motors that lag, gears with play and weaker motors: what of them reaches plant and law."""

import numpy as np
import pytest

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.friction import entering_torque, gear_table, motor_efforts
from walking_control.models.signals import Command
from walking_control.simulation.registry import make_plant

LAG, PLAY, TICK = 0.02, 0.01, 0.005


def dribbel(plant, **values):
    """Return the plant of a Dribbel whose hip motor has these values, with a command."""
    sets = [(f'robot.actuators.hip.{name}', value) for name, value in values.items()]
    robot_file = load_robot('dribbel', sets)
    plant = make_plant(robot_file, plant)
    plant.reset(robot_file.start)
    return plant, Command(robot_file.robot)


@pytest.mark.parametrize('name', ['rigid', 'mujoco'])
def test_torque_follows_its_command(name):
    """A motor that lags would be simulated as one that does not, or as another at other steps."""
    plant, command = dribbel(name, torque_lag=LAG)
    command.effort[:] = 1.0
    means = []
    for _ in range(4):
        before = plant.time
        plant.step(command, TICK)
        first = max(before, plant.time - (plant.resolution or TICK))
        exact = np.exp(-first / LAG) - np.exp(-plant.time / LAG)
        means.append((plant.held[0], 1.0 - LAG * exact / (plant.time - first)))
    np.testing.assert_allclose(*np.transpose(means), rtol=1e-9)
    plant.reset(load_robot('dribbel').start)
    plant.step(command, TICK)
    assert plant.held[0] < means[0][0] * 1.01  # another run begins at rest


def test_a_joint_turns_within_its_play():
    """Backlash of another size, or none, would be called that of the file."""
    plant, command = dribbel('mujoco', backlash=PLAY)
    hip, apart = plant.robot.joint_index('hip'), []
    for tick in range(200):
        command.effort[:] = 2.0 if tick // 20 % 2 else -2.0
        plant.step(command, TICK)
        motor = float(plant.engine.data.joint('hip').qpos[0])
        apart.append(plant.truth.q[plant.robot.base.nq + hip] - motor)
        assert plant.engine.joints()[0][hip] == pytest.approx(motor + apart[-1], abs=1e-12)
    assert min(apart) == pytest.approx(-0.5 * PLAY, abs=0.1 * PLAY)
    assert max(apart) == pytest.approx(0.5 * PLAY, abs=0.1 * PLAY)


def test_a_spring_lies_across_motor_and_play():
    """A spring before the play would leave the joint loose that it is there to hold."""
    sets = [
        (f'robot.springs.hip.{name}', value) for name, value in (('stiffness', 50.0), ('rest', 1.0))
    ]
    pulls = []
    for play in (0.0, PLAY):
        robot_file = load_robot('dribbel', [*sets, ('robot.actuators.hip.backlash', play)])
        plant = make_plant(robot_file, 'mujoco')
        plant.reset(robot_file.start)
        for name in ('hip', 'hip_play') if play else ('hip',):
            joint = plant.engine.model.joint(name)
            pulls.append(float(plant.engine.data.qfrc_passive[joint.dofadr[0]]))
    np.testing.assert_allclose(pulls[1:], pulls[0], rtol=1e-9)


def test_only_mujoco_has_play():
    """A plant without play would judge a robot that has some as one that has none."""
    with pytest.raises(InvalidInput, match='its joints have no play; take plant mujoco'):
        dribbel('rigid', backlash=PLAY)


def test_play_needs_a_rotor():
    """Within its play a motor without a rotor has no mass: the plant would divide by zero."""
    with pytest.raises(InvalidInput, match='rotor_inertia of a motor with backlash'):
        dribbel('mujoco', backlash=PLAY, rotor_inertia=0.0)


def test_efforts_through_gears():
    """A law would ask for efforts that leave the gear as other torques than it wants."""
    robot = load_robot('dribbel', [('robot.actuators.hip.efficiency', 0.8)]).robot
    gears, rng = gear_table(robot), np.random.default_rng(0)
    for torque, rate, turning in rng.normal(size=(20, 3)):
        row = gears[0]
        exact = row[0] * turning + entering_torque(
            row[1], row[2], torque - row[0] * turning, rate, 0.1
        )
        ours = motor_efforts(robot, *np.array([[torque], [rate], [turning]]), 0.1)
        assert ours[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize('share', [0.0, 1.5, -1.0, 'half', True])
def test_shares_of_motors_that_are_none(share):
    """Motors of more than their effort, or of none, would pass for real ones."""
    with pytest.raises(InvalidInput, match=r'^parameter robot\.effort_share is .*must be'):
        load_robot('walker3d', [('robot.effort_share', share)])


def test_a_share_of_the_motors():
    """Search, law and supervisor would count on other motors than the file says."""
    whole, part = (load_robot('walker3d', [('robot.effort_share', x)]).robot for x in (1, 0.4))
    np.testing.assert_allclose(part.effort_limits, 0.4 * whole.effort_limits)


def test_springs_that_break_the_stance():
    """A robot would fold on its springs as soon as it starts."""
    sets = [
        ('robot.springs.left_hip_roll.stiffness', 400.0),
        ('robot.springs.left_hip_roll.rest', 0.17),
    ]
    with pytest.raises(InvalidInput, match='spring of left_hip_roll in start.posture .* 60 N m'):
        load_robot('walker3d', sets)
