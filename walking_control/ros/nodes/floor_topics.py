# SPDX-License-Identifier: Apache-2.0
"""Edges of the floor and footholds that others tell: judged, then parameters of the law."""

from typing import Any

from geometry_msgs.msg import PoseArray
from nav_msgs.msg import Path
import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter

from walking_control.ros.nodes import seconds, topics

STAIRS, FOOTHOLDS, AHEAD = 'stairs', 'footholds', 0.01  # s by which our clock may be behind


class FloorTopics:
    """Sets live parameters of a law from what is known of the floor in frame odom.

    Topic stairs, a Path, sets ``edge_places`` and ``edge_rises``: at the x of each pose the floor
    changes to the height z; before the first it is 0, as at the first stance foot. Topic footholds,
    a PoseArray, sets ``footholds``: where feet would better land; none forgets them. RViz shows
    the same messages. A list is refused with a warning, and the one before stays, if it is in
    another frame or stamped before odom began, or the parameters refuse it.
    `section`: of the law's parameters.
    """

    def __init__(self, node: Node, section: str) -> None:
        self._node, self._section = node, section
        self._since = self._now()  # odom begins now
        node.create_subscription(Path, STAIRS, self._on_stairs, topics.SENSOR_IN)
        node.create_subscription(PoseArray, FOOTHOLDS, self._on_footholds, topics.SENSOR_IN)

    def _now(self) -> float:
        return float(self._node.get_clock().now().nanoseconds * 1e-9)

    def _on_stairs(self, message: Path) -> None:
        places = [pose.pose.position.x for pose in message.poses]
        rises = np.diff([pose.pose.position.z for pose in message.poses], prepend=0.0).tolist()
        empty = f'it has no pose; to forget the stairs set {self._section}.edge_places to []'
        told = {'edge_places': places, 'edge_rises': rises}
        if self._set(STAIRS, message.header, told, '' if places else empty):
            self._warn_of_ends(places, rises)

    def _on_footholds(self, message: PoseArray) -> None:
        places = [(pose.position.x, pose.position.y) for pose in message.poses]
        self._set(FOOTHOLDS, message.header, {'footholds': [x for each in places for x in each]})

    def _set(
        self, topic: str, header: Any, told: dict[str, list[float]], problem: str = ''
    ) -> bool:
        """Set parameters of the law; return whether they are, or say in a line why not."""
        problem = problem or self._problem(header, sum(told.values(), []))
        if not problem:
            kind = Parameter.Type.DOUBLE_ARRAY
            result = self._node.set_parameters_atomically(
                [Parameter(f'{self._section}.{name}', kind, value) for name, value in told.items()]
            )
            problem = '' if result.successful else result.reason
        if problem:
            self._node.get_logger().warning(f'{topic} refused: {problem}')
        return not problem

    def _problem(self, header: Any, numbers: list[float]) -> str:
        """Return in words why a message tells nothing of the floor, or nothing."""
        frame, stamp = header.frame_id, seconds(header.stamp)
        if frame != topics.ODOM:
            return f'its frame is {frame!r}; must be {topics.ODOM!r}, where the walk began'
        if stamp and not self._since <= stamp <= self._now() + AHEAD:
            return (
                f'its stamp, {stamp:.3f} s, is not between the beginning of {topics.ODOM}, '
                f'{self._since:.3f} s, and now'
            )
        return '' if np.isfinite(numbers).all() else 'a place or height is not finite'

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
