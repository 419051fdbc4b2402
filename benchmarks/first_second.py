# SPDX-License-Identifier: Apache-2.0
"""The largest gap of the commands in the first second of a walk, start after start.

Each round starts a simulator that plays mujoco_ros2_control in real time and a controller, in
processes of their own with the priorities they ask for, beside processes that keep cores busy, and
listens. A gap is given in s and as a share of `safety.state_timeout`, after which a robot that is
no longer told anything is without torque.

    python benchmarks/first_second.py [--robot walker3d] [--starts 5] [--load 1]
"""

import argparse
import contextlib
import os
from pathlib import Path
import sys
import time

import rclpy
from std_msgs.msg import Float64MultiArray

from walking_control.loading import load_robot
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.realtime import raise_priority
from walking_control.ros.nodes.runtime import isolate_domain
from walking_control.ros.ros2_control.files import shipped_folder
from walking_control.safety.parameters import SafetyParameters

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'helpers'))
from programs import Program, start_node  # noqa: E402

WALKS = {'dribbel': {}, 'walker3d': {'stepping.speed': 0.3}}
AHEAD, SECOND = 0.1, 1.0  # s before the first effort that is not zero, and after it


def lower_priority():
    """Give a process that is started the usual priority, not that of this one."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def measure_start(node, robot, heard):
    """Return the largest gap of a start, s, or None of one without an effort.

    Args:
        node: Which listens.
        robot: Its name.
        heard: (when, whether any effort is not zero) of each command, filled by the node.
    """
    heard.clear()
    with (
        start_node(
            'simulator_node',
            lower_priority,
            robot_file=robot,
            realtime='true',
            duration=3.0,
            state_rate=500.0,
            place='mujoco',
            controllers_file=shipped_folder(robot) / 'controllers.yaml',
        ) as plant,
        start_node(
            'controller_node',
            lower_priority,
            robot_file=robot,
            realtime='true',
            use_sim_time='true',
            autostart='true',
            require_watchdog='false',
            **WALKS[robot],
        ),
    ):
        end = time.monotonic() + 60.0
        while time.monotonic() < end and plant.poll() is None:
            rclpy.spin_once(node, timeout_sec=0.05)
    first = next((when for when, moves in heard if moves), None)
    if first is None:
        return None
    times = [when for when, _ in heard if first - AHEAD <= when <= first + SECOND]
    return max(later - before for before, later in zip(times, times[1:]))


def main():
    """Start over and over; print each gap and how many are below 20 ms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robot', choices=sorted(WALKS), default='dribbel')
    parser.add_argument('--starts', type=int, default=5)
    parser.add_argument('--load', type=int, default=1, help='busy processes')
    options = parser.parse_args()
    timeout = load_robot(options.robot).values(SafetyParameters).state_timeout
    isolate_domain()
    rclpy.init()
    node, heard = rclpy.create_node('ears'), []
    node.create_subscription(
        Float64MultiArray,
        topics.EFFORT_COMMANDS,
        lambda message: heard.append((time.monotonic(), any(message.data))),
        100,
    )
    raise_priority(60)
    gaps = []
    with contextlib.ExitStack() as busy:
        for _ in range(options.load):
            busy.enter_context(
                Program(
                    sys.executable,
                    '-c',
                    'while True: pass',
                    preexec_fn=lower_priority,
                )
            )
        for _ in range(options.starts):
            gap = measure_start(node, options.robot, heard)
            gaps.append(float('inf') if gap is None else gap)
            print(f'{gaps[-1]:.4f} s, {gaps[-1] / timeout:.2f} of state_timeout', flush=True)
    print(
        f'{options.robot}: {sum(gap < 0.02 for gap in gaps)} of {len(gaps)} below 0.02 s, '
        f'largest {max(gaps):.4f} s'
    )
    rclpy.shutdown()


if __name__ == '__main__':
    main()
