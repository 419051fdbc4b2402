# SPDX-License-Identifier: Apache-2.0
"""A machine that is busy for a moment answers late; the robot walks on (doc/ros2_control.md)."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import (
    Command,
    CONTACT,
    JOINTS,
    LOCKS,
    Measurement,
    whole_nanoseconds,
)
from walking_control.operation import Operation, Patience, sensor_kinds
from walking_control.safety import Latch
from walking_control.safety.machine import Event, State
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


WALKER = ('controller', 'natural_walking'), ('natural_walking.speed', 0.6)
STEPPER = ('controller', 'stepping'), ('stepping.speed', 0.3)


def walk_on_split_messages(robot, overrides, duration, seed, late=2, gap=0.06, behind=None):
    """Return fault, warnings and steps of a walk whose sensors come in messages of their own.

    Each but the joint states is up to `late` periods under way, or as long as `behind` says of its
    kind, s. Once in 0.4 to 1 s nobody hears anything for 5 ms to a gap, s, and then the newest
    message of each sensor; a gap of 0: never.
    """
    robot_file = load_robot(robot, [*noise_overrides('lab'), *overrides])
    latch, rng = Latch(State.UNCONFIGURED), np.random.default_rng(seed)
    operation = Operation(robot_file, None, latch, Patience(lockstep=False), lambda tick: None)
    latch.handle(Event.CONFIGURE)
    operation.activate(0.0)
    plant, period = make_plant(robot_file), operation.loop.period
    plant.reset(robot_file.start)
    measured, warned = Measurement(robot_file.robot), set()
    kinds, behind = sensor_kinds(robot_file.robot), behind or {}
    sensors = sorted(kinds, key=lambda sensor: sensor == JOINTS)
    under_way = {sensor: [] for sensor in sensors}  # when each message comes, stamp, numbers
    now, deaf, pause = 0.0, 0.0, 1.0

    def numbers(measurement, sensor):
        return measurement.locked if sensor == LOCKS else measurement.blocks[sensor]

    while plant.time < duration and operation.fault is None:
        plant.measure(measured)
        for sensor in sensors:
            waits = period * (0 if sensor == JOINTS else rng.integers(0, late + 1))
            at = now + behind.get(kinds[sensor], waits) - 1e-9
            under_way[sensor].append((at, now, numbers(measured, sensor).copy()))
        if gap and now > pause:
            deaf, pause = now + rng.uniform(0.005, gap), now + rng.uniform(0.4, 1.0)
        for sensor in sensors if now >= deaf else ():
            come = [message for message in under_way[sensor] if message[0] <= now]
            if come:
                _, stamp, told = come[-1]
                under_way[sensor] = [each for each in under_way[sensor] if each[1] > stamp]
                numbers(operation.measurement, sensor)[:] = told
                operation.arrived(sensor, 1.0 + stamp, round(1e6 * stamp) + 1, now)
        warned |= {*operation.loop.supervisor.warning.split('; ')}
        now += period
        if latch.state is not State.WAITING:  # until then it is held
            plant.step(operation.loop.command, period)
    return operation.fault, ' '.join(warned), operation.loop.state.steps


@pytest.mark.parametrize(
    'robot, overrides, duration, steps',
    [
        ('dribbel', (), 4.0, 5),
        pytest.param('walker3d', WALKER, 3.0, 8, marks=pytest.mark.long),
        pytest.param('walker3d', STEPPER, 3.0, 4, marks=pytest.mark.long),
        pytest.param('humanoid', (), 3.0, 0, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(
    'seed', [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]
)
def test_late_and_split_messages_and_pauses_at_random_are_borne(
    robot, overrides, duration, steps, seed
):
    """Joints, locks, IMU and feet of other moments would contradict each other, and end a walk."""
    fault, warned, taken = walk_on_split_messages(robot, overrides, duration, seed)
    assert fault is None and taken >= steps, fault
    assert 'samples came up to' in warned


@pytest.mark.parametrize(
    'robot, overrides, steps',
    [
        ('dribbel', (), 2),
        pytest.param('walker3d', WALKER, 5, marks=pytest.mark.long),
        pytest.param('walker3d', STEPPER, 5, marks=pytest.mark.long),
        pytest.param('humanoid', (), 0, marks=pytest.mark.long),
    ],
)
def test_feet_far_behind_the_joints_are_borne(robot, overrides, steps):
    """States of another moment would be taken for a foot that lies, or end a walk at a landing."""
    fault, _, taken = walk_on_split_messages(
        robot, overrides, 2.0, 0, gap=0.0, behind={CONTACT: 0.08}
    )
    assert fault is None and taken >= steps, fault


@pytest.mark.long
def test_lost_sets_of_sensors_end_no_walk():
    """One impact sample on each side of a silence would count as an acceleration that lasts."""
    walks = [('controller', 'natural_walking'), ('natural_walking.speed', 0.6)]
    fault, _ = walk_with_pauses('walker3d', walks, pause=0.03, every=0.3, duration=2.6)
    assert fault is None


@pytest.mark.long
def test_a_silence_as_a_foot_lands_is_no_fall():
    """The step would be planned for 60 ms too late; the leg in the air pushed the robot over."""
    walks = [('controller', 'natural_walking'), ('natural_walking.speed', 0.6)]
    fault, _ = walk_with_pauses('walker3d', walks, pause=0.06, every=0.41, duration=1.2)
    assert fault is None


@pytest.mark.parametrize(
    'law', [pytest.param('natural_walking', marks=pytest.mark.long), 'stepping']
)
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
    [
        pytest.param('walker3d', 'natural_walking', marks=pytest.mark.long),
        ('walker3d', 'stepping'),
        ('humanoid', 'static_torque'),
    ],
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
