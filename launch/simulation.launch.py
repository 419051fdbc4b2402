# SPDX-License-Identifier: Apache-2.0
"""Simulator, controller and, where installed, robot_state_publisher.

The controller is configured and activated; everything ends when the simulator or the controller
does, or when the controller cannot be brought up. `walking_control.launch_arguments` holds the
arguments.
"""

from pathlib import Path
import sys

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from walking_control.launch_arguments import (
    CONTROLLER,
    node_parameters,
    read_arguments,
    refuse_unknown,
    SIMULATION,
    SIMULATOR,
    WATCHDOG_TIMEOUT,
)
from walking_control.loading import load_robot

SIM_TIME = {'use_sim_time': True}
# the simulator lets go of the robot at the first command, and zero is one
SIMULATED = {'virtual_efforts': True, 'require_watchdog': False}
# Where a failed configure, a failed activate and an error in either lead.
FAILURES = (('configuring', 'unconfigured'), ('activating', 'inactive'),
            ('errorprocessing', 'unconfigured'), ('errorprocessing', 'finalized'))


def generate_launch_description():
    """Return the launch description."""
    return LaunchDescription([
        *[DeclareLaunchArgument(argument.name, default_value=argument.default,
                                description=argument.description) for argument in SIMULATION],
        OpaqueFunction(function=_start),
    ])


def _start(context):
    if any(Path(text).name == Path(__file__).name for text in sys.argv):
        refuse_unknown(context.argv)   # a file that includes this one has arguments of its own
    values = read_arguments(context.launch_configurations)
    robot = load_robot(values['robot']).robot
    place = {'namespace': values['namespace'], 'output': 'screen'}
    simulator = Node(
        package='walking_control', executable='simulator_node', name=SIMULATOR,
        parameters=node_parameters(SIMULATOR, values), **place)
    controller = LifecycleNode(
        package='walking_control', executable='controller_node', name=CONTROLLER,
        parameters=[*node_parameters(CONTROLLER, values), SIM_TIME, SIMULATED], **place)
    return [
        _end_with(simulator, 'the simulator'),
        _end_with(controller, 'the controller'),
        *_bring_up(controller),
        _robot_state_publisher(robot, place),
        *_watchdog(values, place),
        controller,
        simulator,
        _change_state(controller, Transition.TRANSITION_CONFIGURE),
    ]


def _watchdog(values, place):
    if not values['watchdog']:
        return []
    timeout = WATCHDOG_TIMEOUT[values['realtime']]
    return [Node(package='walking_control', executable='watchdog_node', name='watchdog',
                 parameters=[{'timeout': timeout}], **place)]


def _end_with(process, what):
    def end(event, context):
        # a second shutdown while the first is under way is an error of launch
        if context.is_shutdown:
            return None
        if event.returncode != 0:
            raise RuntimeError(f'{what} ended with exit code {event.returncode}')
        return Shutdown(reason=f'{what} has ended')
    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=end))


def _bring_up(controller):
    activate = RegisterEventHandler(OnStateTransition(
        target_lifecycle_node=controller, start_state='configuring', goal_state='inactive',
        entities=[_change_state(controller, Transition.TRANSITION_ACTIVATE)]))
    give_up = [RegisterEventHandler(OnStateTransition(
        target_lifecycle_node=controller, start_state=start, goal_state=goal,
        entities=[OpaqueFunction(function=_fail, args=[start, goal])]))
        for start, goal in FAILURES]
    return [activate, *give_up]


def _fail(context, start, goal):
    # raising is the one way to make `ros2 launch` end with an exit status that is not zero
    raise RuntimeError(f'the controller went from {start} to {goal}; its messages say why')


def _change_state(node, transition):
    return EmitEvent(event=ChangeState(
        lifecycle_node_matcher=matches_action(node), transition_id=transition))


def _robot_state_publisher(robot, place):
    try:
        get_package_prefix('robot_state_publisher')
    except PackageNotFoundError:
        return LogInfo(msg='robot_state_publisher is not installed: no TF, no robot_description')
    description = ParameterValue(robot.urdf, value_type=str)
    return Node(package='robot_state_publisher', executable='robot_state_publisher',
                parameters=[{'robot_description': description}, SIM_TIME], **place)
