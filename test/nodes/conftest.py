# SPDX-License-Identifier: Apache-2.0
"""A ROS context per test, in a domain of its own, and a hand-driven robot."""

import contextlib
import gc
import itertools
import math
import time

import pytest

pytest.importorskip('rclpy', reason='node tests need rclpy (a sourced ROS 2, or the extra "ros")')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from domains import reserve_domain  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
import rclpy  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from walking_control.ros.nodes import topics  # noqa: E402
from walking_control.ros.nodes.controller_node import ControllerNode  # noqa: E402
from walking_control.ros.nodes.messages import set_stamp  # noqa: E402
from walking_control.ros.nodes.runtime import isolate_domain, make_executor  # noqa: E402

isolate_domain()  # of processes, too, that a test starts: shared memory outlives a kill

# A node that Python has not collected yet keeps its DDS participant, and participants of one
# machine look for each other among the first 32 of a domain: nobody would hear the 33rd of this
# process.
_made = itertools.count(1)
KEPT = 10
PATIENCE = 40.0  # s that a busy machine may take for what comes in the end


class Bench:
    """Nodes under test and an executor to spin them."""

    def __init__(self):
        self.nodes = []
        self.executor = make_executor()

    def add(self, node):
        """Add a node; it is stopped and destroyed with the bench."""
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def remove(self, node):
        """Take a node away, as if its process had died."""
        self.nodes.remove(node)
        self.executor.remove_node(node)
        node.destroy_node()

    def close(self):
        """Stop all; the executor lets go of a node before it is destroyed."""
        for node in reversed(self.nodes):
            node.stop()
            self.executor.remove_node(node)
        self.executor.shutdown()
        for node in reversed(self.nodes):
            node.destroy_node()

    def spin_until(self, condition, timeout=PATIENCE):
        """Spin until a condition holds; return whether it did in time."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.executor.spin_once(timeout_sec=0.02)
        return True

    def controller(self, activate=True, namespace='', **parameters):
        """Return a controller node, configured and activated."""
        given = {'require_watchdog': False, **parameters}
        overrides = [
            Parameter(name.replace('__', '.'), value=value) for name, value in given.items()
        ]
        node = self.add(ControllerNode(namespace=namespace, parameter_overrides=overrides))
        if activate:
            node.trigger_configure()
            node.trigger_activate()
        return node


@pytest.fixture
def bench(monkeypatch):
    """Return a `Bench` in its own domain."""
    number, give_back = reserve_domain()
    monkeypatch.setenv('ROS_DOMAIN_ID', str(number))  # for processes a test starts, too
    # closed one by one, whatever fails: else every later test would fail with it
    with contextlib.ExitStack() as ends:
        ends.callback(give_back)
        rclpy.init(args=[])
        ends.callback(rclpy.shutdown)
        bench = Bench()
        ends.callback(bench.close)
        yield bench
    if next(_made) % KEPT == 0:
        gc.unfreeze()  # a controller freezes what there is at its start
        gc.collect()


class HandDrivenRobot:
    """Publishes the sensors a test writes and keeps the commands that come back."""

    joints = ('hip', 'outer_knee', 'inner_knee')
    feet = ('outer_foot', 'inner_foot')

    def __init__(self, bench, namespace='', qos=topics.SENSOR_OUT):
        self._bench = bench
        self.node = rclpy.create_node('robot', namespace=namespace)
        self.node.stop = lambda: None
        bench.add(self.node)
        out = qos
        publish = self.node.create_publisher
        self._joint_states = publish(JointState, topics.JOINT_STATES, out)
        self._lock_states = publish(JointState, topics.LOCK_STATES, out)
        self._imu = publish(Imu, topics.IMU, out)
        self._wrenches = [
            publish(WrenchStamped, topics.foot_wrench(foot), out) for foot in self.feet
        ]
        self.efforts, self.locks = [], []
        self._stamp = 1.0
        self.node.create_subscription(
            Float64MultiArray, topics.EFFORT_COMMANDS, self.efforts.append, topics.LATEST
        )
        self.node.create_subscription(
            Float64MultiArray, topics.LOCK_COMMANDS, self.locks.append, topics.LATEST
        )

    def wait(self, timeout=PATIENCE):
        """Wait until a controller listens and speaks."""
        publishers = [self._joint_states, self._lock_states, self._imu, *self._wrenches]
        assert self._bench.spin_until(
            lambda: (
                all(publisher.get_subscription_count() for publisher in publishers)
                and self.node.count_publishers(topics.EFFORT_COMMANDS)
            ),
            timeout,
        ), 'no controller found'

    def send(
        self,
        stamp,
        names=None,
        position=(-0.3, 0.0, 0.0),
        velocity=(0.0, 0.0, 0.0),
        pitch_half=-0.075,
        forces=(90.0, 0.0),
        norm=1.0,
        mute=(),
        lags=None,
        force_axes='xyz',
        engaged=(1.0, 1.0),
        acceleration=(0.0, 0.0, 0.0),
        rate=0.0,
        imu_frame='',
        foot_frame='',
        measured=(0.0, 0.0, 0.0),
    ):
        """Publish one set of sensors, Dribbel just after touchdown unless told otherwise.

        `mute` names sensors that are not sent, `lags` by how much the stamps of some are behind,
        `force_axes` the axes that a force cell has, `engaged` the states of the locks, `rate` how
        fast the base pitches. An acceleration of zero is an IMU without accelerometer. `measured`:
        the first elements of its covariances of orientation, angular velocity, acceleration.
        """
        self._stamp = stamp
        imu, locks, joints = Imu(), JointState(), JointState()
        imu.orientation.y = norm * pitch_half
        imu.orientation.w = norm * (1.0 - pitch_half**2) ** 0.5
        imu.header.frame_id = imu_frame
        covariances = (
            imu.orientation_covariance,
            imu.angular_velocity_covariance,
            imu.linear_acceleration_covariance,
        )
        for covariance, first in zip(covariances, measured):
            covariance[0] = first
        imu.angular_velocity.y, felt = rate, imu.linear_acceleration
        felt.x, felt.y, felt.z = acceleration
        locks.name, locks.position = ['outer_knee', 'inner_knee'], list(engaged)
        joints.name = list(self.joints if names is None else names)
        joints.position, joints.velocity = list(position), list(velocity)
        messages = {'imu': (self._imu, imu), 'locks': (self._lock_states, locks)}
        for foot, publisher, force in zip(self.feet, self._wrenches, forces):
            wrench = WrenchStamped()
            wrench.header.frame_id = foot_frame
            wrench.wrench.force.z = force
            for axis in set('xyz') - set(force_axes):
                setattr(wrench.wrench.force, axis, math.nan)
            messages[foot] = publisher, wrench
        messages['joints'] = self._joint_states, joints
        for name, (publisher, message) in messages.items():
            set_stamp(message.header.stamp, max(0.0, stamp - (lags or {}).get(name, 0.0)))
            if name not in mute and name != mute:
                publisher.publish(message)

    def ask(self, stamp, **sensors):
        """Publish one set of sensors and return the effort that answers it."""
        tick = 1 + round(stamp * 1e6)
        sent = 0.0

        def answered():
            nonlocal sent
            if time.monotonic() - sent > 0.2:  # as the simulator does when nobody answers
                self.send(stamp, **sensors)
                sent = time.monotonic()
            return all(
                commands and commands[-1].layout.data_offset == tick
                for commands in (self.efforts, self.locks)
            )

        assert self._bench.spin_until(answered), 'no command came back'
        return self.efforts[-1].data[0]

    def lose_joints(self, stamp):
        """Publish joints that are not finite for longer than is bridged; return the last effort."""
        for _ in range(3):
            effort = self.ask(stamp, position=(math.nan, 0.0, 0.0))
            stamp += 0.01
        return effort

    def stream_until_told(self, words, timeout=PATIENCE):
        """Publish sensors until a status on /diagnostics says words; return the last status."""
        heard = []
        self.node.create_subscription(
            DiagnosticArray, '/diagnostics', lambda message: heard.append(message.status[0]), 10
        )
        self.wait()
        told = self.stream_until(lambda: any(words in status.message for status in heard), timeout)
        assert told, f'nothing on /diagnostics says "{words}"'
        return heard[-1]

    def stream_until(self, condition, timeout=PATIENCE, step=0.01, every=0.01, **sensors):
        """Publish sensors as hardware would, until a condition holds.

        Their stamps advance by `step`, whatever the time; `every` is the interval in s.
        """
        sent = 0.0

        def streamed():
            nonlocal sent
            if time.monotonic() - sent > every:
                self.send(self._stamp + step, **sensors)
                sent = time.monotonic()
            return condition()

        return self._bench.spin_until(streamed, timeout)


@pytest.fixture
def robot(bench):
    """Return a `HandDrivenRobot`."""
    return HandDrivenRobot(bench)
