# SPDX-License-Identifier: Apache-2.0
"""From the tables of `ros2_control.launching` to actions of launch."""

from collections.abc import Callable, Sequence
from pathlib import Path
import sys
from typing import Any

from ament_index_python.packages import get_package_share_directory, PackageNotFoundError
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from walking_control.exceptions import refusing
from walking_control.ros.launch_arguments import LaunchArgument, read_arguments, refuse_unknown
from walking_control.ros.ros2_control import launching

# Where a failed configure, a failed activate and an error in either lead.
FAILURES = (
    ('configuring', 'unconfigured'),
    ('activating', 'inactive'),
    ('errorprocessing', 'unconfigured'),
    ('errorprocessing', 'finalized'),
)


def describe(
    file: str, arguments: Sequence[LaunchArgument], plan: Callable[[dict[str, Any]], list[Any]]
) -> LaunchDescription:
    """Return the launch description of a launch file.

    Args:
        file: Its path; what is typed behind it and is no argument of it is refused.
        arguments: Its table of `LaunchArgument`.
        plan: From the values of the arguments to a list of steps.
    """

    def start(context: Any) -> list[Any]:
        if any(Path(text).name == Path(file).name for text in sys.argv):
            refuse_unknown(context.argv, arguments)  # who includes it has arguments of its own
        values = read_arguments(context.launch_configurations, arguments)
        return actions(plan(values), values['namespace'])

    return LaunchDescription(
        [
            *[
                DeclareLaunchArgument(
                    argument.name, default_value=argument.default, description=argument.description
                )
                for argument in arguments
            ],
            OpaqueFunction(function=start),
        ]
    )


def on_robot(plan: Callable[[launching.Place], list[Any]]) -> Callable[[dict[str, Any]], list[Any]]:
    """Return a plan for `describe` that is made for the robot of the arguments."""
    return lambda values: plan(launching.find_place(values))


def actions(steps: Sequence[Any], namespace: str = '') -> list[Any]:
    """Return the actions of a list of steps, what waits for others behind its event handlers."""
    made = {step.key: _make(step, namespace) for step in steps}
    handlers, now = [], []
    for step in steps:
        action, after = made[step.key], getattr(step, 'after', '')
        handlers += _watch(step, action, made)
        if after:
            handlers.append(_behind(made[after], after, step, action))
        else:
            now.append(action)
    begin = [configure(made[step.key]) for step in steps if isinstance(step, launching.Lifecycle)]
    return [*handlers, *now, *begin]


def _make(step: Any, namespace: str) -> Any:
    if isinstance(step, launching.Include):
        return IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(_share(step.package) / 'launch' / step.file)),
            launch_arguments=step.arguments.items(),
        )
    if isinstance(step, launching.Call):
        return ExecuteProcess(cmd=list(step.command), output='screen')
    if isinstance(step, launching.Say):
        return LogInfo(msg=step.text)
    kind = LifecycleNode if isinstance(step, launching.Lifecycle) else Node
    _share(step.package)
    return kind(
        package=step.package,
        executable=step.executable,
        name=step.name or None,
        namespace=namespace,
        arguments=list(step.arguments),
        parameters=[_text_stays_text(each) for each in step.parameters],
        remappings=list(step.remappings),
        output='screen',
        prefix=step.prefix or None,
    )


def _share(package: str) -> Path:
    with refusing(
        PackageNotFoundError,
        f'package {package}',
        limit='is not installed',
        remedy=f'sudo apt install ros-$ROS_DISTRO-{package.replace("_", "-")}',
    ):
        return Path(get_package_share_directory(package))


def _text_stays_text(parameters: Any) -> Any:
    """Return parameters of which launch does not read the texts as YAML."""
    if isinstance(parameters, str):
        return parameters
    return {
        name: ParameterValue(value, value_type=str) if isinstance(value, str) else value
        for name, value in parameters.items()
    }


def _behind(before: Any, name: str, step: Any, action: Any) -> RegisterEventHandler:
    """Return what starts a step once another has ended well."""
    if getattr(step, 'delay', 0.0):
        action = TimerAction(period=step.delay, actions=[action])

    if isinstance(before, LifecycleNode):  # such a one does not end, but becomes active
        return RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=before,
                start_state='activating',
                goal_state='active',
                entities=[action],
            )
        )
    return _once_ended(before, name, action)


def _once_ended(process: Any, what: str, action: Any) -> RegisterEventHandler:
    """Return what starts an action once a process has ended well; if it failed, all fails."""

    def go(event: Any, context: Any) -> Any:
        # a second shutdown while the first is under way is an error of launch
        if context.is_shutdown:
            return None
        if event.returncode != 0:
            raise RuntimeError(
                f'{what} ended with exit code {event.returncode}; its messages say why'
            )
        return [action]

    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=go))


def _watch(step: Any, action: Any, made: dict[str, Any]) -> list[RegisterEventHandler]:
    """Return the handlers by which everything ends with what is needed, and lifecycles go on."""
    handlers = []
    if getattr(step, 'needed', False):
        handlers.append(end_with(action, step.key))
    if isinstance(step, launching.Lifecycle):
        handlers += give_up(action)
        if step.activate and step.activate_after:
            handlers += _activate_behind(action, made[step.activate_after], step.activate_after)
        elif step.activate:
            handlers.append(activate_when_configured(action))
    return handlers


def _activate_behind(node: Node, before: Any, name: str) -> list[RegisterEventHandler]:
    """Return what activates a node once it is configured and another step has ended well."""
    missing = {'configured', 'before'}

    def done(part: str) -> OpaqueFunction:
        def go(context: Any) -> list[Any] | None:
            missing.discard(part)
            return [] if missing else [_change_state(node, Transition.TRANSITION_ACTIVATE)]

        return OpaqueFunction(function=go)

    return [
        RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node,
                start_state='configuring',
                goal_state='inactive',
                entities=[done('configured')],
            )
        ),
        _behind(before, name, None, done('before')),
    ]


def end_with(process: Any, what: str) -> RegisterEventHandler:
    """Return what ends everything when a process does, with its failure if it failed."""
    return _once_ended(process, what, Shutdown(reason=f'{what} has ended'))


def activate_when_configured(node: Node) -> RegisterEventHandler:
    """Return what activates a lifecycle node once it is configured."""
    return RegisterEventHandler(
        OnStateTransition(
            target_lifecycle_node=node,
            start_state='configuring',
            goal_state='inactive',
            entities=[_change_state(node, Transition.TRANSITION_ACTIVATE)],
        )
    )


def configure(node: Node) -> EmitEvent:
    """Return what configures a lifecycle node."""
    return _change_state(node, Transition.TRANSITION_CONFIGURE)


def give_up(node: Node) -> list[RegisterEventHandler]:
    """Return what ends everything when a lifecycle node cannot be brought up."""
    return [
        RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node,
                start_state=start,
                goal_state=goal,
                entities=[OpaqueFunction(function=_fail, args=[start, goal])],
            )
        )
        for start, goal in FAILURES
    ]


def _fail(context: Any, start: float, goal: str) -> None:
    # raising is the one way to make `ros2 launch` end with an exit status that is not zero
    raise RuntimeError(f'the controller went from {start} to {goal}; its messages say why')


def _change_state(node: Node, transition: int) -> EmitEvent:
    return EmitEvent(
        event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition)
    )
