# SPDX-License-Identifier: Apache-2.0
"""What the watchdog says of commands, who takes over, and the clock by which silence is judged.

Discovery takes seconds on a bad day, and in that time a watchdog neither hears the controller nor
reaches the robot. So a controller that needs one sends zeros until the watchdog has answered a
tick of its own and reaches as many receivers as it does.
"""

from collections.abc import Callable
import math
import time
from typing import Any

from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Float64MultiArray

from walking_control.ros.nodes import ArrayWriter, GuardedNode, topics

FIELDS = ('tick', 'age', 'receivers', 'tripped', 'unasked')
OWN = 0.3  # s for which an effort that answers no tick may be one of our own


def heartbeat_writer() -> ArrayWriter:
    """Return what writes a heartbeat: the numbers of `FIELDS`, named in its layout.

    These are the tick number of the newest command that had one (0 before the first), the time
    since a command was heard (s), the subscriptions that get the watchdog's zeros, its own among
    them, whether it is sending zeros, and how many commands with an effort that answer no tick it
    has heard.
    """
    writer = ArrayWriter(len(FIELDS))
    writer.label(*FIELDS)
    return writer


class WatchdogGuard:
    """Knows whether the watchdog listens to this controller.

    Args:
        needed: Callable that returns how many must receive the effort commands.
        timeout: Longest silence of the heartbeat, s; None: no watchdog is needed.
        on_lost: Called with a sentence when a watchdog that listened no longer does.
        on_stranger: Called with a sentence when it has heard commands that are not ours.
    """

    def __init__(
        self,
        node: GuardedNode,
        needed: Callable[[], int],
        timeout: float | None,
        on_lost: Callable[[str], None],
        on_stranger: Callable[[str], None],
    ) -> None:
        self._needed, self._on_lost, self._on_stranger = needed, on_lost, on_stranger
        self._timeout = math.inf if timeout is None else timeout
        self.begin()
        if timeout is not None:
            node.heed(
                node.create_subscription(
                    Float64MultiArray, topics.WATCHDOG, self.on_heartbeat, topics.LATEST
                )
            )
            node.steady_timer(timeout / 4, self._on_watch)

    def begin(self) -> None:
        """Begin anew: only an answer to what is sent from now on counts."""
        self.listens = self._timeout == math.inf
        self._first: int | None = None
        self._last = 0
        self._unasked = math.inf
        self._own = time.monotonic()  # when we last sent what answers no tick
        self._answered = -math.inf  # when the watchdog last said that it hears us
        self._heartbeat: tuple[float, Any] | None = None  # when and what it last said
        self._since = time.monotonic()

    def note(self, tick: int) -> None:
        """Remember the tick of a command that is about to be sent; 0: it answers none."""
        if not tick:
            self._own = time.monotonic()
            return
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
            return (
                f'no watchdog is heard {waited}: start watchdog_node, or set require_watchdog '
                'to false'
            )
        when, (_, _, receivers, *_) = self._heartbeat
        if time.monotonic() - when > self._timeout:
            return f'the watchdog has been silent for {time.monotonic() - when:.1f} s'
        if receivers < self._needed():
            return f'the watchdog reaches {receivers:g} of {self._needed()} receivers {waited}'
        return f'the watchdog does not hear this controller {waited}'

    def on_heartbeat(self, message: Float64MultiArray) -> None:
        """Take what the watchdog says."""
        if len(message.data) != len(FIELDS):  # somebody else's
            return
        tick, age, receivers, _, unasked = message.data
        now = time.monotonic()
        self._heartbeat = now, tuple(message.data)
        # the efforts of our reactions to faults answer no tick either
        strange, self._unasked = unasked - self._unasked, unasked
        if strange > 0 and self.listens and now - self._own > OWN:
            self._on_stranger(
                f'the watchdog has heard {strange:.0f} commands that this controller has not sent'
            )
        # numbers come round, so distances are compared
        ours = (
            self._first is not None
            and tick > 0
            and (tick - self._first) % topics.TICKS <= (self._last - self._first) % topics.TICKS
        )
        # receivers that come and go later, a recorder say, are no reason to stop
        if ours and age < self._timeout and (self.listens or receivers >= self._needed()):
            self.listens, self._answered = True, now

    def _on_watch(self) -> None:
        silent = time.monotonic() - self._answered
        if self.listens and silent > self._timeout:
            self.begin()
            self._on_lost(f'the watchdog has not heard this controller for {silent:.2f} s')


class FallbackSwitch:
    """One request to ``<controller_manager>/switch_controller``, made when it is needed.

    Zero effort has been sent before and goes on being sent: the switch is in addition to it.

    Args:
        node: The rclpy node that asks.
        values: `fallback_controller`, `effort_controller` and `controller_manager`.
    """

    def __init__(self, node: Node, values: Any) -> None:
        self._node, self._values = node, values
        self.outcome = 'ready'
        self._client = None
        try:
            # comes with ros2_control, which the watchdog does without otherwise
            from controller_manager_msgs.srv import SwitchController
        except ImportError:
            self._fail('controller_manager_msgs is not installed')
            return
        self._kind = SwitchController
        self._client = node.create_client(
            SwitchController, f'{values.controller_manager}/switch_controller'
        )

    def _fail(self, words: str) -> None:
        self.outcome = f'{self._values.fallback_controller} not activated: {words}'
        self._node.get_logger().error(self.outcome)

    def request(self) -> None:
        """Ask for the switch; the answer comes later and is kept in `outcome`."""
        if self._client is None:
            return
        if not self._client.service_is_ready():
            self._fail(f'{self._values.controller_manager} does not answer')
            return
        request = self._kind.Request(
            activate_controllers=[self._values.fallback_controller],
            deactivate_controllers=[self._values.effort_controller],
            # all or nothing: joints that nobody commands any more would be worse than zero effort
            strictness=self._kind.Request.STRICT,
            activate_asap=True,
        )
        self.outcome = 'asked for'
        self._client.call_async(request).add_done_callback(self._on_answer)

    def _on_answer(self, future: Future) -> None:
        error = future.exception()
        if error is not None:
            self._fail(str(error))
        elif not future.result().ok:
            self._fail('the controller manager refused')
        else:
            self.outcome = f'{self._values.fallback_controller} activated'
            self._node.get_logger().warning(self.outcome)


JUMP = 1.0  # s by which simulated time is set anew, not passed
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
        if stamp is not None and stamp == self._told:  # of another sensor of the same moment
            return self._time
        told = self._ros.now().nanoseconds * 1e-9
        if stamp is not None and (told == 0.0 or told < stamp <= told + JUMP):
            told = stamp  # 0: nothing has been heard on /clock
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
        half = topics.TICKS // 2
        ahead = (tick - topics.tick_number_of(told) + half) % topics.TICKS - half
        return float(1e-9 * told + 1e-6 * ahead)

    @property
    def still(self) -> float:
        """For how many s of the steady clock simulated time has stood still."""
        return time.monotonic() - self._told_at if self.simulated else 0.0

    @property
    def lost(self) -> bool:
        """Whether nobody is left who could let a simulated clock go on."""
        return self.simulated and not self._node.count_publishers(topics.CLOCK)
