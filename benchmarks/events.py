# SPDX-License-Identifier: Apache-2.0
"""Random events around a controller, seen from outside: what was promised, and what came of it.

A robot that knows only topics and services streams its sensors in real time to a
controller and its watchdog, which print to a terminal. A third process, the stranger, sends
messages and requests. Signals and the terminal are tried, too. After each event it is noted whether
the effort became zero, how soon, and the largest gap between two commands that reached the robot.

    python benchmarks/events.py [--events 200] [--seed 0] [--rate 500] [--table doc/data/events.csv]

At 500 Hz it takes more than a processor, at a real-time priority: at 100 Hz a quarter of one.
"""

import argparse
from collections import defaultdict
import contextlib
import os
from pathlib import Path
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

from geometry_msgs.msg import Twist
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions
import numpy as np
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.realtime import raise_priority
from walking_control.ros.nodes.runtime import isolate_domain

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'nodes'))
from outside_robot import OutsideRobot, started  # noqa: E402

AFTER = 0.5  # s that are looked at from an event on
ON, ZERO = 'walks on', 'zero'
NODE = 'walking_controller'


class Stranger:
    """Knows the names of topics and services, and nothing else."""

    def __init__(self, node):
        self._node, self._clients = node, {}

    def say(self, kind, topic, message, every=0.0, lives=0.25):
        """Publish a message once, or every so often, from a publisher that lives for a while, s."""
        publisher = self._node.create_publisher(kind, topic, topics.LATCHED)  # fits all
        while not publisher.get_subscription_count():
            time.sleep(0.005)
        print('now', flush=True)
        end = time.monotonic() + lives
        publisher.publish(message)
        while time.monotonic() < end:
            time.sleep(every or lives)
            if every:
                publisher.publish(message)
        self._node.destroy_publisher(publisher)

    def ask(self, kind, name, **request):
        """Send a request, and wait for its answer for a while."""
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, f'{NODE}/{name}')
        client, content = self._clients[name], kind.Request(**request)
        while not client.service_is_ready():
            time.sleep(0.005)
        time.sleep(0.2)  # of one that has just been started the answer's way is not there yet
        print('now', flush=True)
        client.call_async(content)
        time.sleep(0.2)

    def set_parameters(self, count, name):
        """Ask for parameters that nobody declared."""
        self.ask(SetParameters, 'set_parameters', parameters=_many(count, name))

    def do(self, event):
        """Do one of `EVENTS`, by its name."""
        {
            '100 unknown parameters': lambda: self.set_parameters(100, 'x.y'),
            '1000 unknown parameters': lambda: self.set_parameters(1000, 'x.y'),
            'a parameter with a name of 1 MB': lambda: self.set_parameters(1, 'x' * 1_000_000),
            'get 1000 parameters': lambda: self.ask(
                GetParameters, 'get_parameters', names=[f'x{number}' for number in range(1000)]
            ),
            '1000 parameters at once': lambda: self.ask(
                SetParametersAtomically, 'set_parameters_atomically', parameters=_many(1000)
            ),
            'describe 1000 parameters': lambda: self.ask(
                DescribeParameters, 'describe_parameters', names=[f'x{k}' for k in range(1000)]
            ),
            'list all parameters': lambda: self.ask(ListParameters, 'list_parameters'),
            'list all transitions': lambda: self.ask(
                GetAvailableTransitions, 'get_available_transitions'
            ),
            'clear_fault without a fault': lambda: self.ask(Trigger, 'clear_fault'),
            'NaN on cmd_vel': lambda: self.say(Twist, topics.CMD_VEL, _nan()),
            'robot_description of 1 MB, another robot': lambda: self.say(
                String, topics.ROBOT_DESCRIPTION, String(data=f'<robot>{"<a/>" * 250_000}</robot>')
            ),
            'robot_description of 10 MB': lambda: self.say(
                String, topics.ROBOT_DESCRIPTION, String(data='x' * 10_000_000)
            ),
            'joint_states of 10 MB from somebody else': lambda: self.say(
                JointState, topics.JOINT_STATES, JointState(name=['hip'] * 1_000_000)
            ),
            'configure while active': lambda: self.ask(
                ChangeState, 'change_state', transition=_transition(1)
            ),
            'deactivate': lambda: self.ask(ChangeState, 'change_state', transition=_transition(4)),
            'emergency_stop, topic': lambda: self.say(
                Bool,
                topics.EMERGENCY_STOP,
                Bool(data=True),
                lives=1.0,  # on a busy machine 0.25 s may be too short to be found in
            ),
            'emergency_stop, service': lambda: self.ask(Trigger, 'emergency_stop'),
            'power_off, service': lambda: self.ask(Trigger, 'power_off'),
            'a second publisher of 21 N m for 0.25 s': lambda: self.say(
                Float64MultiArray, topics.EFFORT_COMMANDS, Float64MultiArray(data=[21.0]), 0.005
            ),
        }[event.removesuffix(', terminal not read')]()


def _many(count, name='x'):
    value = ParameterValue(type=3, double_value=1.0)
    return [Parameter(name=f'{name}{number}', value=value) for number in range(count)]


def _nan():
    message = Twist()
    message.linear.x = float('nan')
    return message


def _transition(number):
    request = ChangeState.Request()
    request.transition.id = number
    return request.transition


# event -> (what is promised, how often it is drawn)
EVENTS = {
    '100 unknown parameters': (ON, 3),
    '1000 unknown parameters': (ON, 3),
    'a parameter with a name of 1 MB': (ON, 3),
    'get 1000 parameters': (ON, 3),
    '1000 parameters at once': (ON, 2),
    'describe 1000 parameters': (ON, 2),
    'list all parameters': (ON, 2),
    'list all transitions': (ON, 2),
    'clear_fault without a fault': (ON, 2),
    'NaN on cmd_vel': (ON, 3),
    'joint_states of 10 MB from somebody else': (ON, 2),  # many devices may share that topic
    'robot_description of 10 MB': (ON, 3),
    'configure while active': (ON, 3),
    'configure while active, terminal not read': (ON, 3),
    'full disk under its recording': (ON, 3),
    'robot_description of 1 MB, another robot': (ZERO, 1),
    'deactivate': (ZERO, 2),
    'emergency_stop, topic': (ZERO, 2),
    'emergency_stop, topic, terminal not read': (ZERO, 2),
    'emergency_stop, service': (ZERO, 2),
    'power_off, service': (ZERO, 2),
    'a second publisher of 21 N m for 0.25 s': (ZERO, 3),
    'SIGTERM, terminal not read': (ZERO, 0.2),
    'SIGHUP to controller and watchdog': (ZERO, 0.2),
    'SIGQUIT to controller and watchdog': (ZERO, 0.2),
    'SIGUSR1 to controller and watchdog': (ZERO, 0.2),
    'SIGUSR2 to controller and watchdog': (ZERO, 0.2),
    'SIGALRM to controller and watchdog': (ZERO, 0.2),
    'kill -9 of the controller': (ZERO, 0.2),
}
QUIET, FULL = 'nothing', 'full disk under its recording'


class Trial:
    """A controller, its watchdog, their terminal and the stranger."""

    def __init__(self, robot):
        self.robot, self._stack = robot, contextlib.ExitStack()
        self._ours, self._theirs = os.openpty()
        threading.Thread(target=self._read, daemon=True).start()
        command = [sys.executable, __file__, '--stranger']
        pipe = subprocess.PIPE
        self._stranger = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self._said = {}
        threading.Thread(target=self._listen, daemon=True).start()
        self._programs, self._clients = (), {}
        self._other = True  # whether only a new start lets the controller walk

    def _read(self):
        with contextlib.suppress(OSError):
            while os.read(self._ours, 4096):
                pass

    def _listen(self):
        for line in self._stranger.stdout:
            self._said[line.strip()] = time.monotonic()

    def walk(self):
        """See to it that the robot gets an effort."""
        if self._other or any(each.poll() is not None for each in self._programs):
            self._stack.close()
            self.robot.spin(0.1)
            self.robot.faults.clear()
            self.robot.efforts.clear()  # of the one before
            self._other = False
            folder = self._stack.enter_context(tempfile.TemporaryDirectory())
            given = {
                'hip_switching__rate': self.robot.rate,
                'safety__state_timeout': 0.2,
                'safety__emergency_stop_category': 0,  # others let the law go on for a while
                'record': f'{folder}/walk.mcap',
            }
            self._programs = self._stack.enter_context(
                started(self.robot.node.get_namespace()[1:], terminal=self._theirs, **given)
            )
        end = time.monotonic() + 180.0  # a busy machine starts slowly
        while not self.robot.moving and time.monotonic() < end:
            for name, kind, fields in (
                ('change_state', ChangeState, {'transition': _transition(1)}),
                ('change_state', ChangeState, {'transition': _transition(3)}),
                ('clear_fault', Trigger, {}),
            ):
                client = self._clients.get(name) or self.robot.node.create_client(
                    kind, f'{NODE}/{name}'
                )
                self._clients[name] = client
                if client.service_is_ready():
                    answer = client.call_async(kind.Request(**fields))
                    self.robot.spin_until(answer.done, 5.0)  # or it would be done to the next event
            self.robot.spin_until(lambda: self.robot.moving, 1.0)
        if not self.robot.moving:
            raise SystemExit(f'error: the controller does not walk: {self.robot.faults[-1:]}')
        self.robot.spin(0.3)

    def play(self, event):
        """Do an event; return ms to zero (None: it walks on) and the largest gap in ms."""
        robot = self.robot
        if event.endswith('terminal not read'):
            os.write(self._ours, b'\x13')
        begin = time.monotonic()
        if event.startswith(('SIG', 'kill')):
            number = signal.SIGKILL if event[0] == 'k' else getattr(signal, event[:7].strip(' t,'))
            for program in self._programs[: 2 if 'and watchdog' in event else 1]:
                program.send_signal(number)
        elif event == FULL:  # every write to a file fails, as on a disk without room
            resource.prlimit(self._programs[0].pid, resource.RLIMIT_FSIZE, (1, -1))
        elif event != QUIET:
            self._said.clear()
            print(event, file=self._stranger.stdin, flush=True)
            robot.spin_until(lambda: 'done' in self._said, 60.0)
            begin = self._said['now']
        robot.spin(AFTER)
        if EVENTS.get(event, (ON,))[0] == ZERO:
            robot.spin_until(lambda: not robot.moving, 5.0)
            robot.spin(0.2)
        os.write(self._ours, b'\x11')
        # until the right one is described, there is room again, or what ends has ended
        self._other = 'another robot' in event or event == FULL or event.startswith(('SIG', 'kill'))
        since = [(when, any(effort)) for when, effort in robot.efforts if when >= begin - 0.01]
        gap = max(np.diff([when for when, _ in since]), default=float('inf'))
        last = max((when for when, moves in since if moves), default=begin)
        first = next((when for when, moves in since if when > last and not moves), begin)
        zero = None if robot.moving else 1e3 * max(0.0, first - begin)
        del robot.efforts[:-1]
        return zero, 1e3 * gap

    def close(self):
        """End all."""
        self._stack.close()
        self._stranger.stdin.close()
        self._stranger.kill()
        self._stranger.wait()


def main():
    """Play, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--events', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--rate', type=float, default=500.0, help='Hz of sensors and law')
    parser.add_argument('--table', type=Path)
    parser.add_argument('--stranger', action='store_true', help='only what the events are sent by')
    options = parser.parse_args()
    isolate_domain()
    rclpy.init(args=[])
    if options.stranger:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # not that of the robot
        stranger = Stranger(rclpy.create_node('stranger', namespace='events'))
        for line in sys.stdin:
            stranger.do(line.strip())
            print('done', flush=True)
        return 0
    robot = OutsideRobot('events', options.rate)
    with contextlib.suppress(OSError):
        raise_priority(50)
    rng = random.Random(options.seed)
    names, weights = [*EVENTS], [weight for _, weight in EVENTS.values()]
    drawn = [*names, *rng.choices(names, weights, k=options.events)][: options.events]
    rng.shuffle(drawn)
    seen = defaultdict(list)
    trial = Trial(robot)
    try:
        for number, event in enumerate([QUIET] * 10 + drawn):
            trial.walk()
            seen[event].append(trial.play(event))
            print(f'{number:4d} {event}: {seen[event][-1]}, {robot.faults[-1:]}', flush=True)
            if options.table:
                options.table.write_text(table(seen))
    finally:
        trial.close()
        robot.close()
        rclpy.try_shutdown()
    print(table(seen))
    return 0


def table(seen):
    """Return the table: a row for every event, as comma-separated values."""
    rows = ['event,promised,as promised,of,ms to zero,most,largest gap in ms,most']
    for event, (promise, _) in {QUIET: (ON, 0), **EVENTS}.items():
        results = seen[event]
        if not results:
            continue
        zeros = [zero for zero, _ in results if zero is not None]
        gaps = [gap for _, gap in results]
        kept = len(zeros) if promise == ZERO else len(results) - len(zeros)
        took = f'{np.median(zeros):.0f},{max(zeros):.0f}' if zeros else ','
        most = ',' if promise == ZERO else f'{np.median(gaps):.1f},{max(gaps):.1f}'
        rows.append(f'"{event}",{promise},{kept},{len(results)},{took},{most}')
    return '\n'.join([*rows, ''])


if __name__ == '__main__':
    sys.exit(main())
