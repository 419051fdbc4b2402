# SPDX-License-Identifier: Apache-2.0
"""Sends zero effort when a controller falls silent in the middle of work.

ros2_control holds the last effort for ever. A controller that is killed cannot send zero any more;
this node, in a process of its own, does. Its heartbeat says what it hears, so that a controller
need not leave zero before somebody watches.
"""

from contextlib import suppress
import math
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from std_msgs.msg import Float64MultiArray

from walking_control.exceptions import MissingDependency
from walking_control.models.parameters import parameter
from walking_control.ros.nodes import (
    ArrayWriter,
    DiagnosticsPublisher,
    FallbackSwitch,
    feedback_type,
    GuardedNode,
    heartbeat_writer,
    own_parameters,
    program,
    read_array,
    realtime,
    topics,
    WatchClock,
    without_effort,
)


class WatchdogParameters(realtime.RealTimeParameters, section='node'):
    """Of the watchdog."""

    timeout: float = parameter(
        0.1, 's', 'Silence of the controller after which zero effort is sent.', 0.005, 60.0
    )
    # as the loop of ros2_control
    priority: int = parameter(
        50,
        '1',
        'Real-time priority (SCHED_FIFO) of the process; 0: none. Needs the right to it, '
        'e.g. rtprio in /etc/security/limits.conf.',
        0,
        90,
    )
    fallback_controller: str = parameter(
        '',
        '',
        'ros2_control controller that takes the joints over when zero had to be sent; empty: none.',
    )
    effort_controller: str = parameter(
        topics.EFFORT_COMMANDS.partition('/')[0], '', 'ros2_control controller it takes them from.'
    )
    controller_manager: str = parameter('controller_manager', '', 'Name of the controller manager.')


HEARTBEAT_PERIOD = 0.02  # s; how soon a controller knows that it is heard
OUTLIVE = 2.0  # s that it goes on after it was asked to end, while a controller is at work


class WatchdogNode(GuardedNode):
    """Watches the effort commands.

    Silence after an effort that is not zero, or that answers a tick, is a dead controller: zeros
    are sent, again and again, until a controller speaks (a new one must be activated by somebody).
    A controller that leaves says so by zeros that answer no tick, one that a fault has brought to
    rest by their label. An answer of zero counts because
    the robot may have heard the next one, which was not zero, when the watchdog had not.

    A closed terminal or Ctrl-C asks controller and watchdog to end at once. The watchdog goes last:
    once the controller has left, or `OUTLIVE` later.

    Args:
        name: Node name.
        **kwargs: Passed to `rclpy.node.Node`.
    """

    def __init__(self, name: str = 'watchdog', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        values = own_parameters(self, WatchdogParameters).read()
        self._watch_clock = WatchClock(self)
        self._watch_clock.begin()
        self._timeout = values.timeout
        self._size: int | None = None  # of the last command, while a controller is at work
        self._heard = -math.inf  # when a controller was heard
        self._tick = 0  # what it answered
        self._unasked = 0  # efforts that answer nothing
        self._deadline = 0.0  # when zero is due, unless it speaks
        self._asked = 0.0  # when it was asked to end, steady clock
        self.tripped = False
        self.trips = 0
        self._fallback = FallbackSwitch(self, values) if values.fallback_controller else None
        self._heartbeat = heartbeat_writer()
        # first: who is here may command, too, see Neighbours
        self._heartbeat_publisher = self.create_publisher(
            Float64MultiArray, topics.WATCHDOG, topics.LATEST
        )
        self._publisher = self.create_publisher(
            Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST
        )
        # zero effort alone would leave drives stiff
        gains: dict[str, Any] = dict.fromkeys(
            map(topics.command_topic, ('stiffness', 'damping')), Float64MultiArray
        )
        with suppress(MissingDependency):  # then nothing here is driven by it
            gains[topics.FEEDBACK] = feedback_type('watchdog').Control
        self._gains: dict[Any, Any] = {}  # publisher -> what was heard last
        for topic, kind in gains.items():
            zero = self.create_publisher(kind, topic, topics.LATEST)
            self.create_subscription(
                kind,
                topic,
                lambda told, zero=zero: self._gains.update({zero: told}),
                topics.LATEST,
            )
        self._diagnostics = DiagnosticsPublisher(self, 'watchdog')
        self.heed(
            self.create_subscription(
                Float64MultiArray,
                topics.EFFORT_COMMANDS,
                self._on_command,
                topics.LATEST,
                read=read_array,
            )
        )
        self._watch = self.steady_timer(self._timeout, self._on_watch)
        self.steady_timer(HEARTBEAT_PERIOD, self._on_heartbeat)
        self.steady_timer(1.0, self._on_diagnostics)
        realtime.begin(self, values)

    def may_end(self) -> bool:
        """Return whether no controller is at work any more, or it was asked long ago."""
        now = time.monotonic()
        self._asked = self._asked or now
        return self._size is None or now - self._asked > OUTLIVE

    def _on_command(self, message: Float64MultiArray) -> None:
        rests = any(part.label == topics.RESTS for part in message.layout.dim)
        at_work = not rests and (message.layout.data_offset != 0 or any(message.data))
        if self.tripped and not (at_work or rests):  # our own zeros come back to us
            return
        tick = message.layout.data_offset
        now = self._watch_clock.now(self._watch_clock.stamp_of(tick) if tick else None)
        self._size = len(message.data) if at_work else None
        self._heard, self._deadline, self.tripped = now, now + self._timeout, False
        self._tick = tick or self._tick
        self._unasked += at_work and not tick

    def _on_watch(self) -> None:
        """Send zero if it is due; look again when it could be."""
        now = self._watch_clock.now()
        left = self._timeout
        if self._size is not None:
            if now >= self._deadline:
                self._send_zero(now, self._size)
                self._deadline = now + 0.25 * self._timeout  # one message may be lost
            left = self._deadline - now
        if self._watch_clock.simulated:  # it may stand still, or run faster than ours
            left = max(left, 0.1 * self._timeout) / max(1.0, self._watch_clock.pace)
        self._watch.timer_period_ns = max(1, int(1e9 * left))
        self._watch.reset()

    def _send_zero(self, now: float, size: int) -> None:
        for publisher, told in self._gains.items():
            publisher.publish(without_effort(told))
        self._publisher.publish(ArrayWriter(size).write(0.0, 0))
        if self.tripped:
            return
        self.tripped = True
        self.trips += 1
        self.get_logger().error(
            f'no command for {now - self._heard:.3f} s from a controller at work: sending zero'
        )
        if self._fallback is not None:
            self._fallback.request()

    def _age(self) -> float:
        return self._watch_clock.now() - self._heard

    def _on_heartbeat(self) -> None:
        receivers = self._publisher.get_subscription_count()
        beat = self._tick, self._age(), receivers, self.tripped, self._unasked
        self._heartbeat_publisher.publish(self._heartbeat.write(beat, 0))

    def _on_diagnostics(self) -> None:
        age, level, words = self._age(), DiagnosticStatus.OK, 'a controller is heard'
        if self.tripped:
            level, words = DiagnosticStatus.ERROR, 'the controller fell silent: sending zero'
        elif age > max(self._timeout, 1.0):
            level, words = DiagnosticStatus.WARN, 'no controller is heard'
        figures = {
            'timeout (s)': self._timeout,
            'silence (s)': age,
            'trips': self.trips,
            'receivers': self._publisher.get_subscription_count(),
        }
        if self._fallback is not None:
            figures['fallback'] = self._fallback.outcome
        self._diagnostics.publish(level, words, figures)


main = program(WatchdogNode)
