# SPDX-License-Identifier: Apache-2.0
"""Walk a robot in a plant: the control loop without ROS."""

from collections.abc import Callable, Iterable

import numpy as np

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import WalkingControlError
from walking_control.models import (
    Choice,
    Command,
    Measurement,
    Reference,
    RobotFile,
    Start,
    whole_nanoseconds,
)
from walking_control.operation import Patience
from walking_control.runs import Recorder, Route, Run
from walking_control.safety import FALL, Fault, Steering
from walking_control.simulation import (
    Disturbance,
    Guide,
    make_plant,
    plan_disturbances,
    planned_pushes,
    Plant,
)

# what a law may raise in a state it has no answer to; other errors are mistakes in the program
BEYOND_THE_LAW = (WalkingControlError, ArithmeticError, np.linalg.LinAlgError)

Listener = Callable[[Measurement, Command, Reference], None]
Teller = Callable[[Measurement], Measurement | None]


class Walk:
    """A control loop on a plant, under way: can be continued, and looked at in between.

    Args:
        plant: A `Plant`.
        loop: A `ControlLoop` for the same robot.
        start: The `Start`; plant and loop begin anew.
        ticks: Expected number of ticks.
        before: Called before every tick with what was measured, or None; what it returns is told
            to the loop instead.
        listen: Called after every tick with measurement, command and reference, or None.

    Attributes:
        plant, loop: As given.
        measurement: What was measured last.
    """

    def __init__(
        self,
        plant: Plant,
        loop: ControlLoop,
        start: Start,
        ticks: int,
        before: Teller | None = None,
        listen: Listener | None = None,
    ) -> None:
        self.plant, self.loop, self._before, self._listen = plant, loop, before, listen
        plant.reset(start)
        loop.reset()
        self.measurement = Measurement(plant.robot)
        law = loop.controller
        self._recorder = Recorder(
            plant.robot,
            law.name,
            plant,
            ticks + 1,
            vars(law.values),
            law.telemetry_fields(plant.robot),
        )
        self._observe()

    @property
    def fault(self) -> Fault | None:
        """Why it is over: the latched `Fault`, or a fall where a foot tripped."""
        if self.loop.fault is None and self.plant.truth.trip is not None:
            return Fault(FALL, self.plant.truth.trip, self.plant.time)
        return self.loop.fault

    def go(
        self,
        ticks: int,
        progress: Callable[[float], None] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> None:
        """Walk on for a number of ticks, until the loop latches a fault or the robot trips.

        Args:
            ticks: How many.
            progress: Called with the simulated time now and then.
            until: Called before every tick; ends the walk when it returns True.
        """
        for tick in range(ticks):
            if (
                self.loop.fault is not None
                or until is not None
                and until()
                or self.plant.truth.trip is not None
            ):
                return
            self.tick()
            if progress is not None and tick % 100 == 0:
                progress(self.plant.time)

    def tick(self, command: Command | None = None) -> None:
        """Walk on for one tick, whatever has happened before.

        Args:
            command: What reaches the robot; None takes the last answer.
        """
        self.plant.step(self.loop.command if command is None else command, self.loop.period)
        self._observe()

    def finish(self) -> Run:
        """Return the `Run` so far."""
        return self._recorder.finish(self.fault)

    def _observe(self) -> None:
        """Measure, answer and record."""
        plant, loop, measurement = self.plant, self.loop, self.measurement
        plant.measure(measurement)
        if not plant.lost:
            measurement.stamp = whole_nanoseconds(measurement.stamp)
            told = self._before and self._before(measurement) or measurement
            try:
                loop.tick(told)
            except BEYOND_THE_LAW as error:  # as the node does; the record is kept
                loop.give_up(f'{type(error).__name__}: {error}', told)
            if self._listen is not None:
                self._listen(told, loop.command, loop.reference)
        self._recorder.record(plant, loop.state, loop.command, loop.controller.write_telemetry)


def run_plant(
    plant: Plant,
    loop: ControlLoop,
    start: Start,
    duration: float,
    progress: Callable[[float], None] | None = None,
    before: Teller | None = None,
    listen: Listener | None = None,
) -> Run:
    """Run a control loop on a plant and return the record.

    The run ends early when the control loop latches a fault or the robot trips.

    Args:
        loop: A `ControlLoop` for the same robot.
        duration: Simulated time, s.
        progress: Called with the simulated time now and then, e.g. to print it.
        before: Called before every tick with what was measured, see `Walk`.
        listen: Called after every tick with measurement, command and reference.

    Returns:
        The `Run`.
    """
    ticks = max(1, round(duration / loop.period))
    walk = Walk(plant, loop, start, ticks, before, listen)
    walk.go(ticks, progress)
    return walk.finish()


def simulate(
    robot_file: RobotFile,
    controller: Choice = None,
    plant: Choice = None,
    duration: float = 20.0,
    disturb: Iterable[Disturbance | str] = (),
    progress: Callable[[float], None] | None = None,
    route: Route | None = None,
    listen: Listener | None = None,
) -> Run:
    """Walk a robot and return the record: the same chain as over ROS 2.

    Args:
        robot_file: The `RobotFile`, see `load_robot`.
        controller: Name, ``module:Class``, class, or class with parameters such as
            ``HipSpring(stiffness=8.0)``; None takes the robot file's default.
        plant: Likewise.
        duration: Simulated time, s; a fault ends the run earlier.
        disturb: Planned disturbances, each a `Disturbance` or text like ``'step_down=0.02@5'``.
        progress: Called with the simulated time now and then.
        route: What to ask the walker for on the way; None leaves that to its parameters.
        listen: Called after every tick with measurement, command and reference.

    Returns:
        The `Run`; ``run.summary()`` says what it was worth.

    Raises:
        InvalidInput: An unknown name, or parts that do not fit each other.
    """
    world = make_plant(robot_file, plant)
    plan_disturbances(world, disturb)
    loop = ControlLoop(robot_file, controller)
    before = None
    if route is not None:
        plan_disturbances(world, planned_pushes(route))
        before = _lead(route, loop)
    run = run_plant(world, loop, robot_file.start, duration, progress, before=before, listen=listen)
    run.route = route
    return run


def _lead(route: Route, loop: ControlLoop) -> Teller:
    """Return what leads a walk along a route, tick by tick, as nodes do with their defaults."""
    patience = Patience()
    steering = Steering(
        loop.reference, loop.controller.velocity_limits, patience.speed, patience.deceleration
    )
    guide = Guide(route, steering)

    def before(measurement: Measurement) -> None:
        guide.advance(measurement.stamp)
        steering.steer(measurement.stamp)

    return before
