# SPDX-License-Identifier: Apache-2.0
"""The controller node records what it hears and answers."""

import signal
import sys

from domains import BUSY
import numpy as np
from programs import Program, SCRIPTS
import pytest

from walking_control.loading import load_robot
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.recording.bag import open_bag, read_rows
from walking_control.ros.recording.replay import recorded_robot, replay

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


def test_a_demo_is_recorded_and_replayed(tmp_path):
    """If it failed, a walk over ROS 2 could not be repeated without it."""
    path = tmp_path / 'demo.mcap'
    run = run_demo(load_robot('dribbel'), 2.0, settings=(('record', str(path)),)).run
    bag = open_bag(path)
    result, _ = replay(bag, recorded_robot(bag))
    assert result['identical'] and result['compared'] == len(run.time)
    efforts = [row.command[0][0] for row in read_rows(bag, recorded_robot(bag).robot)]
    assert np.array_equal(efforts, run.columns['effort'][:, 0])


def test_every_activation_has_its_bag(bench, robot, tmp_path):
    """If it failed, a second activation would fail, or write over the first recording."""
    path = tmp_path / 'walk.mcap'
    node = bench.controller(record=str(path))
    robot.wait()
    robot.ask(1.0)
    node.trigger_deactivate()
    node.trigger_activate()
    robot.ask(2.0)
    node.trigger_deactivate()
    assert sorted(each.name for each in tmp_path.iterdir()) == ['walk-2.mcap', 'walk.mcap']


@pytest.mark.parametrize('name', ['record', 'record_faults'])
def test_a_recording_that_cannot_be_made_refuses_activation(bench, tmp_path, name):
    """If it failed, a robot would walk unrecorded whose owner believes it to be recorded."""
    node = bench.controller(activate=False, **{name: str(tmp_path / 'walk.txt')})
    node.trigger_configure()
    node.trigger_activate()
    assert node._latch.state.name == 'INACTIVE'


@pytest.mark.parametrize(
    'turn', [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in range(1, 20))]
)
def test_a_killed_node_leaves_its_recording(bench, robot, tmp_path, turn):
    """If it failed, the recording would lose the crash, or the next start would delete it."""
    path = tmp_path / 'walk.mcap'
    with Program(
        sys.executable,
        str(SCRIPTS / 'controller_node'),
        '--ros-args',
        '-p',
        'realtime:=true',
        '-p',
        'autostart:=true',
        '-p',
        'require_watchdog:=false',
        '-p',
        f'record:={path}',
        '-p',
        'safety.state_timeout:=10.0',
    ) as program:
        robot.wait(180.0)  # a program starts slowly on a busy machine
        assert robot.stream_until(lambda: len(robot.efforts) > 5, 60.0)
        answered = len(robot.efforts)
        size = path.stat().st_size
        assert robot.stream_until(lambda: path.stat().st_size > size, 60.0)
        program.send_signal(signal.SIGKILL)
        program.wait()
    bag, kept = open_bag(path), path.read_bytes()
    assert 'was not closed' in bag.remark
    assert len(list(read_rows(bag, recorded_robot(bag).robot))) >= answered - 5
    bench.controller(namespace='/next', record=str(path)).trigger_deactivate()
    assert path.read_bytes() == kept and (tmp_path / 'walk-2.mcap').exists()


@pytest.mark.parametrize('realtime', [True, False])
def test_what_led_to_a_fault_is_saved(bench, robot, tmp_path, monkeypatch, realtime):
    """If it failed, nobody could see afterwards why a robot stopped that nobody recorded."""
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    path = tmp_path / 'log' / 'dribbel_fault.mcap' if realtime else tmp_path / 'why.mcap'
    given = {'realtime': True} if realtime else {'record_faults': str(path)}
    node = bench.controller(**given)
    robot.wait()
    assert robot.stream_until(lambda: len(robot.efforts) > 5)
    assert node.fault is None
    node.stop_now('emergency_stop', 'emergency stop')
    node.trigger_deactivate()
    bag = open_bag(path)
    assert bag.remark is None
    assert len(list(read_rows(bag, recorded_robot(bag).robot))) > 3


@pytest.mark.parametrize('faults', ['log', '/dev/null/why.mcap'])
def test_a_fault_that_cannot_be_saved_changes_nothing(bench, robot, monkeypatch, faults):
    """If it failed, a robot without a home folder would not walk, or not stop."""
    for name in ('HOME', 'ROS_HOME', 'ROS_LOG_DIR'):
        monkeypatch.delenv(name, raising=False)
    node = bench.controller(realtime=True, record_faults=faults, safety__state_timeout=BUSY)
    robot.wait()
    assert robot.stream_until(lambda: robot.efforts)
    node.stop_now('emergency_stop', 'emergency stop')
    node.trigger_deactivate()
    assert node.fault.code == 'emergency_stop'
