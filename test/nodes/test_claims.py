# SPDX-License-Identifier: Apache-2.0
"""Joints that ros2_control has given to another controller, beside a manager that plays it."""

import json
import re
import sys
from types import ModuleType, SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest
import rclpy
from rclpy.serialization import serialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.controller_node import ControllerNode
from walking_control.ros.nodes.neighbours import Claims

fault = pytest.mark.fault


class Manager:
    """Answers `list_controllers` and `list_hardware_components`, or not at all."""

    def __init__(self):
        self.controllers, self.hardware, self.there, self.asked = [], [], True, []

    def service_is_ready(self):
        """Return whether it runs."""
        return self.there

    def call_async(self, request):
        """Answer."""
        future = Future()
        future.set_result(
            SimpleNamespace(
                controller=[
                    SimpleNamespace(name=name, state=state, claimed_interfaces=interfaces)
                    for name, state, interfaces in self.controllers
                ],
                component=[
                    SimpleNamespace(
                        name=name,
                        state=SimpleNamespace(label=label),
                        command_interfaces=[SimpleNamespace(name=each) for each in interfaces],
                    )
                    for name, label, interfaces in self.hardware
                ],
            )
        )
        self.asked.append(future)
        return future

    def remove_pending_request(self, future):
        """Forget a request."""


@pytest.fixture
def manager(monkeypatch):
    """Return a `Manager`, in place of the messages that pip does not have."""
    services, manager = ModuleType('controller_manager_msgs.srv'), Manager()
    for kind in ('ListControllers', 'ListHardwareComponents'):
        setattr(services, kind, SimpleNamespace(Request=lambda: None))
    monkeypatch.setitem(
        sys.modules, 'controller_manager_msgs', ModuleType('controller_manager_msgs')
    )
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', services)
    create = ControllerNode.create_client
    monkeypatch.setattr(
        ControllerNode,
        'create_client',
        lambda node, kind, name: (
            manager
            if name.endswith(('list_controllers', 'list_hardware_components'))
            else create(node, kind, name)
        ),
    )
    monkeypatch.setattr(ControllerNode, 'destroy_client', lambda node, client: True)
    return manager


def asking(manager):
    """Return what `Claims` need of a node."""
    return SimpleNamespace(
        create_client=lambda kind, name: manager,
        create_subscription=lambda *_, **__: None,
        resolve_topic_name=lambda topic: f'/left/{topic}',
    )


OURS = ('effort_controller', 'active', ['hip/effort'])
THEIRS = ('trajectory_controller', 'active', ['hip/effort', 'hip/position'])


@pytest.mark.long
@fault(
    'Our joints are claimed by another controller of ros2_control',
    code='second_publisher',
    detected='within a second of being active, where the controller manager answers',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once they are ours',
)
def test_joints_of_somebody_else_are_named(bench, robot, manager):
    """A law whose efforts go nowhere would walk on in thought, and its robot by somebody else."""
    manager.controllers = [OURS]
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) != 0.0
    asked = len(manager.asked)
    assert bench.spin_until(lambda: len(manager.asked) > asked)
    assert node.fault is None
    manager.controllers = [('effort_controller', 'inactive', []), THEIRS]
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'second_publisher'
    assert 'hip/effort is claimed by trajectory_controller' in node.fault.message
    assert 'claimed' in node.session.clear()
    manager.controllers = [OURS]
    assert bench.spin_until(lambda: node.session._conflict() is None)
    assert node.session.clear() is None and node.fault is None


@pytest.mark.parametrize(
    'controllers',
    [
        [THEIRS],
        [('effort_controller', 'inactive', [])],
        [OURS, ('lock_controller', 'active', ['outer_knee/effort'])],
    ],
)
def test_joints_that_may_be_claimed(manager, controllers):
    """A dry run, a robot that is armed last or an effort of another joint would be a fault."""
    manager.controllers = controllers
    node = asking(manager)
    claims = Claims(node, '/left/effort_controller/commands', ['hip'], None)
    claims.ask()
    assert claims.conflict is None


@fault(
    'Our command controller of ros2_control drives other joints, or ours in another order',
    code='second_publisher',
    detected='as it becomes active, or within a second',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it drives ours',
)
@pytest.mark.parametrize(
    'interfaces', [['knee/effort', 'hip/effort'], ['hip/effort'], ['hip/effort', 'arm/effort']]
)
def test_a_controller_that_drives_other_joints_is_named_at_once(manager, interfaces):
    """Efforts would reach the wrong joints, and the robot fall of `fall` within a second."""
    manager.controllers, said = [('effort_controller', 'active', interfaces)], []
    node = asking(manager)
    claims = Claims(node, '/effort_controller/commands', ['hip', 'knee'], said.append)
    claims.on_activity(told(effort_controller='active'))  # it is armed: who does what is asked
    words = f'effort_controller drives {", ".join(interfaces)}; our efforts are for hip/effort, '
    assert said == [f'{words}knee/effort'] and claims.conflict == said[0]
    manager.controllers = [('effort_controller', 'active', ['hip/effort', 'knee/effort'])]
    claims.ask()
    assert claims.conflict is None and len(said) == 1


def told(hardware='active', **states):
    """Return what a controller manager says of its controllers and of the robot's hardware."""

    def each(states):
        return [
            SimpleNamespace(name=name, state=SimpleNamespace(label=label))
            for name, label in states.items()
        ]

    return SimpleNamespace(controllers=each(states), hardware_components=each({'arms': hardware}))


@fault(
    'It is deactivated, or the controller manager started anew',
    code='second_publisher',
    detected='at once from ros2_control 4.24 on',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it is active',
)
def test_a_controller_that_leaves_is_named_at_once(bench, robot, manager):
    """The law would command on while nobody drives the joints, and the robot fall of `fall`."""
    manager.controllers = [('effort_controller', 'inactive', [])]
    node = bench.controller()
    robot.wait()
    claims = node.session.claims
    claims.on_activity(told(effort_controller='inactive'))  # it is armed last
    assert robot.ask(1.0) != 0.0 and node.fault is None
    claims.on_activity(told(effort_controller='active'))
    claims.on_activity(told(effort_controller='active', other='inactive'))
    assert node.fault is None
    claims.on_activity(told(effort_controller='inactive'))
    assert node.fault.code == 'second_publisher'  # without any look at a clock
    assert 'effort_controller is inactive, says controller_manager' in node.fault.message
    assert bench.spin_until(lambda: len(manager.asked) > 1)
    assert 'nobody hears our efforts' in node.session.clear()
    claims.on_activity(told(effort_controller='active'))
    assert node.session.clear() is None and node.fault is None


@pytest.fixture
def say(monkeypatch, manager, robot):
    """Return what lets a played manager say which controllers are active, on its own topic."""
    messages, take = ModuleType('controller_manager_msgs.msg'), Claims.on_activity
    messages.ControllerManagerActivity = String  # pip does not have it: as JSON
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.msg', messages)
    monkeypatch.setattr(
        Claims, 'on_activity', lambda claims, said: take(claims, told(**json.loads(said.data)))
    )
    publisher = robot.node.create_publisher(String, 'controller_manager/activity', topics.LATCHED)
    return lambda **states: publisher.publish(String(data=json.dumps(states)))


def test_what_the_manager_says_lets_the_efforts_fade(bench, robot, manager, say, monkeypatch):
    """A law whose controller has left would command up to 60 N m to nobody, until it falls."""
    manager.controllers = [OURS]  # who asks once a second hears nothing of it
    say(effort_controller='active')  # before we are there
    node = bench.controller(lockstep_timeout=600.0)
    robot.wait()
    assert robot.ask(1.0) != 0.0
    assert bench.spin_until(lambda: node.session.claims._active, 40.0), 'nobody hears the manager'
    monkeypatch.setattr(node.session, '_conflict', lambda: None)  # what is looked at once a second
    count = len(robot.efforts)
    say(effort_controller='inactive')
    assert bench.spin_until(lambda: node.fault is not None)
    assert 'effort_controller is inactive, says controller_manager' in node.fault.message
    # no sensor asks for another answer, and no clock
    assert bench.spin_until(lambda: len(robot.efforts) > count, 5.0), 'the last effort stands'
    assert robot.efforts[-1].data[0] == 0.0


def test_a_manager_that_is_started_anew_is_named(manager):
    """It would have none of our controllers, and say so."""
    said = []
    node = asking(manager)
    claims = Claims(node, '/effort_controller/commands', ['hip'], said.append)
    claims.on_activity(told(effort_controller='active'))
    claims.on_activity(told())
    assert said == ['effort_controller is gone, says controller_manager: nobody hears our efforts']


def test_hardware_that_has_left_is_named(manager):
    """Whoever reads that a controller left would look for who deactivated it."""
    said = []
    node = asking(manager)
    claims = Claims(node, '/effort_controller/commands', ['hip'], said.append)
    claims.on_activity(told(effort_controller='active'))
    claims.on_activity(told(effort_controller='inactive', hardware='unconfigured'))
    assert said[0].startswith('effort_controller is inactive, hardware arms is unconfigured, says')


@fault(
    'Our hardware leaves, and the command controller stays active',
    code='second_publisher',
    detected='at once from ros2_control 4.24 on',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once it is active',
)
@pytest.mark.parametrize('drives, left', [('hip/effort', True), ('grip/effort', False)])
def test_hardware_under_an_active_controller_is_asked_for(bench, robot, manager, drives, left):
    """The law would command motors that are off; but a gripper that is put away ends no walk."""
    manager.controllers = [OURS]
    manager.hardware = [('legs', 'active', ['hip/effort']), ('arms', 'inactive', [drives])]
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) != 0.0
    claims = node.session.claims
    claims.on_activity(told(effort_controller='active'))
    assert node.fault is None
    claims.on_activity(told(effort_controller='active', hardware='inactive'))
    assert bench.spin_until(lambda: all(asked.done() for asked in manager.asked))
    assert bench.spin_until(lambda: node.fault is not None, 15.0 if left else 0.3) == left
    if left:
        assert node.fault.code == 'second_publisher'
        assert 'hardware arms is inactive, says controller_manager: nobody' in node.fault.message
        claims.on_activity(told(effort_controller='active'))
        assert node.session.clear() is None


@fault(
    'Two controller managers of one name, each with its broadcasters',
    code='second_publisher',
    detected='refused at activate; while active within a second',
    reaction='damping, then zero',
    last='zero after damping_time',
    clears='~/clear_fault, once one of them is ended',
)
def test_two_managers_of_one_name_are_named(bench, robot):
    """Both would drive the joints, and the states of both be taken for those of one robot."""
    node = bench.controller()
    robot.wait()
    assert robot.ask(1.0) != 0.0
    for _ in range(2):
        other = rclpy.create_node('joint_state_broadcaster')
        other.stop = lambda: None
        bench.add(other)
        other.create_publisher(JointState, topics.JOINT_STATES, topics.SENSOR_OUT)
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'second_publisher'
    two = 'joint_states is published by /joint_state_broadcaster and /joint_state_broadcaster'
    assert two in node.fault.message


def test_an_idle_robot_may_be_disarmed(bench, robot, manager):
    """Whoever hands an idle robot to another controller would find a fault to be cleared."""
    manager.controllers = [OURS]
    node = bench.controller()
    robot.wait()
    claims = node.session.claims
    claims.on_activity(told(effort_controller='active'))
    node.trigger_deactivate()
    claims.on_activity(told(effort_controller='inactive'))
    assert node.fault is None
    assert 'nobody hears our efforts' in node.session.clear()


def test_cycles_that_the_manager_misses_are_said(bench, robot, manager):
    """Whoever looks for why a robot trembles would find the manager's word among many others."""
    node = bench.controller(realtime=True, safety__state_timeout=10.0)
    publisher = robot.node.create_publisher(DiagnosticArray, '/diagnostics', topics.EVENTS)
    words = 'Controller Manager has bad periodicity : 431.2 Hz. Expected consistent 500 Hz'
    name = 'controller_manager: Controller Manager Activity'

    def say(*statuses):
        publisher.publish(
            DiagnosticArray(status=[DiagnosticStatus(name=n, message=m) for n, m in statuses])
        )

    assert bench.spin_until(lambda: publisher.get_subscription_count() > 0)
    say(('left_arm_manager: Controller Manager Activity', words.replace('431.2', '99')))
    say((name, f'Controller Manager is running; {words}'), ('a', 'bad periodicity of a tyre'))
    said = robot.stream_until_told(words)
    assert said.level == DiagnosticStatus.WARN and 'tyre' not in said.message
    say(('left_arm_manager: Controller Manager Activity', 'Controller Manager is running'))
    say((f'/{name}', f'Controller Manager is running; {words.replace("431.2", "432.3")}'))
    assert bench.spin_until(lambda: '432.3' in node.session.claims.missed)
    say(('a', 'well'))  # of somebody else
    raw = serialize_message(
        DiagnosticArray(status=[DiagnosticStatus(name=name, message=f'{words} xx')])
    )
    publisher.publish(raw.replace(b'xx', b'\xff\xfe'))  # no text
    say((name, 'Controller Manager is running'))
    assert bench.spin_until(lambda: not node.session.claims.missed)
    assert node.fault is None


def test_joint_states_that_come_too_rarely_are_said(bench, robot):
    """A manager at half the rate of the law would look like a law that trembles."""
    node = bench.controller(realtime=True, safety__state_timeout=10.0)
    heard, stamp = [], 1.0
    robot.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda told: heard.append(told.status[0].message), 10
    )
    robot.wait()
    robot.ask(stamp)

    def said(step, sets):
        """Answer sets that lie so far apart by their stamps; return what is told then."""
        nonlocal stamp
        for _ in range(sets):
            stamp += step
            robot.send(stamp)
            tick = topics.tick_number_of(round(1e9 * stamp))
            # one by one, however busy the machine
            assert bench.spin_until(
                lambda: robot.efforts and robot.efforts[-1].layout.data_offset == tick
            )
        del heard[:]
        node.session._tell()  # as it does once a second
        assert bench.spin_until(lambda: heard)
        return heard[-1]

    assert 'are answered at' not in said(0.007, 100)
    words = said(0.02, 150)
    assert 'the law wants 100: see update_rate of controller_manager' in words
    assert 45.0 < float(re.search(r'answered at (\d+) Hz', words)[1]) < 60.0


@pytest.mark.parametrize(
    ('said', 'taken'),
    [
        ('controller_manager', True),
        ('/left/controller_manager', True),
        ('gripper_manager', False),
        ('/right/controller_manager', False),
    ],
)
def test_what_another_manager_says_of_its_cycles_is_left_to_others(manager, said, taken):
    """Whoever looks for why this robot trembles would mend a gripper's manager."""
    claims = Claims(asking(manager), '/left/effort_controller/commands', ['hip'], print)
    words = 'Controller Manager has bad periodicity : 431.2 Hz. Expected consistent 500 Hz'
    status = DiagnosticStatus(name=f'{said}: Controller Manager Activity', message=words)
    claims.on_diagnostics(serialize_message(DiagnosticArray(status=[status])))
    assert claims.missed == (words if taken else '')
