# SPDX-License-Identifier: Apache-2.0
"""Programs that a test starts: every wait has an end, and nothing they started is left behind.

A program gets a session of its own, so that its own children end with it. Its output goes to
files, since a pipe that a grandchild holds open is read for ever. One that has to be ended by force
first writes down where each of its threads is (`faulthandler`).
"""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

SCRIPTS = Path(__file__).parents[2] / 'scripts'  # executables of the nodes
PATIENCE = 60.0  # s, how long a program is waited for unless told otherwise


class Program:
    """A program at work, as a context: it is ended with it, by force where need be.

    Args:
        *command: Words of the command line.
        **given: Passed to `subprocess.Popen`.
    """

    def __init__(self, *command, **given):
        self.command = [str(word) for word in command]
        self._files = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        given['env'] = {**given.get('env', os.environ), 'PYTHONFAULTHANDLER': '1'}
        self._process = subprocess.Popen(
            self.command,
            **{
                'stdin': subprocess.DEVNULL,
                'stdout': self._files[0],
                'stderr': self._files[1],
                **given,
            },
            start_new_session=True,
        )
        self.pid, self.stdin = self._process.pid, self._process.stdin
        self.poll, self.send_signal = self._process.poll, self._process.send_signal

    @property
    def returncode(self):
        """Exit status, None while it runs."""
        return self._process.returncode

    @property
    def output(self):
        """What it has printed so far."""
        return self._read(0)

    @property
    def error(self):
        """What it has printed on standard error so far."""
        return self._read(1)

    def _read(self, number):
        handle = self._files[number].fileno()
        return os.pread(handle, os.fstat(handle).st_size, 0).decode(errors='replace')

    def wait(self, timeout=PATIENCE):
        """Wait for its end; return its exit status.

        Raises:
            AssertionError: It has not ended, with the stacks of its threads; it is killed.
        """
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.send_signal(signal.SIGABRT)
                self._process.wait(2.0)
            self.kill()
        raise AssertionError(f'{self._words} has not ended after {timeout:g} s: {self.error}')

    def wait_for(self, text, timeout=PATIENCE):
        """Wait until a text stands in its output, or on standard error; return that output.

        Raises:
            AssertionError: It does not come.
        """
        deadline = time.monotonic() + timeout
        while True:
            ended = self.poll() is not None or time.monotonic() > deadline
            for printed in (self.output, self.error):
                if text in printed:
                    return printed
            assert not ended, f'{self._words} does not print {text!r}: {self.error}'
            time.sleep(0.02)

    def stop(self, number=signal.SIGINT, timeout=20.0):
        """Ask it to end by a signal; return its exit status.

        Raises:
            AssertionError: It does not end.
        """
        self.send_signal(number)
        return self.wait(timeout)

    def kill(self):
        """Kill it and whatever it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(10.0)  # the kernel's work, done at once

    @property
    def _words(self):
        return ' '.join(word if len(word) < 40 else f'{word[:40]}...' for word in self.command)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()
        for file in (*self._files, self.stdin):
            if file is not None:
                file.close()


def run(*command, timeout=PATIENCE, **given):
    """Run a program to its end; return exit status and output as `subprocess.run` does.

    Raises:
        AssertionError: It has not ended in time.
    """
    with Program(*command, **given) as program:
        program.wait(timeout)
        return subprocess.CompletedProcess(
            program.command, program.returncode, program.output, program.error
        )


def start_node(module, preexec_fn=None, **values):
    """Start a node of the package as a `Program`, its parameters given by name."""
    words = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
    return Program(sys.executable, SCRIPTS / module, '--ros-args', *words, preexec_fn=preexec_fn)
