# SPDX-License-Identifier: Apache-2.0
"""Our nodes beside a stand-in for ros2_control, on the files that are shipped for it."""

import contextlib
from dataclasses import replace
import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticStatus
from domains import BUSY
import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
import yaml

from walking_control.cli.parser import make_parser
from walking_control.loading import load_robot
from walking_control.ros.nodes import live_check, topics
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.nodes.live_check import judge, Listener
from walking_control.ros.nodes.lock_emulator_node import LockEmulatorNode
from walking_control.ros.nodes.messages import ArrayWriter
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.ros2_control.doctor import diagnose
from walking_control.ros.ros2_control.files import shipped_folder
from walking_control.simulation.simulate import simulate

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')

# s, steps at least and overrides: who stands by itself is asked to walk, or stands
WALKS = {
    'dribbel': (3.0, 4, ()),
    'humanoid': (0.6, 0, ()),
    'walker3d': (1.2, 2, [('stepping.speed', 0.2)]),
    'walker3d_points': (1.0, 2, ()),
}


def beside_stand_in(robot_file, duration, path=None, controller=None, **settings):
    """Return the result of a demo on the stand-in, by the shipped files unless told otherwise."""
    path = path or shipped_folder(robot_file.robot.name) / 'controllers.yaml'
    return run_demo(
        replace(robot_file, controller=controller or robot_file.controller),
        duration,
        settings=(('controllers_file', str(path)), *settings.items()),
    )


@pytest.mark.long
@pytest.mark.parametrize('name', sorted(WALKS))
def test_shipped_robots_move_beside_ros2_control(name):
    """If it failed, a shipped bring-up would be refused, or move other joints than are meant."""
    duration, steps, overrides = WALKS[name]
    robot_file = load_robot(name, overrides)
    result = beside_stand_in(robot_file, duration)
    assert result.run.fault is None
    for column, values in simulate(robot_file, duration=duration).columns.items():
        assert np.array_equal(values, result.run.columns[column]), column
    assert result.run.columns['steps'][-1] >= steps


def test_compass_moves_without_its_virtual_effort(tmp_path):
    """If it failed, the compass's files would fit no robot that can be built."""
    tree = yaml.safe_load(load_robot('compass').path.read_text())
    section = tree['/**']['ros__parameters']
    del section['robot']['ground_torque']
    section['robot']['urdf'] = str(load_robot('compass').path.parent / section['robot']['urdf'])
    path = tmp_path / 'compass.yaml'
    path.write_text(yaml.safe_dump(tree))
    result = beside_stand_in(load_robot(path), 3.0, controller='none')
    assert result.run.fault is None and result.run.columns['steps'][-1] >= 3


@pytest.mark.long
def test_fast_states_and_another_order_and_sign(tmp_path):
    """If it failed, a robot at 1 kHz, with joints and signs of its own, would not walk."""
    tree = yaml.safe_load((shipped_folder('dribbel') / 'controllers.yaml').read_text())
    tree['/**/joint_state_broadcaster']['ros__parameters']['joints'] = [
        'inner_knee',
        'outer_knee',
        'hip',
    ]
    for foot in ('outer_foot', 'inner_foot'):
        tree[f'/**/{foot}_broadcaster']['ros__parameters']['multiplier']['force'] = dict.fromkeys(
            'xyz', -1.0
        )
    path = tmp_path / 'controllers.yaml'
    path.write_text(yaml.safe_dump(tree))
    robot_file = load_robot('dribbel', [('hip_switching.rate', 200.0)])
    result = beside_stand_in(robot_file, 1.5, path, state_rate=1000.0, force_sign=-1.0)
    assert result.run.fault is None and result.figures['ticks'] == 1500
    assert result.run.columns['steps'][-1] >= 2
    effort = result.run.columns['effort'][:, 0]
    changes = np.flatnonzero(np.diff(effort))
    assert len(changes) > 20 and (np.diff(changes) >= 5).all()  # the law's own rate


@pytest.mark.parametrize('name, duration, steps', [('dribbel', 1.5, 2), ('walker3d', 0.3, 0)])
def test_a_simulators_habits_are_borne(name, duration, steps):
    """If it failed, zeros or NaN at first, or joints without torque for 15 ms, would end a walk."""
    result = beside_stand_in(load_robot(name), duration, place='gazebo')
    columns = result.run.columns
    assert result.run.fault is None and columns['steps'][-1] >= steps
    limp = columns['time'] < 0.0149
    assert limp.sum() > 1 and not columns['effort'][limp].any()
    assert columns['effort'][~limp][0].any()


def test_a_wrong_sign_is_a_fault():
    """If it failed, a robot whose feet feel the opposite would walk, or nobody be told why not."""
    result = beside_stand_in(load_robot('dribbel'), 3.0, force_sign=-1.0)
    assert 'sign of the sensor?' in str(result.run.fault)


def test_silence_leaves_the_last_effort_until_zero_is_sent(bench):
    """If it failed, a dead controller would look harmless beside the stand-in, as it is nowhere."""
    path = str(shipped_folder('dribbel') / 'controllers.yaml')
    simulator = bench.add(
        SimulatorNode(
            parameter_overrides=[
                Parameter('robot_file', value='dribbel'),
                Parameter('realtime', value=True),
                Parameter('controllers_file', value=path),
            ]
        )
    )
    node = bench.controller(activate=False, realtime=True)
    node.trigger_configure()
    node.trigger_activate()
    assert bench.spin_until(lambda: simulator.ticks > 20, 40.0)
    sender = node.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    held = simulator.stand_in
    node.stop()  # its last words are zeros; then somebody sends one effort and falls silent
    assert bench.spin_until(lambda: held.forwarders['effort_controller'].message == (0.0,))
    sender.publish(ArrayWriter(1).write(1.5, 7))
    assert bench.spin_until(lambda: held.forwarders['effort_controller'].message == (1.5,))
    end = time.monotonic() + 0.4  # four times the timeout of our own plants
    bench.spin_until(lambda: time.monotonic() > end)
    assert simulator._command.effort[0] == 1.5
    sender.publish(ArrayWriter(1).write(0.0, 0))
    assert bench.spin_until(lambda: simulator._command.effort[0] == 0.0)


@pytest.mark.parametrize('held', [True, False])
def test_played_locks_are_held_by_the_simulator_or_by_efforts(bench, robot, held):
    """If it failed, MuJoCo would take an effort for the command to hold, and knees be let go."""
    overrides = [Parameter('held', value=held)]
    emulator, told = bench.add(LockEmulatorNode(parameter_overrides=overrides)), []
    emulator._effort_publisher = SimpleNamespace(publish=lambda sent: told.append([*sent.data]))
    joints = JointState(name=[*robot.joints], velocity=[0.0] * 3)
    for knee in (-0.5, -0.005):
        joints.position = [0.0, knee, -0.5]
        emulator._on_joints(joints)
    assert told[0] == [0.0, 0.0] and told[1][1] == 0.0
    assert told[1][0] > 0.0 and held == (told[1][0] == 1.0), told


def test_a_running_robot_is_judged(bench, robot):
    """If it failed, `check --live` would hear nothing, or pass feet that feel the opposite."""
    robot_file = load_robot('dribbel')
    up = {'acceleration': (1.46598808, 0.0, 9.699844275)}
    for forces, expected in (((90.0, 0.0), 0), ((-90.0, 0.0), 1)):
        listener = Listener(robot_file.robot)
        listener.stop = lambda: None
        bench.add(listener)
        assert robot.stream_until(
            lambda heard=listener: len(heard.record.time) > 20, 20.0, forces=forces, **up
        )
        problems, _ = judge(robot_file, listener, 1.0)
        assert len(problems) == expected, problems
        bench.remove(listener)
    assert 'multiplier' in str(problems[0])


def test_silence_and_another_description_are_named(bench):
    """If it failed, a controller manager that never answers would look like a good robot."""
    robot_file = load_robot('dribbel')
    listener = Listener(robot_file.robot)
    listener.stop = lambda: None
    bench.add(listener)
    problems, left_out = judge(robot_file, listener, 1.0)
    assert len(problems) == 1 and 'controller_manager up' in str(problems[0])
    assert any('robot_description' in sentence for sentence in left_out)
    listener.description = load_robot('dribbel', [('hip_mass', 6.0)]).robot.urdf
    assert 'mass of link' in str(judge(robot_file, listener, 1.0)[0][0])


@pytest.mark.parametrize('there', [False, True])
def test_a_live_check_answers_within_ten_seconds(bench, monkeypatch, there):
    """Whoever waits for half a minute without a word would end it.

    To begin takes up to four of them. What time is counted is that of the loop: none of a machine.
    """
    options = make_parser().parse_args(['check', 'dribbel', '--live'])
    clock = SimpleNamespace(now=100.0)

    def spin_once(timeout_sec):
        clock.now += timeout_sec

    executor = SimpleNamespace(spin_once=spin_once)
    monkeypatch.setattr(live_check, 'time', SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(live_check, 'ros', contextlib.nullcontext)
    monkeypatch.setattr(
        live_check, 'spun', lambda node: contextlib.nullcontext(bench.add(node) and executor)
    )
    if there:  # after a second, and has nothing to say of
        missing = property(lambda _: [] if clock.now > 101.0 else ['imu'])
        monkeypatch.setattr(Listener, 'missing', missing)
    problems, left_out, found = live_check.check_live(
        load_robot('dribbel'), '', options.wait, options.seconds
    )
    assert clock.now - 100.0 < 6.0
    lines = [*map(str, (*problems, *found.problems)), *left_out, *found.remarks]
    assert len(problems) == 1 and not any('\n' in line for line in lines)


@pytest.mark.parametrize('place', ['/left/controller_manager', '/my_manager'])
def test_a_manager_elsewhere_is_named(bench, place):
    """Whoever gave it a namespace or a name would look for broken broadcasters."""
    robot_file = load_robot('dribbel')
    manager = rclpy.create_node('manager')
    manager.stop = lambda: None
    manager.create_service(Trigger, f'{place}/list_controllers', lambda _, answer: answer)
    listener = Listener(robot_file.robot)
    listener.stop = lambda: None
    for node in (manager, listener):
        bench.add(node)
    said = f'Controller managers that answer: {place}'
    assert bench.spin_until(lambda: said in str(judge(robot_file, listener, 1.0)[0][0]))


def test_two_managers_of_one_name_are_named_before_a_walk(bench):
    """Both would drive the joints; nothing else of what is heard shows that there are two."""
    listener = Listener(load_robot('dribbel').robot)
    listener.stop = lambda: None
    bench.add(listener)
    for _ in range(2):
        manager = rclpy.create_node('controller_manager')
        manager.stop = lambda: None
        bench.add(manager)
    said = 'nodes called /controller_manager is 2: must be one'

    def told():
        return [str(problem) for problem in judge(load_robot('dribbel'), listener, 1.0)[0]]

    assert bench.spin_until(lambda: any(said in problem for problem in told())), told()


def test_a_running_system_is_diagnosed(bench, robot):
    """If it failed, `check --live` would not see motors that hear no controller."""
    robot_file = load_robot('dribbel')
    bench.controller(realtime=True, safety__state_timeout=BUSY)
    listener = Listener(robot_file.robot)
    listener.stop = lambda: None
    bench.add(listener)
    motors = rclpy.create_node('motors')  # wants what was sent before it came
    motors.stop = lambda: None
    bench.add(motors)
    motors.create_subscription(Float64MultiArray, topics.EFFORT_COMMANDS, print, topics.LATCHED)
    robot.wait()
    asked = listener.seen.parameters

    def looked():
        listener.ask()
        return (
            len(listener.seen.commands) > 5
            and len(asked.get('walking_controller', ())) == 2
            and listener.seen.statuses
        )

    assert robot.stream_until(looked, 30.0)
    listener.look()
    assert asked['walking_controller'] == {'use_sim_time': False, 'realtime': True}
    told = ' '.join(listener.seen.mismatches)
    assert (
        'commands of walking_controller (std_msgs/msg/Float64MultiArray) cannot be heard by /motors'
        in told
        and 'by /robot' not in told
    )
    found = diagnose(robot_file, listener.seen, listener.record.position[-1])
    assert 'steady' in found.facts['clock'] and 'Hz' in found.facts['rates']
    assert any('/motors' in str(problem) for problem in found.problems)


def test_sensors_that_stand_still_under_torque_are_said(bench, robot):
    """If it failed, mock components would pass for a robot that walks."""
    bench.controller(realtime=True, safety__state_timeout=BUSY)
    status = robot.stream_until_told('mock components?')
    assert status.level == DiagnosticStatus.WARN
