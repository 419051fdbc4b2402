# SPDX-License-Identifier: Apache-2.0
"""Random events around a controller, seen from outside: what was promised, and what came of it.

A robot that knows only topics and services streams its sensors in real time to a
controller and its watchdog, which print to a terminal. A third process, the stranger, sends
messages and requests. Signals and the terminal are tried, too. Events that the controller shall
walk on through follow each other within a tenth of a second; each gap between two commands at the
robot counts for all of the half second before it. After one that shall end in zero it is noted how
soon that came, and the walk begins again.

    python benchmarks/events.py [--events 200] [--seed 0] [--rate 500] [--table doc/data/events.csv]

10,000 take an hour. At 500 Hz it takes more than a processor, at a real-time priority: at
100 Hz a quarter of one.
"""

import argparse
from collections import defaultdict
import contextlib
from functools import cache
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
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.realtime import raise_priority
from walking_control.ros.nodes.runtime import isolate_domain

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'nodes'))
from outside_robot import OutsideRobot, started  # noqa: E402

AFTER = 0.5  # s that are looked at from an event on
BEYOND = 5.0  # ms beyond the largest gap of a quiet while that are asked for
ON, ZERO = 'walks on', 'zero'
NODE = 'walking_controller'


class Stranger:
    """Knows the names of topics and services, and nothing else."""

    def __init__(self, node):
        self._node, self._clients, self._publishers = node, {}, {}

    def forget(self):
        """Know nobody any more: the controller has been started anew."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
        self._publishers.clear()
        self._clients.clear()  # who is asked for the first time is waited for

    def say(self, kind, topic, message, every=0.0, lives=0.0):
        """Publish a message: once, or every so often from a publisher that lives for a while, s."""
        known = self._publishers.pop(topic, None)
        publisher = known or self._node.create_publisher(kind, topic, topics.LATCHED)  # fits all
        while not publisher.get_subscription_count():
            time.sleep(0.005)
        print('now', flush=True)
        end = time.monotonic() + lives
        publisher.publish(message)
        while time.monotonic() < end:
            time.sleep(every or lives)
            if every:
                publisher.publish(message)
        if lives:
            self._node.destroy_publisher(publisher)
        else:
            self._publishers[topic] = publisher

    def ask(self, kind, name, request):
        """Send a request, and wait for its answer for a while."""
        known = name in self._clients
        if not known:
            self._clients[name] = self._node.create_client(kind, f'{NODE}/{name}')
        while not self._clients[name].service_is_ready():
            time.sleep(0.005)
        if not known:
            time.sleep(0.2)  # of one that has just been started the answer's way is not there yet
        print('now', flush=True)
        answer = self._clients[name].call_async(request)
        rclpy.spin_until_future_complete(self._node, answer, timeout_sec=0.2)

    def do(self, event):
        """Do one of `EVENTS`, by its name."""
        how, *content = _content(event.removesuffix(', terminal not read'))
        getattr(self, how)(*content)


@cache
def _content(event):
    """Return which method of a `Stranger` does an event, and with what: made once."""
    said = {
        'NaN on cmd_vel': lambda: (Twist, topics.CMD_VEL, _nan()),
        'robot_description of 1 MB, another robot': lambda: (
            String,
            topics.ROBOT_DESCRIPTION,
            String(data=f'<robot>{"<a/>" * 250_000}</robot>'),
            0.0,
            0.25,
        ),
        'robot_description of 10 MB': lambda: (
            String,
            topics.ROBOT_DESCRIPTION,
            String(data='x' * 10_000_000),
        ),
        'joint_states of 10 MB from somebody else': lambda: (
            JointState,
            topics.JOINT_STATES,
            JointState(name=['hip'] * 1_000_000),
        ),
        'emergency_stop, topic': lambda: (
            Bool,
            topics.EMERGENCY_STOP,
            Bool(data=True),
            0.0,
            1.0,  # on a busy machine 0.25 s may be too short to be found in
        ),
        'a second publisher of 21 N m for 0.25 s': lambda: (
            Float64MultiArray,
            topics.EFFORT_COMMANDS,
            Float64MultiArray(data=[21.0]),
            0.005,
            0.25,
        ),
    }
    if event in said:
        kind, topic, message, *times = said[event]()
        return 'say', kind, topic, serialize_message(message), *times
    kind, name, content = {
        '100 unknown parameters': (SetParameters, 'set_parameters', _many(100, 'x.y')),
        '1000 unknown parameters': (SetParameters, 'set_parameters', _many(1000, 'x.y')),
        'a parameter with a name of 1 MB': (
            SetParameters,
            'set_parameters',
            _many(1, 'x' * 1_000_000),
        ),
        'get 1000 parameters': (GetParameters, 'get_parameters', _names()),
        '1000 parameters at once': (
            SetParametersAtomically,
            'set_parameters_atomically',
            _many(1000),
        ),
        'describe 1000 parameters': (DescribeParameters, 'describe_parameters', _names()),
        'list all parameters': (ListParameters, 'list_parameters', {}),
        'list all transitions': (GetAvailableTransitions, 'get_available_transitions', {}),
        'clear_fault without a fault': (Trigger, 'clear_fault', {}),
        'configure while active': (ChangeState, 'change_state', {'transition': _transition(1)}),
        'deactivate': (ChangeState, 'change_state', {'transition': _transition(4)}),
        'emergency_stop, service': (Trigger, 'emergency_stop', {}),
        'power_off, service': (Trigger, 'power_off', {}),
    }[event]
    return 'ask', kind, name, kind.Request(**content)


def _many(count, name='x'):
    value = ParameterValue(type=3, double_value=1.0)
    return {
        'parameters': [Parameter(name=f'{name}{number}', value=value) for number in range(count)]
    }


def _names():
    return {'names': [f'x{number}' for number in range(1000)]}


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
    'full disk under its recording': (ON, 0.03),
    'robot_description of 1 MB, another robot': (ZERO, 0.01),
    'deactivate': (ZERO, 0.06),
    'emergency_stop, topic': (ZERO, 0.06),
    'emergency_stop, topic, terminal not read': (ZERO, 0.06),
    'emergency_stop, service': (ZERO, 0.06),
    'power_off, service': (ZERO, 0.06),
    'a second publisher of 21 N m for 0.25 s': (ZERO, 0.06),
    'SIGTERM, terminal not read': (ZERO, 0.01),
    'SIGHUP to controller and watchdog': (ZERO, 0.01),
    'SIGQUIT to controller and watchdog': (ZERO, 0.01),
    'SIGUSR1 to controller and watchdog': (ZERO, 0.01),
    'SIGUSR2 to controller and watchdog': (ZERO, 0.01),
    'SIGALRM to controller and watchdog': (ZERO, 0.01),
    'kill -9 of the controller': (ZERO, 0.01),
}
QUIET, FULL = 'nothing', 'full disk under its recording'
PAUSE = 0.05  # s, at most, between events that the controller walks on through
TOGETHER = 50  # of these, before a while of nothing


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
        fresh = self._other or any(each.poll() is not None for each in self._programs)
        if fresh:
            self._stack.close()
            self.robot.spin(0.1)
            self.robot.faults.clear()
            self.robot.efforts.clear()  # of the one before
            self._other = False
            self._tell('forget')
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
        self.robot.spin(1.0 if fresh else 0.3)

    def _tell(self, word):
        """Let the stranger do something, while the robot goes on; return when it began."""
        self._said.clear()
        print(word, file=self._stranger.stdin, flush=True)
        self.robot.spin_until(lambda: 'done' in self._said, 60.0)
        return self._said.get('now')

    def _do(self, event):
        """Do an event; return when it began."""
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
            begin = self._tell(event)
        # until the right one is described, there is room again, or what ends has ended
        self._other |= (
            'another robot' in event or event == FULL or event.startswith(('SIG', 'kill'))
        )
        return begin

    def end(self, event):
        """Do an event that shall end in zero; return ms to zero, None without one, and no gap."""
        robot = self.robot
        begin = self._do(event)
        robot.spin(AFTER)
        robot.spin_until(lambda: not robot.moving, 5.0)
        robot.spin(0.2)
        os.write(self._ours, b'\x11')
        since = [(when, any(effort)) for when, effort in robot.efforts if when >= begin - 0.01]
        last = max((when for when, moves in since if moves), default=begin)
        first = next((when for when, moves in since if when > last and not moves), begin)
        del robot.efforts[:-1]
        return None if robot.moving else 1e3 * max(0.0, first - begin), 0.0

    def go_on(self, events, rng):
        """Do events that the controller shall walk on through, soon after each other.

        Returns:
            Of each that was done: None, or 0 where no effort came any more; the largest gap, ms,
            from it until half a second later, or until it was over.
        """
        robot, done = self.robot, []
        for event in events:
            begin = self._do(event)
            robot.spin(rng.uniform(0.0, PAUSE))
            os.write(self._ours, b'\x11')
            done.append((begin, time.monotonic()))
            if not robot.moving:
                break
        robot.spin(AFTER + 0.1)  # the last command is no more than that away
        results = gaps(robot.efforts, done)
        del robot.efforts[:-1]
        return results

    def close(self):
        """End all."""
        self._stack.close()
        self._stranger.stdin.close()
        self._stranger.kill()
        self._stranger.wait()


def gaps(efforts, events):
    """Return of each event whether efforts went on (None) or not (0), and the largest gap, ms.

    Args:
        efforts: (when, N m) of each command.
        events: (begin, end) of each, s.
    """
    times = np.array([when for when, _ in efforts])
    moves = np.array([any(effort) for _, effort in efforts])
    results = []
    for begin, end in events:
        end = max(begin + AFTER, end)
        first, beyond = np.searchsorted(times, (begin, end))
        near = slice(max(first - 1, 0), beyond + 1)
        edge = [end] if beyond == len(times) else []  # none came after it
        largest = np.diff([*times[near], *edge]).max(initial=0.0)
        results.append((None if moves[near].all() else 0.0, 1e3 * float(largest)))
    return results


def main():
    """Play, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--events', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--rate', type=float, default=500.0, help='Hz of sensors and law')
    parser.add_argument('--table', type=Path)
    parser.add_argument('--say', action='store_true', help='what came of every event')
    parser.add_argument('--stranger', action='store_true', help='only what the events are sent by')
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the programs would ignore it, too
    isolate_domain()
    rclpy.init(args=[])
    if options.stranger:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # not that of the robot
        stranger = Stranger(rclpy.create_node('stranger', namespace='events'))
        for line in sys.stdin:
            word = line.strip()
            stranger.forget() if word == 'forget' else stranger.do(word)
            print('done', flush=True)
        return 0
    robot = OutsideRobot('events', options.rate)
    with contextlib.suppress(OSError):
        raise_priority(50)
    rng = random.Random(options.seed)
    names, weights = [*EVENTS], [weight for _, weight in EVENTS.values()]
    drawn = [*names, *rng.choices(names, weights, k=options.events)][: options.events]
    rng.shuffle(drawn)
    seen, begin = defaultdict(list), time.monotonic()
    trial = Trial(robot)
    try:
        for events in batches(drawn):
            trial.walk()
            if EVENTS[events[0]][0] == ZERO:
                results = [trial.end(events[0])]
            else:
                results = trial.go_on(events, rng)
                while len(results) < len(events):  # one of them ended the walk
                    trial.walk()
                    results += trial.go_on(events[len(results) :], rng)
                if len(events) > TOGETHER / 5:
                    trial.walk()
                    seen[QUIET] += trial.go_on([QUIET], rng)
            for event, result in zip(events, results):
                seen[event].append(result)
                kept = (result[0] is None) == (EVENTS[event][0] == ON)
                if not kept or options.say:
                    print(f'{event}: {result}, {robot.faults[-1:]}', flush=True)
            print(f'{time.monotonic() - begin:.0f} s: {summary(seen)}', flush=True)
            if options.table:
                options.table.write_text(table(seen))
    finally:
        trial.close()
        robot.close()
        rclpy.try_shutdown()
    print(table(seen))
    print(f'load {os.getloadavg()[0]:.1f} at the end')
    return 0


def batches(drawn):
    """Yield events in order: each that ends the walk, and what is a new start's, by itself."""
    batch = []
    for event in drawn:
        alone = EVENTS[event][0] == ZERO or event == FULL
        if batch and (alone or len(batch) == TOGETHER):
            yield batch
            batch = []
        batch.append(event)
        if alone:
            yield batch
            batch = []
    if batch:
        yield batch


def table(seen):
    """Return the table: a row for every event, as comma-separated values."""
    rows = ['event,promised,as promised,of,ms to zero,most,largest gap in ms,99 %,most']
    for event, (promise, _) in {QUIET: (ON, 0), **EVENTS}.items():
        results = seen[event]
        if not results:
            continue
        zeros = [zero for zero, _ in results if zero is not None]
        gaps = [gap for _, gap in results]
        kept = _kept(event, results)
        took = f'{np.median(zeros):.0f},{max(zeros):.0f}' if promise == ZERO and zeros else ','
        most = (
            ',,'
            if promise == ZERO
            else f'{np.median(gaps):.1f},{np.percentile(gaps, 99.0):.1f},{max(gaps):.1f}'
        )
        rows.append(f'"{event}",{promise},{kept},{len(results)},{took},{most}')
    return '\n'.join([*rows, ''])


def summary(seen):
    """Return in a sentence what came of all events."""
    events = {event: results for event, results in seen.items() if event != QUIET}
    count = sum(map(len, events.values()))
    kept = sum(_kept(event, results) for event, results in events.items())
    left = sum(
        len(results) - _kept(event, results)
        for event, results in events.items()
        if EVENTS[event][0] == ZERO
    )
    quiet = max((gap for _, gap in seen[QUIET]), default=0.0)
    beyond = sum(gap > quiet + BEYOND for results in events.values() for _, gap in results)
    return (
        f'{kept} of {count} events ended as promised; a torque was left on {left} times. After '
        f'{beyond} the gap was more than {BEYOND:g} ms beyond the largest of nothing, {quiet:.1f}.'
    )


def _kept(event, results):
    zeros = sum(zero is not None for zero, _ in results)
    promise = EVENTS.get(event, (ON,))[0]
    return zeros if promise == ZERO else len(results) - zeros


if __name__ == '__main__':
    sys.exit(main())
