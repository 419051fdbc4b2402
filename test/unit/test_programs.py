# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start: no wait without an end, and nobody is left behind."""

import os
import sys
import time

from programs import Program, run
import pytest

# keeps what it prints to open in a child that outlives it
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
print(child.pid, flush=True)
"""
# does not end when it is asked to
DEAF = """
import signal, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
def sleep_on():
    print('ready', flush=True)
    time.sleep(600)
sleep_on()
"""


def lives(pid):
    """Return whether a process is there; one that nobody has waited for yet is not."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


@pytest.mark.skipif(not os.path.isdir('/proc/self'), reason='processes are looked up in /proc')
def test_a_grandchild_holds_nobody_up():
    """A test would wait for ever for the output of what a program has left running."""
    begin = time.monotonic()
    child = int(run(sys.executable, '-c', PARENT).stdout)
    deadline = time.monotonic() + 5.0
    while lives(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not lives(child) and time.monotonic() - begin < 60.0


def test_a_program_that_does_not_end_is_ended():
    """A run of all tests would be lost to one program, and nobody would know where it hangs."""
    with Program(sys.executable, '-c', DEAF) as program:
        program.wait_for('ready')
        with pytest.raises(AssertionError, match='has not ended after 0.1 s') as caught:
            program.stop(timeout=0.1)
        assert 'in sleep_on' in str(caught.value)
        assert program.returncode is not None
        with pytest.raises(AssertionError, match="does not print 'set'"):
            program.wait_for('set')
