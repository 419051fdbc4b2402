# SPDX-License-Identifier: Apache-2.0
"""Simulator node and controller node together, over ROS 2 topics, in one process or two."""

from collections.abc import Callable, Sequence
import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter

from walking_control.exceptions import NotAchieved, ParameterError, require
from walking_control.models import Parameters, RobotFile
from walking_control.ros.nodes import (
    announce,
    break_law,
    controller_node,
    ControllerNode,
    DemoPlace,
    isolate_domain,
    make_executor,
    ros,
    simulator_node,
    SimulatorNode,
    spin,
    StopSignal,
)
from walking_control.runs.run import Run

TABLES: dict[str, type[Parameters]] = {
    'controller': controller_node.ControllerNodeParameters,
    'simulator': simulator_node.SimulatorNodeParameters,
}
MADE_HERE = {
    'robot_file',
    'controller',
    'plant',
    'duration',
    'disturb',
    'autostart',
    'route',
    'record_telemetry',
    'virtual_efforts',
    'require_watchdog',
    'fault',
}
# Both sides are this command's own and their end is noticed: a busy machine may take its time.
PATIENCE = {'lockstep_timeout': 20.0}
# a controller that does not outlive us, however we end
CONTROLLER = (
    'from walking_control.ros.nodes import controller_node, runtime; '
    'runtime.end_with_parent(); controller_node.main()'
)
LAST_WORDS = 20  # messages looked for after the end


class DemoResult(NamedTuple):
    """What a demo gives back.

    Attributes:
        run: The `Run`.
        figures: Of the way it was walked, as the verb prints them: ticks, late ones, pace and more.
    """

    run: Run
    figures: dict[str, Any]


def run_demo(
    robot_file: RobotFile,
    duration: float,
    settings: Sequence[tuple[str, Any]] = (),
    processes: int = 1,
    disturb: Sequence[str] = (),
    route: str | Path = '',
    progress: Callable[[float], None] | None = None,
) -> DemoResult:
    """Walk a robot over ROS 2 topics.

    Args:
        robot_file: The `RobotFile`.
        duration: Simulated time, s.
        settings: Parameters of the nodes as pairs (name, value), such as ``lockstep_timeout`` or
            ``realtime``: step by the clock instead of in lockstep.
        processes: 1 for both nodes in this process, 2 for a controller in one of its own.
        disturb: Disturbances ``KIND=SIZE@WHEN``.
        route: Name or path of the route to ask the walker for; ``''``: none.
        progress: Called with the simulated time now and then.

    Returns the `DemoResult`. Raises `NotAchieved`: the controller could not be configured or
    activated. `ParameterError`: a setting that no node has or that the demo makes itself, or a bad
    value.
    """
    isolate_domain()
    chosen = {node: _settings_for(table, settings) for node, table in TABLES.items()}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f'{robot_file.robot.name}.yaml'
        robot_file.write(path)
        shared = {
            **PATIENCE,
            'robot_file': str(path),
            'controller': robot_file.controller,
            'record_telemetry': True,
        }
        control = {
            **shared,
            'virtual_efforts': True,
            'require_watchdog': False,
            **chosen['controller'],
        }
        simulation = {
            **shared,
            'discovery_timeout': 600.0,
            'plant': robot_file.plant,
            'duration': float(duration),
            'disturb': ','.join(disturb),
            'route': str(route),
            **chosen['simulator'],
        }
        # a namespace of its own keeps it off the topics of a robot in the same domain
        namespace = f'/demo_{os.getpid()}'
        place = DemoPlace(os.environ['ROS_DOMAIN_ID'], namespace)
        print(
            f'ROS domain {place.domain}, namespace {namespace}; from another shell: '
            'walking_control fault KIND',
            file=sys.stderr,
            flush=True,
        )
        with ros():
            with StopSignal() as stop, contextlib.ExitStack() as stack, announce(place):
                simulator = _add(
                    stack,
                    SimulatorNode(namespace=namespace, parameter_overrides=_overrides(simulation)),
                )
                start = _start_process if processes == 2 else _start_here
                others, alive = start(stack, namespace, control)
                if others:
                    realtime = dict(settings).get('realtime', False)
                    simulator.break_law = lambda kind: break_law(others[0], kind, realtime)
                result = _walk(simulator, others, alive, stop, progress)
            if stop.received:
                raise KeyboardInterrupt
            return result


def _settings_for(table: type[Parameters], settings: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return name -> value of the settings that a node has."""
    known = {name for other in TABLES.values() for name in other.rows} - MADE_HERE
    for name, value in settings:
        require(
            name in known,
            f'parameter node.{name}',
            value=value,
            limit='is no setting of a demo',
            remedy='known: ' + ', '.join(sorted(known)),
            error=ParameterError,
        )
    return {
        name: table.rows[name].validate(value, 'node.')
        for name, value in settings
        if name in table.rows
    }


def _overrides(parameters: Any) -> list[Parameter]:
    return [Parameter(name, value=value) for name, value in parameters.items()]


def _add(stack: contextlib.ExitStack, node: Node) -> Any:
    stack.callback(node.destroy_node)
    stack.callback(node.stop)  # first
    return node


def _start_here(
    stack: contextlib.ExitStack, namespace: str, parameters: Any
) -> tuple[list[Any], Callable[[], bool]]:
    """Start a controller in this process; return it to be spun, and whether it lives."""
    controller = _add(
        stack, ControllerNode(namespace=namespace, parameter_overrides=_overrides(parameters))
    )
    for transition in (controller.trigger_configure, controller.trigger_activate):
        require(
            transition() == TransitionCallbackReturn.SUCCESS,
            'controller node',
            limit='could not be configured and activated',
            error=NotAchieved,
        )
    return [controller], lambda: True


def _start_process(
    stack: contextlib.ExitStack, namespace: str, parameters: Any
) -> tuple[list[Any], Callable[[], bool]]:
    """Start a controller in a process of its own; return nothing to spin, and whether it lives."""
    arguments = ['--ros-args', '-r', f'__ns:={namespace}', '-p', 'autostart:=true']
    for name, value in parameters.items():
        arguments += ['-p', f'{name}:={str(value).lower() if isinstance(value, bool) else value}']
    process = subprocess.Popen(
        [sys.executable, '-c', CONTROLLER, *arguments],
        stdin=subprocess.PIPE,
        stdout=sys.stderr,
        start_new_session=True,
    )  # Ctrl-C reaches it through us, once

    def leave() -> None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(leave)
    return [], lambda: process.poll() is None


def _walk(
    simulator: SimulatorNode,
    others: Sequence[Any],
    alive: Callable[[], bool],
    stop: StopSignal,
    progress: Callable[[float], None] | None,
) -> DemoResult:
    executor = make_executor()
    for node in (simulator, *others):
        executor.add_node(node)
    shown = 0.0

    def done() -> bool:
        nonlocal shown
        if progress is not None and simulator.plant.time - shown >= 1.0:
            shown = simulator.plant.time
            progress(shown)
        return simulator.finished or stop.received or not alive()

    spin(executor, done)
    for _ in range(LAST_WORDS):  # of a fault in the very last tick
        executor.spin_once(timeout_sec=0.0)
    if not (simulator.finished or stop.received):
        require(
            simulator.started,
            'controller node',
            limit='ended before the walk began; see above why',
            error=NotAchieved,
        )
        simulator.finish('no_controller', 'the process of the controller has ended')
    run = simulator.result()
    walked = len(run.time) and float(run.time[-1])
    figures = {
        'transport': 'ros2',
        'rmw': rclpy.get_rmw_implementation_identifier(),
        'ticks': simulator.ticks,
        'missed_ticks': simulator.missed_ticks,
        'real_time_factor': walked / simulator.wall_time if simulator.wall_time else None,
    }
    return DemoResult(run, figures)
