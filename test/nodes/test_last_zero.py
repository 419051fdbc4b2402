# SPDX-License-Identifier: Apache-2.0
"""Whatever becomes of the terminal or the process, the robot is not left with a torque."""

import contextlib
import os
import signal
import time

from outside_robot import OutsideRobot, started
import pytest
from std_msgs.msg import Bool

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.printing import Outlet
from walking_control.ros.nodes.runtime import STOPS


@pytest.fixture(autouse=True)
def programs_hear_a_closed_terminal():
    """Tests under nohup would start programs that must not hear SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@contextlib.contextmanager
def pipe():
    """Give the writing end of a pipe that nobody reads, and what fills it."""
    ours, theirs = os.pipe()

    def fill():
        other = os.open(f'/proc/self/fd/{theirs}', os.O_WRONLY | os.O_NONBLOCK)
        for size in (4096, 1):
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(other, b'x' * size)
        os.close(other)

    try:
        yield theirs, fill
    finally:
        os.close(ours)
        os.close(theirs)


@contextlib.contextmanager
def terminal():
    """Give a terminal, and what presses Ctrl-S in it."""
    ours, theirs = os.openpty()
    try:
        yield theirs, lambda: os.write(ours, b'\x13')
    finally:
        os.close(ours)
        os.close(theirs)


@contextlib.contextmanager
def walking(**given):
    """Give a robot that has got a torque, and the processes that gave it."""
    robot = OutsideRobot('outside')
    try:
        with started(**given) as programs:
            assert robot.spin_until(lambda: robot.moving, 60.0), robot.faults
            yield robot, programs
    finally:
        robot.close()


@pytest.mark.parametrize(
    'place, how',
    [
        pytest.param(pipe, 'emergency_stop', marks=pytest.mark.long),
        pytest.param(terminal, 'SIGTERM', marks=pytest.mark.long),
        pytest.param(pipe, 'SIGTERM', marks=pytest.mark.long),
        pytest.param(terminal, 'emergency_stop', marks=pytest.mark.long),
    ],
)
def test_a_terminal_that_is_not_read_holds_nobody_up(bench, place, how):
    """The last torque would stay on for ever, or until somebody presses Ctrl-Q."""
    with (
        place() as (end, stop_reading),
        walking(watchdog=False, terminal=end) as (robot, (controller,)),
    ):
        stop_reading()
        if how == 'SIGTERM':
            controller.send_signal(signal.SIGTERM)
        else:
            robot.node.create_publisher(Bool, topics.EMERGENCY_STOP, 1).publish(Bool(data=True))
        asked = time.monotonic()
        # an emergency stop brings Dribbel to a stand first, for `safety.stop_time` at most
        assert robot.spin_until(lambda: not robot.moving, 15.0), robot.faults
        robot.spin(max(0.0, asked + 1.0 - time.monotonic()))
        assert not robot.moving
        assert controller.stop(signal.SIGTERM, 5.0) == 0


def test_dropped_lines_are_counted():
    """Whoever reads the terminal again would not know that something is missing."""
    ours, theirs = os.pipe()
    outlet = Outlet(theirs)
    deadline, written = time.monotonic() + 30.0, 0
    while not outlet.dropped and time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            os.write(theirs, b'x' * 999 + b'\n')
            written += 1
    told, count = b'', 0
    while b'were dropped' not in told:
        told += os.read(ours, 1 << 16)
    count = int(told.partition(b' lines were dropped')[0].rpartition(b'\n')[2])
    assert 0 < count < written
    outlet.close()
    os.close(ours)


@pytest.mark.parametrize(
    'number',
    [
        number if number == signal.SIGHUP else pytest.param(number, marks=pytest.mark.long)
        for number in sorted({*STOPS} - {signal.SIGINT, signal.SIGTERM})
    ],
)
def test_a_closed_terminal_leaves_no_torque(bench, number):
    """Controller and watchdog would end together, and ros2_control would hold the last torque."""
    with walking() as (robot, programs):
        for program in programs:
            program.send_signal(number)
        assert robot.spin_until(lambda: all(each.poll() is not None for each in programs), 15.0)
        assert not robot.moving
        assert [program.returncode for program in programs] == [0, 0]


@pytest.mark.long
def test_the_watchdog_goes_last(bench):
    """A controller that dies of what ends the watchdog, too, would leave a torque."""
    with walking() as (robot, (controller, watchdog)):
        watchdog.send_signal(signal.SIGHUP)
        robot.spin(0.3)
        assert robot.moving
        controller.kill()
        assert robot.spin_until(lambda: not robot.moving, 5.0)
        assert robot.spin_until(lambda: watchdog.poll() is not None, 10.0)
