# SPDX-License-Identifier: Apache-2.0
"""Joints that ros2_control has given to another controller, beside a manager that plays it."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from rclpy.task import Future

from walking_control.ros.nodes.controller_node import ControllerNode
from walking_control.ros.nodes.neighbours import Claims

fault = pytest.mark.fault


class Manager:
    """Answers `list_controllers` with what it is told, or not at all."""

    def __init__(self):
        self.controllers, self.there, self.asked = [], True, []

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
                ]
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
    services.ListControllers = SimpleNamespace(Request=lambda: None)
    monkeypatch.setitem(
        sys.modules, 'controller_manager_msgs', ModuleType('controller_manager_msgs')
    )
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', services)
    create = ControllerNode.create_client
    monkeypatch.setattr(
        ControllerNode,
        'create_client',
        lambda node, kind, name: (
            manager if name.endswith('list_controllers') else create(node, kind, name)
        ),
    )
    monkeypatch.setattr(ControllerNode, 'destroy_client', lambda node, client: True)
    return manager


OURS = ('effort_controller', 'active', ['hip/effort'])
THEIRS = ('trajectory_controller', 'active', ['hip/effort', 'hip/position'])


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
    assert 'claimed' in node._session.clear()
    manager.controllers = [OURS]
    assert bench.spin_until(lambda: node._session._conflict() is None)
    assert node._session.clear() is None and node.fault is None


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
    node = SimpleNamespace(create_client=lambda kind, name: manager)
    claims = Claims(node, '/left/effort_controller/commands', ['hip'])
    claims.ask()
    assert claims.conflict is None
