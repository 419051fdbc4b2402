# SPDX-License-Identifier: Apache-2.0
"""A robot of somebody else, as it would be connected: real topics, real time, and a bad network.

It publishes what a robot publishes whatever the controller does, and keeps what comes back with
the time it came. As a program it starts a controller and a watchdog of their own, does one or all
of its `TRIALS` to them and prints what happened:

    python test/nodes/outside_robot.py [TRIAL ...]
"""

from dataclasses import dataclass, field
import heapq
import itertools
import random
import time

from geometry_msgs.msg import WrenchStamped
import rclpy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String

from walking_control.nodes import topics
from walking_control.nodes.messages import set_stamp
from walking_control.nodes.runtime import make_executor

HELD = {'position': (-0.3, 0.0, 0.0), 'velocity': (0.0, 0.0, 0.0), 'pitch_half': -0.075,
        'forces': (90.0, 0.0)}   # Dribbel just after touchdown


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
        self.efforts, self.faults = [], []   # (when, N m) and texts
        publish, out = self.node.create_publisher, topics.SENSOR_OUT
        self._publishers = {
            'imu': publish(Imu, topics.IMU, out),
            'locks': publish(JointState, topics.LOCK_STATES, out),
            **{foot: publish(WrenchStamped, topics.foot_wrench(foot), out) for foot in self.feet},
            'joints': publish(JointState, topics.JOINT_STATES, out)}
        listen = self.node.create_subscription
        listen(Float64MultiArray, topics.EFFORT_COMMANDS, self._on_effort, topics.EVENTS)
        listen(String, 'walking_controller/fault', self._on_fault, topics.LATCHED)
        self._due = time.monotonic()

    def _on_effort(self, message):
        efforts = list(message.data)
        self.network.send(lambda: self.efforts.append((time.monotonic(), efforts)))

    def _on_fault(self, message):
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
                self._due = max(self._due + 1.0 / self.rate, now)   # never a burst to catch up
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
        self.node.destroy_node()
