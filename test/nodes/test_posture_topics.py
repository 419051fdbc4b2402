# SPDX-License-Identifier: Apache-2.0
"""The static-torque controller over real topics, on the humanoid in MuJoCo."""

from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from visualization_msgs.msg import Marker, MarkerArray

from walking_control.loading import load_robot
from walking_control.ros.nodes.simulator_node import SimulatorNode

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


@pytest.fixture
def standing(bench):
    """Return simulator, controller and a listener of a humanoid that holds its posture."""
    simulator = bench.add(
        SimulatorNode(parameter_overrides=[Parameter('robot_file', value='humanoid')])
    )
    controller = bench.controller(robot_file='humanoid', static_torque__routine='hold')
    listener = rclpy.create_node('listener')
    listener.stop = lambda: None
    bench.add(listener)
    return simulator, controller, listener


def test_wrenches_carry_the_weight(bench, standing):
    """What RViz shows must be the forces that hold the robot up."""
    simulator, controller, listener = standing
    heard = {}
    base = 'walking_controller'
    for kind, topic in (
        (WrenchStamped, f'{base}/wrench/left_sole'),
        (WrenchStamped, f'{base}/wrench/right_sole'),
        (MarkerArray, f'{base}/markers'),
        (Float64, f'{base}/telemetry/solve_time'),
        (Float64, f'{base}/telemetry/feasible'),
        (Float64, f'{base}/telemetry/margin_torque_free'),
    ):
        listener.create_subscription(
            kind, topic, lambda message, topic=topic: heard.__setitem__(topic, message), 10
        )
    assert bench.spin_until(lambda: len(heard) == 6 and simulator.plant.time > 0.5, timeout=60.0)
    weight = controller.loop.controller.dynamics.weight
    loads = [heard[f'{base}/wrench/{side}_sole'].wrench.force.z for side in ('left', 'right')]
    assert sum(loads) == pytest.approx(weight, rel=1e-3)
    assert heard[f'{base}/telemetry/feasible'].data == 1.0
    assert 0.0 < heard[f'{base}/telemetry/margin_torque_free'].data < 1.0
    assert 0.0 < heard[f'{base}/telemetry/solve_time'].data < 1.0
    kinds = sorted(marker.type for marker in heard[f'{base}/markers'].markers)
    assert kinds == sorted(2 * [Marker.CUBE, Marker.SPHERE, Marker.ARROW])


def test_posture_and_support_are_taken_or_refused(bench, standing):
    """A commanded posture must be followed; one with a missing joint or a bad value must not."""
    simulator, controller, listener = standing
    postures = listener.create_publisher(JointState, 'posture', 1)
    supports = listener.create_publisher(String, 'support', 1)
    assert bench.spin_until(
        lambda: (
            postures.get_subscription_count()
            and supports.get_subscription_count()
            and simulator.plant.time > 0.2
        ),
        timeout=60.0,
    ), 'the controller listens to no posture, or nobody stands yet'
    robot = load_robot('humanoid').robot
    held = controller.loop.state.position.copy()
    held[robot.joint_index('waist_yaw')] = 0.1
    reference = controller.loop.reference

    def send(names, values):
        postures.publish(JointState(name=list(names), position=list(values)))
        now = simulator.plant.time
        bench.spin_until(lambda: simulator.plant.time > now + 0.1)

    send(robot.joints[:-1], held[:-1])
    assert reference.posture is None, 'a joint is missing'
    send(['finger'], [0.0])
    assert reference.posture is None, 'of another device'
    send(robot.joints, [9.0, *held[1:]])
    assert reference.posture is None, 'beyond the joint limit'
    send(robot.joints, [float('nan'), *held[1:]])
    assert reference.posture is None, 'not a number'
    send(robot.joints[::-1], held[::-1])
    assert np.allclose(reference.posture, held)
    end = simulator.plant.time + 1.5
    assert bench.spin_until(lambda: simulator.plant.time > end, timeout=60.0)
    turned = controller.loop.state.position[robot.joint_index('waist_yaw')]
    assert turned == pytest.approx(0.1, abs=0.02)
    supports.publish(String(data='third_sole'))
    supports.publish(String(data='left_sole'))
    assert bench.spin_until(lambda: reference.support == ('left_sole',))
    supports.publish(String(data='both'))
    assert bench.spin_until(lambda: reference.support is None)
    assert controller.loop.fault is None
