# SPDX-License-Identifier: Apache-2.0
"""The sensors of a robot on their topics: read into the measurement of an `Operation`."""

from collections.abc import Callable
import math
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState

from walking_control.exceptions import MeasurementError
from walking_control.models.robot import Robot
from walking_control.nodes import topics
from walking_control.nodes.combined_state import AFTER, CombinedReader, stamp_of, subscribe
from walking_control.nodes.messages import ForceReader, JointStateReader, read_imu, seconds
from walking_control.nodes.watch_clock import WatchClock
from walking_control.operation import LOCKS, Operation
from walking_control.ros2_control.names import tick_number_of


def sensor_topics(robot: Robot) -> dict[str, tuple[Any, str]]:
    """Return sensor -> (message type, topic) of all that a complete set needs."""
    locks = {LOCKS: (JointState, topics.LOCK_STATES)} if robot.locks else {}
    return {'joint_state': (JointState, topics.JOINT_STATES), 'imu': (Imu, topics.IMU),
            **{foot: (WrenchStamped, topics.foot_wrench(foot)) for foot in robot.feet}, **locks}


class SensorSet:
    """Reads messages into `operation.measurement` and tells the `Operation` of each.

    Args:
        node: The rclpy node.
        operation: The `Operation`.
        clock: The `WatchClock`.
        on_answered: Called with the steady time at which the last sensor of a new set arrived,
            once the set is answered.
        combined: One of `combined_state.KINDS`: all sensors in one message; ``''``: each on its
            own topic.
        force_sign: Of the forces in a combined state, see `CombinedReader`.
    """

    def __init__(self, node: Node, operation: Operation, clock: WatchClock,
                 on_answered: Callable[[float], None], combined: str = '',
                 force_sign: float = 1.0) -> None:
        self._node, self._operation, self._clock = node, operation, clock
        self._on_answered = on_answered
        self._combined, self._force_sign = combined, force_sign
        self._robot = operation.loop.robot
        self._subscriptions: list[Any] = []

    def subscribe(self) -> None:
        """Begin to listen."""
        if self._combined:
            self._others = [sensor for sensor in sensor_topics(self._robot)
                            if sensor != 'joint_state']
            self._subscriptions = subscribe(self._node, self._combined, self._robot,
                                            self._force_sign, self._on_combined)
            return
        robot, kinds = self._robot, sensor_topics(self._robot)
        self._reader = JointStateReader(robot.joints)
        self._lock_reader = JointStateReader([lock.joint for lock in robot.locks])
        self._lock_positions = np.zeros(len(robot.locks))
        callbacks = {'joint_state': self._on_joints, 'imu': self._on_imu, LOCKS: self._on_locks,
                     **{foot: self._wrench_callback(foot, i) for i, foot in enumerate(robot.feet)}}
        for sensor, (kind, topic) in kinds.items():
            self._listen(kind, topic, callbacks[sensor])

    def _listen(self, kind: Any, topic: str, callback: Callable[..., Any]) -> None:
        self._subscriptions.append(
            self._node.create_subscription(kind, topic, callback, topics.SENSOR_IN))

    def unsubscribe(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = []

    # -- messages ------------------------------------------------------------------------------

    def _on_combined(self, reader: CombinedReader, raw: bytes) -> None:
        operation, stamp = self._operation, None
        try:
            stamp = reader.read(raw, operation.measurement)
        except MeasurementError as error:
            operation.problem = 'joint_state', str(error)
        if stamp is None and (operation.problem is None or len(raw) < AFTER):
            return   # nobody has named the numbers yet, or not even a stamp is there
        if stamp is None:
            stamp = stamp_of(raw)
        for sensor in (*self._others, 'joint_state'):
            self._arrived(sensor, stamp * 1e-9, tick_number_of(stamp))

    def _on_joints(self, message: JointState) -> None:
        measurement = self._operation.measurement
        try:
            if not self._reader.read(message, measurement.position, measurement.velocity):
                return
        except MeasurementError as error:
            self._operation.problem = 'joint_state', str(error)
        self._heard('joint_state', message.header.stamp)

    def _on_imu(self, message: Imu) -> None:
        read_imu(message, self._operation.measurement)
        self._heard('imu', message.header.stamp)

    def _wrench_callback(self, foot: str, index: int) -> Callable[[WrenchStamped], None]:
        force, reader = self._operation.measurement.foot_force[index], ForceReader()

        def on_wrench(message: WrenchStamped) -> None:
            reader.read(message, force)
            self._heard(foot, message.header.stamp)
        return on_wrench

    def _on_locks(self, message: JointState) -> None:
        try:
            if not self._lock_reader.read(message, self._lock_positions):
                return
        except MeasurementError as error:
            self._operation.problem = 'joint_state', str(error)
        for lock, told in zip(self._robot.locks, self._lock_positions.tolist()):
            if not math.isfinite(told):   # would be read as open
                self._operation.problem = 'not_finite', 'the state of a lock is not finite'
            elif not -0.1 <= told <= 1.1:
                self._operation.problem = 'lock', f'the state of the lock of joint {lock.joint} ' \
                    f'is {told:.3g}; 0 is open, 1 engaged'
        self._operation.measurement.locked[:] = self._lock_positions > 0.5
        self._heard(LOCKS, message.header.stamp)

    def _heard(self, sensor: str, stamp: float) -> None:
        self._arrived(sensor, seconds(stamp), topics.tick_number(stamp))

    def _arrived(self, sensor: str, stamp: float, tick: int) -> None:
        start = time.monotonic()
        if self._operation.arrived(sensor, stamp, tick, self._clock.now(stamp)):
            self._on_answered(start)
