# SPDX-License-Identifier: Apache-2.0
"""How a node's process begins and ends."""

import os
from pathlib import Path
import signal
import sys
import time

from programs import Program, run
import pytest
import rclpy
from rclpy.clock import Clock, ClockType
from std_msgs.msg import Bool

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.guard import GuardedNode
from walking_control.ros.nodes.runtime import PROFILES

# says which kinds of shared memory its node has open
SHARED = """
from pathlib import Path
import rclpy
from walking_control.ros.nodes.runtime import avoid_shared_memory
avoid_shared_memory()
rclpy.init()
node = rclpy.create_node('alone')
print(*{name for name in ('/dev/shm/fastrtps', '/dev/shm/fast_datasharing')
        if name in Path('/proc/self/maps').read_text()})
"""


@pytest.mark.skipif(not Path('/proc/self/maps').is_file(), reason='shared memory is seen in /proc')
@pytest.mark.skipif(
    'fastrtps' not in rclpy.get_rmw_implementation_identifier(),
    reason='another middleware than Fast DDS',
)
@pytest.mark.parametrize('discovery', ['LOCALHOST', 'SUBNET'])
def test_nodes_share_no_memory(discovery):
    """What a killed controller leaves there would hold up robot and watchdog."""
    environment = {name: value for name, value in os.environ.items() if name not in PROFILES}
    done = run(
        sys.executable,
        '-c',
        SHARED,
        env={**environment, 'ROS_AUTOMATIC_DISCOVERY_RANGE': discovery},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == '\n'


# hangs where no handler of Python is reached
NODE = """
import ctypes, sys
from rclpy.node import Node
from walking_control.ros.nodes import runtime
runtime.GRACE, runtime.AGAIN = 0.5, 0.2

def hang():
    print('hangs', flush=True)
    {hang}

class Stubborn(Node):
    finished, exit_status = False, 0
    def __init__(self):
        super().__init__('stubborn')
        self.create_timer(0.01, lambda: sys.argv[1] == 'ticking' and hang())
        print('runs', flush=True)
    def may_end(self):
        return True
    def stop(self):
        sys.argv[1] == 'stopping' and hang()

sys.exit(runtime.run_node(Stubborn))
"""
MUTEX = (
    'lock = ctypes.create_string_buffer(64); '
    'seize = ctypes.{}(None).pthread_mutex_lock; seize(lock); seize(lock)'
)


def node_that_hangs(library, place):
    """Start a node that hangs in a place of its life; PyDLL keeps the interpreter's lock."""
    return Program(sys.executable, '-c', NODE.format(hang=MUTEX.format(library)), place)


@pytest.mark.parametrize('library, place', [('CDLL', 'ticking'), ('PyDLL', 'stopping')])
def test_a_node_that_hangs_ends_when_it_is_asked_to(library, place):
    """Ctrl-C would not end it, and whoever started it would wait for ever."""
    with node_that_hangs(library, place) as node:
        node.wait_for('hangs' if place == 'ticking' else 'runs')
        assert node.stop() == 1
        assert 'in hang' in node.error


def test_asked_twice_it_ends_at_once():
    """Somebody in a hurry would have to know of kill -9."""
    with node_that_hangs('CDLL', 'ticking') as node:
        node.wait_for('hangs')
        node.send_signal(signal.SIGINT)
        node.send_signal(signal.SIGINT)  # as a terminal and launch do: no second request
        time.sleep(0.3)
        assert node.stop() == 128 + signal.SIGINT


def test_a_timer_does_not_sleep_for_what_it_owed(bench):
    """A watchdog would fall silent for as long as a flood of messages had kept it busy."""
    node = GuardedNode('node')
    timer = node.create_timer(60.0, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME))
    for _ in range(5):  # as the events executor does after an overload
        timer.handle.call_timer()
        timer.callback()
    assert timer.time_until_next_call() <= 60e9
    node.destroy_timer(timer)
    node.on_broken = pytest.fail
    timer.callback()  # one that was under way
    node.destroy_node()


def test_a_timer_that_is_gone_is_not_called(bench):
    """What the executor owed it would reach a controller that is cleaned up, and be a fault."""
    node, calls = bench.add(GuardedNode('guarded')), []
    timer = node.steady_timer(60.0, lambda: calls.append(0))
    owed = timer.callback
    owed()
    assert len(calls) == 1
    node.destroy_timer(timer)
    owed()
    assert len(calls) == 1


def test_what_no_executor_calls_is_read_when_asked_for(bench):
    """Each sensor that an executor calls for takes as long as to read two."""
    node, heard = bench.add(GuardedNode('guarded')), []
    publisher = node.create_publisher(Bool, 'told', topics.SENSOR_OUT)
    given = heard.append, topics.SENSOR_IN
    quiet = node.create_subscription(Bool, 'told', *given, called=False)
    loud = node.create_subscription(Bool, 'told', lambda message: heard.append('loud'), given[1])
    assert bench.spin_until(lambda: publisher.get_subscription_count() == 2)
    publisher.publish(Bool(data=True))
    assert bench.spin_until(lambda: heard)
    assert heard == ['loud']
    node.catch_up()
    assert heard == ['loud', Bool(data=True)]
    node.destroy_subscription(quiet)
    node.catch_up()  # though somebody holds it still
    node.destroy_subscription(loud)
