# SPDX-License-Identifier: Apache-2.0
"""No request and no message takes the time of a tick, and none holds up an emergency stop."""

import threading
import time

from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

from walking_control.exceptions import RobotFileError
from walking_control.loading import load_robot
from walking_control.models.yaml_text import LONGEST
from walking_control.ros.nodes import controller_node, guard, topics
from walking_control.ros.nodes.heartbeat import heartbeat_writer
from walking_control.ros.nodes.limits import Excess, limited
from walking_control.ros.nodes.watchdog_node import WatchdogNode


@pytest.fixture
def ask(bench, robot):
    """Return what sends a request to the controller and gives its answer."""

    def ask(kind, name, request):
        client = robot.node.create_client(kind, f'walking_controller/{name}')
        assert bench.spin_until(client.service_is_ready, 40.0)
        answer = client.call_async(request)
        assert bench.spin_until(answer.done, 40.0)
        return answer.result()

    return ask


def many(count, name='nobody.knows_{}'):
    """Return messages of parameters."""
    value = ParameterValue(type=3, double_value=1.0)
    return [ParameterMessage(name=name.format(number), value=value) for number in range(count)]


def test_parameters_are_set_a_few_at_a_time(bench, robot, ask):
    """A file of another robot's parameters would stop the ticks for 80 ms, and so the robot."""
    bench.controller()
    begun, ticks = [], []
    robot.node.create_timer(0.002, lambda: ticks.append(len(begun)))
    one = guard.GuardedNode._set_one
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard.GuardedNode, '_set_one', lambda *all: begun.append(0) or one(*all))
        answer = ask(SetParameters, 'set_parameters', SetParameters.Request(parameters=many(200)))
    assert len(answer.results) == 200
    assert all('is not known' in each.reason for each in answer.results)
    assert len({count for count in ticks if 0 < count < 200}) > 10


@pytest.mark.parametrize(
    'kind, name, most',
    [
        (SetParameters, 'set_parameters', guard.MOST),
        (SetParametersAtomically, 'set_parameters_atomically', guard.TOGETHER),
    ],
)
def test_too_many_parameters_are_refused_unread(bench, ask, monkeypatch, kind, name, most):
    """A thousand of them are a second without a command."""
    bench.controller()
    monkeypatch.setattr(guard.difflib, 'get_close_matches', pytest.fail)
    answer = ask(kind, name, kind.Request(parameters=many(most + 1)))
    results = answer.results if kind is SetParameters else [answer.result]
    words = {each.reason for each in results}
    assert words == {f'{most + 1} parameters at once; limit {most}'}
    assert not any(each.successful for each in results)


def test_too_many_names_are_refused(bench, ask):
    """To describe what nobody declared takes as long as to set it."""
    bench.controller()
    request = GetParameters.Request(names=[f'name_{number}' for number in range(1000)])
    assert not ask(GetParameters, 'get_parameters', request).values


@pytest.mark.parametrize('length', [guard.LONGEST + 1, 1 << 20])
def test_a_long_name_is_refused_unread(bench, ask, monkeypatch, length):
    """Whoever looks for names like one of a megabyte does nothing else for 76 ms."""
    bench.controller()
    monkeypatch.setattr(guard.difflib, 'get_close_matches', pytest.fail)
    request = SetParameters.Request(parameters=many(1, 'x' * length))
    (result,) = ask(SetParameters, 'set_parameters', request).results
    assert f'more than {guard.LONGEST} characters' in result.reason and len(result.reason) < 200


def test_a_long_value_is_refused(bench, ask):
    """What a megabyte of text is compared with, and said of it, takes as long."""
    bench.controller()
    value = ParameterValue(type=4, string_value='x' * (guard.LARGE + 1))
    request = SetParameters.Request(parameters=[ParameterMessage(name='record', value=value)])
    (result,) = ask(SetParameters, 'set_parameters', request).results
    assert f'limit {guard.LARGE}' in result.reason and len(result.reason) < 200


def test_a_description_is_judged_beside_the_ticks(bench, monkeypatch):
    """One of a megabyte would be 111 ms without a command."""
    node, threads = bench.controller(), []
    differences = controller_node.differences

    def judge(ours, other):
        threads.append(threading.current_thread())
        return differences(ours, other)

    monkeypatch.setattr(controller_node, 'differences', judge)
    node._on_description(controller_node.String(data='<robot name="another"/>'))
    assert node.fault is None
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'description' and threads != [threading.current_thread()]


def test_a_long_message_is_dropped_unread(bench, monkeypatch):
    """Ten megabytes of names of joints would be turned into objects, one by one."""
    node = bench.controller()
    monkeypatch.setattr(guard, 'deserialize_message', pytest.fail)
    for each in node.subscriptions:
        if each.topic_name not in (topics.CLOCK, '/parameter_events'):
            long = controller_node.DESCRIPTION + 1
            each.callback(bytes(long))
    assert node.fault is None


@pytest.mark.parametrize(
    'kind, few, many',
    [
        (String, String(data='x' * 9), String(data='x' * 10)),
        (GetParameters.Request, *(GetParameters.Request(names=['x'] * n) for n in (9, 10))),
        (
            SetParameters.Request,
            *(SetParameters.Request(parameters=[ParameterMessage()] * n) for n in (9, 10)),
        ),
    ],
)
def test_too_much_does_not_become_objects(kind, few, many):
    """A thousand parameters would be ten milliseconds in which nothing else runs."""
    small = limited(kind, 9)
    assert deserialize_message(serialize_message(few), small) == few
    assert deserialize_message(serialize_message(many), small) == Excess(10)


def test_a_robot_file_of_megabytes_is_refused(tmp_path):
    """Configure would read it for many seconds, and hear no emergency stop."""
    path = tmp_path / 'long.yaml'
    path.write_text('# nothing\n' * (LONGEST // 10 + 1))
    with pytest.raises(RobotFileError, match=f'characters long; limit {LONGEST}'):
        load_robot(path)


FLOOD = 100  # messages that wait
FAST = QoSProfile(depth=FLOOD, reliability=ReliabilityPolicy.RELIABLE)


@pytest.mark.parametrize(
    'asked',
    ['emergency_stop', 'power_off', 'deactivate', 'topic', 'heartbeat', 'command'],
)
def test_what_is_urgent_overtakes_what_waits(bench, robot, asked):
    """On a machine that is too slow messages queue up, and a stop would wait behind them all."""
    node = (
        bench.add(WatchdogNode()) if asked == 'command' else bench.controller(require_watchdog=True)
    )
    kind, name, message = {
        'emergency_stop': (Trigger, 'emergency_stop', Trigger.Request()),
        'power_off': (Trigger, 'power_off', Trigger.Request()),
        'deactivate': (ChangeState, 'change_state', ChangeState.Request()),
        'topic': (Bool, topics.EMERGENCY_STOP, Bool(data=True)),
        'heartbeat': (Float64MultiArray, topics.WATCHDOG, heartbeat_writer().write(0.0, 0)),
        'command': (Float64MultiArray, topics.EFFORT_COMMANDS, Float64MultiArray(data=[1.0])),
    }[asked]
    if hasattr(kind, 'Request'):
        client = robot.node.create_client(kind, f'{node.get_name()}/{name}')
        assert bench.spin_until(client.service_is_ready, 40.0)
        if asked == 'deactivate':
            message.transition.id = 4
        say = client.call_async
    else:
        publisher = robot.node.create_publisher(kind, name, topics.LATEST)
        assert bench.spin_until(publisher.get_subscription_count, 40.0)
        say = publisher.publish
    happened = {
        'deactivate': lambda: node._state_machine.current_state[1] == 'inactive',
        'heartbeat': lambda: 'no watchdog is heard' not in node.session.guard.missing,
        'command': lambda: node._size is not None,
    }.get(asked, lambda: node.fault is not None)
    done = []

    def work(_):
        if not done:
            say(message)
        time.sleep(0.02 if len(done) < 10 else 0.0)  # it arrives meanwhile
        done.append(happened())

    node.create_subscription(String, 'flood', work, FAST)
    flood = robot.node.create_publisher(String, 'flood', FAST)
    assert bench.spin_until(flood.get_subscription_count, 40.0)
    for _ in range(FLOOD):
        flood.publish(String())
    assert bench.spin_until(lambda: len(done) == FLOOD, 40.0)
    assert done[20], f'after {done.index(True) if any(done) else "all"} of {FLOOD} messages'


def test_a_short_press_of_a_fast_button_counts(bench, robot):
    """Fifty falses that follow at 500 Hz while a tick takes long would push the true out."""
    node = bench.controller()
    button = robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, FAST)
    assert bench.spin_until(lambda: button.get_subscription_count() == 2, 40.0)
    for pressed in [True] + [False] * 50:
        button.publish(Bool(data=pressed))
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'emergency_stop'
