# SPDX-License-Identifier: Apache-2.0
"""Start, spin and stop nodes: executor choice, signals, one-line errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import faulthandler
import os
import signal
import sys
import threading
import time
from typing import Any

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor

from walking_control.exceptions import InvalidInput, WalkingControlError
from walking_control.models.resources import share_directory
from walking_control.ros.nodes import print_from_threads, realtime, report

# A closed terminal, and whatever else would end a process without a word, mean: stop.
STOPS = tuple(
    getattr(signal, f'SIG{name}') for name in ('INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'ALRM')
)
GRACE = 10.0  # s that a process which is asked to end may take for it
SWITCH = 0.0005  # s for which another thread may hold up the next tick
AGAIN = 1.0  # s after which a second request is meant: a terminal and launch both send the first

# files of Fast DDS, by the names of its versions 2 and 3
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')


def make_executor() -> Executor:
    """Return the fastest executor this rclpy offers."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:  # before Jazzy
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(executor: Executor, until: Callable[[], bool] = lambda: False) -> None:
    """Spin until the context shuts down or a condition holds.

    The events executor must not spin untimed: its timers would never fire.
    """
    while executor.context.ok() and not until():
        try:
            executor.spin_once(timeout_sec=0.1)
        except ExternalShutdownException:
            raise
        except Exception as error:  # see `GuardedNode`
            for node in executor.get_nodes():
                report(node, error, 'message or request')


def log_arguments() -> list[str]:
    """Return the ROS arguments without which rclpy does not start where no log can be written.

    It logs to files in ``$ROS_LOG_DIR``, else in ``$ROS_HOME/log``, else in ``~/.ros/log``.
    """
    home = os.environ.get('HOME', '')
    base = os.environ.get('ROS_HOME') or (os.path.isdir(home) and os.path.join(home, '.ros'))
    folder = os.environ.get('ROS_LOG_DIR') or (base and os.path.join(base, 'log')) or ''
    folder = os.path.expanduser(folder)
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return []
    return ['--ros-args', '--disable-external-lib-logs']


def _init(args: Any) -> None:
    try:
        rclpy.init(
            args=[*(sys.argv if args is None else args), *log_arguments()],
            signal_handler_options=rclpy.SignalHandlerOptions.NO,
        )
    except Exception as error:  # rclpy raises several kinds for bad arguments and files
        reason = str(error).strip().splitlines()[0] if str(error).strip() else 'refused'
        raise InvalidInput(
            'ROS arguments', value=' '.join(args or sys.argv[1:]), limit=reason
        ) from error


class StopSignal:
    """Remembers each of `STOPS`, so that a tick is finished before the node stops.

    The ROS context stays alive through them: the last command can still be sent. Nothing is raised
    in the middle of a callback. SIGHUP stays ignored where it was (nohup). As a context manager it
    puts the former handlers back.
    """

    def __init__(self) -> None:
        self.received = False
        self._former = {
            number: signal.signal(number, self._on_signal)
            for number in STOPS
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        }

    def _on_signal(self, number: int, frame: Any) -> None:
        self.received = True

    def __enter__(self) -> 'StopSignal':
        return self

    def __exit__(self, *error: Exception) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)


def bound_end(words: int) -> None:
    """See to it that this process ends soon after one of `STOPS`, whatever hangs in it.

    After the first it may end by itself for `GRACE`; then it says where it hangs and ends, which
    needs no interpreter. A second one ends it at once. A robot that was not told to stop is the
    watchdog's, as after any crash.

    Args:
        words: File that says where it hangs; must not block.
    """
    ours, signals = os.pipe()
    os.set_blocking(signals, False)
    signal.set_wakeup_fd(signals, warn_on_full_buffer=False)  # written to while the program hangs

    def watch() -> None:
        first = None
        while numbers := os.read(ours, 16):
            if not {*STOPS} & {*numbers}:
                continue
            now = time.monotonic()
            if first is None:
                first = now
                faulthandler.dump_traceback_later(GRACE, file=words, exit=True)
            elif now - first > AGAIN:
                os._exit(128 + numbers[-1])

    threading.Thread(target=watch, daemon=True).start()


def end_with_parent() -> None:
    """End this process by SIGTERM once nobody holds the other end of its standard input."""

    def watch() -> None:
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def run_node(make_node: Callable[[], Any], args: Any = None) -> int:
    """Run one node as a program; it ends soon after one of `STOPS`, see `bound_end`.

    What it prints blocks nobody, see `print_from_threads`.

    Args:
        make_node: Callable that returns the node. Its ``finished`` ends the program, its
            ``may_end()`` says whether a signal may, its ``stop()`` is called before the end, its
            ``exit_status`` is returned.
        args: Command-line arguments, None for those of the process.

    Returns:
        Exit status: the node's, or that of the error.
    """
    avoid_shared_memory()
    words = print_from_threads()
    sys.setswitchinterval(SWITCH)
    stop = StopSignal()
    bound_end(words)
    node, executor, status = None, None, 0
    realtime.own_process = True
    try:
        _init(args)
        node = make_node()
        executor = make_executor()
        faulthandler.enable(words)  # the executor wants it on standard error
        executor.add_node(node)
        spin(executor, lambda: node.finished or (stop.received and node.may_end()))
        status = node.exit_status
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except WalkingControlError as error:
        print(f'error: {error}', file=sys.stderr)
        status = error.exit_status
    finally:
        if node is not None:
            node.stop()
            if executor is not None:  # before what it spins is gone
                executor.shutdown()
            node.destroy_node()
        rclpy.try_shutdown()
    return status


def program(make_node: Callable[[], Any]) -> Callable[..., None]:
    """Return the main function of a program that is one node, see `run_node`."""

    def main(args: Any = None) -> None:
        sys.exit(run_node(make_node, args))

    return main


@contextmanager
def ros() -> Iterator[None]:
    """Keep rclpy initialized for commands that take no ROS arguments and handle signals."""
    rclpy.init(args=log_arguments(), signal_handler_options=rclpy.SignalHandlerOptions.NO)
    try:
        yield
    finally:
        rclpy.try_shutdown()


@contextmanager
def spun(node: Any) -> Iterator[Executor]:
    """Give an executor that has a `GuardedNode`, which says its last word with the context."""
    executor = make_executor()
    executor.add_node(node)
    try:
        yield executor
    finally:
        node.stop()
        executor.shutdown()  # before what it spins is gone
        node.destroy_node()


def avoid_shared_memory() -> None:
    """Let messages of this process and those it starts travel by UDP, unless told otherwise.

    A process that is killed leaves its shared memory behind, and whoever writes there is held up
    until Fast DDS gives it up: a second, for the robot and the watchdog alike. Who has profiles or
    peers of their own keeps them.
    """
    os.environ.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    here = (
        os.environ.get('ROS_LOCALHOST_ONLY') == '1'
        or os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', '').upper() == 'LOCALHOST'
    )
    if (
        not here
        or any(os.environ.get(name) for name in (*PROFILES, 'ROS_STATIC_PEERS'))
        or not rclpy.get_rmw_implementation_identifier().startswith('rmw_fastrtps')
    ):
        return
    # for one machine alone ROS adds shared memory by itself, whatever the variable says
    profile = str(share_directory() / 'config' / 'fastdds' / 'this_machine.xml')
    os.environ.update(
        {name: profile for name in PROFILES}, ROS_AUTOMATIC_DISCOVERY_RANGE='SYSTEM_DEFAULT'
    )
    os.environ.pop('ROS_LOCALHOST_ONLY', None)


def isolate_domain() -> None:
    """Keep a demo's traffic on this machine and, unless chosen, in a domain of its own."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    avoid_shared_memory()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
