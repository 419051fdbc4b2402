# SPDX-License-Identifier: Apache-2.0
"""Simulator, controller and, where installed, robot_state_publisher.

The controller is configured and activated; everything ends when the simulator, the controller or
the watchdog does, or when the controller cannot be brought up.
`walking_control.ros.launch_arguments` holds the arguments.
"""

from pathlib import Path
import sys

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch_ros.actions import LifecycleNode, Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from walking_control.loading import load_robot
from walking_control.ros.launch_arguments import (
    CONTROLLER,
    node_parameters,
    read_arguments,
    refuse_unknown,
    SIMULATION,
    SIMULATOR,
    WATCHDOG_TIMEOUT,
)
from walking_control.ros.nodes.launch_actions import (
    activate_when_configured,
    configure,
    end_with,
    give_up,
)

SIM_TIME = {'use_sim_time': True}
# the simulator lets go of the robot at the first command, and zero is one
SIMULATED = {'virtual_efforts': True, 'require_watchdog': False}


def generate_launch_description():
    """Return the launch description."""
    return LaunchDescription(
        [
            *[
                DeclareLaunchArgument(
                    argument.name, default_value=argument.default, description=argument.description
                )
                for argument in SIMULATION
            ],
            OpaqueFunction(function=_start),
        ]
    )


def _start(context):
    if any(Path(text).name == Path(__file__).name for text in sys.argv):
        refuse_unknown(context.argv)  # a file that includes this one has arguments of its own
    values = read_arguments(context.launch_configurations)
    robot = load_robot(values['robot']).robot
    place = {'namespace': values['namespace'], 'output': 'screen'}
    simulator = Node(
        package='walking_control',
        executable='simulator_node',
        name=SIMULATOR,
        parameters=node_parameters(SIMULATOR, values),
        **place,
    )
    controller = LifecycleNode(
        package='walking_control',
        executable='controller_node',
        name=CONTROLLER,
        parameters=[*node_parameters(CONTROLLER, values), SIM_TIME, SIMULATED],
        **place,
    )
    return [
        end_with(simulator, 'the simulator'),
        end_with(controller, 'the controller'),
        activate_when_configured(controller),
        *give_up(controller),
        _robot_state_publisher(robot, place),
        *_watchdog(values, place),
        controller,
        simulator,
        configure(controller),
    ]


def _watchdog(values, place):
    if not values['watchdog']:
        return []
    timeout = WATCHDOG_TIMEOUT[values['realtime']]
    if not values['realtime'] and values['lockstep_timeout'] != '':
        timeout = max(timeout, 2.0 * values['lockstep_timeout'])
    if values['watchdog_timeout'] != '':
        timeout = values['watchdog_timeout']
    watchdog = Node(
        package='walking_control',
        executable='watchdog_node',
        name='watchdog',
        parameters=[{'timeout': timeout, 'use_sim_time': values['realtime']}],
        **place,
    )
    return [end_with(watchdog, 'the watchdog'), watchdog]


def _robot_state_publisher(robot, place):
    try:
        get_package_prefix('robot_state_publisher')
    except PackageNotFoundError:
        return LogInfo(msg='robot_state_publisher is not installed: no TF, no robot_description')
    description = ParameterValue(robot.urdf, value_type=str)
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        parameters=[{'robot_description': description}, SIM_TIME],
        **place,
    )
