# SPDX-License-Identifier: Apache-2.0
"""The centroidal monitor over real topics: what it says is what the verb says of the posture."""

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pinocchio as pin
import pytest
import rclpy
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64
from visualization_msgs.msg import Marker

from walking_control.design.mechanism import load_mechanism
from walking_control.design.rotom import Contacts, transmissibility
from walking_control.exceptions import InvalidInput
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.centroidal_monitor_node import CentroidalMonitorNode

FIGURES = ((Float64, 'index'), (Float64, 'rotom'), (Marker, 'ellipsoid'))


class Standing:
    """A humanoid by hand beside a monitor: its sensors, and what the monitor says."""

    def __init__(self, bench, **parameters):
        self.bench, self.heard = bench, {}
        self.monitor = bench.add(
            CentroidalMonitorNode(
                parameter_overrides=[
                    Parameter(name, value=value)
                    for name, value in {'rate': 50.0, **parameters}.items()
                ]
            )
        )
        self.node = rclpy.create_node('robot')
        self.node.stop = lambda: None
        bench.add(self.node)
        self.mechanism = load_mechanism('humanoid')
        create = self.node.create_publisher
        self.joints = create(JointState, topics.JOINT_STATES, topics.SENSOR_OUT)
        self.imu = create(Imu, topics.IMU, topics.SENSOR_OUT)
        self.feet = {
            foot: create(WrenchStamped, topics.foot_wrench(foot), topics.SENSOR_OUT)
            for foot in ('left_sole', 'right_sole')
        }
        for kind, name in FIGURES:
            self.node.create_subscription(
                kind,
                f'centroidal_monitor/{name}',
                lambda message, name=name: self.heard.__setitem__(name, message),
                topics.LATEST,
            )
        publishers = (self.joints, self.imu, *self.feet.values())
        assert bench.spin_until(
            lambda: all(p.get_subscription_count() for p in publishers), 40.0
        ), 'the monitor does not listen to every sensor'

    def says(
        self,
        names=None,
        positions=None,
        forces=(150.0, 150.0),
        quaternion=(0.0, 0.0, 0.0, 1.0),
        timeout=5.0,
    ):
        """Send a set of sensors and return index, RoToM and marker that follow; None if none do."""
        for (_, publisher), force in zip(self.feet.items(), forces):
            message = WrenchStamped()
            message.wrench.force.z = force
            publisher.publish(message)
        imu = Imu()
        turn = imu.orientation
        turn.x, turn.y, turn.z, turn.w = (float(value) for value in quaternion)
        self.imu.publish(imu)
        self.bench.spin_until(lambda: False, 0.1)  # the joints, last, find the rest there
        self.heard.clear()
        self.joints.publish(
            JointState(
                name=list(names or self.mechanism.joints),
                position=list(self.mechanism.positions if positions is None else positions),
            )
        )
        self.bench.spin_until(lambda: False, 0.1)
        self.heard.clear()
        if not self.bench.spin_until(lambda: len(self.heard) == 3, timeout):
            return None
        return self.heard['index'].data, self.heard['rotom'].data, self.heard['ellipsoid']


def test_monitor_says_what_the_verb_says(bench):
    """RViz would show another ellipsoid than that of the posture, or of other contacts."""
    robot = Standing(bench, timeout=10.0)
    mechanism = robot.mechanism
    for forces, feet in (
        ((150.0, 150.0), ('left_sole', 'right_sole')),
        ((300.0, 3.0), ('left_sole',)),
    ):
        wanted = transmissibility(mechanism, Contacts(feet))
        index, rotom, marker = robot.says(forces=forces)
        assert index == pytest.approx(wanted.index)
        assert rotom == pytest.approx(wanted.rotom(np.array([0.0, 0.0, 1.0])))
        # the drawn ellipsoid, from its pose and scale
        q, scale = marker.pose.orientation, marker.scale
        axes = pin.Quaternion(np.array([q.x, q.y, q.z, q.w])).matrix()
        drawn = axes @ np.diag([scale.x, scale.y, scale.z]) @ axes.T / (2.0 * 0.5)
        assert drawn == pytest.approx(wanted.matrix, abs=1e-9)
        place = marker.pose.position
        assert [place.x, place.y, place.z] == pytest.approx(mechanism.center_of_mass())
        assert marker.header.frame_id == mechanism.dynamics.robot.base_link
    # leaning, up is elsewhere in the base; joints in another order are the same joints
    lean = 0.3
    _, rotom, _ = robot.says(
        mechanism.joints[::-1],
        mechanism.positions[::-1],
        quaternion=(0.0, np.sin(lean / 2), 0.0, np.cos(lean / 2)),
    )
    standing = transmissibility(mechanism, Contacts(('left_sole', 'right_sole')))
    assert rotom == pytest.approx(standing.rotom(np.array([-np.sin(lean), 0.0, np.cos(lean)])))


def test_what_is_not_known_is_not_shown(bench):
    """Figures of a robot that fell silent, or of a broken joint, would look like live ones."""
    robot = Standing(bench, timeout=0.3)
    assert robot.says() is not None
    bench.spin_until(lambda: False, 0.5)
    robot.heard.clear()
    assert not bench.spin_until(lambda: robot.heard, 0.3)  # old
    assert robot.says(positions=np.full(len(robot.mechanism.joints), np.nan), timeout=0.3) is None
    assert (
        robot.says(robot.mechanism.joints[1:], robot.mechanism.positions[1:], timeout=0.3) is None
    )
    assert robot.says(quaternion=(np.nan, 0.0, 0.0, 1.0)) is not None  # the last good one stays


def test_bad_parameters_are_refused(bench):
    """A monitor of nothing, or along nothing, would run on."""
    for name, value, words in (
        ('direction', [0.0, 0.0, 0.0], 'direction'),
        ('robot_file', 'nobody', 'nobody'),
        ('rate', -1.0, 'rate'),
    ):
        with pytest.raises(InvalidInput, match=words):
            CentroidalMonitorNode(parameter_overrides=[Parameter(name, value=value)])
