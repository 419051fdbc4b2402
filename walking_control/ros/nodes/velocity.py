# SPDX-License-Identifier: Apache-2.0
"""Velocities on cmd_vel: heard while active, judged and said so, and asked for along a route."""

from collections.abc import Sequence
import time
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped, Vector3
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from walking_control.operation import Operation
from walking_control.ros.nodes import seconds, topics, WatchClock

SAID = 1.0  # s between two warnings of one kind


class VelocityTopic:
    """Hands cmd_vel to an `Operation` and warns of what is not taken as it came.

    Args:
        stamped: Whether the messages are TwistStamped.
        hold: How old a stamp may be, s; 0 for any age. A stamp of zero is none.

    Attributes:
        problem: In words what was not taken since `pop_problem`, or None.
    """

    def __init__(
        self, node: Node, operation: Operation, clock: WatchClock, stamped: bool, hold: float
    ) -> None:
        self._node, self._operation, self._clock = node, operation, clock
        self._hold = hold
        self._quiet_until: dict[str, float] = {}  # kind of problem -> steady clock, s
        self.problem: str | None = None
        kind, callback = (TwistStamped, self._on_stamped) if stamped else (Twist, self._on_twist)
        node.create_subscription(kind, topics.CMD_VEL, callback, topics.SENSOR_IN)

    def _on_stamped(self, message: TwistStamped) -> None:
        stamp = seconds(message.header.stamp)
        age = self._node.get_clock().now().nanoseconds * 1e-9 - stamp
        if stamp and self._hold and not abs(age) <= self._hold:
            when = f'{age:.3f} s old' if age > 0.0 else f'{-age:.3f} s ahead of our clock'
            self._say(
                self._operation.steering.refuse(f'the stamp is {when}; limit {self._hold:g} s')
            )
        else:
            self._on_twist(message.twist)

    def _on_twist(self, twist: Any) -> None:
        velocity = twist.linear.x, twist.linear.y, twist.angular.z
        words = self._operation.command_velocity(velocity, self._clock.now())
        if words is not None:
            self._say(words)

    def _say(self, words: str) -> None:
        self.problem = f'cmd_vel {words}'
        kind, now = words.partition(':')[0], time.monotonic()
        if now >= self._quiet_until.get(kind, now):
            self._quiet_until[kind] = now + SAID
            self._node.get_logger().warning(self.problem)

    def pop_problem(self) -> str | None:
        """Return in words what was not taken since the last call, or None."""
        problem, self.problem = self.problem, None
        return problem


class RouteTopics:
    """Publishes velocities on cmd_vel and calls start and stop: whom a `Guide` asks.

    Args:
        node: The rclpy node.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(Twist, topics.CMD_VEL, topics.EVENTS)
        self._services = {
            name: node.create_client(Trigger, f'{topics.CONTROLLER}/{name}')
            for name in ('start', 'stop')
        }

    @property
    def missing(self) -> str:
        """What of the controller is not there yet, or ``''``."""
        if not self._publisher.get_subscription_count():
            return str(self._publisher.topic_name)
        return ', '.join(
            client.srv_name for client in self._services.values() if not client.service_is_ready()
        )

    def command(self, velocity: Sequence[float], now: float | None = None) -> None:
        """Ask for a velocity."""
        ahead, left, turn = map(float, velocity)
        self._publisher.publish(Twist(linear=Vector3(x=ahead, y=left), angular=Vector3(z=turn)))

    def stop(self, now: float | None = None) -> None:
        """Ask to come to a stand."""
        self._call('stop')

    def start(self) -> None:
        """Ask to obey velocities again."""
        self._call('start')

    def _call(self, name: str) -> None:
        def answered(future: Future) -> None:
            if not future.result().success:
                self._node.get_logger().error(f'{name}: {future.result().message}')

        self._services[name].call_async(Trigger.Request()).add_done_callback(answered)
