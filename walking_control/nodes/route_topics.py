# SPDX-License-Identifier: Apache-2.0
"""Asks a controller for a route from outside, on the topics and services that people use."""

from collections.abc import Sequence

from geometry_msgs.msg import Twist
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from walking_control.nodes import topics


class RouteTopics:
    """Publishes velocities on cmd_vel and calls start and stop: whom a `Guide` asks."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(Twist, topics.CMD_VEL, topics.EVENTS)
        self._services = {name: node.create_client(Trigger, f'{topics.CONTROLLER}/{name}')
                          for name in ('start', 'stop')}

    @property
    def missing(self) -> str:
        """What of the controller is not there yet, or ``''``."""
        if not self._publisher.get_subscription_count():
            return str(self._publisher.topic_name)
        return ', '.join(client.srv_name for client in self._services.values()
                         if not client.service_is_ready())

    def command(self, velocity: Sequence[float], now: float | None = None) -> None:
        """Ask for a velocity."""
        message = Twist()
        message.linear.x, message.linear.y, message.angular.z = map(float, velocity)
        self._publisher.publish(message)

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
