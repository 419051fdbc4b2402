# SPDX-License-Identifier: Apache-2.0
"""What the watchdog says of the commands it hears, and how a controller judges it.

Discovery takes seconds on a bad day, and in that time a watchdog neither hears the controller nor
reaches the robot. So a controller that needs one sends zeros until the watchdog has answered a
tick of its own and reaches as many receivers as it does.
"""

from collections.abc import Callable
import math
import time
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from walking_control.nodes import topics
from walking_control.nodes.messages import ArrayWriter

FIELDS = ('tick', 'age', 'receivers', 'tripped')


class HeartbeatWriter:
    """A heartbeat, filled in place: `FIELDS`, named in its layout."""

    def __init__(self) -> None:
        self._writer = ArrayWriter(len(FIELDS))
        self._writer.message.layout.dim = [
            MultiArrayDimension(label=name, size=1, stride=1) for name in FIELDS]

    def write(self, tick: int, age: float, receivers: float, tripped: bool) -> Float64MultiArray:
        """Return the message.

        Args:
            tick: Tick number of the newest command that had one, 0 before the first.
            age: Time since a command was heard, s.
            receivers: Subscriptions that get the watchdog's zeros, its own among them.
            tripped: Whether it is sending zeros.
        """
        return self._writer.write((tick, age, receivers, tripped), 0)


class WatchdogGuard:
    """Knows whether the watchdog listens to this controller.

    Args:
        count: Callable that returns how many receive the effort commands.
        timeout: Longest silence of the heartbeat, s; None: no watchdog is needed.
        on_lost: Called with a sentence when a watchdog that listened no longer does.
    """

    def __init__(self, node: Node, count: Callable[[], int], timeout: float | None,
                 on_lost: Callable[[str], None]) -> None:
        self._count, self._on_lost = count, on_lost
        self._timeout = math.inf if timeout is None else timeout
        self.begin()
        self._parts: tuple[tuple[Any, Any], ...] = ()
        if timeout is not None:
            subscription = node.create_subscription(Float64MultiArray, topics.WATCHDOG,
                                                    self._on_heartbeat, topics.LATEST)
            timer = node.create_timer(timeout / 4, self._on_watch,
                                      clock=Clock(clock_type=ClockType.STEADY_TIME))
            self._parts = ((node.destroy_subscription, subscription), (node.destroy_timer, timer))

    def begin(self) -> None:
        """Begin anew: only an answer to what is sent from now on counts."""
        self.listens = self._timeout == math.inf
        self._first: int | None = None
        self._last = 0
        self._answered = -math.inf   # when the watchdog last said that it hears us
        self._heartbeat: tuple[float, Any] | None = None   # when and what it last said
        self._since = time.monotonic()

    def note(self, tick: int) -> None:
        """Remember the tick of a command that is about to be sent."""
        if self._first is None:
            self._first = tick
        self._last = tick

    @property
    def missing(self) -> str:
        """Why the effort must stay zero, half a sentence; empty when it need not."""
        if self.listens:
            return ''
        waited = f'for {time.monotonic() - self._since:.1f} s'
        if self._heartbeat is None:
            return f'no watchdog is heard {waited}: start watchdog_node, or set require_watchdog ' \
                   'to false'
        when, (_, _, receivers, _) = self._heartbeat
        if time.monotonic() - when > self._timeout:
            return f'the watchdog has been silent for {time.monotonic() - when:.1f} s'
        if receivers < self._needed():
            return f'the watchdog reaches {receivers:g} of {self._needed()} receivers {waited}'
        return f'the watchdog does not hear this controller {waited}'

    def _needed(self) -> int:
        return max(2, self._count())   # the robot and the watchdog

    def _on_heartbeat(self, message: Float64MultiArray) -> None:
        if len(message.data) != len(FIELDS):   # somebody else's
            return
        tick, age, receivers, _ = message.data
        now = time.monotonic()
        self._heartbeat = now, tuple(message.data)
        # numbers come round, so distances are compared
        ours = self._first is not None and tick > 0 and \
            (tick - self._first) % topics.TICKS \
            <= (self._last - self._first) % topics.TICKS
        if not (ours and age < self._timeout):
            return
        # receivers that come and go later, a recorder say, are no reason to stop
        if self.listens or receivers >= self._needed():
            self.listens, self._answered = True, now

    def _on_watch(self) -> None:
        silent = time.monotonic() - self._answered
        if self.listens and silent > self._timeout:
            self.begin()
            self._on_lost(f'the watchdog has not heard this controller for {silent:.2f} s')

    def destroy(self) -> None:
        """Stop listening."""
        for destroy, part in self._parts:
            destroy(part)
