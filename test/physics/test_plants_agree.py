# SPDX-License-Identifier: Apache-2.0
"""The rigid and the MuJoCo plant walk the same Dribbel."""

from dataclasses import replace
import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import IncompatiblePlant, InvalidInput
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.loading import load_robot
from walking_control.models.actuators import JointSpring
from walking_control.models.robot_file import Start
from walking_control.models.signals import Command
from walking_control.runs.metrics import summarize
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.registry import make_plant
from walking_control.simulation.rigid.compiled import Walker
from walking_control.simulation.rigid.model import DONE, STEPS
from walking_control.simulation.simulate import run_plant

pytest.importorskip('mujoco')


def walk(plant, robot_file, controller, duration):
    """Return the summary of a walk."""
    run = run_plant(
        make_plant(robot_file, plant),
        ControlLoop(robot_file, controller),
        robot_file.start,
        duration,
    )
    return summarize(run)


@pytest.mark.long
def test_hip_law_on_level_floor():
    """If it failed, one plant would have other physics: 3 % speed and work, 5 % current."""
    robot_file = load_robot('dribbel')
    rigid, soft = (walk(plant, robot_file, None, 12.0) for plant in ('rigid', 'mujoco'))
    assert rigid['steady']['speed'] == pytest.approx(soft['steady']['speed'], rel=0.03)
    assert rigid['steady']['cost_of_transport'] == pytest.approx(
        soft['steady']['cost_of_transport'], rel=0.03
    )
    assert rigid['peak_current'] == pytest.approx(soft['peak_current'], rel=0.05)


@pytest.mark.parametrize(
    'spring',
    [JointSpring(20.0, 0.0, 0.1), JointSpring(0.0, 5.0, 0.0), JointSpring(20.0, 5.0, -0.2)],
)
def test_passive_joints_move_alike(spring):
    """A spring or damper of the robot file would be left out, or be another, in one plant."""
    robot_file = load_robot('dribbel')
    robot_file = replace(robot_file, robot=replace(robot_file.robot, springs={'hip': spring}))
    # straight legs, the free foot in the air
    start = Start('outer_foot', np.array([0.0, 0.0, 0.5, 0.0]), np.array([-0.3, 0.0, 1.0, 0.0]))
    rates = []
    for name in ('rigid', 'mujoco'):
        plant = make_plant(robot_file, name)
        plant.reset(start)
        command = Command(robot_file.robot)
        command.lock[:] = True
        for _ in range(10):
            plant.step(command, 0.005)
        rates.append(plant.truth.v[3].copy())
    bare = make_plant(load_robot('dribbel'), 'rigid')
    bare.reset(start)
    bare.step(Command(robot_file.robot), 0.05)
    assert rates[0] == pytest.approx(rates[1], rel=0.02)
    assert abs(rates[0] - bare.truth.v[3]) > 0.1 * abs(rates[0])


def push_off_stance(name, effort, friction=1.0):
    """Return the plant after 0.03 s of a hip effort on the compass, and its stance foot's force."""
    robot_file = load_robot(
        'compass', [('robot.xacro_args.leg_inertia', 0.02), ('world.friction', friction)]
    )
    robot_file = replace(robot_file, robot=replace(robot_file.robot, ground_torque=None))
    plant = make_plant(robot_file, name)
    plant.reset(Start('right_foot', np.array([-0.2, 0.6]), np.array([-1.45, -0.3])))
    command = Command(robot_file.robot)
    command.effort[:] = effort
    forces = []
    for _ in range(15):
        plant.step(command, 0.002)
        forces.append(plant.truth.foot_force[1, 2])
    return plant, np.array(forces)


@pytest.mark.parametrize('effort', [-15.0, -20.0])
def test_a_foot_that_friction_holds_stays(effort):
    """A loaded stance foot would fly off the rigid floor where it stays on the soft one.

    Released it would rise, and on ice it does; with friction the floor presses it by 60 N.
    """
    rigid, forces = push_off_stance('rigid', effort)
    soft, _ = push_off_stance('mujoco', effort)
    assert forces.min() > 55.0
    assert forces[-1] == pytest.approx(soft.truth.foot_force[1, 2], rel=0.05)
    assert rigid.truth.v == pytest.approx(soft.truth.v, abs=0.02)
    assert push_off_stance('rigid', effort, 0.1)[1].max() == 0.0


@pytest.mark.parametrize('name', ['compass', pytest.param('dribbel', marks=pytest.mark.long)])
def test_control_loop_and_array_law_are_one(name):
    """If it failed, robustness and cycles would judge another control law than simulate runs."""
    robot_file = load_robot(name)
    plant = make_plant(robot_file, 'rigid')
    run_plant(plant, ControlLoop(robot_file), robot_file.start, 2.0)
    walker = Walker(robot_file, compiled=False)
    walker.start(0, robot_file.start.q, robot_file.start.v)
    walker.walk(2.0)
    assert plant.engine.state.y == pytest.approx(walker.state.y, abs=1e-9)


def passive_dribbel():
    """Return Dribbel without motor inertia on 3 degrees, on its stable passive cycle."""
    robot_file = load_robot('dribbel', rotor_inertia=1e-12, slope=math.radians(3.0))
    start = Start(
        'outer_foot', np.array([0.2692, 0.0, -0.5384, 0.0]), np.array([-1.1448, 0.0, 0.3395, 0.0])
    )
    return replace(robot_file, start=start)


@pytest.mark.long
def test_passive_gait_on_three_degrees_lasts():
    """If it failed, the stable passive gait of the kneed robot would die within a minute."""
    summary = walk('mujoco', passive_dribbel(), 'none', 60.0)
    assert not summary['fell'] and summary['steps'] >= 65
    assert summary['energy_injected'] == 0.0
    assert summary['steady']['speed'] == pytest.approx(0.564, abs=0.01)


def test_passive_gait_lasts_on_the_rigid_floor_too():
    """If it failed, the passive gait would owe its stability to MuJoCo's soft floor."""
    pytest.importorskip('casadi')
    pytest.importorskip('numba')
    robot_file = passive_dribbel()
    walker = Walker(robot_file, 'none')
    walker.start(0, robot_file.start.q, robot_file.start.v)
    assert walker.walk(60.0) == DONE
    assert walker.state.mode[STEPS] >= 65
    assert walker.state.y[0] / 60.0 == pytest.approx(0.564, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize(
    'kind, survived',
    [
        ('step_down=0.004@4', True),
        ('step_down=0.02@4', False),
        ('step_up=0.002@4', True),
        ('step_up=0.012@4', False),
        ('push=0.05@4', True),
    ],
)
def test_disturbances_come_alike(kind, survived):
    """A step or a push would be another in one plant, or come at another step, or not at all."""
    robot_file, runs = load_robot('dribbel'), []
    for name in ('rigid', 'mujoco'):
        plant = make_plant(robot_file, name)
        plan_disturbances(plant, [kind])
        runs.append(run_plant(plant, ControlLoop(robot_file), robot_file.start, 5.5))
    steps = [run.steps[-1] for run in runs]
    assert min(steps) >= 7 if survived else max(steps) <= 6
    if survived:
        drop = [run.base.position[-1, 2] for run in runs]
        assert drop[0] == pytest.approx(drop[1], abs=6e-3)
        assert runs[0].steps[-1] == pytest.approx(runs[1].steps[-1], abs=1)


def test_floors_of_plant_mujoco_come_back_at_reset():
    """A second run would begin on the floor that the first one ended on."""
    robot_file = load_robot('dribbel')
    plant = make_plant(robot_file, 'mujoco')
    plant.disturb('step_down', 0.004, 1)
    plant.disturb('slope_change', 0.01, 2)
    runs = [run_plant(plant, ControlLoop(robot_file), robot_file.start, 2.0) for _ in range(2)]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert runs[0].base.position[-1, 2] < runs[0].base.position[0, 2]
    for bad in (('slope_change', 1.01, 1), ('step_down', 0.01, 0), ('push', math.nan, 1)):
        with pytest.raises(InvalidInput):
            plant.disturb(*bad)


@pytest.mark.long
def test_first_failures_of_both_plants():
    """Robustness on plant mujoco would be that of plant rigid under another name, or of none."""
    found = find_first_failure(load_robot('dribbel'), 'step_down', 0.02, 0.02, 'mujoco')
    assert found['plant'] == 'mujoco' and found.first_failure == 0.02
    assert 0.0 < found['foot_depth'] < 0.003 and found['nominal_speed'] == pytest.approx(0.45, 0.03)


@pytest.mark.parametrize('spring', [JointSpring(15.0, 0.0, -0.6), JointSpring(0.0, 1.0, 0.0)])
def test_a_free_knee_with_a_spring_moves_alike(spring):
    """A passive element at a joint without a motor would be left out in one plant."""
    robot_file = load_robot('dribbel')
    # the stance knee held, the free foot in the air
    start = Start('outer_foot', np.array([0.0, 0.0, 0.5, -0.4]), np.array([-0.3, 0.0, 1.0, 2.0]))
    command, rates = Command(robot_file.robot), []
    command.lock[:] = [lock.joint == 'outer_knee' for lock in robot_file.robot.locks]
    for springs in ({'inner_knee': spring}, {}):
        sprung = replace(robot_file, robot=replace(robot_file.robot, springs=springs))
        for name in ('rigid', 'mujoco'):
            plant = make_plant(sprung, name)
            plant.reset(start)
            for _ in range(10):
                plant.step(command, 0.005)
            rates.append(plant.truth.v[5])
    assert rates[0] == pytest.approx(rates[1], rel=0.02, abs=0.03)
    assert rates[2] == pytest.approx(rates[3], rel=0.02, abs=0.03)
    assert abs(rates[0] - rates[2]) > 0.1 * abs(rates[0])


def test_an_ankle_of_the_floor_is_refused_where_there_is_none():
    """A plant would drop the ankle's torque in silence, and a law would seem to need none."""
    with pytest.raises(IncompatiblePlant, match='ground_torque'):
        make_plant(load_robot('compass'), 'mujoco')


def test_what_a_description_only_shows_touches_nothing():
    """A picture below the sole would carry the robot, and its foot would feel no floor."""
    robot_file = load_robot('walker3d')
    shown = robot_file.robot.urdf.replace(
        '<link name="left_sole">',
        '<link name="left_sole"><visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>',
    ).replace('</robot>', '<mujoco><compiler discardvisual="false"/></mujoco></robot>')
    assert shown.count('<visual>') == robot_file.robot.urdf.count('<visual>') + 1
    truths = []
    for urdf in (robot_file.robot.urdf, shown):
        plant = make_plant(replace(robot_file, robot=replace(robot_file.robot, urdf=urdf)))
        plant.reset(robot_file.start)
        plant.step(Command(plant.robot), 0.01)
        truths.append(plant.truth)
    assert truths[0].foot_force[:, 2].min() > 1.0
    for name in ('q', 'v', 'foot_force', 'foot_height'):
        np.testing.assert_array_equal(*(getattr(truth, name) for truth in truths))
