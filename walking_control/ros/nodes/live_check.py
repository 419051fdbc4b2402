# SPDX-License-Identifier: Apache-2.0
"""Listens to a running robot and judges its sensors, for `walking_control check --live`."""

from collections.abc import Callable
from functools import partial
import os
import resource
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import qos_check_compatible, QoSCompatibility
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray, String

from walking_control.exceptions import InvalidInput, MeasurementError
from walking_control.models import (
    differences,
    JOINTS,
    Measurement,
    Robot,
    RobotFile,
    Sensor,
    sensors_of,
)
from walking_control.ros.nodes import (
    ask_parameter,
    avoid_shared_memory,
    endpoint_name,
    GuardedNode,
    message_type,
    reader_of,
    ros,
    seconds,
    spun,
    topics,
)
from walking_control.ros.ros2_control import (
    diagnose,
    Diagnosis,
    judge_record,
    LiveRecord,
    RECORDED,
    Seen,
)

LEAST_ROWS = 2
DISCOVERY = 1.0  # s after which whom we do not see is not there
MANAGES = '/list_controllers'  # service of a controller manager, behind its name
# node -> parameters of it that are looked at
ASKED = {
    topics.CONTROLLER: ('use_sim_time', 'realtime'),
    topics.MANAGER: ('enforce_command_limits',),
}


class Listener(GuardedNode):
    """Keeps what the sensors of a robot say.

    Args:
        namespace: Of its topics.
        **kwargs: Passed to `rclpy.node.Node`.
    """

    def __init__(self, robot: Robot, namespace: str = '', **kwargs: Any) -> None:
        super().__init__('live_check', namespace=namespace, **kwargs)
        self.record = LiveRecord()
        self.heard: set[str] = set()
        self.description: str | None = None
        self.problem: MeasurementError | None = None
        self._measurement = Measurement(robot)
        self._sensors = sensors_of(robot)
        limit = 99 if os.geteuid() == 0 else resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
        self.seen = seen = Seen(priority=limit)
        self._found = time.monotonic() + DISCOVERY
        for sensor in self._sensors:
            read = reader_of(sensor, self._measurement.parts[sensor.name])
            hear = partial(self._hear, sensor, read)
            self.create_subscription(message_type(sensor), sensor.topic, hear, topics.SENSOR_IN)
        now = time.monotonic
        for kind, topic, note in (
            (Clock, topics.CLOCK, lambda told: seen.clock.append((now(), seconds(told.clock)))),
            (
                Float64MultiArray,
                topics.EFFORT_COMMANDS,
                lambda told: seen.commands.append((now(), any(told.data))),
            ),
            (
                DiagnosticArray,
                '/diagnostics',
                lambda told: seen.statuses.update(
                    {each.name: (ord(each.level), each.message) for each in told.status}
                ),
            ),
        ):
            self.create_subscription(kind, topic, note, topics.SENSOR_IN)
        self.create_subscription(
            String,
            topics.ROBOT_DESCRIPTION,
            lambda told: setattr(self, 'description', told.data),
            topics.LATCHED,
        )
        self._asked: dict[tuple[str, str], Any] = {}
        self._asking = {
            node: self.create_client(GetParameters, f'{node}/get_parameters') for node in ASKED
        }

    @property
    def missing(self) -> list[str]:
        """Topics that have not been heard."""
        return [sensor.topic for sensor in self._sensors if sensor.name not in self.heard]

    # -- what the system does ----------------------------------------------------------------

    def ask(self) -> None:
        """Ask nodes that are there for their parameters; keep what they answered."""
        if time.monotonic() > self._found and not self.count_publishers(topics.EFFORT_COMMANDS):
            self.seen.alone = True
        for node, name in ((node, name) for node, names in ASKED.items() for name in names):
            asked = self._asked.get((node, name))
            if asked is None:
                self._asked[node, name] = ask_parameter(self._asking[node], name)
            elif asked.done() and asked.result().values:
                value = parameter_value_to_python(asked.result().values[0])
                self.seen.parameters.setdefault(node, {})[name] = value

    def look(self) -> None:
        """Find publishers that a subscriber cannot hear."""
        for topic in (
            *(sensor.topic for sensor in self._sensors),
            topics.EFFORT_COMMANDS,
            topics.LOCK_COMMANDS,
            topics.CMD_VEL,
            topics.EMERGENCY_STOP,
        ):
            hearing = self.get_subscriptions_info_by_topic(topic)
            for told in self.get_publishers_info_by_topic(topic):
                deaf = set(map(endpoint_name, hearing))
                for each in hearing:  # one of several subscriptions of a node is enough
                    if (
                        told.topic_type == each.topic_type
                        and qos_check_compatible(told.qos_profile, each.qos_profile)[0]
                        != QoSCompatibility.ERROR
                    ):
                        deaf.discard(endpoint_name(each))
                self.seen.mismatches += [
                    f'{topic} of {told.node_name} ({told.topic_type}) cannot be heard by {node}'
                    for node in sorted(deaf)
                ]

    def _hear(self, sensor: Sensor, read: Callable[[Any], bool], message: Any) -> None:
        stamp = seconds(message.header.stamp)
        self.seen.arrivals.setdefault(sensor.topic, []).append((time.monotonic(), stamp))
        try:
            if not read(message):
                return
        except MeasurementError as error:
            self.problem = error
            return
        self.heard.add(sensor.name)
        if sensor.name == JOINTS and not self.missing:
            self._keep(stamp)

    def _keep(self, stamp: float) -> None:
        measurement, record = self._measurement, self.record
        if not np.isfinite(measurement.values).all():
            self.problem = MeasurementError('sensors', limit='tell values that are not finite')
        elif not record.time or stamp > record.time[-1]:
            record.time.append(stamp)
            for name in RECORDED:
                getattr(record, name).append(getattr(measurement, name).copy())


def check_live(
    robot_file: RobotFile, namespace: str, wait: float, listen: float
) -> tuple[list[InvalidInput], list[str], Diagnosis]:
    """Listen to a running robot.

    Args:
        namespace: Of its topics.
        wait: Longest wait for all its sensors, s.
        listen: How long to listen then, s.

    Returns:
        tuple: List of `InvalidInput`, list of sentences on what could not be judged, and the
        `Diagnosis` of the system.
    """
    avoid_shared_memory()
    with ros():
        node = Listener(robot_file.robot, namespace)
        with spun(node) as executor:
            for time_left, hears_all in ((wait, False), (listen, True)):
                end = time.monotonic() + time_left
                while bool(node.missing) != hears_all and time.monotonic() < end:
                    executor.spin_once(timeout_sec=0.1)
                    node.ask()
            node.look()
            positions = node.record.position
            return *judge(robot_file, node, wait), diagnose(
                robot_file, node.seen, positions[-1] if positions else None
            )


def judge(
    robot_file: RobotFile, listener: Listener, waited: float
) -> tuple[list[InvalidInput], list[str]]:
    """Return problems and what could not be judged of what a `Listener` heard."""
    problems, left_out = [], []
    manager = listener.resolve_topic_name(topics.MANAGER)
    if (count := listener.get_fully_qualified_node_names().count(manager)) > 1:
        problems.append(
            InvalidInput(
                f'nodes called {manager}',
                value=count,
                limit='must be one: each would drive the joints',
                remedy='end the others; what crashed is forgotten after some twenty seconds',
            )
        )
    if listener.description is None:
        left_out.append(f'nobody tells {topics.ROBOT_DESCRIPTION}: it is not compared')
    elif found := differences(robot_file.robot.urdf, listener.description):
        problems.append(
            InvalidInput(
                topics.ROBOT_DESCRIPTION,
                limit='is another robot than the robot file: ' + '; '.join(found),
            )
        )
    if listener.problem is not None:
        problems.append(InvalidInput(str(listener.problem)))
    elif listener.missing:
        silent = [topic for topic in listener.missing if not listener.count_publishers(topic)]
        managers = [
            name.removesuffix(MANAGES)
            for name, _ in listener.get_service_names_and_types()
            if name.endswith(MANAGES)
        ]
        remedy = (
            f'is {topics.MANAGER} up, and are its broadcasters active? Controller managers '
            f'that answer: {", ".join(managers) or "none"}'
            if silent
            else 'somebody publishes there, and says nothing or something of another type'
        )
        problems.append(
            InvalidInput(
                'sensors',
                value=', '.join(listener.missing),
                limit=f'not heard for {waited:g} s',
                remedy=remedy,
            )
        )
    elif len(listener.record.time) < LEAST_ROWS:
        problems.append(InvalidInput(topics.JOINT_STATES, limit='its stamps stand still'))
    else:
        more, also = judge_record(robot_file, listener.record)
        problems += more
        left_out += also
    return problems, left_out
