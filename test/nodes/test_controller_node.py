# SPDX-License-Identifier: Apache-2.0
"""The controller node over real topics: answers, refusals, faults, the last word."""

import math
import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from domains import BUSY
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import pytest
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger
import yaml

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.resources import robot_names, robot_path
from walking_control.models.robot_file import read_parameters
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.controller_node import ControllerNode
from walking_control.ros.nodes.simulator_node import SimulatorNode

EFFORT = 74 * 0.0302 * 10.0 * 0.6  # N kt Kp (0.3 + 0.3 rad)
fault = pytest.mark.fault


def test_answers_a_measurement(bench, robot):
    """The command must be (5.29) and carry the stamp of what it answers."""
    bench.controller()
    robot.wait()
    assert robot.ask(1.25) == pytest.approx(EFFORT)
    assert robot.efforts[-1].layout.data_offset == 1_250_001
    assert list(robot.locks[-1].data) == [1.0, 0.0], 'stance armed, swing released'


def test_shuffled_joints(bench, robot):
    """A different order of joints must give the same command."""
    bench.controller()
    robot.wait()
    effort = robot.ask(1.0, names=('inner_knee', 'hip', 'outer_knee'), position=(0.0, -0.3, 0.0))
    assert effort == pytest.approx(EFFORT)


def test_repeated_measurement_gets_the_same_answer(bench, robot):
    """A repeated message must not advance the law or the estimator."""
    bench.controller()
    robot.wait()
    first = robot.ask(1.0)
    count = len(robot.efforts)
    robot.send(1.0, position=(0.1, 0.0, 0.0))
    assert bench.spin_until(lambda: len(robot.efforts) > count)
    assert robot.efforts[-1].data[0] == first


@pytest.mark.parametrize(
    'sensors, code',
    [
        ({'position': (math.nan, 0.0, 0.0)}, 'not_finite'),
        ({'velocity': (0.0, math.inf, 0.0)}, 'not_finite'),
        (
            {'names': ('hip', 'outer_knee'), 'position': (0.0, 0.0), 'velocity': (0.0, 0.0)},
            'joint_state',
        ),
        ({'pitch_half': 0.6}, 'jump'),
    ],
)
def test_faults_are_latched_and_cleared(bench, robot, sensors, code):
    """After a fault no torque but damping may be sent until somebody clears it."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) != 0.0
    for stamp in (1.01, 1.02):  # longer than bridge_time
        effort = robot.ask(stamp, **sensors)
    assert effort == 0.0
    assert node.loop.fault.code == code
    assert robot.ask(1.025) == 0.0
    client = robot.node.create_client(Trigger, 'walking_controller/clear_fault')
    assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
    future = client.call_async(Trigger.Request())
    assert bench.spin_until(future.done) and future.result().success
    assert robot.ask(1.03) == pytest.approx(EFFORT)


def test_zero_effort_is_the_last_word(bench, robot):
    """ros2_control holds the last command for ever: it must be zero."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) != 0.0
    node.trigger_deactivate()
    assert bench.spin_until(lambda: robot.efforts[-1].data[0] == 0.0)
    count = len(robot.efforts)
    robot.send(1.01)
    assert not bench.spin_until(lambda: len(robot.efforts) > count, timeout=0.3)


def test_activate_again(bench, robot):
    """Down and up the lifecycle, the node must answer as at first."""
    node = bench.controller()
    robot.wait()
    robot.ask(1.0)
    for transition in (
        node.trigger_deactivate,
        node.trigger_cleanup,
        node.trigger_configure,
        node.trigger_activate,
    ):
        assert transition() == TransitionCallbackReturn.SUCCESS
    robot.wait()
    assert robot.ask(5.0) == pytest.approx(EFFORT)


def test_silence_in_real_time_is_noticed(bench, robot):
    """Without sensors the last effort must not stand: the state is unknown."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    robot.wait()
    assert robot.stream_until(lambda: robot.efforts and robot.efforts[-1].data[0] != 0.0)
    silent = time.monotonic()
    assert bench.spin_until(lambda: robot.efforts[-1].data[0] == 0.0)
    assert node.loop.fault.code == 'stale_joint_state'
    assert time.monotonic() - silent < 2.0


def test_real_time_needs_no_equal_stamps(bench, robot):
    """On hardware the sensors come from different sources with stamps of their own."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    robot.wait()
    sensors = node.session._sensors
    arrived = sensors._arrived
    sensors._arrived = lambda sensor, stamp: arrived(
        sensor, stamp + (0 if sensor == 'joint_state' else 1_000_000)
    )
    assert robot.stream_until(
        lambda: robot.efforts and robot.efforts[-1].data[0] == pytest.approx(EFFORT)
    )


def test_namespace(bench):
    """Two robots in two namespaces must not hear each other."""
    from conftest import HandDrivenRobot

    bench.controller(namespace='left')
    robot = HandDrivenRobot(bench, namespace='left')
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT)
    assert robot.node.count_publishers('/right/' + topics.EFFORT_COMMANDS) == 0


def ask_speed(bench, robot, node, speed):
    """Send a speed on cmd_vel and wait until the controller has it."""
    publisher = robot.node.create_publisher(Twist, topics.CMD_VEL, 1)
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0, 40.0), (
        f'nobody listens to {publisher.topic_name}'
    )
    message = Twist()
    message.linear.x = speed
    publisher.publish(message)
    assert bench.spin_until(lambda: node.loop.reference.speed == speed)


def test_cmd_vel_steers(bench, robot):
    """A speed sent to cmd_vel must reach the law."""
    node = bench.controller()
    robot.wait()
    ask_speed(bench, robot, node, 0.35)
    assert 0.0 < robot.ask(1.0) < EFFORT


@fault(
    'Commanded speed no longer sent',
    code=None,
    detected='cmd_vel_timeout (0.5 s) after the last message; in lockstep on the stamps',
    reaction='the speed is taken back to 0, the slowest walk, at cmd_vel_deceleration',
    last='as the law says',
    clears='a new message',
)
def test_cmd_vel_times_out(bench, robot):
    """A joystick whose radio died must not walk the robot on at the speed it last asked for."""
    node = bench.controller(cmd_vel_timeout=0.3, cmd_vel_deceleration=0.5)
    robot.wait()
    ask_speed(bench, robot, node, 0.35)
    speeds = []
    for tick in range(110):  # lockstep: on the stamps
        robot.ask(1.0 + 0.01 * tick)
        speeds.append(node.loop.reference.speed)
    assert speeds[30] == 0.35
    assert speeds[50] == pytest.approx(0.35 - 0.5 * 0.2)
    assert speeds[-1] == 0.0
    assert node.loop.controller.set_point == min(node.loop.controller.values.set_point_table)


@pytest.mark.parametrize(
    'parameters, words',
    [
        ({'robot_file': 'nobody'}, 'nobody'),
        ({'controller': 'magic'}, 'magic'),
        ({'hip_switching__set_point': 7.0}, 'from 0.05 to 0.8 rad'),
        ({'hip_switching__set_point': 'far'}, 'set_point'),
        ({'hip_switching__set_pint': 0.3}, 'did you mean set_point'),
        ({'lockstep_timeout': -1.0}, 'lockstep_timeout'),
    ],
)
def test_bad_parameters_are_refused_at_the_start(bench, parameters, words):
    """A node that starts with a bad parameter walks with another robot in mind."""
    with pytest.raises(InvalidInput) as caught:
        bench.controller(**parameters)
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_parameters_while_active(bench, robot):
    """Gains may change while walking, without a jump; ranges and all else must hold."""
    node = bench.controller()
    robot.wait()
    efforts = [robot.ask(1.0)]

    def set_parameter(name, value):
        return node.set_parameters([Parameter(name, value=value)])[0]

    assert set_parameter('hip_switching.proportional_gain', 5.0).successful
    efforts += [robot.ask(1.0 + 0.01 * tick) for tick in range(1, 41)]
    assert max(abs(b - a) for a, b in zip(efforts, efforts[1:])) <= 20.0 * 0.01 + 1e-9
    assert efforts[-1] == pytest.approx(EFFORT / 2)
    result = set_parameter('hip_switching.proportional_gain', 500.0)
    assert not result.successful
    for name, value in (
        ('safety.fall_lean', 0.5),
        ('robot_file', 'compass'),
        ('controller', 'none'),
        ('hip_switching.rate', 200.0),
    ):
        result = set_parameter(name, value)
        assert not result.successful and 'unconfigured' in result.reason
    assert robot.ask(1.42) == pytest.approx(EFFORT / 2)


def test_changes_are_all_or_nothing(bench, robot):
    """A set of changes of which one is bad must change nothing."""
    node = bench.controller()
    robot.wait()
    result = node.set_parameters_atomically(
        [
            Parameter('hip_switching.proportional_gain', value=5.0),
            Parameter('hip_switching.set_point', value=9.0),
        ]
    )
    assert not result.successful
    assert robot.ask(1.0) == pytest.approx(EFFORT)
    assert node.get_parameter('hip_switching.proportional_gain').value == 10.0


def test_another_robot_while_unconfigured(bench):
    """Model and controller may change before configure, and their parameters with them."""
    node = bench.controller(activate=False)
    assert node.set_parameters([Parameter('controller', value='none')])[0].successful
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.loop.controller.name == 'none'
    assert not node.has_parameter('hip_switching.set_point')
    assert node.has_parameter('none.rate')


def dump(node):
    """Return a node's parameters in the format of `ros2 param dump`."""
    tree = {}
    for name in node._parameters:
        if name == 'start_type_description_service':
            continue
        *sections, leaf = name.split('.')
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        value = node.get_parameter(name).value
        place[leaf] = value.tolist() if hasattr(value, 'tolist') else value
    return {f'/{node.get_name()}': {'ros__parameters': tree}}


@pytest.mark.parametrize(
    'name',
    [
        name
        if name in ('dribbel', 'humanoid', 'walker3d')
        else pytest.param(name, marks=pytest.mark.long)
        for name in robot_names()
    ],
)
def test_param_dump_starts_the_same_controller(bench, tmp_path, name):
    """What `ros2 param dump` writes must give the same controller back, parameter by parameter."""
    node = bench.controller(activate=False, robot_file=name, virtual_efforts=True)
    path = tmp_path / 'dump.yaml'
    path.write_text(yaml.safe_dump(dump(node)))
    copy = bench.add(ControllerNode(cli_args=['--ros-args', '--params-file', str(path)]))
    assert copy.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert dump(copy) == dump(node)
    written = read_parameters(robot_path(name))
    for section in set(written) & {'hip_switching', 'safety', 'estimator', 'world'}:
        for parameter, value in (written[section] or {}).items():
            if copy.has_parameter(f'{section}.{parameter}'):
                found = copy.get_parameter(f'{section}.{parameter}').value
                assert found == value if not isinstance(value, list) else list(found) == value


def test_virtual_efforts_need_the_simulator(bench):
    """A ground torque sent to hardware would be a command too many."""
    node = bench.controller(activate=False, robot_file='compass')
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE


def test_robot_description_is_compared(bench, robot):
    """Controlling another robot than the one that is there must be refused."""
    node = bench.controller(activate=False)
    publisher = robot.node.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
    own = load_robot('dribbel').robot.urdf
    for text, outcome in (
        (load_robot('dribbel', [('foot_mass', 0.3)]).robot.urdf, TransitionCallbackReturn.FAILURE),
        (own, TransitionCallbackReturn.SUCCESS),
    ):
        publisher.publish(String(data=text))
        assert bench.spin_until(lambda: node._description == text)
        assert node.trigger_configure() == outcome


def test_telemetry_odometry_diagnostics(bench, robot, edited_robot_file):
    """People watch these: they must come, with the right numbers."""
    thermal = {'hip': {'limit': 80.0}}
    path = edited_robot_file(lambda tree: tree['robot'].update(thermal=thermal))
    bench.controller(robot_file=str(path))
    heard = {}

    def listen(kind, topic):
        robot.node.create_subscription(kind, topic, lambda m: heard.__setitem__(topic, m), 10)

    for name in ('q3', 'q5', 'effort_hip', 'winding_hip'):
        listen(Float64, f'walking_controller/telemetry/{name}')
    listen(Odometry, 'odom')
    listen(DiagnosticArray, '/diagnostics')
    robot.wait()
    stamp = 1.0

    def walked():
        nonlocal stamp
        stamp += 0.04
        robot.ask(stamp)
        return len(heard) == 6

    assert bench.spin_until(walked), f'only {sorted(heard)}'
    assert heard['walking_controller/telemetry/winding_hip'].data == pytest.approx(27.0, abs=2.0)
    assert heard['walking_controller/telemetry/q5'].data == pytest.approx(-0.3)
    assert heard['walking_controller/telemetry/q3'].data == pytest.approx(0.15, abs=1e-3)
    assert heard['walking_controller/telemetry/effort_hip'].data == pytest.approx(EFFORT)
    pose = heard['odom'].pose.pose
    assert pose.position.x == pytest.approx(-0.9 * math.sin(0.15), abs=1e-3)
    assert pose.position.z == pytest.approx(0.9 * math.cos(0.15), abs=1e-3)
    (status,) = heard['/diagnostics'].status
    values = {entry.key: entry.value for entry in status.values}
    assert {
        'state',
        'fault',
        'missed ticks',
        'jitter p99 (ms)',
        'compute p50 (ms)',
        'compute p99 (ms)',
        'period mean (ms)',
    } <= set(values)
    assert values['state'] == 'walking'


def test_integers_are_accepted(bench, robot):
    """`10` in a parameter file must serve as well as `10.0`."""
    bench.controller(hip_switching__proportional_gain=5)
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT / 2)


def test_parameter_file(bench, robot, tmp_path):
    """A robot file is a parameter file: `--params-file` must take it."""
    path = tmp_path / 'gains.yaml'
    path.write_text(
        '/**:\n  ros__parameters:\n    require_watchdog: false\n'
        '    hip_switching: {proportional_gain: 5.0}\n'
    )
    node = ControllerNode(cli_args=['--ros-args', '--params-file', str(path)])
    bench.add(node)
    node.trigger_configure()
    node.trigger_activate()
    robot.wait()
    assert robot.ask(1.0) == pytest.approx(EFFORT / 2)


def test_a_broken_law_is_a_fault(bench, robot):
    """An exception in the law must end in a safe command, not in a dead node."""
    node = bench.controller()
    node.loop.supervisor.lead(None, None)  # with no law that can stand
    robot.wait()

    def broken(*arguments):
        raise ZeroDivisionError('broken')

    node.loop.controller.update = broken
    assert robot.ask(1.0) == 0.0
    assert node.loop.fault.code == 'internal' and 'ZeroDivisionError' in node.loop.fault.message
    assert rclpy.ok()


def test_a_fault_is_told_once(bench, robot, monkeypatch):
    """Whoever reads ~/fault would see ten faults where one has consequences."""
    heard, told = [], []
    robot.node.create_subscription(
        String, topics.FAULT, lambda message: heard.append(message.data), topics.LATCHED
    )
    node = bench.controller()
    robot.wait()
    robot.ask(1.0)
    publisher = node._fault_publisher  # a reader of the latest may miss what comes in a row

    def publish(message):
        told.append(message.data)
        publisher.publish(message)

    monkeypatch.setattr(node, '_fault_publisher', SimpleNamespace(publish=publish))
    for code in ('jump', 'watchdog', 'second_publisher', 'jump'):
        node.stop_now(code, f'{code} was tried')
    robot.ask(1.01)
    assert bench.spin_until(lambda: heard and heard[-1])
    bench.spin_until(lambda: False, 0.3)  # a watch tick might tell it again
    assert len(told) == 1 and told[0].startswith('jump'), told
    assert heard == ['', told[0]]


def test_a_silence_of_the_sensors_is_borne_and_said(bench, robot):
    """Joints that nobody sees would move by themselves; what is not said looks like luck."""
    node = bench.controller(realtime=True, safety__state_timeout=BUSY)
    robot.wait()
    assert robot.stream_until(lambda: robot.efforts and robot.efforts[-1].data[0] != 0.0)
    bench.spin_until(lambda: False, 0.1)  # what is under way arrives
    before, held = len(robot.efforts), robot.efforts[-1].data[0]
    bench.spin_until(lambda: False, 0.4 * BUSY)
    assert len(robot.efforts) == before, 'ros2_control holds the last command'
    assert held != 0.0 and node.fault is None
    robot._stamp += 0.4 * BUSY
    status = robot.stream_until_told('samples came up to ')
    assert status.level == DiagnosticStatus.WARN


def test_late_answers_are_named(bench, robot):
    """A machine that is too slow would look like a sensor that is broken."""
    heard = []
    robot.node.create_subscription(DiagnosticArray, '/diagnostics', heard.append, 10)
    node = bench.controller(realtime=True)
    robot.wait()
    assert robot.stream_until(lambda: node.session.times.ticks > 5 and heard, 40.0)
    times = node.session.times
    times.late = 0.0
    times.add(times._ended + 0.05, times._ended + 0.051, 0.002)
    words = 'answers came up to 4'
    node.session._tell()

    def said():
        return [s for each in heard for s in each.status if words in s.message + s.name]

    assert bench.spin_until(said, 10.0)
    (late,) = {each.value for each in said()[0].values if each.key == 'answers late by (ms)'}
    assert float(late) > 40.0
    times.add(times._ended + 0.05, times._ended + 0.051, 0.002)
    node.stop_now('accelerometer', 'too large')
    assert words in node.fault.message, 'whichever came first on a busy machine'


@pytest.mark.parametrize('speed, asks', [(0.0, True), (0.4, False)])
def test_a_law_that_waits_for_a_velocity_says_so(bench, monkeypatch, speed, asks):
    """A newcomer's robot would stand there, without a fault and without a word."""
    simulator = bench.add(
        SimulatorNode(parameter_overrides=[Parameter('robot_file', value='walker3d')])
    )
    node = bench.controller(
        robot_file='walker3d', controller='stepping', stepping__speed=speed, cmd_vel_stamped=True
    )
    said = []
    log = SimpleNamespace(
        **dict.fromkeys(('info', 'warning', 'error'), lambda words, **_: said.append(words))
    )
    assert bench.spin_until(lambda: simulator.ticks > 2, 60.0)
    monkeypatch.setattr(node, 'get_logger', lambda: log)
    node.session._invited = False  # it may have done so on a busy machine
    for _ in range(3):
        node.session._tell()  # as once a second
    told = [words for words in said if 'ros2 topic pub' in words]
    assert len(told) == asks
    assert not asks or 'geometry_msgs/msg/TwistStamped' in told[0] and '/cmd_vel' in told[0]
