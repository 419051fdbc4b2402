# SPDX-License-Identifier: Apache-2.0
"""Start, spin and stop nodes: executor choice, signals, one-line errors."""

import os
import sys

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

from walking_control.exceptions import WalkingControlError


def make_executor():
    """Return the fastest executor this rclpy offers."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:  # before Jazzy
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(executor, until=lambda: False):
    """Spin until the context shuts down or a condition holds.

    The events executor must not spin untimed: its timers would never fire.
    """
    while rclpy.ok() and not until():
        executor.spin_once(timeout_sec=0.1)


def run_node(make_node, args=None):
    """Run one node as a program.

    Args:
        make_node: Callable that returns the node; its ``stop()`` is called before the end, its
            ``finished`` property ends the program.
        args: Command-line arguments, None for those of the process.

    Returns:
        Exit status: 0, or that of the error.
    """
    # the context stays alive through SIGINT and SIGTERM, so that the last command can be sent
    rclpy.init(args=args, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    _stop_on_signals()
    node, status = None, 0
    try:
        node = make_node()
        executor = make_executor()
        executor.add_node(node)
        spin(executor, lambda: node.finished)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except WalkingControlError as error:
        print(f'error: {error}', file=sys.stderr)
        status = error.exit_status
    finally:
        if node is not None:
            node.stop()
            node.destroy_node()
        rclpy.try_shutdown()
    return status


def _stop_on_signals():
    import signal

    def stop(signum, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


def isolate_domain():
    """Keep a demo's traffic on this machine and, unless chosen, in a domain of its own."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
