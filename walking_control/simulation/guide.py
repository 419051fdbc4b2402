# SPDX-License-Identifier: Apache-2.0
"""Leads a walker along a route: asks for velocities as a joystick does."""

import math
from typing import Protocol

from walking_control.runs.route import PUSH_TIME, Route, Segment
from walking_control.simulation.disturbance import Disturbance, How

EVERY = 0.1  # s between two velocities
SLIVER = 1e-9  # s


def planned_pushes(route: Route) -> list[Disturbance]:
    """Return the pushes of a route as a plant plans them."""
    return [
        Disturbance(
            'push',
            segment.push,
            0,
            How(
                time=segment.push_at,
                direction=math.radians(segment.push_direction),
                duration=PUSH_TIME,
            ),
        )
        for segment in route.segments
        if segment.push
    ]


class Asked(Protocol):
    """Who is asked: a `Steering`, or a node that stands for one."""

    def command(self, velocity: tuple[float, float, float], now: float | None) -> object:
        """Take a velocity.

        Args:
            velocity: Ahead and to the left, m/s, and of turning, rad/s.
            now: s; None: that of the stamp.
        """

    def stop(self, now: float | None) -> object:
        """Come to a stand."""

    def start(self) -> object:
        """Obey velocities again."""


class Guide:
    """Asks for a `Route` as time passes; called once a tick, before the law answers.

    Args:
        asked: Who is `Asked`.
    """

    def __init__(self, route: Route, asked: Asked) -> None:
        self._segments, self._asked = list(route.segments), asked
        self._segment: Segment | None = None
        self._next = -math.inf
        self._stopped = False

    def advance(self, time: float) -> None:
        """Ask for what the route has at a time, s; behind its end for nothing new."""
        while self._segments and time >= self._segments[0].begin - SLIVER:
            self._begin(self._segments.pop(0))
        segment = self._segment
        if (
            segment is not None
            and not segment.stop
            and self._next - SLIVER <= time < segment.end - SLIVER
        ):
            self._next = time + EVERY
            self._asked.command(segment.velocity, None)

    def _begin(self, segment: Segment) -> None:
        self._segment, self._next = segment, -math.inf
        if segment.stop and not self._stopped:
            self._asked.stop(None)
        elif self._stopped and not segment.stop:
            self._asked.start()
        self._stopped = segment.stop
