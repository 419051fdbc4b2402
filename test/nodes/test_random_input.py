# SPDX-License-Identifier: Apache-2.0
"""Random bytes on every topic and random fields in every service, while a robot walks."""

import os
import re
import time

import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray

from walking_control.models.resources import robot_path
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.centroidal_monitor_node import CentroidalMonitorNode
from walking_control.ros.nodes.lock_emulator_node import LockEmulatorNode
from walking_control.ros.nodes.odometry_node import OdometryNode
from walking_control.ros.nodes.runtime import spin
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.nodes.watchdog_node import WatchdogNode
from walking_control.safety.faults import KINDS

DURATION = float(os.environ.get('WALKING_CONTROL_SOAK', 4.0))  # s of wall time for a robot
SHUTDOWNS = (5, 6, 7, 8)  # transitions from which no node comes back: asked for, not a fault
NUMBERS = (0.0, -1.0, 1e-300, 1e9, 1e300, np.inf, -np.inf, np.nan)
TEXTS = ('', 'base', '\n', 'ünï', 'x' * 300, '<robot/>', 'internal: x (at y s)')


class Stranger(Node):
    """Says anything to the nodes of a robot.

    Messages leave by the publishers that the nodes have: another one beside them would be a fault
    by itself, and nothing else would be tried any more.
    """

    def __init__(self, bench, nodes, seed):
        super().__init__('stranger')
        self._rng = np.random.default_rng(seed)
        self.bench, self.nodes, self.stop = bench, nodes, lambda: None
        self._publishers_of, self._clients_of = {}, {}

    def say(self):
        """Send a message on one of the topics that a node listens to."""
        node = self._any(self.nodes)
        heard = [
            (each.topic_name, each.msg_type)
            for each in node.subscriptions
            if each.topic_name not in ('/clock', '/parameter_events')
        ]
        if heard:
            self._publish(*self._any(heard))

    def _any(self, choices):
        choices = list(choices)
        return choices[self._rng.integers(len(choices))]

    def _publish(self, name, kind):
        publisher = next(
            (each for node in self.nodes for each in node.publishers if each.topic_name == name),
            None,
        ) or self._publishers_of.get(name)
        if publisher is None:
            publisher = self._publishers_of[name] = self.create_publisher(kind, name, 1)
        content = self._spoil(serialize_message(self._message(kind)))
        try:
            publisher.publish(content)
        except rclpy._rclpy_pybind11.RCLError:
            pass  # the middleware does not even send it

    def _spoil(self, content):
        content, how = bytearray(content), self._rng.integers(4)
        if how == 1:
            del content[self._rng.integers(4, len(content) + 1) :]
        elif how == 2:
            for _ in range(3):
                content[self._rng.integers(4, len(content))] = self._rng.integers(256)
        elif how == 3:
            content[4:] = self._rng.bytes(len(content) - 4)
        return bytes(content)

    def ask(self):
        """Send a request to one service of each node."""
        for node in self.nodes:
            service = self._any(node.services)
            name = node.resolve_service_name(service.srv_name)
            client = self._clients_of.get(name)
            if client is None:
                client = self._clients_of[name] = self.create_client(service.srv_type, name)
            request = self._message(service.srv_type.Request)
            transition = getattr(request, 'transition', None)
            end = transition is not None and (
                transition.id in SHUTDOWNS or 'shutdown' in transition.label
            )
            if client.service_is_ready() and not end:
                client.call_async(request)

    def deaf(self):
        """Return the services that do not answer a plain request.

        They have two minutes, asked twice: what was said before is waiting on a busy machine.
        """
        silent = dict(self._clients_of)
        for _ in range(2):
            asked = {
                name: client.call_async(client.srv_type.Request())
                for name, client in silent.items()
            }
            self.bench.spin_until(lambda: all(each.done() for each in asked.values()), 60.0)
            silent = {name: silent[name] for name, each in asked.items() if not each.done()}
        return list(silent)

    def _message(self, kind):
        message = kind()
        for name, text in kind.get_fields_and_field_types().items():
            setattr(message, name, self._value(getattr(message, name), text, kind, name))
        return message

    def _value(self, now, text, kind, name):
        base = re.sub(r'(sequence<)?([\w/]+).*', r'\2', text)
        several = 'sequence' in text or '[' in text
        if several:
            length = len(now) if '[' in text else int(self._rng.integers(4))
            element = self._one(base, kind, name)
            if element is None:
                return now
            return [self._one(base, kind, name) for _ in range(length)]
        return self._one(base, kind, name)

    def _one(self, base, kind, name):
        rng = self._rng
        if base in ('double', 'float'):
            return (
                float(rng.choice(NUMBERS) if rng.random() < 0.5 else rng.normal())
                if base == 'double'
                else float(rng.normal())
            )
        if base == 'boolean':
            return bool(rng.random() < 0.3)
        if base == 'octet':
            return bytes([int(rng.integers(256))])
        if base in ('string', 'wstring'):
            known = [*self.nodes[0]._parameters] if name in ('name', 'names') else TEXTS
            return str(rng.choice(known if rng.random() < 0.7 else TEXTS))
        whole = re.fullmatch(r'(u?)int(\d+)', base)
        if whole:
            high = 2 ** (int(whole[2]) - (not whole[1])) - 1
            return int(rng.integers(0, min(high, 12)) if rng.random() < 0.7 else high)
        return self._message(_class_of(base))


def _class_of(text):
    package, leaf = text.split('/')
    for end in ('msg', 'srv'):
        module = __import__(f'{package}.{end}', fromlist=[leaf])
        if hasattr(module, leaf):
            return getattr(module, leaf)
    raise AssertionError(text)


def make_nodes(bench, robot):
    """Return a controller in real time, its watchdog and all that listens beside them."""

    def add(kind, **parameters):
        return bench.add(
            kind(
                parameter_overrides=[
                    Parameter(name, value=value) for name, value in parameters.items()
                ]
            )
        )

    control = bench.controller(robot_file=robot, realtime=True, waiting_timeout=3600.0)
    nodes = [
        control,
        add(WatchdogNode, priority=0),
        add(SimulatorNode, robot_file=robot, realtime=True),
        add(CentroidalMonitorNode, robot_file=robot),
        add(OdometryNode, robot_file=robot),
    ]
    if control.loop.robot.locks:
        nodes.append(add(LockEmulatorNode, robot_file=robot))
    return nodes


def revive(control):
    """Bring the controller back to answering."""
    for state, transition in (
        ('unconfigured', control.trigger_configure),
        ('inactive', control.trigger_activate),
    ):
        if control._state_machine.current_state[1] == state:
            transition()
    if control.session is not None:
        control.session.clear()


@pytest.mark.long
@pytest.mark.timeout(DURATION + 400.0)
@pytest.mark.parametrize('robot', ['dribbel', 'walker3d', 'humanoid'])
def test_nothing_that_is_said_ends_a_node(bench, robot):
    """One message or request of a stranger would end the controller, or its watchdog."""
    nodes = make_nodes(bench, str(robot_path(robot)))
    control, stranger = nodes[0], bench.add(Stranger(bench, nodes, 3))
    heartbeats, codes = [], {}
    stranger.create_subscription(Float64MultiArray, topics.WATCHDOG, heartbeats.append, 1)
    end, due = time.monotonic() + DURATION, dict.fromkeys((stranger.say, stranger.ask, revive), 0.0)

    def until():
        now, fault = time.monotonic(), control.fault
        if fault is not None:
            codes[fault.code] = str(fault)
        if now > due[stranger.say]:
            stranger.say()
            due[stranger.say] = now + 0.01
        if now > due[stranger.ask]:
            stranger.ask()
            due[stranger.ask] = now + 0.05
        if now > due[revive]:
            revive(control)
            due[revive] = now + 0.3
        return now > end

    spin(bench.executor, until)  # what escapes it ends a node
    print(codes)
    for timer in nodes[2].timers:  # the simulator's: no more than what waits is to be done
        timer.cancel()
    assert codes and set(codes) <= set(KINDS) - {'internal'}, codes
    silent = stranger.deaf()
    assert not silent, f'{len(silent)} of {len(stranger._clients_of)}: {silent}'
    heard = len(heartbeats)
    assert bench.spin_until(lambda: len(heartbeats) > heard, 60.0), 'the watchdog stopped'
