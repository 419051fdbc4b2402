# SPDX-License-Identifier: Apache-2.0
"""Walk a robot in a plant: the control loop without ROS."""

from collections.abc import Callable, Iterable

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import WalkingControlError
from walking_control.models.robot import Start
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Command, Measurement, whole_nanoseconds
from walking_control.runs.run import Recorder, Run
from walking_control.safety.faults import FALL, Fault
from walking_control.simulation.disturbance import Disturbance, plan_disturbances
from walking_control.simulation.plant import Plant
from walking_control.simulation.registry import make_plant

# what a law may raise in a state it has no answer to; other errors are mistakes in the program
BEYOND_THE_LAW = (WalkingControlError, ArithmeticError, np.linalg.LinAlgError)


def run_plant(plant: Plant, loop: ControlLoop, start: Start, duration: float,
              progress: Callable[[float], None] | None = None,
              until: Callable[[], bool] | None = None) -> Run:
    """Run a control loop on a plant and return the record.

    The run ends early when the control loop latches a fault or the robot trips.

    Args:
        plant: A `Plant`.
        loop: A `ControlLoop` for the same robot.
        start: The `Start`.
        duration: Simulated time, s.
        progress: Called with the simulated time now and then, e.g. to print it.
        until: Called after every tick; the run ends when it returns True.

    Returns:
        The `Run`.
    """
    period = loop.period
    ticks = max(1, round(duration / period))
    plant.reset(start)
    loop.reset()
    measurement = Measurement(plant.robot)
    law = loop.controller
    recorder = Recorder(plant.robot, law.name, plant, ticks + 1, vars(law.values),
                        law.telemetry_fields(plant.robot))
    for tick in range(ticks + 1):
        plant.measure(measurement)
        if not plant.lost:
            measurement.stamp = whole_nanoseconds(measurement.stamp)
            command = _answer(loop, measurement)
        recorder.record(plant, loop.state, command, law.write_telemetry)
        if loop.fault is not None or until is not None and until():
            return recorder.finish(loop.fault)
        if plant.truth.trip is not None:
            return recorder.finish(Fault(FALL, plant.truth.trip, plant.time))
        if tick < ticks:
            plant.step(command, period)
        if progress is not None and tick % 100 == 0:
            progress(plant.time)
    return recorder.finish()


def _answer(loop: ControlLoop, measurement: Measurement) -> Command:
    """Return the command to a measurement."""
    try:
        return loop.tick(measurement)
    except BEYOND_THE_LAW as error:   # as the node does; the record is kept
        return loop.stop('internal', f'{type(error).__name__}: {error}', measurement)


def simulate(robot_file: RobotFile, controller: str | None = None, plant: str | None = None,
             duration: float = 20.0, disturb: Iterable[Disturbance | str] = (),
             progress: Callable[[float], None] | None = None) -> Run:
    """Walk a robot and return the record: the same chain as over ROS 2.

    Args:
        robot_file: The `RobotFile`, see `load_robot`.
        controller: Name of the controller; None takes the robot file's default.
        plant: Name of the plant; None takes the robot file's default.
        duration: Simulated time, s; a fault ends the run earlier.
        disturb: Planned disturbances, each a `Disturbance` or text like ``'step_down=0.02@5'``.
        progress: Called with the simulated time now and then.

    Returns:
        The `Run`; ``run.summary()`` says what it was worth.

    Raises:
        InvalidInput: An unknown name, or parts that do not fit each other.
    """
    world = make_plant(robot_file, plant)
    plan_disturbances(world, disturb)
    return run_plant(world, ControlLoop(robot_file, controller), robot_file.start, duration,
                     progress)
