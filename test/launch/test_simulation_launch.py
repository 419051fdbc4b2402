# SPDX-License-Identifier: Apache-2.0
"""The launch file with real processes; needs a ROS 2 installation and the package installed."""

import os
import signal
import time

import numpy as np
import pytest
import yaml

for module in ('launch.actions', 'launch_ros.actions', 'launch_pytest'):
    pytest.importorskip(module, reason=f'{module} is missing: it comes with a ROS 2 installation')

from launch.actions import (  # noqa: E402
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.event_handlers import OnProcessStart  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
import launch_pytest  # noqa: E402
from launch_pytest.actions import ReadyToTest  # noqa: E402
import rclpy  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from launch import LaunchDescription, LaunchService  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.models.resources import share_directory  # noqa: E402
from walking_control.ros.nodes import topics  # noqa: E402

PATIENCE = 60.0  # s of wall time, for slow machines; nothing is asserted about it
NAMESPACE = 'launched'


@pytest.fixture(autouse=True)
def domain(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')


def include(**arguments):
    path = share_directory() / 'launch' / 'simulation.launch.py'
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(path)), launch_arguments=arguments.items()
    )


def run_to_end(*others, **arguments):
    """Return launch's exit status; a launch that does not end by itself is a failure."""
    hung = []

    def give_up(context):
        hung.append(True)
        raise TimeoutError(f'launch has not ended after {PATIENCE:g} s')

    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        LaunchDescription(
            [
                *others,
                include(**arguments),
                TimerAction(period=PATIENCE, actions=[OpaqueFunction(function=give_up)]),
            ]
        )
    )
    status = service.run()
    assert not hung
    return status


@launch_pytest.fixture
def endless():
    return LaunchDescription([include(robot='dribbel', namespace=NAMESPACE), ReadyToTest()])


def watch_joint(joint, duration):
    """Return the angles of a joint over a simulated duration, from the namespaced topic."""
    stamps, angles = [], []

    def on_joints(message):
        stamps.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)
        angles.append(message.position[message.name.index(joint)])

    context = rclpy.Context()
    rclpy.init(context=context)
    try:
        node = rclpy.create_node('watcher', context=context, namespace=NAMESPACE)
        node.create_subscription(JointState, topics.JOINT_STATES, on_joints, topics.LATEST)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not (stamps and stamps[-1] - stamps[0] >= duration):
            executor.spin_once(timeout_sec=0.1)
        node.destroy_node()
    finally:
        rclpy.try_shutdown(context=context)
    return stamps, angles


@pytest.mark.launch(fixture=endless)
def test_launched_robot_walks_in_its_namespace():
    """If it failed, launch would not find, configure, activate or namespace the nodes."""
    stamps, angles = watch_joint('hip', 5.0)
    assert stamps and stamps[-1] - stamps[0] >= 5.0
    swings = sum(before * after < 0.0 for before, after in zip(angles, angles[1:]))
    assert swings >= 5  # a step takes about 0.6 s; a fallen robot's hip stops changing sides


def test_launch_ends_with_the_simulator():
    """If it failed, the controller would outlive the simulation, or leaving would be an error."""
    assert run_to_end(duration='1.0') == 0


def test_a_learned_policy_is_launched(tmp_path):
    """If it failed, policy:= would leave the robot to another law, or end the launch."""
    onnx = pytest.importorskip('onnx')
    robot_file = load_robot('walker3d')
    motors, helper, kind = [*robot_file.robot.actuators], onnx.helper, onnx.TensorProto.FLOAT
    posture = dict(zip(robot_file.robot.joints, robot_file.start.posture, strict=True))
    network, description = tmp_path / 'policy.onnx', tmp_path / 'policy.yaml'
    graph = helper.make_graph(
        [helper.make_node('MatMul', ['obs', 'w'], ['action'])],
        'policy',
        [helper.make_tensor_value_info('obs', kind, [1, 3])],
        [helper.make_tensor_value_info('action', kind, [1, len(motors)])],
        [onnx.numpy_helper.from_array(np.zeros((3, len(motors)), 'f'), 'w')],
    )
    opset = [helper.make_opsetid('', 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), network)
    told = {
        'rate': 50.0,
        'observation': ['projected_gravity'],
        'joints': {
            joint: {'default': float(posture[joint]), 'stiffness': 400.0, 'damping': 10.0}
            for joint in motors
        },
    }
    description.write_text(yaml.safe_dump(told))
    launched = {'robot': 'walker3d', 'policy': str(network), 'duration': '0.5'}
    assert run_to_end(**launched) == 0
    told['joints']['nose'] = {'stiffness': 1.0}
    description.write_text(yaml.safe_dump(told))
    assert run_to_end(**launched) != 0


def test_launch_ends_with_a_killed_watchdog():
    """If it failed, a robot would walk on with nobody to stop it, and nobody would know."""

    def kill(event, context):
        if 'watchdog' in event.process_name:
            os.kill(event.pid, signal.SIGKILL)

    assert run_to_end(RegisterEventHandler(OnProcessStart(on_start=kill))) != 0


def test_launch_fails_with_a_controller_that_cannot_start():
    """If it failed, a controller that never came up would leave a running launch or status 0."""
    assert run_to_end(controller='no_such_law') != 0


def test_launch_refuses_an_unknown_robot():
    """If it failed, a typing error in the robot's name would start nodes."""
    assert run_to_end(robot='no_such_robot') != 0
