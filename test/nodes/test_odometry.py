# SPDX-License-Identifier: Apache-2.0
"""The Odometry message: frames, and a covariance that is the estimator's."""

import contextlib
import sys
from types import SimpleNamespace

from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
import numpy as np
import pinocchio as pin
import pytest
import rclpy
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from walking_control.estimation.estimator import make_estimator
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.odometry import odometry_covariance, OdometryPublisher
from walking_control.ros.nodes.odometry_node import OdometryNode
from walking_control.ros.nodes.simulator_node import SimulatorNode

SLOPE = 0.1


class Listener:
    """A node that keeps what is published."""

    keeper = None

    def kept_by(self, keeper):
        """Return a context in which nothing is remembered."""
        return contextlib.nullcontext()

    def __init__(self):
        self.heard, self.told, self.hears, self.static = [], [], [], []

    def create_publisher(self, kind, topic, qos):
        """Return something to publish with."""
        kept = self.static if topic == '/tf_static' else self.heard
        return SimpleNamespace(publish=kept.append)

    def create_subscription(self, kind, topic, callback, qos):
        """Keep who hears."""
        self.hears.append(callback)

    def get_logger(self):
        """Return what keeps warnings."""
        return SimpleNamespace(warning=self.told.append)


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


@pytest.fixture
def tf2(monkeypatch):
    """Return the class TFMessage of a tf2_msgs, which wheels do not have."""
    module = SimpleNamespace(TFMessage=SimpleNamespace)
    monkeypatch.setitem(sys.modules, 'tf2_msgs', SimpleNamespace(msg=module))
    monkeypatch.setitem(sys.modules, 'tf2_msgs.msg', module)
    return module.TFMessage


def walking_pose(settings=()):
    """Return a loop whose walker3d stands turned, a foot ahead and up, and where its feet are."""
    robot_file = load_robot('walker3d', settings)
    estimator, measurement = make_estimator(robot_file), Measurement(robot_file.robot)
    measurement.position[[2, 3, 9]] = -0.9, 1.4, -0.2
    measurement.orientation[:] = pin.Quaternion(pin.utils.rpyToMatrix(0.05, 0.1, 0.8)).coeffs()
    measurement.foot_force[1, 2], measurement.linear_acceleration[2] = 98.0, 9.81
    estimator.reset(robot_file.robot.feet[1])
    for measurement.stamp in (0.0, 0.01, 0.02):
        estimator.update(measurement)
    loop = SimpleNamespace(estimator=estimator, state=estimator.state, robot=robot_file.robot)
    base = estimator.state.base
    place = pin.SE3(base.rotation, base.position)
    dynamics = Dynamics(robot_file.robot)
    dynamics.place(dynamics.configuration(measurement.position))
    return loop, [place.act(np.array(dynamics.foot_position(foot))) for foot in loop.robot.feet]


def poses(transforms):
    """Return child -> (parent, pose)."""
    found = {}
    for each in transforms:
        move, turn = each.transform.translation, each.transform.rotation
        found[each.child_frame_id] = (
            each.header.frame_id,
            pin.XYZQUATToSE3(np.array([move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w])),
        )
    return found


def test_the_footprint_is_between_the_soles_on_the_floor(tf2):
    """Whoever plans on the floor, as Nav2 does, would plan for a robot that sways and tilts."""
    loop, feet = walking_pose()
    node = Listener()
    OdometryPublisher(node, loop, 0.0, 20.0, 'base_footprint').publish(0.02)
    odometry, message = node.heard
    found = poses(message.transforms)
    assert {name: parent for name, (parent, _) in found.items()} == {
        'base_footprint': 'odom',
        'pelvis': 'base_footprint',
    }
    floor, above = found['base_footprint'][1], found['pelvis'][1]
    np.testing.assert_allclose(floor.translation[:2], np.mean(feet, axis=0)[:2], atol=1e-9)
    assert floor.translation[2] == pytest.approx(min(foot[2] for foot in feet))
    np.testing.assert_allclose(pin.rpy.matrixToRpy(floor.rotation), [0.0, 0.0, 0.8], atol=1e-9)
    soles = poses(node.static[0].transforms)
    assert {name: link for name, (link, _) in soles.items()} == {
        'l_sole': 'left_sole',
        'r_sole': 'right_sole',
    }
    base, position = floor * above, odometry.pose.pose.position
    np.testing.assert_allclose(base.translation, [position.x, position.y, position.z], atol=1e-9)
    np.testing.assert_allclose(base.rotation, loop.state.base.rotation, atol=1e-9)


@pytest.mark.parametrize(
    ('footprint', 'told', 'left'),
    [
        ('', None, {'pelvis': 'odom'}),
        ('pelvis', None, {'pelvis': 'odom'}),
        ('base_footprint', 'base_footprint', {'pelvis': 'odom'}),
        ('base_footprint', 'pelvis', {'base_footprint': 'odom'}),
    ],
)
def test_a_frame_has_one_parent(tf2, footprint, told, left):
    """Two who tell the same frame make tf flicker between two places, without a word."""
    loop, _ = walking_pose()
    node = Listener()
    publisher = OdometryPublisher(node, loop, 0.0, 100.0, footprint)
    publisher.publish(0.02)
    for hear in node.hears:
        hear(node.heard[-1])  # our own come back
        if told is not None:
            hear(tf2(transforms=[TransformStamped(child_frame_id=told)]))
    publisher.publish(0.05)
    assert {name: parent for name, (parent, _) in poses(node.heard[-1].transforms).items()} == left
    assert len(node.told) == (told is not None)
    assert all(told in words and 'withheld' in words for words in node.told)


def test_a_map_that_jumps_moves_nothing_of_ours(tf2):
    """Whoever corrects the place by a map would silence the odometry, or make the robot turn."""
    loop, _ = walking_pose()
    node = Listener()
    publisher = OdometryPublisher(node, loop, 0.0, 100.0, 'base_footprint')
    publisher.publish(0.02)
    before = poses(node.heard[-1].transforms)
    jump = TransformStamped(child_frame_id='odom')
    jump.header.frame_id, jump.transform.translation.x = 'map', 5.0
    for hear in node.hears:
        hear(tf2(transforms=[jump]))
    publisher.publish(0.05)
    after = poses(node.heard[-1].transforms)
    assert after.keys() == before.keys() and not node.told
    for name, (parent, pose) in after.items():
        assert parent == before[name][0] and pose.isApprox(before[name][1])


NOISE = [('estimator.gyro_sigma', 0.01), ('estimator.position_sigma', 1e-3)]


def test_odometry_begins_anew_when_asked(tf2):
    """Whoever puts a robot at a mark could not tell it that the mark is the origin."""
    loop, _ = walking_pose(NOISE)
    node = Listener()
    publisher = OdometryPublisher(node, loop, 0.0, 100.0, 'base_footprint')
    publisher.publish(0.02)
    publisher.restart()
    publisher.publish(0.05)
    floor = poses(node.heard[-1].transforms)['base_footprint'][1]
    np.testing.assert_allclose(floor.translation[:2], 0.0, atol=1e-9)
    np.testing.assert_allclose(floor.rotation, np.eye(3), atol=1e-9)


def test_what_nobody_saw_is_not_known():
    """A robot that was moved while a cable was out would say that it knows where it is."""
    loop, _ = walking_pose(NOISE)
    node = Listener()
    publisher = OdometryPublisher(node, loop, 0.0, 100.0)
    publisher.publish(0.02)
    before = np.reshape(node.heard[-1].pose.covariance, (6, 6)).diagonal().copy()
    publisher.resume()
    loop.state.stamp = 2.02
    publisher.publish(2.02)
    after = np.reshape(node.heard[-1].pose.covariance, (6, 6)).diagonal()
    assert (np.sqrt(after - before)[[0, 1, 5]] > 0.9).all()


def test_in_the_air_the_place_becomes_uncertain():
    """Whoever fuses odom would believe in it while no foot stands."""
    loop, _ = walking_pose(NOISE)
    measurement = Measurement(loop.robot)
    measurement.linear_acceleration[0], deviations = 0.1, []  # it falls
    for tick in range(100):
        measurement.stamp = 0.03 + 0.01 * tick
        loop.estimator.update(measurement)
        deviations.append(np.sqrt(loop.state.covariance[6:, 6:].trace()))
    assert deviations[-1] > 3.0 * deviations[10]


def parameters(**values):
    """Return parameter overrides of a node."""
    return {'parameter_overrides': [Parameter(name, value=value) for name, value in values.items()]}


def hear_odometry(bench):
    """Return a list that fills with the messages on odom."""
    heard, node = [], rclpy.create_node('fusion')
    node.stop = lambda: None
    bench.add(node).create_subscription(Odometry, 'odom', heard.append, topics.LATEST)
    return heard


def walk_beside(bench, robot_file, within=120.0):
    """Return odometry node, simulator and what was heard of a walk within so many s."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    odometry = bench.add(OdometryNode(**parameters(robot_file=robot_file, use_sim_time=True)))
    simulator = bench.add(
        SimulatorNode(**parameters(robot_file=robot_file, lockstep_timeout=40.0, duration=2.5))
    )
    bench.controller(
        robot_file=robot_file,
        odometry_rate=0.0,
        lockstep_timeout=40.0,
        controller='stepping',
        stepping__speed=0.4,
    )
    heard = hear_odometry(bench)
    assert bench.spin_until(lambda: simulator.finished, within)
    assert simulator.fault is None and odometry.operation.fault is None
    return odometry, simulator, heard


@pytest.mark.long
def test_a_walk_is_followed_beside_a_controller(bench):
    """Who uses another controller would not know where the robot is, nor how surely."""
    _, simulator, heard = walk_beside(bench, 'walker3d')
    begin, end = (
        np.array([pose.position.x, pose.position.y])
        for pose in (message.pose.pose for message in (heard[0], heard[-1]))
    )
    way = simulator.plant.truth.q[:2] - [simulator._origin, 0.0]
    assert way[0] > 0.4
    assert np.abs(end - begin - way).max() < 0.03
    deviation = np.sqrt(np.reshape(heard[-1].pose.covariance, (6, 6)).diagonal()[:2])
    assert (0.0 < deviation).all() and (deviation < 0.1).all()


def _sell(tree):
    tree['robot'] |= {'foot_forces': 'motors', 'signals': {'torque': {'kind': 'effort'}}}


@pytest.mark.long
def test_a_robot_as_it_is_sold_walks(bench, edited_robot_file):
    """Law or odometry would wait for wrenches that nobody publishes, or lose the feet."""
    file = str(edited_robot_file(_sell, 'walker3d'))
    odometry, simulator, heard = walk_beside(bench, file, within=200.0)
    assert not [name for name, _ in odometry.get_topic_names_and_types() if 'wrench' in name]
    way = simulator.plant.truth.q[0] - simulator._origin
    assert way > 0.4
    assert heard[-1].pose.pose.position.x - heard[0].pose.pose.position.x == pytest.approx(
        way, abs=0.05
    )


def test_the_way_goes_on_after_a_silent_sensor(bench, robot):
    """Whoever steers by odom would jump back to the origin after each lost cable."""
    odometry = bench.add(OdometryNode(**parameters(robot_file='dribbel', rate=1000.0)))
    heard = hear_odometry(bench)
    assert robot.stream_until(lambda: len(heard) > 5, 60.0)
    odometry._odometry._axes.translation[0] = 3.0  # as if it had walked there
    assert robot.stream_until(lambda: heard[-1].pose.pose.position.x > 2.0, 60.0)
    assert bench.spin_until(lambda: odometry._told is not None, 30.0)  # silence
    count, place = len(heard), heard[-1].pose.pose.position.x
    assert robot.stream_until(lambda: len(heard) > count, 60.0)
    assert heard[count].pose.pose.position.x == pytest.approx(place, abs=0.01)
    assert odometry._on_reset(None, Trigger.Response()).success
    count = len(heard)
    assert robot.stream_until(lambda: len(heard) > count, 60.0)
    assert abs(heard[count].pose.pose.position.x) < 1.0  # half a step from the feet


def test_another_robot_is_refused():
    """A robot that is not there would be followed by nobody, without a word."""
    rclpy.init(args=[])
    try:
        with pytest.raises(Exception, match='no_such'):
            OdometryNode(**parameters(robot_file='no_such'))
    finally:
        rclpy.shutdown()
