# SPDX-License-Identifier: Apache-2.0
"""Who else is on our topics: a second law, a sensor twice, a button that nobody can hear."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from walking_control.nodes import topics
from walking_control.nodes.ended import EndedProcesses


class Neighbours:
    """Looks at the ROS graph around a controller, for as long as its node lives."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own: set[bytes] = set()   # of every command publisher so far
        self._commands: list[str] = []
        self._sensors: Mapping[str, Any] = {}
        self._ended = EndedProcesses([
            _identity(info) for info in node.get_publishers_info_by_topic('/parameter_events')
            if _name(info) == node.get_fully_qualified_name()])

    def expect(self, sensors: Mapping[str, Any]) -> None:
        """Set the sensors: sensor -> (message type, topic), see `sensors.sensor_topics`."""
        self._commands, self._sensors = [], sensors
        self.conflict()   # who is at work now is known to have ended later

    def create_publisher(self, kind: Any, topic: str, qos: QoSProfile | int) -> Any:
        """Return a publisher on a topic that this node alone may command; a watchdog may, too."""
        before = {_identity(info) for info in self._publishers(topic)}
        publisher = self._node.create_publisher(kind, topic, qos)
        name = self._node.get_fully_qualified_name()
        self._own |= {_identity(info) for info in self._publishers(topic)
                      if _name(info) == name} - before
        self._commands.append(topic)
        return publisher

    def conflict(self) -> str | None:
        """Return in words who publishes what only one may, or None."""
        watchdogs = {_name(info) for info in self._publishers(topics.WATCHDOG)}
        for topic in self._commands:
            others = sorted({_name(info) for info in self._publishers(topic)
                             if _identity(info) not in self._own} - watchdogs)
            if others:
                return f'{topic} is also commanded by ' + ', '.join(others)
        for sensor, (_, topic) in self._sensors.items():
            names = sorted(_name(info) for info in self._publishers(topic))
            if len(names) > 1 and sensor not in SHARED:
                return f'{topic} is published by ' + ' and '.join(names)
        return None

    def deaf_stop(self) -> str | None:
        """Return in words whose emergency stop cannot be heard, or None."""
        return self._deaf(topics.EMERGENCY_STOP, 'std_msgs/msg/Bool')

    def warnings(self) -> Iterator[str]:
        """Yield in words what is odd about the sensors' publishers."""
        for sensor, (kind, topic) in self._sensors.items():
            deaf = self._deaf(topic, _type_name(kind))
            if deaf:
                yield deaf
            names = sorted(_name(info) for info in self._publishers(topic))
            if len(names) > 1 and sensor in SHARED:
                yield (f'{topic} is published by ' + ' and '.join(names)
                       + ': only one may hold our joints')

    def _deaf(self, topic: str, type_name: str) -> str | None:
        """Return whose messages on a topic cannot reach us; our QoS hears all, so by type."""
        for info in self._publishers(topic):
            if info.topic_type != type_name:
                return (f'{topic} of {_name(info)} is a {info.topic_type} and cannot be heard; '
                        f'must be {type_name}')
        return None

    def receivers(self, topic: str) -> int:
        """Return how many listen to a topic."""
        return len(self._alive(self._node.get_subscriptions_info_by_topic(topic)))

    def _publishers(self, topic: str) -> list[Any]:
        return self._alive(self._node.get_publishers_info_by_topic(topic))

    def _alive(self, infos: Sequence[Any]) -> list[Any]:
        return [info for info in infos if not self._ended.has_ended(_identity(info))]


# Joint states of several devices may share a topic; those that hold none of our joints are ignored.
SHARED = ('joint_state', 'locks')


def _identity(info: Any) -> bytes:
    return bytes(info.endpoint_gid)


def _name(info: Any) -> str:
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


def _type_name(kind: Any) -> str:
    return f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'
