# SPDX-License-Identifier: Apache-2.0
"""What a controller thinks, as plain Float64 topics for rqt_plot, and where the robot is."""

import math

from nav_msgs.msg import Odometry
import numpy as np
from std_msgs.msg import Float64

from walking_control.controllers.controller import read_telemetry
from walking_control.models.dynamics import PlanarDynamics
from walking_control.nodes import topics
from walking_control.nodes.messages import set_stamp


class Telemetry:
    """Publishes coordinates, support, efforts and the law's own figures at a limited rate.

    Args:
        node: The rclpy node.
        loop: The `ControlLoop`.
        rate: Messages per second of sensor time and topic; 0 publishes nothing.
    """

    def __init__(self, node, loop, rate):
        self._node, self._loop = node, loop
        self._period = 1.0 / rate if rate > 0.0 else math.inf
        self._next = -math.inf
        self._message = Float64()
        self._publishers = {}

    def publish(self, stamp):
        """Publish if it is time to."""
        if not self._period < math.inf or stamp < self._next - 1e-9:
            return
        self._next = stamp + self._period
        for name, value in self._figures():
            publisher = self._publishers.get(name)
            if publisher is None:
                publisher = self._publishers[name] = self._node.create_publisher(
                    Float64, f'~/telemetry/{name}', topics.LATEST)
            self._message.data = float(value)
            publisher.publish(self._message)

    def _figures(self):
        loop = self._loop
        robot, state = loop.robot, loop.state
        yield from zip(robot.coordinates, state.q.tolist())
        yield from ((f'{name}_rate', rate)
                    for name, rate in zip(robot.coordinates, state.v.tolist()))
        yield 'support', state.support
        yield 'step_length', state.step_length
        yield 'step_time', state.step_time if math.isfinite(state.step_time) else 0.0
        yield from ((f'effort_{joint}', effort)
                    for joint, effort in zip(robot.actuators, loop.command.effort.tolist()))
        yield from read_telemetry(loop.controller, robot).items()

    def destroy(self):
        """Take the publishers away."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)


class OdometryPublisher:
    """Publishes Odometry and, where tf2_msgs exists, the transform odom -> base.

    The stance foot is taken to rest; its place is the sum of the steps. The frame ``odom`` is
    level: x forward, z up, with its origin at the first stance foot.

    Args:
        node: The rclpy node.
        loop: The `ControlLoop` of a planar robot.
        slope: Inclination of the floor, rad, downhill positive.
        rate: Messages per second of sensor time; 0 publishes nothing.
    """

    def __init__(self, node, loop, slope, rate):
        self._node, self._loop, self._slope = node, loop, slope
        robot = loop.robot
        self._dynamics = PlanarDynamics(robot)
        self._period = 1.0 / rate if rate > 0.0 else math.inf
        self._next = -math.inf
        self._publisher = node.create_publisher(Odometry, 'odom', topics.LATEST)
        self._message = Odometry()
        self._message.header.frame_id = 'odom'
        self._message.child_frame_id = robot.base_link
        self._tf = self._make_tf()

    def _make_tf(self):
        try:
            from geometry_msgs.msg import TransformStamped
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return None
        transform = TransformStamped()
        return self._node.create_publisher(TFMessage, '/tf', 10), TFMessage(transforms=[transform])

    def publish(self, stamp):
        """Publish the base's pose and velocity if it is time to."""
        if not self._period < math.inf or stamp < self._next - 1e-9:
            return
        self._next = stamp + self._period
        state = self._loop.state
        x, z, pitch = base_pose(state, self._slope)
        message = self._message
        set_stamp(message.header.stamp, state.stamp)
        pose = message.pose.pose
        pose.position.x, pose.position.z = x, z
        pose.orientation.y, pose.orientation.w = math.sin(0.5 * pitch), math.cos(0.5 * pitch)
        # velocities are expressed in the base frame
        along, up = base_velocity(self._dynamics, state)
        c, s = math.cos(state.pitch), math.sin(state.pitch)
        twist = message.twist.twist
        twist.linear.x, twist.linear.z = c * along - s * up, s * along + c * up
        twist.angular.y = state.pitch_rate
        self._publisher.publish(message)
        if self._tf is not None:
            self._publish_tf()

    def _publish_tf(self):
        publisher, message = self._tf
        transform, odometry = message.transforms[0], self._message
        transform.header, transform.child_frame_id = odometry.header, odometry.child_frame_id
        position = odometry.pose.pose.position
        transform.transform.translation.x = position.x
        transform.transform.translation.z = position.z
        transform.transform.rotation = odometry.pose.pose.orientation
        publisher.publish(message)

    def destroy(self):
        """Take the publishers away."""
        self._node.destroy_publisher(self._publisher)
        if self._tf is not None:
            self._node.destroy_publisher(self._tf[0])


def base_pose(state, slope):
    """Return x, z (m) and pitch (rad) of the base in the level frame at the first foothold."""
    along, up = state.foothold + state.base_x, state.base_height
    c, s = math.cos(slope), math.sin(slope)
    return c * along + s * up, c * up - s * along, state.pitch + slope


def base_velocity(dynamics, state):
    """Return the velocity of the base along and off the floor, stance foot at rest, m/s."""
    q = np.concatenate(([0.0, 0.0, state.pitch], state.position))
    v = np.concatenate(([0.0, 0.0, state.pitch_rate], state.velocity))
    foot = dynamics.robot.feet[state.support]
    along, up = dynamics.foot_jacobian(q, foot) @ v
    return -float(along), -float(up)
