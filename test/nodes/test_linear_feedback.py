# SPDX-License-Identifier: Apache-2.0
"""Drives played by LAAS's linear_feedback_controller, whose messages tests make themselves."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from walking_control.exceptions import InvalidInput, MissingDependency
from walking_control.loading import load_robot
from walking_control.models.signals import Command
from walking_control.ros.nodes import topics
from walking_control.ros.nodes.messages import FeedbackWriter, without_effort
from walking_control.ros.nodes.neighbours import Neighbours
from walking_control.ros.nodes.watchdog_node import WatchdogNode
from walking_control.ros.ros2_control.check import check_ros2_control
from walking_control.ros.ros2_control.files import commanding, controllers_file, write_ros2_control
from walking_control.ros.ros2_control.linear_feedback import feedback_joints
from walking_control.ros.ros2_control.security import accesses
from walking_control.ros.ros2_control.stand_in import read_controllers, StandIn
from walking_control.ros.ros2_control.tags import HARDWARE, MUJOCO, tags
from walking_control.ros.ros2_control.wiring import wire

PACKAGE = 'linear_feedback_controller_msgs'


@pytest.fixture
def dribbel(edited_robot_file):
    """Return the path of a robot file of Dribbel with this drive."""
    return str(
        edited_robot_file(
            lambda tree: tree['robot']['actuators']['hip'].update(drive='linear_feedback')
        )
    )


class Sensor:
    """As the message of that name, as far as the controller reads it with a fixed base."""

    def __init__(self):
        self.joint_state = JointState()


class Control:
    """As the message of that name."""

    def __init__(self):
        self.header, self.initial_state = Header(), Sensor()
        self.feedback_gain, self.feedforward = Float64MultiArray(), Float64MultiArray()


@pytest.fixture
def installed(monkeypatch):
    """Pretend that the package of the messages is there."""
    module = ModuleType(f'{PACKAGE}.msg')
    module.Control = Control
    monkeypatch.setitem(sys.modules, PACKAGE, ModuleType(PACKAGE))
    monkeypatch.setitem(sys.modules, module.__name__, module)


def driven(name, edited_robot_file=None):
    """Return a robot whose motors all have this drive; edited: its motors in another order."""

    def edit(tree):
        motors = tree['robot']['actuators']
        tree['robot']['actuators'] = dict(reversed(motors.items()))

    path = name if edited_robot_file is None else edited_robot_file(edit, name)
    joints = load_robot(name).robot.actuators
    return load_robot(path, [(f'robot.actuators.{j}.drive', 'linear_feedback') for j in joints])


def matrix(message):
    """Read a matrix as the controller does, which refuses other sizes."""
    rows, columns = message.layout.dim
    assert rows.stride == rows.size * columns.size == len(message.data)
    assert columns.stride == columns.size and message.layout.data_offset == 0
    return np.array(message.data).reshape(rows.size, columns.size)


def their_torque(robot, message, joints, position, velocity):
    """Return the controller's torques by its own formula, from Pinocchio's fixed-base model."""
    model = pin.buildModelFromXML(robot.urdf)
    locked = [model.getJointId(name) for name in model.names[1:] if name not in joints]
    model = pin.buildReducedModel(model, locked, pin.neutral(model))
    assert list(model.names[1:]) == list(joints), 'it would take efforts for other joints'
    desired = message.initial_state.joint_state
    assert desired.name == joints and len(desired.effort) == len(joints)
    apart = pin.difference(model, position, np.array(desired.position))
    errors = np.concatenate((apart, np.array(desired.velocity) - velocity))
    return matrix(message.feedforward)[:, 0] + matrix(message.feedback_gain) @ errors


@pytest.mark.parametrize('turned', [False, True], ids=['', 'motors in another order'])
def test_its_torque_is_that_of_our_drives(installed, edited_robot_file, turned):
    """If it failed, a sign, a joint or position and velocity would be exchanged."""
    robot = driven('walker3d', edited_robot_file if turned else None).robot
    random, command, writer = np.random.default_rng(3), Command(robot), FeedbackWriter(robot)
    joints = feedback_joints(robot)
    assert (joints == list(robot.actuators)) != turned
    order = [robot.joint_index(joint) for joint in joints]
    places = [list(robot.actuators).index(joint) for joint in joints]
    for _ in range(5):
        command.numbers[:] = random.normal(size=command.numbers.size)
        position, velocity = random.normal(size=(2, len(robot.joints)))
        ours = command.torque(position, velocity)
        message = writer.write(command.numbers, 7)
        theirs = their_torque(robot, message, joints, position[order], velocity[order])
        assert theirs == pytest.approx(ours[places], abs=1e-12)
    rest = without_effort(message)
    theirs = their_torque(robot, rest, joints, position[order], velocity[order])
    assert not theirs.any(), 'its joints would stay stiff'


def test_the_node_sends_its_message(installed, monkeypatch, bench, robot, dribbel):
    """If it failed, the controller would hear nothing, or the node would not go without it."""
    told, create = [], Neighbours.create_publisher

    def publisher(self, kind, topic, qos):
        if kind is not Control:
            return create(self, kind, topic, qos)
        assert topic == topics.FEEDBACK

        def publish(message):
            parts = message.feedforward, message.feedback_gain
            told.append((message.header.frame_id, *(matrix(part)[0].tolist() for part in parts)))

        return SimpleNamespace(
            publish=publish,
            topic_name='/control',
            get_subscription_count=lambda: 1,
            wait_for_all_acked=lambda timeout: True,
        )

    monkeypatch.setattr(Neighbours, 'create_publisher', publisher)
    node = bench.controller(robot_file=dribbel)
    robot.wait()
    effort = robot.ask(1.0)
    label, forward, gain = told[-1]
    assert not label and forward == [pytest.approx(effort)] and min(gain) > 0.0
    node.trigger_deactivate()
    assert told[-1][1:] == ([0.0], [0.0, 0.0])


class Said:
    """A publisher that keeps what it sends."""

    def __init__(self, sent):
        self.publish = sent.append


def test_the_watchdog_takes_its_gains_away(installed, monkeypatch, bench, robot):
    """If it failed, a dead controller would leave its matrix of gains at work."""
    sent, heard = [], {}
    create = WatchdogNode.create_publisher, WatchdogNode.create_subscription

    def publisher(self, kind, *args, **kwargs):
        if kind is Control:
            return Said(sent)
        return create[0](self, kind, *args, **kwargs)

    def subscription(self, kind, topic, callback, *args, **kwargs):
        if kind is Control:
            return heard.update({topic: callback})
        return create[1](self, kind, topic, callback, *args, **kwargs)

    monkeypatch.setattr(WatchdogNode, 'create_publisher', publisher)
    monkeypatch.setattr(WatchdogNode, 'create_subscription', subscription)
    watchdog = bench.add(WatchdogNode(parameter_overrides=[Parameter('timeout', value=0.2)]))
    walker = driven('dribbel').robot
    heard[topics.FEEDBACK](FeedbackWriter(walker).write(np.ones(5), 1))
    efforts = robot.node.create_publisher(Float64MultiArray, topics.EFFORT_COMMANDS, topics.LATEST)
    assert bench.spin_until(lambda: efforts.get_subscription_count() > 1)
    efforts.publish(Float64MultiArray(data=[3.0]))
    assert bench.spin_until(lambda: watchdog.tripped and sent)
    assert not matrix(sent[-1].feedforward).any() and not matrix(sent[-1].feedback_gain).any()


def test_without_its_message_it_is_refused(monkeypatch, bench, dribbel, capfd):
    """If it failed, a robot would come up whose drives hear nothing."""
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # import fails
    words = f'needs the package {PACKAGE} .*; build https://github.com/loco-3d/.* and source it'
    with pytest.raises(MissingDependency, match=words):
        FeedbackWriter(driven('dribbel').robot)
    node = bench.controller(activate=False, robot_file=dribbel)
    node.trigger_configure()
    assert PACKAGE in capfd.readouterr().err


def test_it_drives_all_motors_or_none():
    """If it failed, two controllers would have the name under which efforts are commanded."""
    robot = load_robot('walker3d', [('robot.actuators.left_knee.drive', 'linear_feedback')]).robot
    with pytest.raises(InvalidInput, match="is 'left_knee': .* all motors of a robot or none"):
        feedback_joints(robot)


def test_files_bring_up_the_chain(tmp_path):
    """If it failed, the controller manager would have no chain, or joints without its interface."""
    robot_file = driven('dribbel')
    wiring = wire(robot_file)
    assert commanding(wiring, HARDWARE) == [
        'effort_controller',
        'lock_controller',
        'joint_state_estimator',
    ]
    tree = controllers_file(wiring)
    states = ['hip/position', 'hip/velocity', 'hip/effort']
    law = tree['/**/effort_controller']['ros__parameters']
    assert law['chainable_controller']['command_interfaces'] == ['hip/effort']
    chain = tree['/**/joint_state_estimator']['ros__parameters']
    assert chain['state_interfaces'] == states
    assert chain['command_interfaces'] == [f'effort_controller/{state}' for state in states]
    assert 'name="kp"' not in tags(wiring, HARDWARE) and 'name="effort"' in tags(wiring, HARDWARE)
    simulated = controllers_file(wiring, MUJOCO)['/**/effort_controller']['ros__parameters']
    assert simulated['interface_name'] == 'effort'
    allowed = accesses(robot_file.robot)
    assert all(
        topics.FEEDBACK in allowed[node].publishes
        for node in allowed
        if node != 'operator' and node in ('walking_controller', 'watchdog')
    )
    write_ros2_control(robot_file, wiring, tmp_path)
    assert not check_ros2_control(robot_file, tmp_path)


def test_the_stand_in_plays_it(tmp_path):
    """If it failed, nobody could try such a robot without the controller."""
    robot_file = driven('dribbel')
    write_ros2_control(robot_file, wire(robot_file), tmp_path)
    place = StandIn(robot_file.robot, read_controllers(tmp_path / 'controllers.yaml'))
    for i, field in enumerate(('effort', 'position', 'velocity', 'stiffness', 'damping')):
        place.receive(f'{field}_controller', [float(i)])
    assert place.update() == []
    command = Command(robot_file.robot)
    place.write(command)
    assert command.numbers.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
