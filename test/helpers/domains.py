# SPDX-License-Identifier: Apache-2.0
"""A ROS domain that nobody else on this machine uses for tests: not a worker, not another run."""

import contextlib
import fcntl
import itertools
import os
from pathlib import Path
import tempfile

NUMBERS = range(1, 100)  # up to 101 is safe on every platform; 0 is everybody's
_next = itertools.count(os.getpid())
BUSY = 0.5  # s that a busy machine may be silent, where that is not what a test is about


def reserve_domain():
    """Take a domain and return (number, function that gives it back).

    It is held by a lock on a file, which ends with the process that took it. Numbers come in turn,
    so that what a test leaves behind in the middleware does not meet the next one.

    Raises:
        RuntimeError: All are taken.
    """
    for _ in NUMBERS:
        number = NUMBERS[next(_next) % len(NUMBERS)]
        path = Path(tempfile.gettempdir()) / f'walking_control-domain-{number}.lock'
        with contextlib.suppress(OSError):  # taken, or of another user
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                raise
            return number, lambda: os.close(handle)
    raise RuntimeError('every ROS domain is in use by a test')
