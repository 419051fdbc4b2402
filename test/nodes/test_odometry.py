# SPDX-License-Identifier: Apache-2.0
"""The Odometry message: frames, and a covariance that is the estimator's."""

import contextlib
from types import SimpleNamespace

from nav_msgs.msg import Odometry
import numpy as np
import pinocchio as pin
import pytest
import rclpy
from rclpy.parameter import Parameter

from walking_control.estimation.estimator import make_estimator
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.odometry_node import OdometryNode
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.nodes.telemetry import odometry_covariance, OdometryPublisher

SLOPE = 0.1


class Listener:
    """A node that keeps what is published."""

    keeper = None

    def kept_by(self, keeper):
        """Return a context in which nothing is remembered."""
        return contextlib.nullcontext()

    def __init__(self):
        self.heard = []

    def create_publisher(self, kind, topic, qos):
        """Return something to publish with."""
        return SimpleNamespace(publish=self.heard.append)


def test_covariances_are_derivatives():
    """A covariance in another frame than its message is wrong for all who fuse it."""
    rng, level = np.random.default_rng(0), pin.utils.rotate('y', SLOPE)
    L = rng.standard_normal((9, 9))
    rotation, v, p = pin.exp3(rng.standard_normal(3)), *rng.standard_normal((2, 3))

    def message(error):
        """Return what an Odometry says of a state that is off by an error."""
        turned = pin.exp3(error[:3]) @ rotation
        turn = pin.log3(level @ turned @ rotation.T @ level.T)
        return np.concatenate((level @ (p + error[6:]), turn, turned.T @ (v + error[3:6])))

    J = np.array([(message(1e-6 * e) - message(-1e-6 * e)) / 2e-6 for e in np.eye(9)]).T
    base = SimpleNamespace(rotation=rotation, linear=v)
    pose, twist = odometry_covariance(SimpleNamespace(base=base, covariance=L @ L.T), level)
    truth = J @ L @ L.T @ J.T
    assert np.allclose(pose, truth[:6, :6], atol=1e-7)
    assert np.allclose(twist[:3, :3], truth[6:, 6:], atol=1e-7)
    assert not twist[3:].any() and not twist[:, 3:].any()


@pytest.mark.parametrize('declared', [False, True])
def test_message_carries_what_is_known(declared):
    """Zeros say that nobody knows; a filter knows, and a planar one what cannot be."""
    settings = [('gyro_sigma', 0.01), ('position_sigma', 1e-3)] if declared else []
    robot_file = load_robot('dribbel', [(f'estimator.{name}', value) for name, value in settings])
    estimator, measurement = make_estimator(robot_file), Measurement(robot_file.robot)
    measurement.foot_force[:, 2], measurement.linear_acceleration[2] = 45.0, 9.81
    for stamp in (0.0, 0.01, 0.02):
        measurement.stamp = stamp
        estimator.update(measurement)
    loop = SimpleNamespace(estimator=estimator, state=estimator.state, robot=robot_file.robot)
    node = Listener()
    OdometryPublisher(node, loop, 0.0, 20.0).publish(0.02)
    message = node.heard[0]
    pose, twist = (np.reshape(part.covariance, (6, 6)) for part in (message.pose, message.twist))
    if not declared:
        assert not pose.any() and not twist.any()
        return
    own = [0, 2, 4]  # along x and z, about y
    assert np.all(np.diag(pose)[own[:2]] > 0.0) and np.all(np.diag(twist)[own] > 0.0)
    assert np.diag(twist)[4] >= 1e-4, 'the gyroscope'
    assert not np.delete(np.diag(pose), own).any() and not np.delete(np.diag(twist), own).any()


def parameters(**values):
    """Return parameter overrides of a node."""
    return {'parameter_overrides': [Parameter(name, value=value) for name, value in values.items()]}


def hear_odometry(bench):
    """Return a list that fills with the messages on odom."""
    heard, node = [], rclpy.create_node('fusion')
    node.stop = lambda: None
    bench.add(node).create_subscription(Odometry, 'odom', heard.append, topics.LATEST)
    return heard


@pytest.mark.long
def test_a_walk_is_followed_beside_a_controller(bench):
    """Who uses another controller would not know where the robot is, nor how surely."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    odometry = bench.add(OdometryNode(**parameters(robot_file='walker3d', use_sim_time=True)))
    simulator = bench.add(
        SimulatorNode(**parameters(robot_file='walker3d', lockstep_timeout=40.0, duration=2.5))
    )
    bench.controller(
        robot_file='walker3d',
        odometry_rate=0.0,
        lockstep_timeout=40.0,
        controller='stepping',
        stepping__speed=0.4,
    )
    heard = hear_odometry(bench)
    assert bench.spin_until(lambda: simulator.finished, 120.0)
    assert simulator.fault is None and odometry.operation.fault is None
    begin, end = (
        np.array([pose.position.x, pose.position.y])
        for pose in (message.pose.pose for message in (heard[0], heard[-1]))
    )
    way = simulator.plant.truth.q[:2] - [simulator._origin, 0.0]
    assert way[0] > 0.4
    assert np.abs(end - begin - way).max() < 0.03
    deviation = np.sqrt(np.reshape(heard[-1].pose.covariance, (6, 6)).diagonal()[:2])
    assert (0.0 < deviation).all() and (deviation < 0.1).all()


def test_the_way_goes_on_after_a_silent_sensor(bench, robot):
    """Whoever steers by odom would jump back to the origin after each lost cable."""
    odometry = bench.add(OdometryNode(**parameters(robot_file='dribbel', rate=1000.0)))
    heard = hear_odometry(bench)
    assert robot.stream_until(lambda: len(heard) > 5, 60.0)
    odometry._odometry._message.pose.pose.position.x = 3.0  # as if it had walked there
    assert bench.spin_until(lambda: odometry._told is not None, 30.0)  # silence
    count = len(heard)
    assert robot.stream_until(lambda: len(heard) > count, 60.0)
    assert heard[count].pose.pose.position.x == pytest.approx(3.0, abs=0.01)


def test_another_robot_is_refused():
    """A robot that is not there would be followed by nobody, without a word."""
    rclpy.init(args=[])
    try:
        with pytest.raises(Exception, match='no_such'):
            OdometryNode(**parameters(robot_file='no_such'))
    finally:
        rclpy.shutdown()
