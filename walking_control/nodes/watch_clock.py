# SPDX-License-Identifier: Apache-2.0
"""The clock by which silence is judged: steady, or simulated where `use_sim_time` is set."""

import time

from rclpy.node import Node

from walking_control.nodes import topics

JUMP = 1.0     # s by which simulated time is set anew, not passed
WINDOW = 0.25  # s of the steady clock over which the pace is measured


class WatchClock:
    """Tells s that never run back, from any beginning.

    Simulated time is what /clock says and, since that may come rarely, the stamps of sensors near
    it. It passes as slowly as the simulator is and stands still while that pauses; a reset lets it
    go on from where it is.

    Attributes:
        simulated: Whether the time is simulated.
        pace: Of this clock, of the steady clock's: 1, or how fast the simulation goes.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._ros = node, node.get_clock()
        self.begin(False)

    def begin(self, simulate: bool = True) -> None:
        """Begin anew, simulated if the node's `use_sim_time` and the caller want it."""
        self.simulated = simulate and self._node.get_parameter('use_sim_time').value
        self.pace = 0.0 if self.simulated else 1.0
        wall = time.monotonic()
        self._time, self._told, self._told_at = 0.0, None, wall
        self._window = wall, 0.0

    def now(self, stamp: float | None = None) -> float:
        """Return the time, s.

        Args:
            stamp: Of a sensor that has just been heard, s.
        """
        wall = time.monotonic()
        if not self.simulated:
            return wall
        told = self._ros.now().nanoseconds * 1e-9
        if stamp is not None and (told == 0.0 or told < stamp <= told + JUMP):
            told = stamp   # 0: nothing has been heard on /clock
        step = JUMP if self._told is None else told - self._told
        if step > 0.0 or step < -JUMP:
            self._time += step if 0.0 < step < JUMP else 0.0
            self._told, self._told_at = told, wall
        begin, then = self._window
        if wall - begin > WINDOW:
            self.pace, self._window = (self._time - then) / (wall - begin), (wall, self._time)
        return self._time

    def stamp_of(self, tick: int) -> float:
        """Return the stamp of a tick number, that which is nearest to /clock, s."""
        told = self._ros.now().nanoseconds
        ahead = (tick - topics.tick_number_of(told)) % topics.TICKS
        ahead -= topics.TICKS if 2 * ahead >= topics.TICKS else 0
        return float(1e-9 * told + 1e-6 * ahead)

    @property
    def still(self) -> float:
        """For how many s of the steady clock simulated time has stood still."""
        return time.monotonic() - self._told_at if self.simulated else 0.0

    @property
    def lost(self) -> bool:
        """Whether nobody is left who could let a simulated clock go on."""
        return self.simulated and not self._node.count_publishers(topics.CLOCK)
