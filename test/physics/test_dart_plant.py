# SPDX-License-Identifier: Apache-2.0
"""Plant dart: its rotors, locks and floors by other routes, and the walks of plant mujoco."""

from dataclasses import replace
import sys

import numpy as np
import pytest

from walking_control.cli import main
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import MissingDependency
from walking_control.loading import load_robot
from walking_control.models.contact import project_velocity
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command
from walking_control.simulation.dart.rotors import Torsion
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant


def test_dart_that_is_not_installed_is_named(monkeypatch):
    """Without DART a user would meet a traceback, or would not know what to install."""
    monkeypatch.setitem(sys.modules, 'dartpy', None)
    with pytest.raises(MissingDependency, match=r"pip install 'walking_control\[dart\]'"):
        make_plant(load_robot('dribbel'), 'dart')


@pytest.fixture(scope='module')
def dart():
    """Return DART, without which nothing below can be tried."""
    return pytest.importorskip('dartpy', reason="needs pip install 'walking_control[dart]'")


def rotor_compass(inertia):
    """Return the robot file of a compass whose legs and hip motor have inertia."""
    robot_file = load_robot(
        'compass',
        [
            ('robot.xacro_args.leg_inertia', 0.02),
            ('robot.actuators.hip.rotor_inertia', inertia),
            ('dart.timestep', 1e-5),
            ('world.friction', 10.0),
        ],
    )
    return replace(robot_file, robot=replace(robot_file.robot, ground_torque=None))


@pytest.mark.parametrize('inertia', [0.0, 0.05, 5.0])
def test_rotors_take_part_in_impacts(dart, inertia):
    """A foot would land as though the hip had no rotor, or a rotor would take what it should not.

    Legs in the air, then the left foot strikes; Pinocchio projects the velocity.
    """
    robot_file = rotor_compass(inertia)
    plant = make_plant(robot_file, 'dart')
    plant.reset(robot_file.start)
    world = plant.world
    dynamics = Dynamics(robot_file.robot, world.gravity, world.slope)
    q, v = dynamics.base_from_coordinates('left_foot', np.array([0.2, -0.5]), np.zeros(2))
    q[1] -= 1e-7  # the foot touches
    v[:] = [0.3, -0.5, -0.4, 1.5]
    plant.engine._set_state(q, v)
    command = Command(robot_file.robot)
    plant.step(command, 1e-5)
    A = dynamics.foot_jacobian(q, 'left_foot').T
    after = project_velocity(dynamics.mass_matrix(q), A, v)
    assert np.abs(A.T @ v).max() > 0.3
    assert plant.truth.v == pytest.approx(after, abs=1e-3)


def test_frames_without_mass_are_no_remark(dart, capfd):
    """If it failed, `check` would print a line of DART for each frame of a drawing."""
    robot_file = load_robot('walker3d')
    frame = '<link name="eye"><inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" '
    frame += 'iyy="0" iyz="0" izz="0"/></inertial></link><joint name="look" type="fixed">'
    frame += '<parent link="pelvis"/><child link="eye"/></joint></robot>'
    robot = replace(robot_file.robot, urdf=robot_file.robot.urdf.replace('</robot>', frame))
    make_plant(replace(robot_file, robot=robot), 'dart')
    assert capfd.readouterr().err == ''


@pytest.mark.parametrize('name', ['compass', 'walker3d'])
def test_free_flight_is_that_of_the_equations(dart, name):
    """Links, rotors or gravity would be others: half a second of flight beside Pinocchio's."""
    robot_file = rotor_compass(0.3) if name == 'compass' else load_robot(name)
    plant = make_plant(robot_file, 'dart')
    plant.reset(robot_file.start)
    robot, n = robot_file.robot, len(robot_file.robot.joints)
    dynamics = Dynamics(robot, plant.world.gravity, plant.world.slope)
    q, v = plant.truth.q.copy(), np.random.default_rng(4).normal(size=dynamics.nv)
    q[len(robot.base.axes) - 1] += 2.0
    plant.engine._set_state(q, v)
    command = Command(robot)
    command.effort[:] = 0.5
    plant.step(command, plant.resolution)
    force = np.zeros(dynamics.nv)
    force[-n:][[robot.joint_index(joint) for joint in robot.actuators]] = 0.5
    a = np.linalg.solve(dynamics.mass_matrix(q), force - dynamics.bias(q, v))
    assert (plant.truth.v - v) / plant.resolution == pytest.approx(a, rel=0.02, abs=0.1)


def test_a_lock_keeps_the_momentum_about_the_others(dart):
    """A knee that locks would stop the whole leg, or let it slip through.

    In the air: straight outer leg, the inner knee arrives at its lock with 3 rad/s.
    """
    robot_file = load_robot('dribbel')
    plant = make_plant(robot_file, 'dart')
    plant.reset(robot_file.start)
    dynamics = Dynamics(robot_file.robot)
    q = np.array([0.0, 2.0, 0.1, 0.3, 0.0, -0.005])
    v = np.array([0.2, 0.0, 0.5, -1.0, 0.0, 3.0])
    plant.engine._set_state(q, v)
    command = Command(robot_file.robot)
    command.lock[:] = True
    plant.truth.locked[:] = [True, False]
    plant.step(command, plant.resolution)
    A = np.zeros((6, 2))
    A[4, 0] = A[5, 1] = 1.0
    after = project_velocity(dynamics.mass_matrix(q), A, v)
    after[1] -= 9.81 * plant.resolution
    assert plant.truth.locked.all()
    # the lock draws its joint the rest of the way: 0.005 rad in 0.01 s
    rest = np.linalg.solve(dynamics.mass_matrix(q), A)
    after += rest @ np.linalg.solve(A.T @ rest, [0.0, 0.5])
    assert plant.truth.v == pytest.approx(after, abs=0.01)


def walk(robot_file, plant, duration, *disturbances):
    """Return the run of a walk."""
    built = make_plant(robot_file, plant)
    plan_disturbances(built, disturbances)
    return run_plant(built, ControlLoop(robot_file), robot_file.start, duration)


@pytest.mark.long
def test_dribbel_walks_alike(dart):
    """The same robot file and gains would walk another walk: 3 % speed, step time and cost."""
    pytest.importorskip('mujoco')
    robot_file = load_robot('dribbel')
    runs = [walk(robot_file, plant, 12.0).summary()['steady'] for plant in ('dart', 'mujoco')]
    for figure in ('speed', 'step_time', 'cost_of_transport'):
        assert runs[0][figure] == pytest.approx(runs[1][figure], rel=0.03)


@pytest.mark.parametrize('drop', [0.004, -0.003])
def test_a_foot_lands_on_a_floor_of_its_own(dart, drop):
    """A step would not come, or the floor would move under the foot that stands on it."""
    kind = 'step_down' if drop > 0.0 else 'step_up'
    run = walk(load_robot('dribbel'), 'dart', 0.9, f'{kind}={abs(drop)}@1')
    dynamics = Dynamics(run.robot)
    dynamics.place(run.q[-1])
    assert run.foot_force[-1, 1, 2] > 50.0
    assert dynamics.foot_position('inner_foot')[2] == pytest.approx(-drop, abs=2e-4)
    assert run.foot_height[-1, 1] == pytest.approx(0.0, abs=2e-4)


@pytest.mark.parametrize('name', ['dribbel', 'walker3d'])
def test_a_push_is_an_impulse_on_the_base(dart, name):
    """Pushes would be others than in plant mujoco, or would leave the rotors out."""
    plant = make_plant(load_robot(name), 'dart')
    plant.reset(load_robot(name).start)
    dynamics, q, v = Dynamics(plant.robot), plant.truth.q.copy(), plant.truth.v.copy()
    plant.push(2.0)
    impulse = np.zeros(dynamics.nv)
    impulse[0] = 2.0
    assert plant.truth.v - v == pytest.approx(
        np.linalg.solve(dynamics.mass_matrix(q), impulse), rel=1e-4, abs=1e-6
    )


@pytest.mark.long
def test_a_biped_in_space_walks_alike(dart):
    """Soles, free base, supply voltages: walker3d would step otherwise than in plant mujoco."""
    pytest.importorskip('mujoco')
    robot_file = load_robot('walker3d', [('stepping.speed', 0.5)])
    runs = [walk(robot_file, plant, 1.5) for plant in ('dart', 'mujoco')]
    assert runs[0].fault is None
    ends = [run.base.position[-1] for run in runs]
    assert ends[0] == pytest.approx(ends[1], abs=0.02)
    assert runs[0].foot_force[:, :, 2].sum(axis=1).mean() == pytest.approx(98.1, rel=0.02)


def test_friction_stops_the_turning_of_a_foot_and_holds_it(dart):
    """A ball foot would spin freely, be thrown back, or creep under a torque friction holds.

    A body of 0.02 kg m^2 that turns at 1 rad/s, pressed by 10 N on a radius of 6 mm: 0.06 N m.
    """
    links = dart.dynamics.Skeleton('body')
    _, body = links.createFreeJointAndBodyNodePair()
    body.setInertia(dart.dynamics.Inertia(1.0, np.zeros(3), 0.02 * np.eye(3)))
    links.setGravity(np.zeros(3))
    links.setTimeStep(0.001)
    links.setVelocities(np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    torsion = Torsion(links, [body], 0.006, 0.001)
    torsion.reset(links.getMassMatrix())
    rates = []
    for _ in range(900):
        links.clearExternalForces()
        torsion.apply()
        body.addExtTorque(np.array([0.0, 0.0, 0.03]), False)
        links.computeForwardDynamics()
        links.integrateVelocities(0.001)
        torsion.follow(np.array([10.0]))
        rates.append(links.getVelocities()[2])
    assert rates[200] == pytest.approx(1.0 - 0.03 / 0.02 * 0.2, rel=0.02)
    assert min(rates) > -0.0016  # one step of the torque that friction gives up
    assert np.abs(rates[-20:]).max() < 1e-6


def test_verbs_know_the_plant(dart, capsys):
    """A user would not find DART among the plants of a verb."""
    assert main(['simulate', 'dribbel', '--plant', 'dart', '--duration', '0.3']) == 0
    assert main(['check', 'dribbel']) == 0
    (plants,) = [line for line in capsys.readouterr().out.splitlines() if 'plants:' in line]
    assert 'dart' in plants
