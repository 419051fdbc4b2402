# SPDX-License-Identifier: Apache-2.0
"""Simulator and controller over topics: the same walk as without ROS, to the last bit."""

from dataclasses import replace
import os
from pathlib import Path
import random
import signal
import sys
import time

import numpy as np
from programs import Program
import pytest
from rclpy.parameter import Parameter
from stranger import write_rabbit
import yaml

import walking_control as wc
from walking_control.control_loop import ControlLoop
from walking_control.exceptions import NotAchieved, ParameterError
from walking_control.loading import load_robot
from walking_control.ros.launch_arguments import CONTROLLER, node_parameters, read_arguments
from walking_control.ros.nodes import demo as demo_module
from walking_control.ros.nodes.controller_node import ControllerNode
from walking_control.ros.nodes.demo import run_demo
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.ros2_control.names import EFFORT_COMMANDS
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.injection import Injection
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


class LateController(ControllerNode):
    """A controller on a machine that is sometimes busy."""

    def _control(self, tick):
        if random.random() < 0.05:
            time.sleep(0.01)
        super()._control(tick)


class SlowController(ControllerNode):
    """A controller that takes longer than either side's usual patience, once."""

    slept = False

    def _control(self, tick):
        if not self.slept:
            self.slept = True
            time.sleep(2.5)
        super()._control(tick)


def test_demo_equals_simulation_to_the_last_bit(dribbel, monkeypatch):
    """Lockstep promises results that do not depend on transport, load or run."""
    monkeypatch.setattr(demo_module, 'ControllerNode', LateController)
    over_ros = run_demo(dribbel, 5.0).run
    robot_file = load_robot('dribbel')
    direct = run_plant(make_plant(robot_file), ControlLoop(robot_file), robot_file.start, 5.0)
    assert len(over_ros.time) == len(direct.time) == 501
    for name, column in direct.columns.items():
        assert np.array_equal(column, over_ros.columns[name]), name
    assert direct.telemetry.keys() == over_ros.telemetry.keys() == {'current', 'set_point'}
    for name, values in direct.telemetry.items():
        assert np.ptp(values) > 0.0 or name == 'set_point'
        assert np.array_equal(values, over_ros.telemetry[name]), name


@pytest.mark.long
def test_two_processes_walk_the_same_way(dribbel):
    """A controller in a process of its own must not change the walk by a bit."""
    one = run_demo(dribbel, 4.0).run
    result = run_demo(dribbel, 4.0, processes=2)
    assert len(result.run.time) == 401
    assert np.array_equal(one.q, result.run.q)
    assert np.array_equal(one.telemetry['current'], result.run.telemetry['current'])


@pytest.mark.parametrize(
    'controller, duration',
    [('curve_tracking', 0.6), pytest.param('none', 3.0, marks=pytest.mark.long)],
)
def test_every_law_over_topics_is_the_same(dribbel, controller, duration):
    """A law that counts time would walk otherwise over ROS, or a fall end a tick earlier there."""
    over_ros = run_demo(replace(dribbel, controller=controller), duration).run
    direct = wc.simulate(load_robot('dribbel'), controller, duration=duration)
    assert over_ros.fault == direct.fault
    for name, values in (*direct.columns.items(), *direct.telemetry.items()):
        others = over_ros.columns if name in direct.columns else over_ros.telemetry
        assert np.array_equal(values, others[name]), name


def test_a_learned_policy_over_topics_is_the_same(tmp_path):
    """What `policy:=` sets would not reach the node, or a network be asked at other times there."""
    onnx = pytest.importorskip('onnx')
    stranger, helper, kind = load_robot('walker3d'), onnx.helper, onnx.TensorProto.FLOAT
    motors = [*stranger.robot.actuators]
    posture = dict(zip(stranger.robot.joints, stranger.start.posture, strict=True))
    network = tmp_path / 'policy.onnx'
    graph = helper.make_graph(
        [helper.make_node('MatMul', ['obs', 'w'], ['action'])],
        'policy',
        [helper.make_tensor_value_info('obs', kind, [1, 3])],
        [helper.make_tensor_value_info('action', kind, [1, len(motors)])],
        [onnx.numpy_helper.from_array(np.full((3, len(motors)), 0.002, 'f'), 'w')],
    )
    opset = [helper.make_opsetid('', 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), network)
    told = {
        'rate': 50.0,
        'observation': ['base_angular_velocity'],
        'joints': {
            joint: {'default': float(posture[joint]), 'stiffness': 400.0, 'damping': 10.0}
            for joint in motors
        },
    }
    network.with_suffix('.yaml').write_text(yaml.safe_dump(told))
    (launched,) = node_parameters(CONTROLLER, read_arguments({'policy': str(network)}))
    asked = 'controller', 'policy.file'
    robot_file = load_robot('walker3d', [(name, launched[name]) for name in asked])
    over_ros = run_demo(robot_file, 0.3).run
    direct = wc.simulate(robot_file, duration=0.3)
    assert direct.fault is None and np.ptp(direct.telemetry['largest_action']) > 0.0
    for name, values in (*direct.columns.items(), *direct.telemetry.items()):
        others = over_ros.columns if name in direct.columns else over_ros.telemetry
        assert np.array_equal(values, others[name]), name


def test_foot_placement_over_topics_is_the_same():
    """Commanded speeds and push-offs of the walker in space would get lost on their way."""
    robot_file = load_robot('walker3d_point')
    over_ros = run_demo(robot_file, 1.5).run
    direct = wc.simulate(robot_file, duration=1.5)
    assert direct.steps[-1] > 1 and np.ptp(direct.effort[:, -1]) > 0.1
    for name, values in (*direct.columns.items(), *direct.telemetry.items()):
        others = over_ros.columns if name in direct.columns else over_ros.telemetry
        assert np.array_equal(values, others[name]), name


@pytest.mark.long
def test_stepping_over_topics_is_the_same():
    """A biped that steps over ROS 2 would walk otherwise than in a script."""
    robot_file = load_robot('walker3d', speed=0.3)
    over_ros = run_demo(robot_file, 1.2).run
    direct = wc.simulate(robot_file, duration=1.2)
    assert direct.fault is None and direct.steps[-1] > 0
    for name, values in (*direct.columns.items(), *direct.telemetry.items()):
        others = over_ros.columns if name in direct.columns else over_ros.telemetry
        assert np.array_equal(values, others[name]), name


@pytest.mark.parametrize(
    'robot, length',
    [
        ('walker3d', 1),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in [('walker3d', 20), ('humanoid', 1), ('humanoid', 20)]
        ),
    ],
)
def test_a_spike_of_the_gyroscope(monkeypatch, robot, length):
    """One message with 1e6 rad/s would put full torque on all joints, and no fault would say so."""
    robot_file, told = load_robot(robot), []
    spoil = Injection.spoil

    def lie(self, measurement):
        measurement = spoil(self, measurement)
        if measurement.stamp > 0.3 and len(told) < length:
            measurement.angular_velocity[1] = 1e6
            told.append(measurement.stamp)
        return measurement

    monkeypatch.setattr(Injection, 'spoil', lie)
    run = run_demo(robot_file, 0.36).run
    assert len(told) == length
    honest = wc.simulate(robot_file, duration=0.36)
    change = (
        np.abs(run.columns['effort'] - honest.columns['effort']) / robot_file.robot.effort_limits
    )
    faults = run.fault.code if run.fault is not None else ''
    assert faults == ('gyroscope' if length == 20 else '')
    assert change[run.time < (0.3 if length == 20 else 1.0)].max() < 0.1


def test_noise_delays_and_losses_are_the_same_over_topics():
    """If it failed, what a preset costs in a script would say nothing about ROS 2."""
    robot_file = load_robot(
        'dribbel', [*noise_overrides('rough'), ('lost_measurements', 0.05), ('sensors.seed', 5)]
    )
    over_ros = run_demo(robot_file, 3.0).run
    direct = wc.simulate(robot_file, duration=3.0)
    assert len(direct.time) > 100 and over_ros.fault == direct.fault
    for name, values in (*direct.columns.items(), *direct.telemetry.items()):
        others = over_ros.columns if name in direct.columns else over_ros.telemetry
        assert np.array_equal(values, others[name]), name


@pytest.mark.long
def test_telemetry_of_tracking_is_the_same_over_topics():
    """The figures of a report would depend on whether ROS was in between."""
    robot_file = load_robot('compass')
    over_ros = run_demo(
        replace(robot_file, controller='curve_tracking'), 0.6, disturb=['push=0.1@1']
    ).run
    plant = make_plant(robot_file)
    plan_disturbances(plant, ['push=0.1@1'])
    direct = run_plant(plant, ControlLoop(robot_file, 'curve_tracking'), robot_file.start, 0.6)
    assert over_ros.disturbances == direct.disturbances != ()
    assert over_ros.units == direct.units and len(direct.telemetry) > 20
    for name, values in direct.telemetry.items():
        assert np.array_equal(values, over_ros.telemetry[name]), name


def test_a_new_controller_walks_over_topics(toy, dribbel):
    """A controller beyond the shipped ones would need edits in the nodes."""
    run = run_demo(replace(dribbel, controller=toy), 1.0).run
    assert run.controller == 'hip_spring' and run.fall_reason is None and len(run.time) == 201


@pytest.mark.long
def test_real_time_demo_walks():
    """By the clock, the robot must walk as well, at the speed of the clock."""
    patient = load_robot('dribbel', [('state_timeout', 0.5)])
    result = run_demo(patient, 4.0, [('realtime', True)])
    assert not result.run.fell, result.run.fall_reason
    assert result.run.steps[-1] > 4
    assert result.figures['real_time_factor'] < 4.0 / 3.9


@pytest.mark.long
@pytest.mark.skipif(not Path('/proc/self/stat').is_file(), reason='children are found in /proc')
def test_a_killed_demo_leaves_no_controller_behind():
    """It would go on for ever, in everybody's way, and on a robot with the motors on."""
    with Program(
        sys.executable, '-m', 'walking_control', 'demo', '--processes', '2', '--duration', '1000'
    ) as demo:
        demo.wait_for('configured: dribbel')
        children = [
            int(path.parent.name)
            for path in Path('/proc').glob('[0-9]*/stat')
            if _parent(path) == demo.pid
        ]
        assert children
        os.kill(demo.pid, signal.SIGKILL)
        end = time.monotonic() + 60.0
        while any(map(_alive, children)):
            assert time.monotonic() < end, 'the controller lives on'
            time.sleep(0.05)


def _status(path):
    """Return state and parent of a process, None of one that has gone."""
    try:
        state, parent, *_ = path.read_text().rpartition(')')[2].split()
        return state, int(parent)
    except OSError:
        return None


def _parent(path):
    status = _status(path)
    return status and status[1]


def _alive(pid):
    status = _status(Path(f'/proc/{pid}/stat'))
    return status is not None and status[0] != 'Z'


@pytest.mark.long
@pytest.mark.parametrize('options', [{}, {'processes': 2}, {'settings': [('realtime', True)]}])
def test_a_fault_of_the_controller_reaches_the_record(options):
    """A run that a fault ended would be told as a fall, or as a success, without the fault."""
    overrides = [('safety.velocity_limit_factor', 0.3), ('safety.state_timeout', 0.5)]
    robot_file = load_robot('dribbel', overrides)
    run = run_demo(robot_file, 0.6, **options).run
    assert run.fault.code == 'velocity_limit' and 'joint hip' in run.fault.message
    assert run.broke_off and len(run.time) > 12, 'the reaction to the fault belongs to the record'
    if 'settings' not in options:
        direct = run_plant(make_plant(robot_file), ControlLoop(robot_file), robot_file.start, 0.6)
        assert run.fault.code == direct.fault.code
        assert run.fault.stamp == pytest.approx(direct.fault.stamp, abs=1e-6)


def test_overrides_reach_both_nodes():
    """`--set` must change the simulated robot and the controller alike."""
    robot_file = load_robot('dribbel', [('reduction', 66.0)])
    run = run_demo(robot_file, 0.05).run
    assert run.robot.actuators['hip'].reduction == 66.0
    assert run.effort[0, 0] == pytest.approx(66 * 0.0302 * 6.0)


@pytest.mark.long
def test_gains_change_while_walking(bench):
    """Retuning in rqt while the robot walks must neither make it fall nor jerk it."""
    node = simulator(bench, duration=16.0)
    controller = bench.controller()
    assert bench.spin_until(lambda: node.plant.time > 4.0, timeout=30.0)
    assert all(
        result.successful
        for result in controller.set_parameters(
            [
                Parameter('hip_switching.derivative_gain', value=0.5),
                Parameter('hip_switching.set_point', value=0.4),
            ]
        )
    )
    assert bench.spin_until(lambda: node.finished, timeout=60.0)
    run = node.result()
    assert not run.fell, run.fall_reason
    assert run.steps[-1] > 20
    changes = np.abs(np.diff(run.effort[350:500, 0]))
    same_support = np.diff(run.support[350:500]) == 0
    assert changes[same_support].max() < 3.0, 'a jump of gains alone would be 4 to 7 N m'


@pytest.mark.long
def test_step_down_over_topics(dribbel):
    """The step down that fells the uncontrolled compass must be survived under curve tracking."""
    compass = load_robot('compass')
    disturb = ['step_down=0.06@4']
    assert run_demo(replace(compass, controller='none'), 6.0, disturb=disturb).run.fell
    run = run_demo(replace(compass, controller='curve_tracking'), 6.0, disturb=disturb).run
    assert not run.fell and run.steps[-1] >= 7


def simulator(bench, **parameters):
    """Return a simulator node."""
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    return bench.add(SimulatorNode(parameter_overrides=overrides))


def test_simulator_says_that_nobody_is_there(bench):
    """Waiting for ever for a controller tells the user nothing."""
    node = simulator(bench, discovery_timeout=0.5)
    assert bench.spin_until(lambda: node.finished)
    assert 'no controller' in node.fault.message and 'joint_states' in node.fault.message
    assert node.exit_status == 1 and node.result().fault.code == 'no_controller'
    waiting = simulator(bench, discovery_timeout=2.0)
    controller = bench.controller(activate=False)
    controller.trigger_configure()
    assert bench.spin_until(lambda: waiting.finished)
    assert 'no active controller' in waiting.fault.message and 'sends' not in waiting.fault.message


def test_demo_takes_settings_of_its_nodes(dribbel):
    """Otherwise nobody can give a slow machine more time, or a typing error passes in silence."""
    with pytest.raises(ParameterError, match='lockstep_timeou is 3.*known: .*lockstep_timeout'):
        run_demo(dribbel, 1.0, settings=[('lockstep_timeou', 3)])
    with pytest.raises(ParameterError, match='is no setting'):
        run_demo(dribbel, 1.0, settings=[('duration', 3)])
    run = run_demo(dribbel, 1.0, settings=[('lockstep_timeout', 0.1), ('telemetry_rate', 0)]).run
    assert len(run.time) == 101


def test_demo_waits_for_a_slow_controller(dribbel, monkeypatch):
    """Lockstep must not depend on the machine: the first tick and any other may take long."""
    run = demo_module.run_demo
    fast = run(dribbel, 0.3).run
    monkeypatch.setattr(demo_module, 'ControllerNode', SlowController)
    slow = run(dribbel, 0.3).run
    assert slow.fall_reason is None and np.array_equal(fast.q, slow.q)


@pytest.mark.long
def test_controller_that_dies_ends_the_demo(dribbel):
    """Otherwise a demo waits minutes for a process that is gone."""
    start = time.monotonic()
    with pytest.raises(NotAchieved, match='ended before the walk began'):
        run_demo(replace(dribbel, controller='static_torque'), 1.0, processes=2)
    assert time.monotonic() - start < 60.0


def test_simulator_says_who_is_silent(bench):
    """In lockstep a lost controller must be named, not waited for."""
    node = simulator(bench, lockstep_timeout=0.5)
    controller = bench.controller()
    assert bench.spin_until(lambda: node.ticks > 5)
    controller.trigger_deactivate()
    assert bench.spin_until(lambda: node.finished)
    assert 'no command' in node.fault.message and 'effort_controller/commands' in node.fault.message
    fault = node.result().fault
    assert fault.code == 'no_command' and fault.stamp == pytest.approx(node.plant.time)


def test_simulator_drops_bad_commands(bench):
    """As in ros2_control, a command of wrong length or not finite must not reach the robot."""
    from std_msgs.msg import Float64MultiArray

    node = simulator(bench)
    for data in ([1.0, 2.0], [], [float('nan')]):
        node._on_command('effort', [0], EFFORT_COMMANDS, Float64MultiArray(data=data))
    assert node._command.effort[0] == 0.0


def test_names_that_are_no_topics(tmp_path):
    """A robot whose links and joints have spaces, dashes or dots would end in a traceback."""

    def renamed(text):
        return text.replace('left_', 'left-').replace('right_', '2 right.')

    path = write_rabbit(tmp_path, change_urdf=renamed)
    path.write_text(renamed(path.read_text()).replace('stance_', 'stance/'))
    result = run_demo(load_robot(path), 0.1)
    assert result.run.fault is None and len(result.run.time) == 11


@pytest.mark.parametrize('home', [None, '/nonexistent'])
def test_demo_without_a_home(monkeypatch, dribbel, home):
    """rclpy would not start for a user without a home: it has nowhere to log to."""
    for name in ('HOME', 'ROS_HOME', 'ROS_LOG_DIR'):
        monkeypatch.delenv(name, raising=False)
    if home:
        monkeypatch.setenv('HOME', home)
    assert len(run_demo(dribbel, 0.1).run.time) == 11
