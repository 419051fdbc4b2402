# SPDX-License-Identifier: Apache-2.0
"""Beside a simulator at its own pace: silence counts in simulated time, a pause is none."""

from collections import Counter
import contextlib
from pathlib import Path
import re
import sys
import time
from types import SimpleNamespace

from conftest import HandDrivenRobot
from diagnostic_msgs.msg import DiagnosticStatus
from programs import Program
import pytest
import rclpy
from rclpy.parameter import Parameter
from rclpy.time_source import TimeSource
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.heartbeat import WatchClock
from walking_control.ros.nodes.messages import ArrayWriter, set_stamp
from walking_control.ros.nodes.watchdog_node import WatchdogNode
from walking_control.ros.ros2_control.files import shipped_folder

TICK = {'step': 0.01, 'every': 0.05}  # simulated s, and s of the wall: a fifth of real time
PAUSE = 0.4  # s, four times state_timeout


class Simulator(HandDrivenRobot):
    """A hand-driven robot with a clock of its own."""

    def __init__(self, bench):
        super().__init__(bench)
        self.clock = self.node.create_publisher(Clock, topics.CLOCK, topics.LATEST)

    def tell(self, stamp):
        """Publish the time."""
        message = Clock()
        set_stamp(message.clock, stamp)
        self.clock.publish(message)

    def send(self, stamp, **sensors):
        """Publish the time and one set of sensors."""
        self.tell(stamp)
        super().send(stamp, **sensors)

    def moves(self):
        """Return whether the last effort is not zero."""
        return bool(self.efforts) and self.efforts[-1].data[0] != 0.0


@pytest.fixture
def simulator(bench):
    """Return a `Simulator`."""
    return Simulator(bench)


def walking(bench, simulator, **parameters):
    """Return a controller that walks at a fifth of real time."""
    node = bench.controller(realtime=True, use_sim_time=True, **parameters)
    simulator.wait()
    assert simulator.stream_until(simulator.moves, 20.0, **TICK), node.fault
    return node


def rest(bench, duration):
    """Spin for a while, nobody sends."""
    end = time.monotonic() + duration
    bench.spin_until(lambda: time.monotonic() > end)


@pytest.mark.long
def test_slow_simulators_are_walked_in(bench, simulator):
    """No slow machine would see a robot walk; the silence of one sensor still counts."""
    node = walking(bench, simulator)
    count = len(simulator.efforts)
    assert simulator.stream_until(lambda: len(simulator.efforts) > count + 20, **TICK)
    assert node.fault is None and simulator.moves()
    assert simulator.stream_until(lambda: node.fault is not None, mute='imu', **TICK)
    assert node.fault.code == 'stale_imu'


def test_a_pause_is_no_silence(bench, simulator):
    """Whoever looks closely at a moment of a simulated walk would have stopped it."""
    node = walking(bench, simulator)
    rest(bench, PAUSE)
    assert node.fault is None and node.session.clock.still > 0.5 * PAUSE
    count = len(simulator.efforts)
    assert simulator.stream_until(lambda: len(simulator.efforts) > count + 5, **TICK)
    assert node.fault is None and simulator.moves()


def test_time_that_goes_on_without_sensors_is_silence(bench, simulator):
    """A simulator whose broadcasters have died would hold the last effort."""
    node = walking(bench, simulator)
    now = simulator._stamp
    for tick in range(1, 12):
        simulator.tell(now + 0.01 * tick)
        rest(bench, 0.02)
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'stale_joint_state'
    assert bench.spin_until(lambda: not simulator.moves())


def test_a_simulator_that_has_gone_is_missed(bench, simulator):
    """A controller would wait for ever for a simulator that has crashed."""
    node = walking(bench, simulator, waiting_timeout=0.5)
    rest(bench, 1.0)
    assert node.fault is None, 'a pause, as long as somebody publishes the clock'
    bench.remove(simulator.node)
    assert bench.spin_until(lambda: node.fault is not None)
    assert node.fault.code == 'stale_joint_state' and topics.CLOCK in node.fault.message


def test_a_clock_that_is_missing_is_said(bench, robot):
    """Whoever forgot the bridge of /clock would find out when something else waits for it."""
    bench.controller(realtime=True, use_sim_time=True)
    status = robot.stream_until_told(f'nobody publishes {topics.CLOCK}')
    assert status.level == DiagnosticStatus.WARN


def test_a_reset_is_a_fault_to_be_cleared(bench, simulator):
    """A controller beside a simulator that is reset would have to be started anew."""
    node = walking(bench, simulator)
    simulator._stamp = 0.2
    assert simulator.stream_until(lambda: node.fault is not None, **TICK)
    assert node.fault.code == 'clock_backwards'
    client = simulator.node.create_client(Trigger, 'walking_controller/clear_fault')
    assert client.wait_for_service(40.0), f'nobody offers {client.srv_name}'
    future = client.call_async(Trigger.Request())
    assert simulator.stream_until(future.done, **TICK) and future.result().success
    assert simulator.stream_until(simulator.moves, **TICK), node.fault
    assert node.fault is None


@pytest.mark.long
def test_a_watchdog_waits_in_simulated_time(bench, simulator):
    """At a tenth of real time a watchdog would stop every robot, and in every pause."""
    watchdog = bench.add(
        WatchdogNode(
            parameter_overrides=[
                Parameter('use_sim_time', value=True),
                Parameter('priority', value=0),
            ]
        )
    )
    law = rclpy.create_node('law')
    law.stop = lambda: None
    bench.add(law)
    commands = law.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    assert bench.spin_until(
        lambda: commands.get_subscription_count() == 2 and simulator.clock.get_subscription_count()
    )
    for tick in range(10):  # 0.2 s of the wall between two commands, 0.01 s simulated
        simulator.tell(5.0 + 0.01 * tick)
        commands.publish(ArrayWriter(1).write(3.0, topics.tick_number_of(round(5e9 + 1e7 * tick))))
        rest(bench, 0.2)
        assert not watchdog.trips
    for tick in range(10, 25):
        simulator.tell(5.0 + 0.01 * tick)
        rest(bench, 0.02)
    assert bench.spin_until(lambda: watchdog.trips) and watchdog.trips == 1
    assert bench.spin_until(lambda: not simulator.moves())


def test_a_fast_clock_is_read_as_often_as_it_is_needed(bench, simulator, monkeypatch):
    """A clock of 1 kHz cost a watchdog a fifth of a core, and a controller as much of its ticks."""
    read, take = [], TimeSource.clock_callback
    monkeypatch.setattr(
        TimeSource, 'clock_callback', lambda source, told: read.append(0) or take(source, told)
    )
    overrides = {'use_sim_time': True, 'priority': 0}
    watchdog = bench.add(
        WatchdogNode(
            parameter_overrides=[Parameter(name, value=each) for name, each in overrides.items()]
        )
    )
    assert bench.spin_until(simulator.clock.get_subscription_count)
    timers = [*watchdog.timers]
    for timer in timers:  # what needs the time
        timer.cancel()
    for tick in range(1000):
        simulator.tell(5.0 + 0.001 * tick)
        bench.executor.spin_once(timeout_sec=0.001)
    assert len(read) < 100
    for timer in timers:
        timer.reset()
    end = 5.999
    assert bench.spin_until(lambda: watchdog.get_clock().now().nanoseconds * 1e-9 > end - 1e-6)


def test_a_command_costs_the_watchdog_few_calls(bench, simulator):
    """Commands and a clock of 1 kHz took a fifth of a core that the controller beside it needs."""
    overrides = {'use_sim_time': True, 'priority': 0}
    watchdog = bench.add(
        WatchdogNode(
            parameter_overrides=[Parameter(name, value=each) for name, each in overrides.items()]
        )
    )
    efforts = simulator.node.create_publisher(
        Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST
    )
    assert bench.spin_until(
        lambda: efforts.get_subscription_count() == 2 and simulator.clock.get_subscription_count()
    )
    for timer in watchdog.timers:  # what comes by the clock
        timer.cancel()
    ours, calls = str(Path(topics.__file__).parent), Counter()

    def count(frame, event, _):
        if event == 'call' and frame.f_code.co_filename.startswith(ours):
            calls[frame.f_code.co_name] += 1

    def spin():
        sys.setprofile(count)
        try:
            bench.executor.spin_once(timeout_sec=0.002)
        finally:
            sys.setprofile(None)

    for tick in range(100):
        efforts.publish(ArrayWriter(1).write(3.0, 1 + tick))
        for part in range(5):
            simulator.tell(5.0 + 0.005 * tick + 0.001 * part)
            spin()
        end = time.monotonic() + 15.0
        while calls['_on_command'] <= tick:  # each is heard, however busy the machine
            assert time.monotonic() < end, 'a command is not heard'
            spin()
    assert sum(calls.values()) < 20 * calls['_on_command'], calls


@pytest.fixture
def clocks(monkeypatch):
    """Return a `WatchClock`, and what /clock and the steady clock say, to be set."""
    told = SimpleNamespace(ros=0.0, wall=100.0)
    monkeypatch.setattr(time, 'monotonic', lambda: told.wall)
    node = SimpleNamespace(
        get_clock=lambda: SimpleNamespace(
            now=lambda: SimpleNamespace(nanoseconds=round(1e9 * told.ros))
        ),
        get_parameter=lambda name: SimpleNamespace(value=True),
    )
    clock = WatchClock(node)
    clock.begin()
    return clock, told


def test_simulated_time_never_runs_back(clocks):
    """A reset, or stamps behind a clock, would make what was just heard silent for ages."""
    clock, told = clocks
    times = []
    for ros, stamp in (
        (5.0, None),
        (5.1, 5.15),
        (5.1, 5.12),
        (5.2, None),
        (0.0, 0.0),
        (0.1, 0.11),
        (0.2, None),
        (90.0, None),
        (90.1, 17.0),
    ):
        told.ros = ros
        times.append(clock.now(stamp))
    assert times == pytest.approx([0.0, 0.15, 0.15, 0.2, 0.2, 0.31, 0.4, 0.4, 0.5])


def test_pace_is_measured(clocks):
    """Answers would be called late by the clock of a machine that gives them all the time."""
    clock, told = clocks
    for _ in range(30):
        told.ros, told.wall = told.ros + 0.01, told.wall + 0.03
        clock.now()
    assert clock.pace == pytest.approx(1 / 3, rel=0.1)
    told.wall += 1.0
    clock.now()
    assert clock.pace < 0.1 and clock.still == pytest.approx(1.0)


def test_stamps_are_found_in_tick_numbers(clocks):
    """A clock that comes at 10 Hz would make the watchdog of a live controller trip."""
    clock, told = clocks
    for now in (3.0, 4294.97, 1.7e9):
        told.ros = now
        for ahead in (-0.5, 0.0, 0.05):
            tick = topics.tick_number_of(round(1e9 * (now + ahead)))
            assert clock.stamp_of(tick) == pytest.approx(now + ahead, abs=2e-6)


# simulated s and steps at least
WALKS = {'dribbel': (1.2, 1, {}), 'walker3d': (0.7, 1, {'stepping.speed': 0.3})}
# a neighbour that takes the processor away for long makes answers late at any pace
PATIENT = {'safety.overrun_limit': 10000}


def walk(name, speed, duration, steps, parameters):
    """Walk a robot beside a simulator, each node in a process of its own."""

    def start(module, **values):
        arguments = [word for key, value in values.items() for word in ('-p', f'{key}:={value}')]
        return stack.enter_context(
            Program(
                sys.executable,
                Path(__file__).parents[2] / 'scripts' / module,
                '--ros-args',
                *arguments,
            )
        )

    with contextlib.ExitStack() as stack:
        simulator = start(
            'simulator_node',
            robot_file=name,
            realtime='true',
            speed=speed,
            duration=duration,
            state_rate=500.0,
            place='mujoco',
            controllers_file=shipped_folder(name) / 'controllers.yaml',
        )
        start('watchdog_node', use_sim_time='true')
        controller = start(
            'controller_node',
            robot_file=name,
            realtime='true',
            use_sim_time='true',
            autostart='true',
            # the simulator lets go at the first command, and zero is one
            require_watchdog='false',
            **parameters,
        )
        status = simulator.wait(120.0 + 1.5 * duration / speed)
        words = f'{simulator.error}\n{controller.error}'
        assert status == 0, words
        assert int(re.search(r'(\d+) steps', words)[1]) >= steps, words


@pytest.mark.long
@pytest.mark.parametrize('name', WALKS)
def test_robots_walk_in_slow_motion(bench, name):
    """No robot would walk on a machine whose simulator is slower than real time."""
    duration, steps, parameters = WALKS[name]
    walk(name, 0.15, duration, steps, {**parameters, **PATIENT})


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize('speed', [1.0, 0.3, 0.1])
@pytest.mark.parametrize('name', WALKS)
def test_robots_walk_a_minute_at_any_pace(bench, name, speed):
    """No robot would walk for long on a machine whose simulator is slower than real time."""
    walk(name, speed, 60.0, 60, WALKS[name][2])
