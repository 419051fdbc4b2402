# SPDX-License-Identifier: Apache-2.0
"""Markers of a walk in space for RViz: feet placed and planned, where the fall ends, heading."""

from collections import deque
from collections.abc import Sequence
import math
from typing import Any

from geometry_msgs.msg import Point
import numpy as np
import pinocchio as pin
from visualization_msgs.msg import Marker, MarkerArray

from walking_control.control_loop import ControlLoop
from walking_control.controllers.controller import FootPlan, FootPlanner, StopJudge
from walking_control.ros.nodes import (
    axes_of,
    GuardedNode,
    make_marker,
    Output,
    set_stamp,
    write_axes,
)
from walking_control.ros.ros2_control.names import ODOM

KEPT = 20  # footprints
LOOK = 0.05  # s between two looks at the feet: no step is shorter
THICK = 0.004  # m, of a drawn sole
POINT = 0.03  # m, drawn size of a point foot
LARGE = 0.12  # m, drawn size of where a fall ends that no step stops
ARROW = 0.3  # m, drawn length of the heading
LEFT, RIGHT = (0.0, 0.45, 0.7, 0.9), (0.9, 0.4, 0.0, 0.9)  # as in the reports
FLOOR, PLATE = (0.3, 0.6, 0.3, 0.4), 0.4  # the latter m
UP = np.array([0.0, 0.0, 1.0])
PLANNED, CAPTURE, HEADING = (0.4, 0.4, 0.4, 0.5), (0.8, 0.1, 0.5, 1.0), (0.1, 0.1, 0.1, 1.0)


class WalkMarkers(Output):
    """Publishes ``~/markers`` in the frame odom.

    Namespaces: ``placed`` (the last `KEPT` footprints), ``planned`` (the next foothold),
    ``capture`` (where the fall would end if no foot moved; large where no step stops it) and
    ``heading``.

    Args:
        law: Its controller.
        slope: Inclination of the floor, rad, downhill positive.
        rate: See `Output`.
    """

    def __init__(
        self, node: GuardedNode, loop: ControlLoop, law: FootPlanner, slope: float, rate: float
    ) -> None:
        super().__init__(node, rate)
        self._loop, self._law = loop, law
        self._level = pin.utils.rotate('y', slope)  # from the floor's axes to those of odom
        self._array = self._publisher(MarkerArray, '~/markers')
        self._planned: Marker | None = None  # made once the soles are known
        self._capture = make_marker(ODOM, 'capture', 0, Marker.SPHERE, CAPTURE, 3 * [POINT])
        self._heading = make_marker(ODOM, 'heading', 0, Marker.ARROW, HEADING, [0.01, 0.03, 0.04])
        self._floor = make_marker(ODOM, 'floor', 0, Marker.CUBE, FLOOR, [PLATE, PLATE, 1e-3])

    def begin(self) -> None:
        """Forget the past."""
        super().begin()
        self._look_at = -math.inf
        self._placed: deque[Marker] = deque(maxlen=KEPT)  # markers
        self._swing: int | None = None
        self._count = 0

    def _look(self, stamp: float) -> None:
        if stamp < self._look_at - 1e-9:
            return
        self._look_at = stamp + LOOK
        self._note_footprints(self._law.foot_plan(), self._loop.state.base.position)

    def _write(self, stamp: float) -> None:
        if self._has_reader(self._array):
            markers = self._markers(self._law.foot_plan(), self._loop.state.base.position, stamp)
            self._send(self._array, MarkerArray(markers=markers))

    def _note_footprints(self, plan: FootPlan, base: np.ndarray) -> None:
        """Keep where a foot stands that has not stood before."""
        if not self._count:
            for foot in range(len(plan.feet)):
                self._place(plan, base, foot)
        elif self._swing is not None and plan.swing != self._swing:
            self._place(plan, base, self._swing)
        self._swing = plan.swing

    def _place(self, plan: FootPlan, base: np.ndarray, foot: int) -> None:
        marker = self._print(plan, 'placed', self._count % KEPT, RIGHT if foot else LEFT)
        self._lay(marker, base + plan.feet[foot], plan.yaws[foot])
        self._placed.append(marker)
        self._count += 1

    def _markers(self, plan: FootPlan, base: np.ndarray, stamp: float) -> list[Marker]:
        if self._planned is None:
            self._planned = self._print(plan, 'planned', 0, PLANNED)
        planned, capture, heading = self._planned, self._capture, self._heading
        planned.action = Marker.DELETE if plan.foothold is None else Marker.ADD
        if plan.foothold is not None:
            self._lay(planned, base + plan.foothold, plan.heading)
        write_axes(capture.pose.position, self._level @ (base + plan.capture))
        lost = isinstance(self._law, StopJudge) and self._law.stoppable().steps < 0
        capture.scale.x = capture.scale.y = capture.scale.z = LARGE if lost else POINT
        tip = base + ARROW * np.array([math.cos(plan.heading), math.sin(plan.heading), 0.0])
        heading.points = [axes_of(Point, self._level @ place) for place in (base, tip)]
        state, floor = self._loop.state, self._floor
        normal = self._level @ np.array([*-state.floor_slope, 1.0])
        write_axes(floor.pose.position, self._level @ state.foothold)
        write_axes(floor.pose.orientation, pin.Quaternion.FromTwoVectors(UP, normal).coeffs())
        markers = [*self._placed, planned, capture, heading, floor]
        for marker in markers:
            set_stamp(marker.header.stamp, stamp)
        return markers

    def _print(self, plan: FootPlan, name: str, number: int, colour: Sequence[float]) -> Marker:
        """Return a footprint: a sole on the floor, or a disc of a point."""
        length, width = plan.sole
        if length > 0.0:
            return make_marker(ODOM, name, number, Marker.CUBE, colour, [length, width, THICK])
        return make_marker(ODOM, name, number, Marker.CYLINDER, colour, [POINT, POINT, THICK])

    def _lay(self, marker: Any, place: np.ndarray, yaw: float) -> None:
        """Lay a footprint on the floor: turned about its normal, then with it."""
        write_axes(marker.pose.position, self._level @ place)
        turn = pin.Quaternion(self._level @ pin.utils.rotate('z', yaw))
        write_axes(marker.pose.orientation, turn.coeffs())
