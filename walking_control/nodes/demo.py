# SPDX-License-Identifier: Apache-2.0
"""Simulator node and controller node together, over ROS 2 topics, in one process."""

from dataclasses import dataclass
from pathlib import Path
import tempfile

import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from walking_control.exceptions import NotAchieved
from walking_control.nodes.controller_node import ControllerNode
from walking_control.nodes.runtime import isolate_domain, make_executor, spin
from walking_control.nodes.simulator_node import SimulatorNode


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


def run_demo(robot_file, controller, plant, duration, realtime=False, progress=None):
    """Walk a robot over ROS 2 topics.

    Args:
        robot_file: The `RobotFile`.
        controller: Name of the controller, None for the default.
        plant: Name of the plant, None for the default.
        duration: Simulated time, s.
        realtime: Step by the clock instead of in lockstep.
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
        parameters = [Parameter('robot_file', value=str(path)),
                      Parameter('controller', value=controller or robot_file.controller),
                      Parameter('realtime', value=realtime)]
        rclpy.init(args=[], signal_handler_options=rclpy.SignalHandlerOptions.NO)
        nodes = []
        try:
            return _walk(nodes, parameters, plant or robot_file.plant, duration, progress)
        finally:
            for node in reversed(nodes):
                node.stop()
                node.destroy_node()
            rclpy.try_shutdown()


def _walk(nodes, parameters, plant, duration, progress):
    simulator = SimulatorNode(parameter_overrides=[
        *parameters, Parameter('plant', value=plant),
        Parameter('duration', value=float(duration))])
    nodes.append(simulator)
    controller = ControllerNode(parameter_overrides=parameters)
    nodes.append(controller)
    for transition in (controller.trigger_configure, controller.trigger_activate):
        if transition() != TransitionCallbackReturn.SUCCESS:
            raise NotAchieved('controller node', limit='could not be configured and activated')
    executor = make_executor()
    for node in nodes:
        executor.add_node(node)
    shown = 0.0

    def done():
        nonlocal shown
        if progress is not None and simulator.plant.time - shown >= 1.0:
            shown = simulator.plant.time
            progress(shown)
        return simulator.finished

    spin(executor, done)
    return DemoResult(simulator.result(), simulator.ticks, simulator.missed_ticks,
                      simulator.wall_time, rclpy.get_rmw_implementation_identifier())
