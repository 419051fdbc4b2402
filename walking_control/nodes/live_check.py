# SPDX-License-Identifier: Apache-2.0
"""Listens to a running robot and judges its sensors, for `walking_control check --live`."""

import time

from geometry_msgs.msg import WrenchStamped
import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String

from walking_control.bringup.live import judge_record, LiveRecord
from walking_control.bringup.names import MANAGER
from walking_control.exceptions import InvalidInput, MeasurementError
from walking_control.models.signals import Measurement
from walking_control.models.urdf import differences
from walking_control.nodes import topics
from walking_control.nodes.messages import ForceReader, JointStateReader, read_imu, seconds
from walking_control.nodes.runtime import avoid_shared_memory, log_arguments, make_executor
from walking_control.nodes.sensors import sensor_topics
from walking_control.operation import LOCKS

LEAST_ROWS = 2


class Listener(Node):
    """Keeps what the sensors of a robot say.

    Args:
        robot: The `Robot`.
        namespace: Of its topics.
        **kwargs: Passed to `rclpy.node.Node`.
    """

    def __init__(self, robot, namespace='', **kwargs):
        super().__init__('live_check', namespace=namespace, **kwargs)
        self.record, self.heard, self.description, self.problem = LiveRecord(), set(), None, None
        self._measurement = Measurement(robot)
        self._reader = JointStateReader(robot.joints)
        self._sensors = sensor_topics(robot)
        readers = {'joint_state': self._on_joints, 'imu': self._on_imu,
                   LOCKS: lambda message: self.heard.add(LOCKS)}
        for i, foot in enumerate(robot.feet):
            readers[foot] = self._wrench_reader(foot, self._measurement.foot_force[i])
        for sensor, (kind, topic) in self._sensors.items():
            assert kind in (JointState, Imu, WrenchStamped)
            self.create_subscription(kind, topic, readers[sensor], topics.SENSOR_IN)
        self.create_subscription(String, topics.ROBOT_DESCRIPTION, self._on_description,
                                 topics.LATCHED)

    @property
    def missing(self):
        """Topics that have not been heard."""
        return [topic for sensor, (_, topic) in self._sensors.items() if sensor not in self.heard]

    def _on_description(self, message):
        self.description = message.data

    def _on_imu(self, message):
        read_imu(message, self._measurement)
        self.heard.add('imu')

    def _wrench_reader(self, foot, force):
        reader = ForceReader()

        def on_wrench(message):
            reader.read(message, force)
            self.heard.add(foot)
        return on_wrench

    def _on_joints(self, message):
        measurement = self._measurement
        try:
            if not self._reader.read(message, measurement.position, measurement.velocity):
                return
        except MeasurementError as error:
            self.problem = error
            return
        self.heard.add('joint_state')
        if self.missing:
            return
        if not np.isfinite(measurement.values).all():
            self.problem = MeasurementError('sensors', limit='tell values that are not finite')
            return
        record = self.record
        if record.time and seconds(message.header.stamp) <= record.time[-1]:
            return
        record.time.append(seconds(message.header.stamp))
        for name, values in (('position', measurement.position), ('velocity', measurement.velocity),
                             ('orientation', measurement.orientation),
                             ('angular_velocity', measurement.angular_velocity),
                             ('acceleration', measurement.linear_acceleration),
                             ('force', measurement.foot_force)):
            getattr(record, name).append(values.copy())


def check_live(robot_file, namespace, wait, listen):
    """Listen to a running robot.

    Args:
        robot_file: The `RobotFile`.
        namespace: Of its topics.
        wait: Longest wait for all its sensors, s.
        listen: How long to listen then, s.

    Returns:
        tuple: List of `InvalidInput`, and list of sentences on what could not be judged.
    """
    avoid_shared_memory()
    rclpy.init(args=log_arguments(), signal_handler_options=rclpy.SignalHandlerOptions.NO)
    try:
        node, executor = Listener(robot_file.robot, namespace), make_executor()
        executor.add_node(node)
        try:
            end = time.monotonic() + wait
            while node.missing and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.1)
            end = time.monotonic() + listen
            while not node.missing and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.1)
            return judge(robot_file, node, wait)
        finally:
            executor.shutdown()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def judge(robot_file, listener, waited):
    """Return problems and what could not be judged of what a `Listener` heard."""
    problems, left_out = [], []
    if listener.description is None:
        left_out.append(f'nobody tells {topics.ROBOT_DESCRIPTION}: it is not compared')
    else:
        found = differences(robot_file.robot.urdf, listener.description)
        if found:
            problems.append(InvalidInput(topics.ROBOT_DESCRIPTION, limit='is another robot than '
                                         'the robot file: ' + '; '.join(found)))
    if listener.problem is not None:
        problems.append(InvalidInput(str(listener.problem)))
    elif listener.missing:
        silent = [topic for topic in listener.missing if not listener.count_publishers(topic)]
        remedy = f'is {MANAGER} up, and are its broadcasters active?' if silent \
            else 'somebody publishes there, and says nothing or something of another type'
        problems.append(InvalidInput('sensors', value=', '.join(listener.missing),
                                     limit=f'not heard for {waited:g} s', remedy=remedy))
    elif len(listener.record.time) < LEAST_ROWS:
        problems.append(InvalidInput(topics.JOINT_STATES, limit='its stamps stand still'))
    else:
        more, also = judge_record(robot_file, listener.record)
        problems += more
        left_out += also
    return problems, left_out
