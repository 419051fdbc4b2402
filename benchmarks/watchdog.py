# SPDX-License-Identifier: Apache-2.0
"""From `kill -9` of the controller to zero effort on the topic, over and over.

Each round starts a controller and a watchdog in processes of their own, waits until the effort is
not zero, kills the controller at a random moment up to two seconds later and measures until a
robot hears zero. Watchdog and robot run with a real-time priority, as the loop of ros2_control
does on a robot; with --priority 0 a loaded machine makes both of them late.

Before that, what a /clock of 1 kHz costs a watchdog in simulated time: its processor time beside
commands at 500 Hz, as a ratio to that beside a /clock of 100 Hz; --kills 0 measures that alone.

    python benchmarks/watchdog.py [--kills 20] [--timeout 0.1] [--load 2]
"""

import argparse
import os
from pathlib import Path
import random
import sys
import time

import numpy as np
import rclpy
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray

from walking_control.ros.nodes import ArrayWriter, topics
from walking_control.ros.nodes.messages import set_stamp
from walking_control.ros.nodes.realtime import raise_priority
from walking_control.ros.nodes.runtime import isolate_domain

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'nodes'))
from outside_robot import OutsideRobot, Program  # noqa: E402

PATIENCE = 5.0  # s after which a robot that still gets no zero counts as lost


def start(module, *parameters):
    """Start a node of the package in a process of its own."""
    arguments = [argument for parameter in parameters for argument in ('-p', parameter)]
    return Program(
        sys.executable,
        Path(__file__).parents[1] / 'scripts' / module,
        '--ros-args',
        *arguments,
        '--log-level',
        'fatal',
        preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)),
    )


def measure_kill(robot, options, wait):
    """Return the time from the kill to zero and from the start to moving, s, or None and a fault.

    Args:
        robot: The `OutsideRobot`.
        options: Timeout and priority of the watchdog.
        wait: How long the robot moves before the kill, s.
    """
    begin = time.monotonic()
    processes = [
        start('watchdog_node', f'timeout:={options.timeout}', f'priority:={options.priority}'),
        start(
            'controller_node',
            'autostart:=true',
            'realtime:=true',
            'safety.state_timeout:=1.0',
            'safety.overrun_limit:=10000',
            'watchdog_timeout:=5.0',
            'hip_switching.rate:=100.0',
        ),
    ]
    controller = processes[-1]
    robot.efforts.clear()
    robot.faults.clear()
    try:
        if not robot.spin_until(lambda: robot.moving, 60.0):
            return None, f'no effort for 60 s, {robot.faults[-1:] or "and no fault"}'
        moving = time.monotonic() - begin
        robot.spin(wait)
        if not robot.moving:  # a fault of an overloaded machine: nothing to measure
            return None, robot.faults[-1:]
        controller.kill()
        killed = time.monotonic()
        if not robot.spin_until(lambda: not robot.moving, PATIENCE):
            return float('inf'), moving
        return robot.efforts[-1][0] - killed, moving
    finally:
        for process in processes:
            process.kill()


def processor_time(pid):
    """Return the processor time of a process so far, s."""
    words = Path(f'/proc/{pid}/stat').read_text().rpartition(') ')[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')


def measure_clock(rate, seconds=4.0):
    """Return what share of a processor a watchdog takes beside a /clock of a rate in Hz."""
    node, step, beside = rclpy.create_node('clock'), 0.001, ArrayWriter(6)
    clock = node.create_publisher(Clock, topics.CLOCK, topics.LATEST)
    commands = node.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    every, told, tick = round(1.0 / (rate * step)), Clock(), 0
    try:
        with start('watchdog_node', 'use_sim_time:=true') as watchdog:
            while not commands.get_subscription_count():
                time.sleep(0.1)
            begin = time.monotonic()
            while tick < (seconds + 1.0) / step:
                tick += 1
                time.sleep(max(0.0, begin + step * tick - time.monotonic()))
                if tick == round(1.0 / step):  # it has found its way
                    before = processor_time(watchdog.pid)
                if tick % every == 0:
                    set_stamp(told.clock, 5.0 + step * tick)
                    clock.publish(told)
                if tick % 2 == 0:
                    number = topics.tick_number_of(round(1e9 * (5.0 + step * tick)))
                    commands.publish(beside.write(3.0, number))
            return (processor_time(watchdog.pid) - before) / seconds
    finally:
        node.destroy_node()


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--kills', type=int, default=20)
    parser.add_argument('--timeout', type=float, default=0.1, help='of the watchdog, s')
    parser.add_argument('--load', type=int, default=0, help='busy processes beside it')
    parser.add_argument('--priority', type=int, default=50, help='of watchdog and robot')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    isolate_domain()
    load = [Program(sys.executable, '-c', 'while True: pass') for _ in range(options.load)]
    rng = random.Random(options.seed)
    rclpy.init(args=[])
    shares = [measure_clock(rate) for rate in (100.0, 1000.0)]
    print(
        f'a /clock of 1 kHz costs a watchdog {shares[1] / shares[0]:.2f} times the processor time '
        f'of one of 100 Hz: {shares[1]:.3f} and {shares[0]:.3f} of a core',
        flush=True,
    )
    if not options.kills:
        return
    robot = OutsideRobot()
    if options.priority:
        raise_priority(options.priority)
    times = []
    try:
        for kill in range(options.kills):
            # a quarter at once, to catch a watchdog that is still finding its way
            wait = 0.0 if kill % 4 == 0 else rng.uniform(0.0, 2.0)
            zero, moving = measure_kill(robot, options, wait)
            for _ in range(3):
                if zero is None:
                    print(f'{kill:4d}: again, the controller did not walk: {moving}', flush=True)
                    zero, moving = measure_kill(robot, options, wait)
            if zero is None:
                raise SystemExit(f'error: the controller never walks: {moving}')
            times.append(zero)
            print(
                f'{kill:4d}: moving after {moving:5.2f} s, killed {wait:4.2f} s later, '
                f'zero after {1e3 * zero:6.1f} ms',
                flush=True,
            )
    finally:
        for process in load:
            process.kill()
        robot.close()
        rclpy.try_shutdown()
    times = 1e3 * np.array(times)
    limit = 1e3 * options.timeout + 20.0
    p50, p99 = np.percentile(times, (50, 99), method='higher')
    print(
        f'p50 {p50:.1f} ms, p99 {p99:.1f} ms, '
        f'max {times.max():.1f} ms; {int((times <= limit).sum())} of {len(times)} within '
        f'{limit:g} ms'
    )


if __name__ == '__main__':
    main()
