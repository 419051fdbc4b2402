# SPDX-License-Identifier: Apache-2.0
"""A robot of somebody else, as it would be connected: real topics, real time, a bad network.

It publishes what a robot publishes whatever the controller does, and keeps what comes back with
the time it came. As a program it gives a controller and a watchdog in processes of their own a bad
time, one of `TRIALS` after the other, and prints what came of it as the table of
doc/safety_evidence.md:

    python test/nodes/outside_robot.py [TRIAL ...]
"""

import contextlib
from dataclasses import dataclass, field
import heapq
import itertools
import math
from pathlib import Path
import random
import signal
import sys
import time

from geometry_msgs.msg import WrenchStamped
import rclpy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String

from walking_control.ros.nodes import topics
from walking_control.ros.nodes.messages import set_stamp
from walking_control.ros.nodes.runtime import isolate_domain, make_executor

sys.path.append(str(Path(__file__).parents[1] / 'helpers'))  # where pytest does not see to it
from programs import Program  # noqa: E402

HELD = {
    'position': (-0.3, 0.0, 0.0),
    'velocity': (0.0, 0.0, 0.0),
    'pitch_half': -0.075,
    'forces': (90.0, 0.0),
}  # Dribbel just after touchdown


@dataclass
class Network:
    """What happens to a message on its way.

    Args:
        loss: Share of the messages that never arrive.
        delay: How long each takes, s.
        jitter: How much longer one may take, s, evenly distributed.
        seed: Of what is lost and late.
    """

    loss: float = 0.0
    delay: float = 0.0
    jitter: float = 0.0
    seed: int = 0
    _queue: list = field(default_factory=list)

    def __post_init__(self):
        self._random = random.Random(self.seed)
        self._count = itertools.count()

    def send(self, deliver):
        """Take a callable that delivers a message; call it now, later or never."""
        if self._random.random() < self.loss:
            return
        late = self.delay + self.jitter * self._random.random()
        if late:
            heapq.heappush(self._queue, (time.monotonic() + late, next(self._count), deliver))
        else:
            deliver()

    def arrive(self):
        """Deliver what is due; return when the next is, or infinity."""
        while self._queue and self._queue[0][0] <= time.monotonic():
            heapq.heappop(self._queue)[2]()
        return self._queue[0][0] if self._queue else float('inf')


class OutsideRobot:
    """Publishes a robot's sensors in real time and keeps the efforts that come back.

    The robot hangs in a frame: every measurement is the same, but for its stamp.

    Args:
        namespace: Namespace of its topics.
        rate: Sets of sensors per second.
        network: The `Network` between it and the controller, both ways.
    """

    joints = ('hip', 'outer_knee', 'inner_knee')
    feet = ('outer_foot', 'inner_foot')

    def __init__(self, namespace='', rate=100.0, network=None):
        self.node = rclpy.create_node('outside_robot', namespace=namespace)
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.rate, self.network = rate, network or Network()
        self.efforts, self.faults = [], []  # (when, N m) and texts
        publish, out = self.node.create_publisher, topics.SENSOR_OUT
        self._publishers = {
            'imu': publish(Imu, topics.IMU, out),
            'locks': publish(JointState, topics.LOCK_STATES, out),
            **{foot: publish(WrenchStamped, topics.foot_wrench(foot), out) for foot in self.feet},
            'joints': publish(JointState, topics.JOINT_STATES, out),
        }
        listen = self.node.create_subscription
        listen(Float64MultiArray, topics.EFFORT_COMMANDS, self._on_effort, topics.EVENTS)
        listen(String, 'walking_controller/fault', self._on_fault, topics.LATCHED)
        self._due = time.monotonic()

    def _on_effort(self, message):
        efforts = list(message.data)
        self.network.send(lambda: self.efforts.append((time.monotonic(), efforts)))

    def _on_fault(self, message):
        if message.data:
            self.faults.append(message.data)

    @property
    def effort(self):
        """The last effort heard, N m, or None."""
        return self.efforts[-1][1][0] if self.efforts else None

    @property
    def moving(self):
        """Whether the last effort is not zero."""
        return bool(self.efforts) and any(self.efforts[-1][1])

    def measure(self):
        """Return name -> message of one set of sensors, stamped now."""
        imu, locks, joints = Imu(), JointState(), JointState()
        imu.orientation.y = HELD['pitch_half']
        imu.orientation.w = (1.0 - HELD['pitch_half'] ** 2) ** 0.5
        lean = 2.0 * math.asin(HELD['pitch_half'])
        felt = imu.linear_acceleration
        felt.x, felt.z = -9.81 * math.sin(lean), 9.81 * math.cos(lean)
        locks.name, locks.position = ['outer_knee', 'inner_knee'], [1.0, 1.0]
        joints.name = list(self.joints)
        joints.position, joints.velocity = list(HELD['position']), list(HELD['velocity'])
        messages = {'imu': imu, 'locks': locks}
        for foot, force in zip(self.feet, HELD['forces']):
            messages[foot] = WrenchStamped()
            messages[foot].wrench.force.z = force
        messages['joints'] = joints
        stamp = time.monotonic()
        for message in messages.values():
            set_stamp(message.header.stamp, stamp)
        return messages

    def spin_until(self, condition, timeout=20.0):
        """Be the robot until a condition holds; return whether it did in time."""
        deadline = time.monotonic() + timeout
        while not condition():
            now = time.monotonic()
            if now > deadline:
                return False
            if now >= self._due:
                self._due = max(self._due + 1.0 / self.rate, now)  # never a burst to catch up
                for name, message in self.measure().items():
                    publish = self._publishers[name].publish
                    self.network.send(lambda publish=publish, message=message: publish(message))
            due = min(self._due, self.network.arrive(), now + 0.02)
            self.executor.spin_once(timeout_sec=max(0.0, due - time.monotonic()))
        return True

    def spin(self, duration):
        """Be the robot for a while, s."""
        self.spin_until(lambda: False, duration)

    def close(self):
        """Leave."""
        self.executor.remove_node(self.node)
        self.node.destroy_node()


# -- trials: what is done to a controller, and what it promises -----------------------------------

LIMIT = 74 * 0.0302 * 8.0  # N m, largest effort of Dribbel's hip


@contextlib.contextmanager
def started(namespace='outside', watchdog=True, terminal=None, **parameters):
    """Start a controller in real time and its watchdog; give their processes.

    Args:
        namespace: Of both.
        watchdog: Whether there is one.
        terminal: File that both print to; None: nobody's business.
        **parameters: Of the controller.
    """
    output = {} if terminal is None else {'stdout': terminal, 'stderr': terminal}

    def start(module, **values):
        arguments = [
            word
            for name, value in values.items()
            for word in ('-p', f'{name.replace("__", ".")}:={value}')
        ]
        return stack.enter_context(
            Program(
                sys.executable,
                Path(__file__).parents[2] / 'scripts' / module,
                '--ros-args',
                '-r',
                f'__ns:=/{namespace}',
                *arguments,
                **output,
            )
        )

    with contextlib.ExitStack() as stack:
        programs = [
            start(
                'controller_node',
                autostart='true',
                realtime='true',
                require_watchdog=str(watchdog).lower(),
                **parameters,
            )
        ]
        if watchdog:
            programs.append(start('watchdog_node'))
        try:
            yield programs
        finally:
            for program in programs:  # asked, because ROS remembers for long what was killed
                program.send_signal(signal.SIGINT)
            for program in programs:
                program.wait(20.0)


def judge(robot, begin):
    """Return in words what a robot has got since a time, and whether that is what is promised.

    Promised: every effort is finite and within its limits; once a fault is shown, zero follows
    within the time of its reaction, however long the sensors go on.
    """
    efforts = [effort[0] for when, effort in robot.efforts if when >= begin]
    sound = all(abs(effort) <= LIMIT + 1e-9 for effort in efforts)  # false for NaN
    fault = robot.faults[-1].partition(':')[0] if robot.faults else ''
    if not fault:
        return f'walks on, {len(efforts)} commands', sound and robot.moving
    return (
        f'{fault}, then zero' if not robot.moving else f'{fault}, and no zero',
        sound and not robot.moving,
    )


def stream(robot, process, duration=6.0):
    """Be the robot and nothing else."""
    robot.spin(duration)


def suspend(robot, process):
    """Stop the process for a second, as a debugger or a laptop's lid does, and let it go on."""
    process.send_signal(signal.SIGSTOP)
    robot.spin(1.0)
    assert not robot.moving, 'the watchdog has not sent zero'
    process.send_signal(signal.SIGCONT)
    robot.spin(4.0)


# name -> (rate in Hz, the network, parameters of the controller, what is done)
TRIALS = {
    '100 Hz': (100.0, {}, {}, stream),
    '1 kHz': (1000.0, {}, {}, stream),
    '20 Hz, state_timeout 0.06 s': (20.0, {}, {'safety__state_timeout': 0.06}, stream),
    '20 Hz, state_timeout 0.2 s': (20.0, {}, {'safety__state_timeout': 0.2}, stream),
    '30 % loss': (100.0, {'loss': 0.3}, {}, stream),
    '20 ms delay, 0 to 20 ms jitter': (100.0, {'delay': 0.02, 'jitter': 0.02}, {}, stream),
    'SIGSTOP for 1 s, SIGCONT': (100.0, {}, {}, suspend),
}


def try_out(name, namespace='outside', patience=30.0):
    """Do a trial; return what was promised to happen, in words, and whether it did.

    Args:
        name: A key of `TRIALS`.
        namespace: Of robot and controller.
        patience: How long the robot waits for the first effort, s.
    """
    rate, network, parameters, act = TRIALS[name]
    robot = OutsideRobot(namespace, rate, Network(**network))
    try:
        with started(namespace, **parameters) as (process, *_):
            begin = time.monotonic()
            robot.spin_until(lambda: robot.moving or any(robot.faults), patience)
            waited = time.monotonic() - begin
            act(robot, process)
            if not robot.efforts or not any(robot.faults) and not robot.moving:
                return f'waits, zero or no command for {waited:.0f} s', process.poll() is None
            words, kept = judge(robot, begin)
            return words, kept and process.poll() is None
    finally:
        robot.close()


def main():
    """Try what is asked for, or everything; return the exit status."""
    isolate_domain()
    rclpy.init(args=[])
    broken = False
    print('| trial | what came of it | as promised |', '|---|---|---|', sep='\n')
    for number, name in enumerate(sys.argv[1:] or TRIALS):
        words, kept = try_out(name, f'trial_{number}')
        broken |= not kept
        print(f'| {name} | {words} | {"yes" if kept else "NO"} |', flush=True)
    rclpy.try_shutdown()
    return int(broken)


if __name__ == '__main__':
    sys.exit(main())
