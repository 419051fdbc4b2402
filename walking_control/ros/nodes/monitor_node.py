# SPDX-License-Identifier: Apache-2.0
"""Serves a running system to Foxglove or Lichtblick; commands nothing by itself.

Topics of a namespace are offered without it, so that a layout fits every robot. They are listened
to only while a viewer wants them, and passed on as they came, the newest of each at a limited
rate. Sensors are left alone until a controller listens to them: a simulator would take the monitor
for one.
"""

from collections.abc import Iterator, Sequence
import importlib
import time
from typing import Any

from nav_msgs.msg import Odometry
from rcl_interfaces.msg import ParameterEvent
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from walking_control.exceptions import InvalidInput, WalkingControlError
from walking_control.loading import load_robot
from walking_control.models import place_meshes, Robot
from walking_control.ros.nodes import (
    avoid_shared_memory,
    ControllerClient,
    endpoint_name,
    FoxgloveServer,
    GuardedNode,
    RobotFrames,
    ros,
    spin,
    spun,
    stamp_of,
    StopSignal,
    topics,
    WebGate,
)

LOOK = 0.5  # s between two looks at the ROS graph
EVERYBODYS = ('/diagnostics', '/tf', '/tf_static')  # not moved by a namespace
DESCRIPTION = f'/{topics.ROBOT_DESCRIPTION}'
FRAMES = '/robot_frames'  # what robot_state_publisher would send on /tf
JOINTS, ODOM = f'/{topics.JOINT_STATES}', '/odom'


class Topic:
    """A topic that is offered, and listened to while somebody wants it.

    Attributes:
        newest: Last message, serialized, until it is passed on.
        last: The last one that was passed on or taken.
    """

    def __init__(self, node: Node, name: str, kind: Any, channel: Any) -> None:
        self._node, self.name, self._kind, self.channel = node, name, kind, channel
        self.subscription: Any = None
        self.newest: bytes | None = None
        self.last: bytes | None = None

    def listen(self, again: Any = False) -> None:
        """Begin to listen; again: as if for the first time, to hear what is latched."""
        if self.subscription is not None and not again:
            return
        self.rest()
        offers = self._node.get_publishers_info_by_topic(self.name)
        latched = offers and all(
            info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for info in offers
        )
        self.subscription = self._node.create_subscription(
            self._kind,
            self.name,
            self._on_message,
            topics.LATCHED if latched else topics.SENSOR_IN,
            raw=True,
        )

    def _on_message(self, raw: bytes) -> None:
        self.newest = self.last = raw

    def rest(self) -> None:
        """Listen no more."""
        if self.subscription is not None:
            self._node.destroy_subscription(self.subscription)
            self.subscription = None


class MonitorNode(GuardedNode):
    """Finds topics, passes messages on, and computes where the links are.

    Args:
        host: Address to listen on.
        port: TCP port.
        rate: Messages per second and topic, of wall time.
        robot: Name or path of the robot file; empty: that of the controller.
        origins: Of web pages that may connect, see `WebGate`.
        token: That viewers must give; empty: none.
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.

    Raises `MissingDependency`: the extra ``monitor`` is not installed. `InvalidInput`: nobody can
    listen there, or the robot file is unusable.
    """

    def __init__(
        self,
        host: str = '127.0.0.1',
        port: int = 8765,
        rate: float = 30.0,
        robot: str = '',
        origins: Sequence[str] = (),
        token: str = '',
        name: str = 'monitor',
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._namespace = self.get_namespace().rstrip('/')
        self._controller = f'{self._namespace}/{topics.CONTROLLER}'
        self._client = ControllerClient(self)
        self._topics: dict[str, Topic] = {}
        self._unknown: set[str] = set()
        # until the robot tells its own: that of a simulation is earlier, so that viewers begin anew
        self._stamp = time.time_ns()
        self._frames: RobotFrames | None = None
        self._asked: Any = None
        robot_file = load_robot(robot) if robot else None
        gate = WebGate(host, port, origins, token, self.get_logger().warning)
        self.port = gate.port
        try:
            self.server = FoxgloveServer(self._client, gate)
        except InvalidInput:
            gate.close()
            raise
        self._described = self.server.channel(DESCRIPTION, 'std_msgs/msg/String')
        self._frames_channel = self.server.frames_channel(FRAMES)
        if robot_file is not None:
            self._show(robot_file.robot)
        self.create_subscription(
            ParameterEvent, '/parameter_events', self._on_parameters, topics.EVENTS
        )
        self.steady_timer(LOOK, self._look)
        self.steady_timer(1.0 / rate, self._pass_on)

    # -- what there is ---------------------------------------------------------------------------

    def _look(self) -> None:
        """Offer topics that have come; find the robot."""
        for name, kinds in self.get_topic_names_and_types():
            shown = name.removeprefix(self._namespace)
            ours = name.startswith(f'{self._namespace}/') or name in EVERYBODYS
            if (
                ours
                and shown not in self._topics
                and shown not in self._unknown
                and shown != DESCRIPTION
                and name not in ('/parameter_events', '/rosout')
            ):
                self._offer(shown, name, kinds[0])
        self._listen()
        if self._frames is None:
            self._find_robot()

    def _listen(self, again: Any = ()) -> None:
        """Listen to what is wanted, to some topics again, and rest from the others."""
        hearing, telling = self.get_subscriptions_info_by_topic, self.get_publishers_info_by_topic
        heard = any(
            self._controller in map(endpoint_name, hearing(topic))
            for topic in (topics.JOINT_STATES, topics.COMBINED_STATE, topics.STATES)
        )
        for shown, topic in self._topics.items():
            wanted = topic.channel.has_sinks() or shown in (JOINTS, ODOM)
            if wanted and (heard or self._controller in map(endpoint_name, telling(topic.name))):
                topic.listen(shown in again)
            else:
                topic.rest()

    def _offer(self, shown: str, name: str, kind: Any) -> None:
        try:
            package, _, leaf = kind.split('/')
            message = getattr(importlib.import_module(f'{package}.msg'), leaf)
        except (AttributeError, ImportError, ValueError):  # not installed here
            message = None
        channel = None if message is None else self.server.channel(shown, kind)
        if channel is None:
            self._unknown.add(shown)
        else:
            self._topics[shown] = Topic(self, name, message, channel)

    # -- the robot -------------------------------------------------------------------------------

    def _find_robot(self) -> None:
        """Ask the controller which robot it walks, and load that."""
        if self._asked is None:
            self._asked = self._client.ask_later('robot_file')
        elif self._asked.done():
            answer, self._asked = self._asked.result(), None
            if answer is not None and answer.values:
                self._load(answer.values[0].string_value)

    def _load(self, path: str) -> None:
        try:
            self._show(load_robot(path).robot)
        except WalkingControlError as error:
            self.get_logger().warning(
                f'no robot model: {error}; give --robot', throttle_duration_sec=60.0
            )

    def _show(self, robot: Robot) -> None:
        """Serve a robot's URDF and meshes."""
        names = {
            name: name if '://' in name else f'package://{robot.name}/{name.lstrip("/")}'
            for name in robot.meshes
        }
        self.server.files = {names[name]: path for name, path in robot.meshes.items()}
        self._description = serialize_message(String(data=place_meshes(robot.urdf, names)))
        self._base, self._frames = (
            robot.base_link,
            RobotFrames(place_meshes(robot.urdf, robot.meshes)),
        )
        self._describe()

    # -- messages --------------------------------------------------------------------------------

    def _pass_on(self) -> None:
        """Log the newest message of every topic, and where the links are."""
        wanted = set()
        while not self.server.wanted.empty():
            wanted.add(self.server.wanted.get())
        if wanted:
            self._listen(again=wanted)
        if DESCRIPTION in wanted:
            self._describe()
        joints = self._topics.get(JOINTS)
        moved = None if joints is None else joints.newest
        if moved is not None:
            self._set_time(stamp_of(moved))
        for topic in self._topics.values():
            raw, topic.newest = topic.newest, None
            if raw is not None:
                topic.channel.log(raw, log_time=self._stamp)
        if moved is not None and self._frames is not None and self._frames_channel.has_sinks():
            self.server.log_frames(
                self._frames_channel, self._links(self._frames, moved), self._stamp
            )

    def _set_time(self, stamp: int) -> None:
        anew, self._stamp = stamp < self._stamp, stamp
        self.server.tell_time(stamp, anew)
        if anew:  # viewers have forgotten what does not come again
            self._describe()
            for topic in self._topics.values():
                topic.newest = topic.last if topic.newest is None else topic.newest

    def _describe(self) -> None:
        if self._frames is not None:
            self._described.log(self._description, log_time=self._stamp)

    def _links(self, frames: RobotFrames, raw: bytes) -> Iterator[tuple[str, str, Any, Any]]:
        joints = deserialize_message(raw, JointState)
        yield from frames.transforms(joints.name, joints.position)
        odometry = self._topics.get(ODOM)
        if odometry is not None and odometry.last is not None:
            message = deserialize_message(odometry.last, Odometry)
            place, turn = message.pose.pose.position, message.pose.pose.orientation
            yield (
                message.header.frame_id,
                self._base,
                (place.x, place.y, place.z),
                (turn.x, turn.y, turn.z, turn.w),
            )

    def _on_parameters(self, event: Any) -> None:
        if event.node == self._controller:
            self.server.tell_parameters(
                {
                    each.name: parameter_value_to_python(each.value)
                    for each in (*event.new_parameters, *event.changed_parameters)
                }
            )

    def stop(self) -> None:
        """Close the socket."""
        self.server.stop()


def run_monitor(
    host: str,
    port: int,
    rate: float,
    robot: str,
    origins: Sequence[str],
    token: str,
    namespace: str,
) -> None:
    """Serve until interrupted.

    Args:
        host: Address to listen on.
        port: TCP port.
        rate: Messages per second and topic.
        robot: Name or path of the robot file; empty: that of the controller.
        origins: Of web pages that may connect, see `WebGate`.
        token: That viewers must give; empty: none.
        namespace: Of the controller and its topics.

    Raises `MissingDependency`: the extra ``monitor`` is not installed. `InvalidInput`: nobody can
    listen there, or the robot file is unusable.
    """
    avoid_shared_memory()
    with ros(), StopSignal() as stop:
        node = MonitorNode(host, port, rate, robot, origins, token, namespace=namespace)
        with spun(node) as executor:
            print(
                f'ws://{host}:{node.port}{"/?token=TOKEN" if token else ""} serves '
                + (namespace or '/'),
                flush=True,
            )
            spin(executor, lambda: stop.received)
