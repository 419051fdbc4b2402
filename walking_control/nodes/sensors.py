# SPDX-License-Identifier: Apache-2.0
"""The sensors of a robot on their topics: read into the measurement of an `Operation`."""

from collections.abc import Callable
import math
import time
from typing import Any

import numpy as np
from rclpy.node import Node

from walking_control.exceptions import MeasurementError
from walking_control.models.robot import Robot
from walking_control.models.sensors import JOINTS, LOCKS, sensors_of
from walking_control.nodes import topics
from walking_control.nodes.combined_state import AFTER, CombinedReader, stamp_of, subscribe
from walking_control.nodes.messages import message_type, reader_of, seconds
from walking_control.nodes.watch_clock import WatchClock
from walking_control.operation import Operation
from walking_control.ros2_control.names import tick_number_of


def sensor_topics(robot: Robot) -> dict[str, tuple[Any, str]]:
    """Return sensor -> (message type, topic) of all that a complete set needs."""
    return {sensor.name: (message_type(sensor), sensor.topic) for sensor in sensors_of(robot)}


class SensorSet:
    """Reads messages into `operation.measurement` and tells the `Operation` of each.

    Args:
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
            self._others = [sensor.name for sensor in sensors_of(self._robot)[1:]]
            self._subscriptions = subscribe(self._node, self._combined, self._robot,
                                            self._force_sign, self._on_combined)
            return
        self._locks = np.zeros(len(self._robot.locks))
        parts = {**self._operation.measurement.parts, LOCKS: [self._locks]}
        self._subscriptions = [self._node.create_subscription(
            message_type(sensor), sensor.topic, self._callback(
                sensor.name, reader_of(sensor, parts[sensor.name])), topics.SENSOR_IN)
            for sensor in sensors_of(self._robot)]

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
            operation.problem = JOINTS, str(error)
        if stamp is None and (operation.problem is None or len(raw) < AFTER):
            return   # nobody has named the numbers yet, or not even a stamp is there
        if stamp is None:
            stamp = stamp_of(raw)
        for sensor in (*self._others, JOINTS):
            self._arrived(sensor, stamp * 1e-9, tick_number_of(stamp))

    def _callback(self, name: str, read: Callable[[Any], bool]) -> Callable[[Any], None]:
        def hear(message: Any) -> None:
            try:
                if not read(message):
                    return
            except MeasurementError as error:
                self._operation.problem = JOINTS, str(error)
            if name == LOCKS:
                self._judge_locks()
            self._heard(name, message.header.stamp)
        return hear

    def _judge_locks(self) -> None:
        for lock, told in zip(self._robot.locks, self._locks.tolist()):
            if not math.isfinite(told):   # would be read as open
                self._operation.problem = 'not_finite', 'the state of a lock is not finite'
            elif not -0.1 <= told <= 1.1:
                self._operation.problem = 'lock', f'the state of the lock of joint {lock.joint} ' \
                    f'is {told:.3g}; 0 is open, 1 engaged'
        self._operation.measurement.locked[:] = self._locks > 0.5

    def _heard(self, sensor: str, stamp: Any) -> None:
        self._arrived(sensor, seconds(stamp), topics.tick_number(stamp))

    def _arrived(self, sensor: str, stamp: float, tick: int) -> None:
        start = time.monotonic()
        if self._operation.arrived(sensor, stamp, tick, self._clock.now(stamp)):
            self._on_answered(start)
