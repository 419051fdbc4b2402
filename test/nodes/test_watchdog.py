# SPDX-License-Identifier: Apache-2.0
"""The watchdog, and the controller that waits for it."""

import sys
import time
from types import ModuleType, SimpleNamespace
from unittest.mock import Mock

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_msgs.msg import Float64MultiArray

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.heartbeat import heartbeat_writer, OWN, WatchdogGuard
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.nodes.watchdog_node import WatchdogNode
from walking_control.ros.ros2_control.names import command_topic

RECEIVERS = 3


@pytest.fixture
def guard():
    """Return the guard of a controller with three receivers that has sent ticks 10 to 20."""
    guard = WatchdogGuard(Mock(), lambda: RECEIVERS, 0.5, on_lost=None, on_stranger=None)
    for tick in range(10, 21):
        guard.note(tick)
    return guard


@pytest.mark.parametrize(
    'beat, listens',
    [
        ((15, 0.01, RECEIVERS, 0), True),
        ((20, 0.01, RECEIVERS + 1, 0), True),
        ((9, 0.01, RECEIVERS, 0), False),
        ((21, 0.01, RECEIVERS, 0), False),
        ((0, 0.01, RECEIVERS, 0), False),
        ((15, 0.6, RECEIVERS, 0), False),
        ((15, 0.01, RECEIVERS - 1, 0), False),
        ((float('nan'),) * 4, False),
    ],
)
def test_only_an_answer_to_own_commands_counts(guard, beat, listens):
    """A watchdog that hears another controller, or reaches no robot, guards nothing."""
    guard.on_heartbeat(heartbeat_writer().write((*beat, 0, 0)[:5], 0))
    assert guard.listens == listens and bool(guard.missing) != listens


def test_numbers_of_ticks_come_round(guard):
    """Every 72 minutes a tick number starts from 1: the watchdog must not be lost then."""
    guard.begin()
    for tick in (2**32 - 2, 2**32 - 1, 1, 2):
        guard.note(tick)
    guard.on_heartbeat(heartbeat_writer().write((1, 0.01, RECEIVERS, 0, 0), 0))
    assert guard.listens


def test_a_message_that_is_no_heartbeat_is_ignored(guard):
    """Whatever somebody publishes there must not end the controller."""
    guard.on_heartbeat(Float64MultiArray(data=[1.0]))
    assert not guard.listens and 'no watchdog' in guard.missing


def test_a_robot_is_held_until_the_watchdog_listens(bench):
    """It would be let go at the first zero, and fall while the watchdog is looked for."""
    simulator = bench.add(SimulatorNode(parameter_overrides=[Parameter('realtime', value=True)]))
    node = bench.controller(realtime=True, require_watchdog=True, waiting_timeout=3600.0)
    assert bench.spin_until(lambda: 'no watchdog' in node.session.guard.missing)
    bench.spin_until(lambda: False, 1.0)
    assert simulator.started and simulator.ticks == 0
    bench.add(WatchdogNode(parameter_overrides=[Parameter('priority', value=0)]))
    assert bench.spin_until(lambda: simulator.ticks > 0, 40.0)
    assert node.session.guard.listens


def test_who_commands_for_a_moment_is_noticed(bench, robot):
    """A quarter of a second of somebody else's torque would leave no trace."""
    node = bench.controller(require_watchdog=True, watchdog_timeout=5.0)
    watchdog = bench.add(WatchdogNode(parameter_overrides=[Parameter('timeout', value=5.0)]))
    robot.wait()
    stamps = iter(range(1, 4000))

    def ask():
        # gravity along a trunk that leans by -0.15 rad
        return robot.ask(1.0 + 0.01 * next(stamps), acceleration=(1.466, 0.0, 9.7))

    assert bench.spin_until(lambda: ask() != 0.0, 40.0)
    until = time.monotonic() + 1.1 * OWN
    while time.monotonic() < until:
        ask()
    # as it comes: the look at the graph, once a second, is not what is tried
    watchdog._on_command(Float64MultiArray(data=[21.0]))
    while node.fault is None and time.monotonic() < until + 10.0:
        ask()
    assert node.fault.code == 'second_publisher' and 'has not sent' in str(node.fault)


def test_own_reactions_are_nobody_else(guard):
    """Efforts of a reaction answer no tick: clearing its fault would bring the next one."""
    said = []
    guard._on_stranger = said.append
    guard.on_heartbeat(heartbeat_writer().write((15, 0.01, RECEIVERS, False, 0), 0))
    guard.note(0)
    guard.on_heartbeat(heartbeat_writer().write((15, 0.01, RECEIVERS, False, 3), 0))
    assert guard.listens and not said
    guard._own -= 2.0 * OWN
    guard.on_heartbeat(heartbeat_writer().write((15, 0.01, RECEIVERS, False, 3), 0))
    assert not said
    guard.on_heartbeat(heartbeat_writer().write((15, 0.01, RECEIVERS, False, 5), 0))
    assert said == ['the watchdog has heard 2 commands that this controller has not sent']


def test_effort_stays_zero_until_the_watchdog_listens(bench, robot):
    """Before discovery is through, a killed controller would leave its torque on."""
    node = bench.controller(require_watchdog=True, watchdog_timeout=5.0)
    robot.wait()
    for tick in range(5):
        assert robot.ask(1.0 + 0.01 * tick) == 0.0
    assert 'start watchdog_node' in node.session.guard.missing
    bench.add(WatchdogNode())
    stamps = iter(range(1, 2000))
    assert bench.spin_until(lambda: robot.ask(1.1 + 0.01 * next(stamps)) != 0.0)
    assert node.loop.fault is None and not node.session.guard.missing


def test_watchdog_says_what_it_hears(bench, robot):
    """A watchdog that hears nobody looks like one that works, unless it says so."""
    reports = []
    robot.node.create_subscription(DiagnosticArray, '/diagnostics', reports.append, 10)
    watchdog = bench.add(WatchdogNode(parameter_overrides=[Parameter('timeout', value=0.3)]))

    def level():
        own = [report.status[0] for report in reports if 'watchdog' in report.status[0].name]
        return own[-1].level if own else None

    assert bench.spin_until(lambda: level() == DiagnosticStatus.WARN)
    publisher = robot.node.create_publisher(
        Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST
    )
    assert bench.spin_until(lambda: publisher.get_subscription_count() > 1, 40.0), (
        'robot and watchdog do not both listen to efforts'
    )
    publisher.publish(Float64MultiArray(data=[3.0]))
    assert bench.spin_until(lambda: level() == DiagnosticStatus.ERROR)
    assert watchdog.trips == 1 and robot.efforts[-1].data[0] == 0.0


def test_a_controller_that_leaves_is_not_dead(bench, robot):
    """Zero as the last word is a controller that was deactivated: nobody else must take over."""
    watchdog = bench.add(WatchdogNode(parameter_overrides=[Parameter('timeout', value=0.05)]))
    node = bench.controller()
    robot.wait()
    assert bench.spin_until(lambda: watchdog._publisher.get_subscription_count() == 2, 40.0), (
        'robot and controller do not both listen to the watchdog'
    )
    robot.ask(1.0)
    node.trigger_deactivate()
    assert bench.spin_until(lambda: watchdog._size is None and watchdog._heard is not None)
    trips = watchdog.trips  # a slow machine may have had one before
    assert not bench.spin_until(lambda: watchdog.trips > trips, timeout=0.3)


def test_a_controller_that_a_fault_has_stopped_is_not_dead(bench, robot):
    """After every fault the watchdog would say again and again that a controller is dead."""
    watchdog = bench.add(WatchdogNode(parameter_overrides=[Parameter('timeout', value=0.05)]))
    node = bench.controller(safety__on_internal='zero')
    robot.wait()
    assert bench.spin_until(lambda: watchdog._publisher.get_subscription_count() == 2, 40.0)
    robot.ask(1.0)
    assert bench.spin_until(lambda: watchdog._size is not None)
    node.stop_now('internal', 'tried')
    assert robot.ask(1.01) == 0.0  # it goes on answering
    watchdog._on_command(robot.efforts[-1])
    assert watchdog._size is None, 'an answer of zero is work, unless it says that it rests'
    assert bench.spin_until(lambda: watchdog._size is None and not watchdog.tripped)
    trips = watchdog.trips
    assert not bench.spin_until(lambda: watchdog.trips > trips, timeout=0.3)
    assert node.session.clear() is None and robot.ask(1.02) != 0.0
    assert bench.spin_until(lambda: watchdog._size is not None)


class SwitchController:
    """Stands in for the service type of ros2_control, which pip does not have."""

    class Request(SimpleNamespace):
        """Has its fields set."""

        STRICT = 2


@pytest.mark.parametrize(
    'ok, outcome',
    [
        (True, 'safe_controller activated'),
        (False, 'safe_controller not activated: the controller manager refused'),
    ],
)
def test_fallback_controller_is_asked_for(bench, monkeypatch, ok, outcome):
    """Zero lets a robot fall; one that can stand by itself has a controller for that."""
    services = ModuleType('controller_manager_msgs.srv')
    services.SwitchController = SwitchController
    monkeypatch.setitem(
        sys.modules, 'controller_manager_msgs', ModuleType('controller_manager_msgs')
    )
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', services)
    asked, answer = [], Future()
    answer.set_result(SimpleNamespace(ok=ok))
    monkeypatch.setattr(
        WatchdogNode,
        'create_client',
        lambda self, kind, name: SimpleNamespace(
            service_is_ready=lambda: True,
            call_async=lambda request: (asked.append((name, request)), answer)[1],
        ),
    )
    node = bench.add(
        WatchdogNode(
            parameter_overrides=[
                Parameter('timeout', value=0.05),
                Parameter('fallback_controller', value='safe_controller'),
            ]
        )
    )
    node._on_command(Float64MultiArray(data=[1.0]))
    assert bench.spin_until(lambda: node._fallback.outcome == outcome)
    ((name, request),) = asked
    assert name == 'controller_manager/switch_controller'
    assert request.activate_controllers == ['safe_controller']
    assert request.deactivate_controllers == ['effort_controller'] and request.strictness == 2


def test_fallback_without_ros2_control_is_said(bench, monkeypatch):
    """A fallback that cannot be asked for must be known before it is needed."""
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs', None)  # import fails
    node = bench.add(
        WatchdogNode(
            parameter_overrides=[Parameter('fallback_controller', value='safe_controller')]
        )
    )
    assert 'not installed' in node._fallback.outcome


def test_zero_is_zero_stiffness_too(bench, robot):
    """If it failed, drives would stay stiff where a dead controller told them to be."""
    heard = []
    watchdog = bench.add(WatchdogNode(parameter_overrides=[Parameter('timeout', value=0.2)]))
    topic = command_topic('stiffness')
    robot.node.create_subscription(Float64MultiArray, topic, heard.append, topics.LATEST)
    gains = robot.node.create_publisher(Float64MultiArray, topic, topics.LATEST)
    efforts = robot.node.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    assert bench.spin_until(lambda: gains.get_subscription_count() > 1)
    assert bench.spin_until(lambda: efforts.get_subscription_count() > 0)
    gains.publish(Float64MultiArray(data=[40.0, 40.0]))
    efforts.publish(Float64MultiArray(data=[3.0]))
    assert bench.spin_until(lambda: watchdog.tripped and list(heard[-1].data) == [0.0, 0.0])
