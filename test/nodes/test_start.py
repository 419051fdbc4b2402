# SPDX-License-Identifier: Apache-2.0
"""How a controller starts: its first answers, and a start right after an end."""

import gc
import inspect
from pathlib import Path
import sys

from programs import Program
import pytest
import rclpy

from walking_control.ros.nodes import topics

fast_dds = pytest.mark.skipif(
    not Path('/proc/self/stat').is_file()
    or 'fastrtps' not in rclpy.get_rmw_implementation_identifier(),
    reason='processes are known on Linux, by Fast DDS',
)
# of what a later answer takes: a first step or a first contact may add something
MUCH = 3


@pytest.fixture
def calls():
    """Return a function that calls another and returns how many calls that took, however fast."""

    def counted(function, *arguments):
        count = 0

        def note(frame, event, argument):
            nonlocal count
            count += event in ('call', 'c_call')

        sys.setprofile(note)
        try:
            function(*arguments)
        finally:
            sys.setprofile(None)
        return count

    return counted


def test_first_answers_cost_what_later_ones_do(bench, robot, calls, monkeypatch):
    """A robot just armed would wait 0.1 s for its second command, which is a fault."""
    # as in a process that has logged nothing yet
    monkeypatch.setattr(inspect, 'modulesbyfile', {})
    monkeypatch.setattr(inspect, '_filesbymodname', {})
    node = bench.controller()
    session, counts = node.session, []
    answered = session._on_answered
    session._sensors._on_answered = lambda now: counts.append(calls(answered, now))
    robot.wait()
    for tick in range(21):
        robot.ask(1.0 + 0.01 * tick)
    # telemetry has been due several times among the later ones
    assert max(counts[:10]) <= MUCH * max(counts[10:]), counts
    first, second = (calls(session.stop, code, 'somebody') for code in ('watchdog', 'jump'))
    assert first <= MUCH * second, 'the first line that is logged'


def test_a_walk_does_not_wait_for_the_garbage_of_the_start(bench):
    """A full look at all modules and models holds a tick up for 0.1 to 0.2 s, now and then."""
    node = bench.controller()
    assert gc.get_freeze_count() > 0.9 * len(gc.get_objects())
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert not gc.get_freeze_count(), 'what is not needed any more could never be freed'


# an IMU broadcaster that talks until it is killed
BROADCASTER = """
import time, rclpy
from sensor_msgs.msg import Imu
from walking_control.ros.nodes import topics
rclpy.init()
node = rclpy.create_node('imu_broadcaster')
publisher = node.create_publisher(Imu, topics.IMU, topics.SENSOR_OUT)
node.create_subscription(Imu, topics.EFFORT_COMMANDS, print, 1)
print('talks', flush=True)
while True:
    publisher.publish(Imu())
    time.sleep(0.01)
"""


def start_broadcaster(bench, node, count):
    """Start an IMU broadcaster; return it once a node has discovered it, as one of several."""
    program = Program(sys.executable, '-c', BROADCASTER)
    program.wait_for('talks')
    assert bench.spin_until(lambda: node.count_publishers(topics.IMU) == count, 30.0)
    return program


@pytest.mark.long
@fast_dds
def test_who_has_crashed_is_forgotten_at_once(bench):
    """A robot that crashed and runs again could not be walked, or cleared, for twenty seconds."""
    node = bench.controller(activate=False)
    node.trigger_configure()
    neighbours = node._neighbours
    with start_broadcaster(bench, node, 1) as first:
        assert neighbours.conflict() is None and neighbours.receivers(topics.EFFORT_COMMANDS) == 1
        first.kill()
        with start_broadcaster(bench, node, 2) as second:
            assert neighbours.conflict() is None, 'the graph has two, but one of them is dead'
            assert neighbours.receivers(topics.EFFORT_COMMANDS) == 1
            with start_broadcaster(bench, node, 3):
                words = neighbours.conflict()
                assert words.count('/imu_broadcaster and') == 1, 'two that live, of one name'
            assert neighbours.conflict() is None
        assert second.returncode is not None


@fast_dds
def test_what_was_never_seen_alive_counts_as_alive(bench):
    """A second law in a container, whose processes cannot be seen, would go unnoticed."""
    node = bench.controller(activate=False)
    ended = node._neighbours._ended
    assert ended._machines, 'of this middleware nothing would be known'
    (machine,) = ended._machines
    for gid in (machine + bytes(12), bytes(16), b'1234' + bytes(range(12))):
        assert not ended.has_ended(gid)
