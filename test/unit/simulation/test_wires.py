# SPDX-License-Identifier: Apache-2.0
"""Delays and losses between a loop and a plant, and that no law sees more than its sensors."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.signals import Command, Measurement, whole_nanoseconds
from walking_control.simulation.engine import Engine
from walking_control.simulation.plant import Plant
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides, SensorParameters
from walking_control.simulation.simulate import run_plant

ROBOT = load_robot('dribbel').robot


class Listener(Engine):
    """An engine that writes down what it is told to hold, and for how long: all one must write."""

    name, parameters = 'listener', SensorParameters

    def __init__(self, resolution=0.0):
        super().__init__(ROBOT, load_robot('dribbel').values(World), None)
        self.resolution, self.dynamics, self.held = resolution, Dynamics(ROBOT), []

    def reset(self, start):
        self.time, self.held = 0.0, []

    def advance(self, effort, armed, h, forces):
        self.time += h
        self.held.append((round(h, 9), float(effort[0])))

    def read(self, truth):
        truth.q[:], truth.v[:] = 0.0, 0.0

    def impulse(self, impulse):
        raise AssertionError('nobody pushes')

    def rates(self):
        return [0.0]


def drive(ticks, period=0.01, resolution=0.0, **values):
    """Send the tick's number as effort at each tick; return (tick's measurement, held)."""
    plant = Plant(Listener(resolution), SensorParameters.read(values))
    plant.reset(None)
    command, measurement, stamps = Command(ROBOT), Measurement(ROBOT), []
    for tick in range(ticks):
        plant.measure(measurement)
        if not plant.lost:
            command.effort[:] = tick
        stamps.append(measurement.stamp)
        plant.step(command, period)
    return np.array(stamps), plant.engine.held


def timeline(held):
    """Return the times at which commands took effect, by command."""
    ends = np.cumsum([duration for duration, _ in held])
    first = {}
    for start, (_, effort) in zip([0.0, *ends], held):
        first.setdefault(effort, round(float(start), 9))
    return first


def test_a_command_counts_once_it_has_arrived():
    """If it failed, a delay of half a tick would be none, or a whole one."""
    _, held = drive(4, measurement_delay=0.002, command_delay=0.003)
    assert timeline(held) == {0.0: 0.0, 1.0: 0.015, 2.0: 0.025, 3.0: 0.035}
    assert sum(duration for duration, _ in held) == pytest.approx(0.04)


def test_a_long_delay_keeps_several_commands_under_way():
    """If it failed, a delay beyond a tick would lose or merge commands."""
    _, held = drive(6, command_delay=0.025)
    assert timeline(held) == {0.0: 0.0, 1.0: 0.035, 2.0: 0.045, 3.0: 0.055}


def test_delays_end_with_whole_steps_of_the_physics():
    """If it failed, MuJoCo would refuse to step a part of its timestep."""
    _, held = drive(4, resolution=0.002, command_delay=0.0031)
    assert timeline(held) == {0.0: 0.0, 1.0: 0.014, 2.0: 0.024, 3.0: 0.034}


def test_jitter_keeps_the_order_and_the_bounds():
    """If it failed, an older command would replace a newer one, or come before it was sent."""
    _, held = drive(300, command_delay=0.012, command_jitter=0.012)
    begun = timeline(held)
    efforts, times = np.array(list(begun)), np.array(list(begun.values()))
    assert (np.diff(efforts) > 0).all() and (np.diff(times) > 0).all()
    late = times - 0.01 * efforts
    assert late.min() >= 0.0 and late.max() <= 0.024 + 1e-9
    assert np.ptp(late[1:]) > 0.015


def test_a_lost_measurement_leaves_the_last_one():
    """If it failed, a loop would take a measurement that never came for a new one."""
    stamps, held = drive(4000, lost_measurements=0.2)
    lost = 1.0 - len(set(stamps)) / len(stamps)
    assert lost == pytest.approx(0.2, abs=0.02) and stamps[0] == 0.0
    assert len({effort for _, effort in held}) == len(set(stamps))  # each answered once


def test_a_lost_command_leaves_the_last_one():
    """If it failed, losses on the way to the motors would cost nothing."""
    stamps, held = drive(400, lost_commands=0.2)
    assert len(set(stamps)) == 400
    assert len({effort for _, effort in held}) == pytest.approx(320, abs=20)


@pytest.mark.parametrize('plant', ['rigid', 'mujoco'])
def test_a_delay_of_one_tick_is_one_tick_late(plant):
    """By hand or by parameter, the same commands must come as late, to the last bit."""
    robot_file = load_robot('dribbel')
    world, loop = make_plant(robot_file, plant), ControlLoop(robot_file)
    world.reset(robot_file.start)
    measurement, waiting = Measurement(ROBOT), Command(ROBOT)
    rows = []
    for tick in range(60):
        world.measure(measurement)
        measurement.stamp = whole_nanoseconds(measurement.stamp)
        command = loop.tick(measurement)
        if tick == 0:
            waiting.effort[:], waiting.lock[:] = command.effort, command.lock
        world.step(waiting, loop.period)
        waiting.effort[:], waiting.lock[:] = command.effort, command.lock
        rows.append(world.truth.q.copy())
    late = load_robot('dribbel', [('sensors.command_delay', 0.01)])
    run = run_plant(make_plant(late, plant), ControlLoop(late), late.start, 0.6)
    assert np.array_equal(run.q[1:], rows)
    direct = run_plant(make_plant(robot_file, plant), ControlLoop(robot_file), late.start, 0.6)
    assert not np.array_equal(run.q, direct.q)
    assert run.summary()['sensors'] == {'seed': 0, 'command_delay': 0.01}
    assert direct.summary()['sensors'] is None


class Veiled:
    """A plant whose truth is NaN whenever somebody but the plant looks."""

    def __init__(self, plant):
        self._plant = plant
        self._true = [getattr(plant.truth, name) for name in ('q', 'v', 'foot_force', 'work')]
        self._kept = [array.copy() for array in self._true]
        self.lost = False

    def veil(self):
        for array, kept in zip(self._true, self._kept):
            kept[:], array[:] = array, np.nan

    def unveil(self):
        for array, kept in zip(self._true, self._kept):
            array[:] = kept


@pytest.mark.long
@pytest.mark.parametrize(
    'robot, controller, noise',
    [
        ('dribbel', 'hip_switching', 'none'),
        ('dribbel', 'curve_tracking', 'lab'),
        ('humanoid', 'static_torque', 'lab'),
        ('compass', 'curve_tracking', 'none'),
    ],
)
def test_controllers_see_the_estimator_and_never_the_truth(robot, controller, noise):
    """While the loop ticks, the plant's truth is NaN: a law that peeks would differ."""
    robot_file = load_robot(robot, noise_overrides(noise))
    rows = []
    for veiled in (False, True):
        plant, loop = make_plant(robot_file), ControlLoop(robot_file, controller)
        plant.reset(robot_file.start)
        veil, measurement = Veiled(plant), Measurement(robot_file.robot)
        efforts = []
        for _ in range(80):
            plant.measure(measurement)
            if veiled:
                veil.veil()
            command = loop.tick(measurement)
            if veiled:
                assert np.isnan(plant.truth.q).all()
                veil.unveil()
            efforts.append(np.concatenate((command.effort, command.lock)))
            plant.step(command, loop.period)
        assert loop.fault is None
        rows.append(np.array(efforts))
    assert np.array_equal(*rows)
    assert np.ptp(rows[0], axis=0).any()
