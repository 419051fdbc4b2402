# SPDX-License-Identifier: Apache-2.0
"""Who else is on our topics: a second law, a sensor twice, a button that nobody can hear.

Whether ros2_control has given our joints to somebody else, and which endpoints belong to what has
ended. DDS remembers what crashed for some twenty seconds. Fast DDS writes machine and process into
the identity of an endpoint (https://fast-dds.docs.eprosima.com, GUID), so that nobody need wait.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
import math
import os
from pathlib import Path
import re
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

from walking_control.ros.nodes import topics

MACHINE, PROCESS, WHOLE = slice(0, 4), slice(4, 6), slice(0, 8)  # bytes of an identity
SILENT = 3.0  # s after which a manager that says nothing is forgotten; it says so each second
HALF = 1 << 16  # process numbers are told modulo this
# of a controller manager on /diagnostics: who says it of itself, and what it says of its cycles
MANAGES = re.compile(rb'([^\0]*): Controller Manager Activity')
MISSES = re.compile(rb'Controller Manager has bad periodicity[^;\0]*')


class EndedProcesses:
    """Knows processes that were seen at work and have gone since.

    Whatever was not seen alive counts as alive: another machine or container, another middleware.

    Args:
        own: Identities of endpoints of this process.
    """

    def __init__(self, own: Iterable[bytes]) -> None:
        ours = os.getpid() % HALF
        self._machines = {gid[MACHINE] for gid in own if _process(gid) == ours}
        # participant -> numbers of the processes that it may have been
        self._seen: dict[bytes, list[int]] = {}

    def has_ended(self, gid: bytes) -> bool:
        """Return whether the process of an endpoint's identity has ended; remember it if not."""
        participant = gid[WHOLE]
        if participant not in self._seen:
            self._seen[participant] = (
                [
                    number
                    for number in (int(path.name) for path in Path('/proc').glob('[0-9]*'))
                    if number % HALF == _process(gid) and _runs(number)
                ]
                if gid[MACHINE] in self._machines
                else []
            )
        numbers = self._seen[participant]
        return bool(numbers) and not any(map(_runs, numbers))


def _process(gid: bytes) -> int:
    return int.from_bytes(gid[PROCESS], 'little')


def _runs(number: int) -> bool:
    try:
        state = Path(f'/proc/{number}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state not in 'ZX'  # ended, and nobody has asked how


class Neighbours:
    """Looks at the ROS graph around a controller, for as long as its node lives.

    Args:
        node: The rclpy node.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own: set[bytes] = set()  # of every command publisher so far
        self._commands: list[str] = []
        self._sensors: Mapping[str, Any] = {}
        self._ended = EndedProcesses(
            [
                _identity(info)
                for info in node.get_publishers_info_by_topic('/parameter_events')
                if endpoint_name(info) == node.get_fully_qualified_name()
            ]
        )

    def expect(self, sensors: Mapping[str, Any]) -> None:
        """Set the sensors: sensor -> (message type, topic), see `sensors.sensor_topics`."""
        self._commands, self._sensors = [], sensors
        self.conflict()  # who is at work now is known to have ended later

    def create_publisher(self, kind: Any, topic: str, qos: QoSProfile | int) -> Any:
        """Return a publisher on a topic that this node alone may command; a watchdog may, too."""
        before = {_identity(info) for info in self._publishers(topic)}
        publisher = self._node.create_publisher(kind, topic, qos)
        name = self._node.get_fully_qualified_name()
        self._own |= {
            _identity(info) for info in self._publishers(topic) if endpoint_name(info) == name
        } - before
        self._commands.append(topic)
        return publisher

    def conflict(self) -> str | None:
        """Return in words who publishes what only one may, or None."""
        watchdogs = {endpoint_name(info) for info in self._publishers(topics.WATCHDOG)}
        for topic in self._commands:
            others = sorted(
                {
                    endpoint_name(info)
                    for info in self._publishers(topic)
                    if _identity(info) not in self._own
                }
                - watchdogs
            )
            if others:
                return f'{topic} is also commanded by ' + ', '.join(others)
        for sensor, (_, topic) in self._sensors.items():
            names = sorted(endpoint_name(info) for info in self._publishers(topic))
            # many devices may share some topics, but no two of one name
            if len(names) > (len({*names}) if sensor in SHARED else 1):
                return f'{topic} is published by ' + ' and '.join(names)
        return None

    def deaf_stop(self) -> str | None:
        """Return in words whose emergency stop cannot be heard, or None."""
        return self._deaf(topics.EMERGENCY_STOP, 'std_msgs/msg/Bool')

    def warnings(self) -> Iterator[str]:
        """Yield in words what is odd about the sensors' publishers."""
        for sensor, (kind, topic) in self._sensors.items():
            deaf = self._deaf(topic, f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}')
            if deaf:
                yield deaf
            names = sorted(map(endpoint_name, self._publishers(topic) if sensor in SHARED else ()))
            if len(names) > 1:
                yield (
                    f'{topic} is published by '
                    + ' and '.join(names)
                    + ': only one may hold our joints'
                )

    def _deaf(self, topic: str, type_name: str) -> str | None:
        """Return whose messages on a topic cannot reach us; our QoS hears all, so by type."""
        for info in self._publishers(topic):
            if info.topic_type != type_name:
                return (
                    f'{topic} of {endpoint_name(info)} is a {info.topic_type} and cannot be heard; '
                    f'must be {type_name}'
                )
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


def endpoint_name(info: Any) -> str:
    """Return the full name of the node of an endpoint, as the graph tells it."""
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


class Claims:
    """Asks the controller manager, where there is one, who has claimed the efforts.

    Args:
        topic: Of the effort commands, with all remappings; it begins with the name of our command
            controller.
        joints: Names of the joints with a motor, in the order of the commands.
        on_left: Called with a sentence when our command controller is no longer active, or drives
            other joints.
    """

    def __init__(
        self, node: Node, topic: str, joints: Iterable[str], on_left: Callable[[str], None]
    ) -> None:
        self._ours, self._on_left, self._active = topic.split('/')[-2], on_left, False
        self._wanted = [f'{joint}/{topics.EFFORT}' for joint in joints]
        self._client: Any = None
        self._asked: Future | None = None
        self._claimed: str | None = None  # why somebody else drives the joints, in words
        self._left: str | None = None  # that our command controller does not
        self._missed, self._missed_at = '', -math.inf
        manager = node.resolve_topic_name(topics.MANAGER).encode()
        self._managers = {manager, manager.rpartition(b'/')[2]}  # as it may call itself
        node.create_subscription(
            DiagnosticArray, '/diagnostics', self.on_diagnostics, topics.EVENTS, raw=True
        )
        try:
            from controller_manager_msgs.srv import ListControllers, ListHardwareComponents
        except ImportError:  # comes with ros2_control
            return
        self._kind = ListControllers
        with suppress(ImportError):  # since ros2_control 4.24
            from controller_manager_msgs.msg import ControllerManagerActivity

            node.create_subscription(
                ControllerManagerActivity, topics.ACTIVITY, self.on_activity, topics.LATCHED
            )
        self._client = node.create_client(ListControllers, f'{topics.MANAGER}/list_controllers')
        hardware = node.create_client(
            ListHardwareComponents, f'{topics.MANAGER}/list_hardware_components'
        )
        self._ask_hardware: Callable[[], Future] = lambda: hardware.call_async(
            ListHardwareComponents.Request()
        )

    @property
    def conflict(self) -> str | None:
        """Why nobody or somebody else drives our joints, in words, or None."""
        return self._left or self._claimed

    def ask(self) -> None:
        """Ask again; the answer comes later."""
        if self._asked is not None:  # a manager that ended does not answer
            self._client.remove_pending_request(self._asked)
        if self._client is None or not self._client.service_is_ready():
            self._claimed = None
            return
        asked = self._asked = self._client.call_async(self._kind.Request())
        asked.add_done_callback(self._on_answer)

    def on_activity(self, message: Any) -> None:
        """Take what the controller manager says at once, of every change of a controller."""
        states = {each.name: each.state.label for each in message.controllers}
        before, self._active = self._active, states.get(self._ours) == 'active'
        idle = _idle(message.hardware_components)
        if self._active:
            self._left = None
            if not before:
                self.ask()
            if idle:  # ours, or a gripper's?
                self._ask_hardware().add_done_callback(self._on_hardware)
        elif before:
            self._leave([f'{self._ours} is {states.get(self._ours, "gone")}', *idle])

    def on_diagnostics(self, raw: bytes) -> None:
        """Take what our controller manager says of its cycles; the long array stays unread."""
        if self._managers.intersection(MANAGES.findall(raw)):
            self._missed = b' '.join(MISSES.findall(raw)).decode(errors='replace')
            self._missed_at = time.monotonic()

    @property
    def missed(self) -> str:
        """What the manager says of cycles that it does not keep; nothing once it is silent."""
        return self._missed if time.monotonic() < self._missed_at + SILENT else ''

    def _on_hardware(self, future: Future) -> None:
        if future.exception() is not None:
            return
        ours = (
            each
            for each in future.result().component
            if {*self._wanted} & {interface.name for interface in each.command_interfaces}
        )
        if idle := _idle(ours):
            self._leave(idle)

    def _leave(self, causes: Sequence[str]) -> None:
        self._left = f'{", ".join(causes)}, says {topics.MANAGER}: nobody hears our efforts'
        self._on_left(self._left)

    def _on_answer(self, future: Future) -> None:
        self._asked = None
        if future.exception() is not None:
            return
        controllers = future.result().controller
        state = {controller.name: controller.state for controller in controllers}
        claimed = [
            f'{interface} is claimed by {controller.name}'
            for controller in controllers
            if controller.name != self._ours
            for interface in sorted({*self._wanted} & {*controller.claimed_interfaces})
        ]
        driven = [
            interface
            for controller in controllers
            if controller.name == self._ours
            for interface in controller.claimed_interfaces
            if interface.endswith(f'/{topics.EFFORT}')
        ]
        if driven and driven != self._wanted:  # an effort would go to another joint than is meant
            self._claimed = (
                f'{self._ours} drives {", ".join(driven)}; our efforts are for '
                + ', '.join(self._wanted)
            )
            self._on_left(self._claimed)
            return
        # without ours, on a dry run or behind a node of one's own, anybody may drive the joints
        self._claimed = (
            f'{", ".join(claimed)}, and {self._ours} is {state[self._ours]}'
            if claimed and self._ours in state
            else None
        )


def _idle(components: Iterable[Any]) -> list[str]:
    """Return in words which hardware components are not active."""
    return [
        f'hardware {each.name} is {each.state.label}'
        for each in components
        if each.state.label != 'active'
    ]
