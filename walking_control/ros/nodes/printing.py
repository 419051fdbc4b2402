# SPDX-License-Identifier: Apache-2.0
"""What a program prints goes through a pipe that never blocks, to threads that may.

A terminal that is not read (Ctrl-S, a pager, a hung connection) holds up whoever writes to it: the
thread that has the next command to send, since ROS logs from whichever thread calls.
"""

import atexit
from contextlib import suppress
import fcntl
import os
import queue
import select
import threading

CAPACITY = 1 << 20  # bytes of the pipe: what can be written before our thread has its turn
CHUNK = 4096  # bytes that are carried on at once
CHUNKS = 64  # that wait for the terminal; what comes on top is dropped, and counted
LAST = 0.5  # s: so long the end of a program waits for its terminal


def print_from_threads() -> int:
    """Let nothing that this process prints block it.

    Returns:
        File for the words of a crash, which leaves no time for threads: the standard error of
        before, but it never blocks.
    """
    if os.isatty(2):  # which ROS can no longer see
        os.environ.setdefault('RCUTILS_COLORIZED_OUTPUT', '1')
    try:
        direct = os.open('/proc/self/fd/2', os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
    except OSError:  # a socket, or a system without it
        direct = 2
    for number in (1, 2):
        Outlet(number)
    return direct


class Outlet:
    """Carries on what is written to a file descriptor of this process; drops what nobody reads.

    Args:
        number: The descriptor, 1 or 2. What it led to gets the lines, and says how many it missed.
    """

    def __init__(self, number: int) -> None:
        self.dropped = 0  # lines
        self._waiting: queue.Queue[bytes] = queue.Queue(CHUNKS)
        self._number, self._out = number, os.dup(number)
        self._in, pipe = os.pipe()
        with suppress(AttributeError, OSError):  # Linux, and allowed
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, CAPACITY)
        os.set_blocking(pipe, False)
        os.dup2(pipe, number)
        os.close(pipe)
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._read, self._write)
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.close)

    def _read(self) -> None:
        while data := os.read(self._in, CHUNK):
            try:
                self._waiting.put_nowait(data)
            except queue.Full:
                self.dropped += data.count(b'\n')
        self._waiting.put(b'')

    def _write(self) -> None:
        last = b'\n'
        while data := self._waiting.get():
            if self.dropped:
                lines, self.dropped = self.dropped, 0
                notice = b'%d lines were dropped here: nobody read them\n' % lines
                data = (notice if last == b'\n' else b'\n' + notice) + data
            last = data[-1:]
            while data:
                try:
                    data = data[os.write(self._out, data) :]
                except BlockingIOError:  # it was told not to block by somebody else
                    select.select((), (self._out,), ())
                except OSError:  # the terminal is gone, the disk is full
                    self.dropped += data.count(b'\n')
                    break

    def close(self) -> None:
        """Let what is printed from now on go nowhere; wait a little for what was printed."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._number)
        os.close(nowhere)
        self._threads[1].join(LAST)
