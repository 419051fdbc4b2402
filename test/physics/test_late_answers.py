# SPDX-License-Identifier: Apache-2.0
"""A machine that is busy for a moment answers late; the robot walks on (doc/ros2_control.md)."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Measurement, whole_nanoseconds
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


def walk_with_pauses(robot, overrides, pause, every, duration):
    """Return fault and warnings of a walk in which nobody answers for a pause, s, now and then.

    The last command stays meanwhile, as ros2_control holds it.
    """
    robot_file = load_robot(robot, [*noise_overrides('lab'), *overrides])
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    measurement, warned, command = Measurement(robot_file.robot), set(), None
    while plant.time < duration and loop.fault is None:
        plant.measure(measurement)
        measurement.stamp = whole_nanoseconds(measurement.stamp)
        if command is None or plant.time % every < every - pause:
            command = loop.tick(measurement)
            warned |= {*loop.supervisor.warning.split('; ')}
        plant.step(command, loop.period)
    return loop.fault, ' '.join(warned)


@pytest.mark.long
def test_lost_sets_of_sensors_end_no_walk():
    """One impact sample on each side of a silence would count as an acceleration that lasts."""
    walks = [('controller', 'natural_walking'), ('natural_walking.speed', 0.6)]
    fault, _ = walk_with_pauses('walker3d', walks, pause=0.03, every=0.3, duration=2.6)
    assert fault is None


def test_a_silence_as_a_foot_lands_is_no_fall():
    """The step would be planned for 60 ms too late; the leg in the air pushed the robot over."""
    walks = [('controller', 'natural_walking'), ('natural_walking.speed', 0.6)]
    fault, _ = walk_with_pauses('walker3d', walks, pause=0.06, every=0.41, duration=1.2)
    assert fault is None


@pytest.mark.parametrize('law', ['natural_walking', 'stepping'])
def test_a_silence_counts_as_time_of_the_step(law):
    """After it the foot in the air would come down as much later as nobody answered."""
    robot_file = load_robot('walker3d', [('controller', law), (f'{law}.speed', 0.3)])
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    measurement, plan = Measurement(robot_file.robot), loop.controller.engine.plan

    def answer():
        plant.measure(measurement)
        loop.tick(measurement)
        return plan.elapsed, plan.elapsed + plan.step.remaining

    while not loop.controller.engine.walking or plan.elapsed < 0.05:
        before = answer()
        plant.step(loop.command, loop.period)
    for _ in range(19):
        plant.step(loop.command, loop.period)
    assert answer()[0] == pytest.approx(before[0] + 20 * loop.period)


@pytest.mark.long
@pytest.mark.parametrize(
    'robot, law, speed',
    [('walker3d', 'natural_walking', 0.6), ('walker3d', 'stepping', 0.3), ('dribbel', '', 0.0)],
)
def test_ticks_of_three_periods_are_borne(robot, law, speed):
    """`tick_overrun` would end walks that would go on; longer ticks are a fault."""
    told = [('controller', law), (f'{law}.speed', speed)] if law else []
    robot_file = load_robot(robot, [*noise_overrides('lab'), *told])
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    measurement = Measurement(robot_file.robot)
    acting, answer = Command(robot_file.robot), Command(robot_file.robot)
    answer.lock[:] = True
    for tick in range(round(3.0 / loop.period)):
        if tick % 3 == 0:  # the last answer leaves, the newest sample is taken
            acting.numbers[:], acting.lock[:] = answer.numbers, answer.lock
            plant.measure(measurement)
            measurement.stamp = whole_nanoseconds(measurement.stamp)
            command = loop.tick(measurement)
            answer.numbers[:], answer.lock[:] = command.numbers, command.lock
        plant.step(acting, loop.period)
    assert loop.fault is None


def test_late_answers_are_borne_and_said():
    """A robot would be let go because somebody compiles beside it, and the sensors be blamed."""
    fault, warned = walk_with_pauses('dribbel', [], pause=0.06, every=0.7, duration=5.0)
    assert fault is None and 'samples came up to 60 ms late' in warned


@pytest.mark.parametrize(
    'robot, law',
    [('walker3d', 'natural_walking'), ('walker3d', 'stepping'), ('humanoid', 'static_torque')],
)
def test_parameters_may_change_while_it_walks(robot, law):
    """The tick that takes them over has no time of its own: what divides by it would stop it."""
    robot_file = load_robot(robot, [('controller', law)])
    plant, loop = make_plant(robot_file), ControlLoop(robot_file)
    plant.reset(robot_file.start)
    measurement = Measurement(robot_file.robot)
    while plant.time < 0.3:
        plant.measure(measurement)
        if plant.time > 0.1:
            loop.retune(loop.controller.values)
        plant.step(loop.tick(measurement), loop.period)
    assert loop.fault is None and np.isfinite(loop.command.effort).all()
