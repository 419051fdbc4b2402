# SPDX-License-Identifier: Apache-2.0
"""Real-time scheduling of a node's program: priority, processors, memory; said on /diagnostics.

An ordinary process waits its turn behind whatever else the machine does, for tens of milliseconds,
and a full garbage collection takes as long: together soon more than `safety.state_timeout`.
"""

from contextlib import suppress
import ctypes
import gc
import os
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from walking_control.models.parameters import parameter, Parameters
from walking_control.ros.nodes import DiagnosticsPublisher, GuardedNode

LIMITS = '@realtime - {} in /etc/security/limits.conf'
LOCK = 1 | 2 | 4  # MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # of mallopt
RESERVE = 1 << 25  # bytes, the most that it takes: blocks below come from memory that stays
TOO_MUCH = (
    'takes a whole processor: {} sets of sensors of the last second were left unanswered, '
    'as the kernel may stop it for 50 ms; a lower rate of the law or a faster processor helps'
)
SHARE = 0.9  # of a processor that a process with real-time priority takes for long
BURST = 0.01  # s of a processor: what is saved or owed at most
own_process = False  # of a node alone; the process of whoever imports us is not ours to raise


class Rest:
    """Has the thread that answers leave a part of its processor to others, a little at a time.

    Linux keeps 5 % of each second for processes without real-time priority. One that takes all is
    stopped for what is due to them at once, 50 ms: half of `safety.state_timeout`. One that leaves
    a set of sensors unanswered now and then is stopped for a period. No two sets in a row are left.

    Attributes:
        count: How often it was due since `pop`.
    """

    def __init__(self) -> None:
        self.count, self._owed, self._rested = 0, 0.0, False
        self._now, self._used = time.monotonic(), time.thread_time()

    def is_due(self, now: float) -> bool:
        """Return whether the thread that asks has taken more than its share, and answered last.

        Args:
            now: Of time.monotonic, s.
        """
        used = time.thread_time()
        self._owed += used - self._used - SHARE * (now - self._now)
        self._owed = min(max(self._owed, -BURST), BURST)
        self._now, self._used = now, used
        self._rested = self._owed > 0.0 and not self._rested
        self.count += self._rested
        return self._rested

    def pop(self) -> int:
        """Return how often it was due since this was asked last."""
        count, self.count = self.count, 0
        return count


rest: Rest | None = None  # of this process, once it has real-time priority


class RealTimeParameters(Parameters):
    """What a node that runs in real time may ask of the machine."""

    # below watchdog and ros2_control
    priority: int = parameter(
        45,
        '1',
        'Real-time priority (SCHED_FIFO) of the process; 0: none. Needs the right to it, '
        'e.g. rtprio in /etc/security/limits.conf.',
        0,
        90,
    )
    cpu_affinity: tuple[float, ...] = parameter(
        (), '1', 'Numbers of the processors that the process may use; empty: all.', 0.0, 4095.0
    )
    lock_memory: bool = parameter(
        True,
        '',
        'Keep the memory of the process from being swapped out. Needs the right to it, '
        'e.g. memlock in /etc/security/limits.conf.',
    )


def begin(node: GuardedNode, values: Any) -> None:
    """Ask the machine for what a node needs that has to be on time, once, and say what it got.

    Nothing happens in a process that is not the node's own.

    Args:
        values: Its `RealTimeParameters`.
    """
    global own_process, rest
    if not own_process:
        return
    own_process = False
    gc.collect()  # from now on only what is new is looked at
    gc.freeze()
    _keep_memory()
    asked = (
        ('priority', values.priority, raise_priority, LIMITS.format('rtprio 90')),
        ('cpu_affinity', values.cpu_affinity, _pin, f'this machine has {os.cpu_count()}'),
        ('lock_memory', values.lock_memory, _lock_memory, LIMITS.format('memlock unlimited')),
    )
    refused = []
    for name, value, ask, remedy in asked:
        if value:
            try:
                ask(value)
            except (AttributeError, OSError, ValueError) as error:
                refused.append(f'{name} {value} refused: {error}; {remedy}')
    if _least_priority():
        rest = Rest()
    words = '; '.join(refused) or 'as asked for'
    if refused:
        node.get_logger().warning(f'{words}; a busy machine makes this node late')
    diagnostics, had = DiagnosticsPublisher(node, 'real time'), _least_priority()
    figures = {name: value for name, value, _, _ in asked}

    def publish() -> None:
        has = _least_priority()
        found = [f'priority {had} was given, and is {has} now: somebody took it'] * (has < had)
        if rests := rest.pop() if rest is not None else 0:
            found.append(TOO_MUCH.format(rests))
        level = DiagnosticStatus.WARN if refused or found else DiagnosticStatus.OK
        told = '; '.join([*refused, *found]) or words
        diagnostics.publish(level, told, {**figures, 'priority': has})

    node.steady_timer(1.0, publish)


def raise_priority(priority: int) -> None:
    """Give every thread of this process, and those they start, a real-time priority.

    Args:
        priority: Of SCHED_FIFO, from 1 to 99.

    Raises:
        OSError: The right to it is missing.
        AttributeError: The system knows no such priorities.
    """
    for thread in os.listdir('/proc/self/task'):
        os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(priority))


def _least_priority() -> int:
    """Return the lowest real-time priority of a thread of this process; 0: none."""
    least = 99
    for thread in os.listdir('/proc/self/task'):
        with suppress(ProcessLookupError):  # it has ended meanwhile
            least = min(least, os.sched_getparam(int(thread)).sched_priority)
    return least


def _pin(processors: str) -> None:
    for thread in os.listdir('/proc/self/task'):
        os.sched_setaffinity(int(thread), {int(number) for number in processors})


def _keep_memory() -> None:
    """Take memory for large messages now, and give none back.

    Each page that is new costs about a microsecond: a message of 10 MB 20 ms, in which nothing else
    runs. The second time it is there.
    """
    c = ctypes.CDLL(None)
    if hasattr(c, 'mallopt'):
        c.malloc.restype, c.free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
        c.memset.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
        c.mallopt(MMAP_THRESHOLD, RESERVE)
        c.mallopt(TRIM_THRESHOLD, 4 * RESERVE)
        places = [c.malloc(RESERVE // 2) for _ in range(4)]
        for place in filter(None, places):
            c.memset(place, 1, RESERVE // 2)
            c.free(place)


def _lock_memory(wanted: bool) -> None:
    if ctypes.CDLL(None, use_errno=True).mlockall(LOCK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
