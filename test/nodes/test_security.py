# SPDX-License-Identifier: Apache-2.0
"""The SROS2 policy allows every node what it does, and nobody else what moves the robot."""

from fnmatch import fnmatchcase
from xml.etree import ElementTree

import pytest
from rclpy.parameter import Parameter

from walking_control.cli import main
from walking_control.loading import load_robot
from walking_control.ros.nodes.centroidal_monitor_node import CentroidalMonitorNode
from walking_control.ros.nodes.live_check import Listener
from walking_control.ros.nodes.lock_emulator_node import LockEmulatorNode
from walking_control.ros.nodes.odometry_node import OdometryNode
from walking_control.ros.nodes.simulator_node import SimulatorNode
from walking_control.ros.nodes.watchdog_node import WatchdogNode
from walking_control.ros.ros2_control import names
from walking_control.ros.ros2_control.security import policy

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')

RIGHTS = {
    'publish': 'get_publisher_names_and_types_by_node',
    'subscribe': 'get_subscriber_names_and_types_by_node',
    'reply': 'get_service_names_and_types_by_node',
    'request': 'get_client_names_and_types_by_node',
}


def allowed(robot, namespace=''):
    """Return (node, right) -> names that the policy allows."""
    found = {}
    for profile in ElementTree.fromstring(policy(robot, namespace)).iter('profile'):
        for rules in profile:
            ((right, verdict),) = rules.attrib.items()
            assert verdict == 'ALLOW'
            found[profile.get('node'), right] = [rule.text for rule in rules]
    return found


@pytest.mark.parametrize(
    ('robot', 'namespace', 'given'),
    [
        ('dribbel', '', {'record_telemetry': True}),
        pytest.param('walker3d', '/north', {}, marks=pytest.mark.long),
        pytest.param('walker3d', '', {'combined_state': 'joint_state'}, marks=pytest.mark.long),
        ('humanoid', '', {'static_torque__routine': 'hold'}),
    ],
)
def test_every_topic_of_every_node_is_allowed(bench, robot, namespace, given):
    """If it failed, a robot with SROS2 would start and some topic of it would stay silent."""
    robot_file = load_robot(robot)

    def parameters(**values):
        return {
            'namespace': namespace,
            'parameter_overrides': [Parameter(name, value=value) for name, value in values.items()],
        }

    simulator = bench.add(
        SimulatorNode(
            **parameters(
                robot_file=robot,
                lockstep_timeout=20.0,
                record_telemetry=given.get('record_telemetry', False),
                combined_state=given.get('combined_state', ''),
            )
        )
    )
    controller = bench.controller(
        robot_file=robot, namespace=namespace, lockstep_timeout=20.0, require_watchdog=True, **given
    )
    bench.add(WatchdogNode(**parameters(priority=0)))  # this process is the tests'
    others = [Listener(robot_file.robot, namespace)]
    bench.add(OdometryNode(**parameters(robot_file=robot)))
    if robot == 'humanoid':
        others.append(CentroidalMonitorNode(**parameters()))
    if robot_file.robot.locks:
        others.append(LockEmulatorNode(**parameters(robot_file=robot)))
    for node in others:
        node.stop = getattr(node, 'stop', lambda: None)
        bench.add(node)
    nodes = [each for each in bench.nodes if each.get_name() != 'robot']
    assert len({node.get_name() for node in nodes}) == len(nodes) >= 4

    def done(node, right):
        ask = getattr(controller, RIGHTS[right])
        return {name for name, _ in ask(node.get_name(), node.get_namespace())}

    def unseen():  # a node in this process, too, is discovered some time after it was made
        return [
            (node.get_name(), right)
            for node in nodes
            for right, own in (
                ('publish', {each.topic_name for each in node.publishers}),
                ('subscribe', {each.topic_name for each in node.subscriptions}),
                ('reply', {node.resolve_service_name(each.srv_name) for each in node.services}),
                ('request', {node.resolve_service_name(each.srv_name) for each in node.clients}),
            )
            if not own <= done(node, right)
        ]

    assert bench.spin_until(lambda: simulator.plant.time > 0.1 and not unseen(), 60.0), unseen()
    rights = allowed(robot_file.robot, namespace)
    for node in nodes:
        for right in RIGHTS:
            does = done(node, right)
            assert does or right == 'request'
            refused = [
                name
                for name in does
                if not any(
                    fnmatchcase(name, rule) for rule in rights.get((node.get_name(), right), ())
                )
            ]
            assert not refused, (node.get_name(), right, refused)


def test_nobody_else_moves_the_robot():
    """If it failed, a policy would let whoever watches command the motors."""
    for name in ('dribbel', 'walker3d'):
        rights = allowed(load_robot(name).robot, 'north/')
        commanding = {
            node
            for (node, right), rules in rights.items()
            if right == 'publish'
            for rule in rules
            if fnmatchcase(f'/north/{names.EFFORT_COMMANDS}', rule)
        }
        assert commanding == {'walking_controller', 'watchdog'}
        sensing = {
            node
            for (node, right), rules in rights.items()
            if right == 'publish'
            for rule in rules
            if fnmatchcase(f'/north/{names.IMU}', rule)
        }
        assert sensing == {'simulator'}


def test_the_verb_writes_it(tmp_path, capsys):
    """If it failed, the command of the page would not work, or end in a traceback."""
    path = tmp_path / 'policy.xml'
    assert main(['ros2_control', 'walker3d', '--policy', str(path)]) == 0
    assert path.read_text() == policy(load_robot('walker3d').robot)
    capsys.readouterr()
    assert main(['ros2_control', 'walker3d', '--policy', str(tmp_path / 'no' / 'policy.xml')]) == 2
    error = capsys.readouterr().err
    assert error.startswith('error: policy') and error.count('\n') == 1
