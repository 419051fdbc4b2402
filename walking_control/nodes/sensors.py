# SPDX-License-Identifier: Apache-2.0
"""The sensors of a robot: subscriptions, when a set is complete, how old each is."""

import math
import time

from geometry_msgs.msg import Twist, WrenchStamped
import numpy as np
from sensor_msgs.msg import Imu, JointState

from walking_control.exceptions import MeasurementError
from walking_control.models.signals import Measurement
from walking_control.nodes import topics
from walking_control.nodes.messages import JointStateReader, read_force, read_imu, seconds

LOCKS = 'locks'


class SensorSet:
    """Collects messages into one `Measurement` and calls back when a set is complete.

    In lockstep a set is complete when all stamps are equal. Otherwise every joint state completes
    it, once each sensor has been heard.

    Args:
        robot: The `Robot`.
        lockstep: Whether stamps must be equal.
        on_complete: Called with the tick number.
    """

    def __init__(self, robot, lockstep, on_complete):
        self.measurement = Measurement(robot)
        self.problem = None   # why the last joint state could not be read
        self._robot, self._lockstep, self._on_complete = robot, lockstep, on_complete
        self._kinds = {'joint_state': 'joint_state', 'imu': 'imu',
                       **{foot: 'contact' for foot in robot.feet}}
        if robot.locks:
            self._kinds[LOCKS] = 'joint_state'
        self._reader = JointStateReader(robot.joints)
        self._lock_reader = JointStateReader([lock.joint for lock in robot.locks])
        self._lock_positions = np.zeros(len(robot.locks))
        self._subscriptions = []

    def subscribe(self, node, reference):
        """Begin to listen; speeds on cmd_vel go to the `Reference`."""
        self.problem = None
        self.measurement.velocity[:] = 0.0   # of an earlier activation
        self._ticks, self._heard = {}, {}
        self._complete_at = self._advanced_at = None
        self._node = node
        self._listen(JointState, topics.JOINT_STATES, self._on_joints)
        self._listen(Imu, topics.IMU, self._on_imu)
        for i, foot in enumerate(self._robot.feet):
            self._listen(WrenchStamped, topics.foot_wrench(foot), self._wrench_callback(foot, i))
        if self._robot.locks:
            self._listen(JointState, topics.LOCK_STATES, self._on_locks)

        def on_cmd_vel(message):
            speed = message.linear.x
            reference.speed = speed if 0.0 < speed < float('inf') else None
        self._listen(Twist, topics.CMD_VEL, on_cmd_vel)

    def _listen(self, kind, topic, callback):
        self._subscriptions.append(
            self._node.create_subscription(kind, topic, callback, topics.LATEST))

    def unsubscribe(self):
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = []

    # -- how old -------------------------------------------------------------------------------

    @property
    def heard(self):
        """Whether any sensor has been heard."""
        return bool(self._heard)

    def ages(self):
        """Yield (kind, age in s) of every sensor; one never heard counts from the first heard."""
        now = time.monotonic()
        first = min(self._heard.values())
        for sensor, kind in self._kinds.items():
            yield kind, now - self._heard.get(sensor, first)

    def silence(self):
        """Return the time since the last complete set, s, or since the first sensor was heard."""
        since = self._complete_at
        if since is None and not self._heard:
            return math.inf
        return time.monotonic() - (min(self._heard.values()) if since is None else since)

    def frozen(self):
        """Return for how long sets have come with the same stamp, s."""
        if self._complete_at is None:
            return 0.0
        return self._complete_at - self._advanced_at

    # -- messages ------------------------------------------------------------------------------

    def _on_joints(self, message):
        measurement = self.measurement
        try:
            self._reader.read(message, measurement.position, measurement.velocity)
        except MeasurementError as error:
            self.problem = str(error)
        self._arrived('joint_state', message.header.stamp)

    def _on_imu(self, message):
        read_imu(message, self.measurement)
        self._arrived('imu', message.header.stamp)

    def _wrench_callback(self, foot, index):
        force = self.measurement.foot_force[index]

        def on_wrench(message):
            read_force(message, force)
            self._arrived(foot, message.header.stamp)
        return on_wrench

    def _on_locks(self, message):
        try:
            self._lock_reader.read(message, self._lock_positions)
        except MeasurementError as error:
            self.problem = str(error)
        self.measurement.locked[:] = self._lock_positions > 0.5
        self._arrived(LOCKS, message.header.stamp)

    def _arrived(self, sensor, stamp):
        tick = topics.tick_number(stamp)
        ticks = self._ticks
        ticks[sensor] = tick
        now = self._heard[sensor] = time.monotonic()
        if len(ticks) < len(self._kinds):
            return
        if self._lockstep:
            if any(other != tick for other in ticks.values()):
                return
        elif sensor != 'joint_state':
            return
        measured = seconds(stamp)
        if self._complete_at is None or measured != self.measurement.stamp:
            self._advanced_at = now
        self._complete_at = now
        self.measurement.stamp = measured
        self._on_complete(tick)
