# SPDX-License-Identifier: Apache-2.0
"""Sensors that are rows of a robot file: from plant and topic to recording and plot."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models import own_signals
from walking_control.models.own_signals import Kind
from walking_control.models.signals import Command, JOINTS, Measurement, sensors_of
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.recording.bag import open_bag, read_rows
from walking_control.ros.recording.replay import read_columns, recorded_robot, replay
from walking_control.ros.ros2_control.files import controllers_of
from walking_control.ros.ros2_control.tags import components, HARDWARE
from walking_control.ros.ros2_control.wiring import state_interfaces, wire
from walking_control.safety.parameters import SafetyParameters
from walking_control.safety.plausibility import channels_of
from walking_control.simulation.registry import make_plant

ROWS = {
    'hip_torque': {'kind': 'effort', 'of': 'hip', 'topic': 'hip_torque_broadcaster/joint_states'},
    'motor_effort': {'kind': 'effort', 'of': ['hip']},
    'motor_current': {'kind': 'current', 'of': 'hip', 'lower': -20.0, 'upper': 20.0},
    'warmth': {'kind': 'temperature', 'of': 'hip', 'at_rest': 25.0},
    'toe': {'kind': 'corner_force', 'of': 'outer_foot', 'lower': -5.0, 'upper': 500.0},
    'ground': {'kind': 'range', 'of': 'imu_link', 'lower': 0.02, 'upper': 2.0, 'noise': 0.001},
}


@pytest.fixture
def load_with(edited_robot_file):
    """Return a function that loads Dribbel with rows of signals."""
    return lambda rows: load_robot(
        edited_robot_file(lambda tree: tree['robot'].update(signals=rows))
    )


@pytest.fixture
def robot_file(load_with):
    """Return Dribbel with all of `ROWS`."""
    return load_with(ROWS)


def test_a_torque_sensor_and_a_range_go_from_plant_to_plot(tmp_path, robot_file):
    """If it failed, a sensor of a user's own would need code in nodes, recording or plot."""
    path = tmp_path / 'walk.mcap'
    run = run_demo(robot_file, 1.0, settings=(('record', str(path)),)).run
    assert run.fault is None
    bag = open_bag(path)
    robot = recorded_robot(bag).robot
    names = 'hip_torque', 'motor_current', 'motor_effort'
    rows = [[row.measurement.own[name][0] for name in names] for row in read_rows(bag, robot)]
    torque, current, effort = np.array(rows).T
    motor = robot.actuators['hip']
    assert np.ptp(torque) > 1.0 and np.array_equal(torque, effort)
    assert np.allclose(current * motor.torque_per_ampere, torque)
    assert replay(bag, recorded_robot(bag))[0]['identical']
    groups = read_columns(path).groups
    assert groups['hip torque'][:2] == ('N m', ('hip',))
    assert groups['ground'][:2] == ('m', ('ground',))
    assert groups['joint positions'][1] == robot.joints


def test_a_measured_effort_is_that_of_the_motor_and_a_law_reads_it(robot_file):
    """If it failed, effort in joint_states could not enter, or a law would not see it."""
    seen = []
    loop = ControlLoop(robot_file)
    plant = make_plant(robot_file)
    plant.reset(robot_file.start)
    measurement = Measurement(robot_file.robot)
    for _ in range(30):
        plant.measure(measurement)
        loop.tick(measurement)
        seen.append((loop.state.signals['motor_effort'][0], plant.held[0]))
        plant.step(loop.command, loop.period)
    assert loop.fault is None and len({told for told, _ in seen}) > 5
    assert all(told == held for told, held in seen)
    assert 0.5 < loop.state.signals['ground'][0] <= 2.0


def test_a_kind_of_another_package(load_with, monkeypatch):
    """If it failed, a package could not bring a sensor of its own kind to a simulated robot."""

    def point(name, thing):
        return SimpleNamespace(name=name, value='a:b', load=lambda: thing)

    warm = Kind('degC', lower=0.0, upper=90.0, sense=lambda plant, sensor: 20.0 + plant.time)
    for name, thing, words in (
        ('warm', warm, None),
        ('warm', 3, 'is no Kind'),
        ('effort', warm, 'is there twice'),
    ):
        monkeypatch.setattr(own_signals, 'entry_points', lambda *_, **__: [point(name, thing)])
        own_signals.signal_kinds.cache_clear()
        if words is None:
            robot_file = load_with({'oil': {'kind': 'warm', 'of': 'hip'}})
            plant, measurement = make_plant(robot_file), Measurement(robot_file.robot)
            plant.reset(robot_file.start)
            plant.measure(measurement)
            assert measurement.own['oil'] == [20.0]
        else:
            with pytest.raises(InvalidInput, match=words):
                load_with({'oil': {'kind': 'warm', 'of': 'hip'}})
    own_signals.signal_kinds.cache_clear()


def test_rows_stand_in_all_tables(robot_file):
    """If it failed, hardware would not tell one, or nobody would judge it."""
    robot, wiring = robot_file.robot, wire(robot_file)
    size = len(Measurement(robot).values)
    assert len(state_interfaces(robot)) == size + len(robot.locks)
    assert {'hip/effort', 'hip/hip_torque', 'ground/range', 'toe/force.z'} <= set(
        state_interfaces(robot)
    )
    offered = {
        f'{part.name}/{state}' for part in components(wiring, HARDWARE) for state in part.states
    }
    assert set(state_interfaces(robot)) <= offered
    found = controllers_of(wiring, HARDWARE)
    assert found['joint_state_broadcaster'][1]['interfaces'] == ['position', 'velocity', 'effort']
    assert found['hip_torque_broadcaster'][1]['map_interface_to_joint_state'] == {
        'effort': 'hip_torque'
    }
    assert found['ground_broadcaster'][0].endswith('RangeSensorBroadcaster')
    channels = channels_of(robot, robot_file.values(SafetyParameters))
    assert channels[-1].part.stop == size
    assert [sensor.name for sensor in sensors_of(robot)][0] == JOINTS


def test_noise_and_delay_of_a_row(load_with):
    """If it failed, a simulated sensor would be better than its row says."""
    row = {'kind': 'effort', 'of': 'hip', 'noise': 0.1, 'delay': 0.02}
    robot_file = load_with({'felt': row})
    plant, measurement = make_plant(robot_file), Measurement(robot_file.robot)
    plant.reset(robot_file.start)
    command, told = Command(robot_file.robot), []
    command.effort[:] = 5.0
    for _ in range(20):
        plant.step(command, 0.005)
        plant.measure(measurement)
        told.append(measurement.own['felt'][0])
    late = np.array(told) - 5.0
    assert 0.02 < late[8:].std() < 0.3 and np.abs(late[8:]).max() < 0.6


@pytest.mark.parametrize(
    'rows, words',
    [
        ({'x': {'unit': 'N', 'message': 'a/msg/B', 'field': 'c', 'of': 'imu_link'}}, 'two bounds'),
        ({'x': {'kind': 'current', 'of': 'hip'}}, 'two bounds'),
        ({'x': {'kind': 'torque', 'of': 'hip'}}, "kind is 'torque': unknown"),
        ({'x': {'kind': 'effort', 'of': 'hip', 'unit': 'ft lbf'}}, "unit is 'ft lbf': must be N m"),
        ({'x': {'kind': 'effort', 'of': 'knee'}}, 'not a joint'),
        ({'x': {'kind': 'effort'}, 'y': {'kind': 'effort'}}, 'is there twice'),
        ({'imu': {'kind': 'current', 'of': 'hip', 'lower': -1.0, 'upper': 1.0}}, 'is there twice'),
        ({'x': {'kind': 'effort', 'lower': math.nan}}, 'must be finite'),
        ({'x': {'lower': -1.0, 'upper': 1.0, 'unit': 'N'}}, 'missing in a signal without a kind'),
        (
            {'x': {'kind': 'temperature', 'of': 'hip', 'at_rest': 1e3}},
            'must lie within lower and upper',
        ),
        ({'x': {'kind': 'temperature', 'of': ['hip', 'hip']}}, 'each once'),
    ],
)
def test_what_is_refused(load_with, rows, words):
    """If it failed, a row that nothing can judge or read would be taken for another signal."""
    with pytest.raises(InvalidInput, match=words):
        load_with(rows)
