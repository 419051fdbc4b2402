# SPDX-License-Identifier: Apache-2.0
"""Topics of a controller that holds a posture: what it is told, and the forces it relies on."""

from typing import Any

from geometry_msgs.msg import Point, WrenchStamped
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String
from visualization_msgs.msg import Marker, MarkerArray

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import PostureHolder
from walking_control.exceptions import MeasurementError, require
from walking_control.models.signals import topic_word
from walking_control.ros.nodes import (
    axes_of,
    GuardedNode,
    JointStateReader,
    make_marker,
    Output,
    set_stamp,
    topics,
    write_axes,
)
from walking_control.statics.distributor import StaticSolution

FORCE_LENGTH = 0.5  # m of arrow for the robot's whole weight
BOTH = 'both'


class PostureTopics(Output):
    """Commands of posture and support in; wrenches, markers, margins and solver time out.

    In: ``posture`` (JointState, every joint by name) and ``support`` (String: a foot link, or
    ``both``). Out: ``~/wrench/<foot>`` in the sole's frame, ``~/markers`` for RViz (force, centre
    of pressure, sole), ``~/telemetry/margin_<contact>_<limit>``.

    Args:
        loop: The `ControlLoop`; its controller is a `PostureHolder`.
        rate: See `Output`.
    """

    def __init__(
        self, node: GuardedNode, loop: ControlLoop, law: PostureHolder, rate: float
    ) -> None:
        super().__init__(node, rate)
        self._loop, self._law = loop, law
        self._wrenches = {
            foot: (
                self._publisher(WrenchStamped, f'~/wrench/{topic_word(foot)}'),
                WrenchStamped(header=Header(frame_id=foot)),
            )
            for foot in loop.robot.feet
        }
        self._markers = self._publisher(MarkerArray, '~/markers')
        self._reader = JointStateReader(loop.robot.joints)
        node.create_subscription(JointState, 'posture', self._on_posture, topics.LATEST)
        node.create_subscription(String, 'support', self._on_support, topics.LATEST)

    def _on_posture(self, message: JointState) -> None:
        robot = self._loop.robot
        posture = np.zeros(len(robot.joints))
        try:
            require(
                self._reader.read(message, posture),
                'JointState',
                value=list(message.name),
                limit='holds no joint of this robot',
                error=MeasurementError,
            )
            for joint, value in zip(robot.joints, posture.tolist()):
                limits = robot.limits[joint]
                require(
                    limits.lower <= value <= limits.upper,  # NaN is refused here too
                    f'joint {joint}',
                    value=value,
                    limit=f'must be from {limits.lower:g} to {limits.upper:g} rad',
                    error=MeasurementError,
                )
        except MeasurementError as error:
            self._node.get_logger().error(f'posture refused: {error}')
            return
        self._loop.reference.posture = posture

    def _on_support(self, message: String) -> None:
        supports = {**{foot: (foot,) for foot in self._loop.robot.feet}, BOTH: None}
        if message.data in supports:
            self._loop.reference.support = supports[message.data]
        else:
            self._node.get_logger().error(
                f'support refused: {message.data!r}; must be one of ' + ', '.join(supports)
            )

    def _write(self, stamp: float) -> None:
        solution = self._law.solution
        wrenches = (solution.wrenches or {}) if solution is not None else {}
        for foot, (publisher, message) in self._wrenches.items():
            set_stamp(message.header.stamp, stamp)
            wrench = wrenches.get(foot, np.zeros(6))
            write_axes(message.wrench.force, wrench[:3])
            write_axes(message.wrench.torque, wrench[3:])
            self._send(publisher, message)
        if self._has_reader(self._markers):
            self._send(self._markers, self._make_markers(stamp, wrenches))
        if solution is not None and solution.feasible:
            self._publish_margins(solution)

    def _publish_margins(self, solution: StaticSolution) -> None:
        margins = self._law.distributor.margins(solution)
        margins['torque'] = {'free': margins['torque']['free']}
        for contact, values in margins.items():
            for limit, value in values.items():
                if value is not None:  # else this contact has no such limit
                    self._tell(f'margin_{contact}_{limit}', value)

    def _make_markers(self, stamp: float, wrenches: Any) -> MarkerArray:
        markers = []
        for i, (foot, contact) in enumerate(self._law.contacts.items()):
            sole, pressure, arrow = made = [
                make_marker(foot, 'static_torque', 3 * i + k, kind, colour, size)
                for k, (kind, colour, size) in enumerate(
                    (
                        (
                            Marker.CUBE,
                            (0.6, 0.6, 0.6, 0.6),
                            (max(contact.length, 1e-3), max(contact.width, 1e-3), 0.002),
                        ),
                        (Marker.SPHERE, (0.9, 0.4, 0.0, 1.0), (0.02, 0.02, 0.02)),
                        (Marker.ARROW, (0.0, 0.45, 0.7, 1.0), (0.01, 0.02, 0.03)),
                    )
                )
            ]
            for marker in made:
                set_stamp(marker.header.stamp, stamp)
            wrench = wrenches.get(foot)
            if wrench is None or wrench[2] <= 0.0:
                pressure.action = arrow.action = Marker.DELETE
            else:
                foot_at = np.array([-wrench[4] / wrench[2], wrench[3] / wrench[2], 0.0])
                write_axes(pressure.pose.position, foot_at)
                tip = foot_at + wrench[:3] * (FORCE_LENGTH / self._law.dynamics.weight)
                arrow.points = [axes_of(Point, place) for place in (foot_at, tip)]
            markers += made
        return MarkerArray(markers=markers)
