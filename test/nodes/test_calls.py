# SPDX-License-Identifier: Apache-2.0
"""What sensors and commands cost a node, in calls: seconds would be those of a busy machine."""

from collections import Counter
import functools
from statistics import median

import pytest
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray

from walking_control.ros.nodes import guard, topics
from walking_control.ros.nodes.guard import GuardedNode
from walking_control.ros.nodes.messages import ArrayWriter, set_stamp
from walking_control.ros.nodes.watchdog_node import HEARTBEAT_PERIOD, WatchdogNode

SETS = 40
PATIENT = 10.0  # s that a busy machine may be silent
SELDOM = 5.0  # Hz, timers that wake a node whatever comes, all together
JOINTS, LOCKS = topics.JOINT_STATES, topics.LOCK_STATES
OTHERS = (topics.IMU, topics.foot_wrench('outer_foot'), topics.foot_wrench('inner_foot'))


@pytest.fixture
def calls(monkeypatch):
    """Return a `Counter`: what executors call and what is looked for, sent; each by its topic."""
    counts, wrap = Counter(), GuardedNode._guard
    publish, look = Publisher.publish, guard._take

    def counted(node, callback, name):
        guarded = wrap(node, callback, name)

        @functools.wraps(guarded)
        def call(*given):
            counts['called', name] += 1
            return guarded(*given)

        return call

    def say(publisher, message):
        counts['sent', publisher] += 1
        publish(publisher, message)

    def take(entity):
        counts['looked', getattr(entity, 'topic_name', 'service')] += 1
        look(entity)

    monkeypatch.setattr(GuardedNode, '_guard', counted)
    monkeypatch.setattr(Publisher, 'publish', say)
    monkeypatch.setattr(guard, '_take', take)
    return counts


def wake_ups(node):
    """Return how often a second a node's timers call it, by their own periods."""
    return sum(1e9 / timer.timer_period_ns for timer in node.timers)


def named(calls, kind):
    """Return what was counted of one kind."""
    return {name: count for (what, name), count in calls.items() if what == kind}


def sent_by(node, calls):
    """Return how many messages a node has sent."""
    return sum(calls['sent', publisher] for publisher in node.publishers)


@pytest.mark.parametrize(
    'realtime, called', [(True, {JOINTS, LOCKS}), (False, {JOINTS, LOCKS, *OTHERS})]
)
def test_a_set_of_sensors_costs_a_controller_few_calls(bench, robot, calls, realtime, called):
    """One wake-up more for each set is a twentieth of a processor at 500 Hz."""
    node = bench.controller(
        realtime=realtime,
        safety__state_timeout=PATIENT,
        lockstep_timeout=PATIENT,
        telemetry_rate=0.0,
        odometry_rate=0.0,
    )
    robot.wait()
    stamps = (1.0 + 0.01 * number for number in range(1000))
    assert bench.spin_until(lambda: robot.ask(next(stamps)) != 0.0)
    sets, rates, send = [], [], robot.send
    robot.send = lambda stamp, **told: sets.append(stamp) or send(stamp, **told)
    calls.clear()
    for _ in range(SETS):
        robot.ask(next(stamps))
        rates.append(wake_ups(node))
    count = len(sets)  # a set that is not answered is sent again
    heard = named(calls, 'called')
    timers = heard.pop('timer', 0)
    assert heard.pop('/diagnostics', 0) <= timers  # it speaks there, too
    assert SETS <= heard[JOINTS] and {*heard} == called, heard
    assert max(heard.values()) <= count, heard
    assert sent_by(node, calls) <= 2 * count + timers, 'an effort and the locks'
    looked = named(calls, 'looked')
    for topic in OTHERS:  # each time joints come, and as a timer looks what is silent
        assert looked.get(topic, 0) <= realtime * (count + timers), looked
    assert median(rates) < SELDOM, rates


def test_a_fast_clock_and_commands_wake_a_watchdog_seldom(bench, robot, calls):
    """At 1 kHz a clock that wakes it takes a fifth of a processor from the controller beside it."""
    overrides = {'use_sim_time': True, 'priority': 0, 'timeout': PATIENT}
    watchdog = bench.add(
        WatchdogNode(
            parameter_overrides=[Parameter(name, value=each) for name, each in overrides.items()]
        )
    )
    create = robot.node.create_publisher
    efforts = create(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    clock = create(Clock, topics.CLOCK, topics.LATEST)
    assert bench.spin_until(
        lambda: efforts.get_subscription_count() == 2 and clock.get_subscription_count()
    )
    told, rates = Clock(), []
    calls.clear()
    for tick in range(100):
        efforts.publish(ArrayWriter(1).write(3.0, 1 + tick))
        for part in range(10):
            set_stamp(told.clock, 5.0 + 0.01 * tick + 0.001 * part)
            clock.publish(told)
            bench.executor.spin_once(timeout_sec=0.001)
        assert bench.spin_until(lambda: calls['called', topics.EFFORT_COMMANDS] > tick)
        rates.append(wake_ups(watchdog))
    heard = named(calls, 'called')
    read, timers = heard.pop(topics.CLOCK, 0), heard.pop('timer', 0)
    assert heard == {topics.EFFORT_COMMANDS: 100}
    assert read <= 100 + timers, 'of 1000'
    assert sent_by(watchdog, calls) <= timers, 'heartbeats'
    assert median(rates) < 1.0 / HEARTBEAT_PERIOD + SELDOM, rates
