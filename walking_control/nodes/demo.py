# SPDX-License-Identifier: Apache-2.0
"""Simulator node and controller node together, over ROS 2 topics, in one process or two."""

import contextlib
from dataclasses import dataclass
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile

import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from walking_control.exceptions import NotAchieved
from walking_control.nodes.controller_node import ControllerNode
from walking_control.nodes.demo_place import announce, DemoPlace
from walking_control.nodes.fault_injection import break_law
from walking_control.nodes.runtime import isolate_domain, make_executor, spin, StopSignal
from walking_control.nodes.simulator_node import SimulatorNode

LAST_WORDS = 20   # messages looked for after the end


@dataclass
class DemoResult:
    """What a demo gives back.

    Args:
        run: The `Run`.
        ticks: Control ticks.
        missed_ticks: Ticks whose command was late.
        wall_time: From the first tick to the last, s.
        rmw: Name of the ROS middleware.
    """

    run: object
    ticks: int
    missed_ticks: int
    wall_time: float
    rmw: str


def run_demo(robot_file, controller, plant, duration, realtime=False, processes=1, disturb=(),
             progress=None):
    """Walk a robot over ROS 2 topics.

    Args:
        robot_file: The `RobotFile`.
        controller: Name of the controller, None for the default.
        plant: Name of the plant, None for the default.
        duration: Simulated time, s.
        realtime: Step by the clock instead of in lockstep.
        processes: 1 for both nodes in this process, 2 for a controller in one of its own.
        disturb: Disturbances ``KIND=SIZE@STEP``.
        progress: Called with the simulated time now and then.

    Returns:
        The `DemoResult`.

    Raises:
        NotAchieved: The controller could not be configured or activated.
    """
    isolate_domain()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f'{robot_file.robot.name}.yaml'
        robot_file.write(path)
        shared = {'robot_file': str(path), 'controller': controller or robot_file.controller,
                  'realtime': realtime, 'record_telemetry': True}
        control = {**shared, 'virtual_efforts': True, 'require_watchdog': False}
        simulation = {**shared, 'plant': plant or robot_file.plant, 'duration': float(duration),
                      'disturb': ','.join(disturb)}
        # a namespace of its own keeps it off the topics of a robot in the same domain
        namespace = f'/demo_{os.getpid()}'
        place = DemoPlace(os.environ['ROS_DOMAIN_ID'], namespace)
        print(f'ROS domain {place.domain}, namespace {namespace}; from another shell: '
              'walking_control fault KIND', file=sys.stderr, flush=True)
        rclpy.init(args=[], signal_handler_options=rclpy.SignalHandlerOptions.NO)
        try:
            with StopSignal() as stop, contextlib.ExitStack() as stack, announce(place):
                simulator = _add(stack, SimulatorNode(
                    namespace=namespace, parameter_overrides=_overrides(simulation)))
                start = _start_process if processes == 2 else _start_here
                others = start(stack, namespace, control)
                if others:
                    simulator.break_law = lambda kind: break_law(others[0], kind, realtime)
                result = _walk(simulator, others, stop, progress)
            if stop.received:
                raise KeyboardInterrupt
            return result
        finally:
            rclpy.try_shutdown()


def _overrides(parameters):
    return [Parameter(name, value=value) for name, value in parameters.items()]


def _add(stack, node):
    def leave():
        node.stop()
        node.destroy_node()
    stack.callback(leave)
    return node


def _start_here(stack, namespace, parameters):
    """Return the nodes to spin beside the simulator: a controller in this process."""
    controller = _add(stack, ControllerNode(
        namespace=namespace, parameter_overrides=_overrides(parameters)))
    for transition in (controller.trigger_configure, controller.trigger_activate):
        if transition() != TransitionCallbackReturn.SUCCESS:
            raise NotAchieved('controller node', limit='could not be configured and activated')
    return [controller]


def _start_process(stack, namespace, parameters):
    """Start a controller in a process of its own; nothing more is to be spun here."""
    arguments = ['--ros-args', '-r', f'__ns:={namespace}', '-p', 'autostart:=true']
    for name, value in parameters.items():
        arguments += ['-p', f'{name}:={str(value).lower() if isinstance(value, bool) else value}']
    process = subprocess.Popen(
        [sys.executable, '-m', 'walking_control.nodes.controller_node', *arguments],
        stdout=sys.stderr, start_new_session=True)   # Ctrl-C reaches it through us, once

    def leave():
        process.send_signal(signal.SIGINT)
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    stack.callback(leave)
    return []


def _walk(simulator, others, stop, progress):
    executor = make_executor()
    for node in (simulator, *others):
        executor.add_node(node)
    shown = 0.0

    def done():
        nonlocal shown
        if progress is not None and simulator.plant.time - shown >= 1.0:
            shown = simulator.plant.time
            progress(shown)
        return simulator.finished or stop.received

    spin(executor, done)
    for _ in range(LAST_WORDS):   # of a fault in the very last tick
        executor.spin_once(timeout_sec=0.0)
    return DemoResult(simulator.result(), simulator.ticks, simulator.missed_ticks,
                      simulator.wall_time, rclpy.get_rmw_implementation_identifier())
