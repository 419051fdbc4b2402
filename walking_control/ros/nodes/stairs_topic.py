# SPDX-License-Identifier: Apache-2.0
"""Edges of the floor on topic stairs: judged, then parameters of the law like any other."""

import math
from typing import Any

from nav_msgs.msg import Path
from rclpy.node import Node
from rclpy.parameter import Parameter

from walking_control.ros.nodes import seconds, topics
from walking_control.ros.ros2_control.names import ODOM

STAIRS = 'stairs'


class StairsTopic:
    """Sets a law's live parameters ``edge_places`` and ``edge_rises`` from a Path in frame odom.

    At the x of each pose the floor changes to the height z; before the first it is 0, as at the
    first stance foot. Whoever wants to see it in RViz shows the same message. A list is refused
    with a warning, and the one before stays, if it is empty, in another frame or stamped before
    odom began; the parameters refuse what does not rise in x. `section`: of the law's parameters.
    """

    def __init__(self, node: Node, section: str) -> None:
        self._node, self._section = node, section
        self._since = self._now()  # odom begins now
        node.create_subscription(Path, STAIRS, self._on_stairs, topics.SENSOR_IN)

    def _now(self) -> float:
        return float(self._node.get_clock().now().nanoseconds * 1e-9)

    def _on_stairs(self, message: Path) -> None:
        places = [pose.pose.position.x for pose in message.poses]
        heights = [pose.pose.position.z for pose in message.poses]
        problem = self._problem(message, places + heights)
        if problem is None:
            rises = [high - low for low, high in zip([0.0, *heights], heights)]
            result = self._node.set_parameters_atomically(
                [
                    Parameter(f'{self._section}.edge_places', value=places),
                    Parameter(f'{self._section}.edge_rises', value=rises),
                ]
            )
            if result.successful:
                self._warn_of_ends(places, rises)
                return
            problem = result.reason
        self._node.get_logger().warning(f'{STAIRS} refused: {problem}')

    def _problem(self, message: Path, numbers: list[float]) -> str | None:
        """Return in words why a message tells nothing of the floor, or None."""
        frame, stamp = message.header.frame_id, seconds(message.header.stamp)
        if not numbers:
            return f'it has no pose; to forget the stairs set {self._section}.edge_places to []'
        if frame != ODOM:
            return f'its frame is {frame!r}; must be {ODOM!r}, where the walk began'
        if stamp and not self._since <= stamp <= self._now():
            return (
                f'its stamp, {stamp:.3f} s, is not between the beginning of {ODOM}, '
                f'{self._since:.3f} s, and now'
            )
        if not all(map(math.isfinite, numbers)):
            return 'a place or height is not finite'
        return None

    def _warn_of_ends(self, places: list[float], rises: list[float]) -> None:
        """Say before which edge the robot will stand."""
        most: Any = self._node.get_parameter(f'{self._section}.highest_edge').value
        for place, rise in zip(places, rises):
            if abs(rise) > most:
                self._node.get_logger().warning(
                    f'{STAIRS}: the edge at {place:.3g} m rises {rise:.3g} m, more than '
                    f'{self._section}.highest_edge ({most:g} m): the robot stands before it'
                )
                return
