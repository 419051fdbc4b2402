# SPDX-License-Identifier: Apache-2.0
"""What a control law is: the contract that every controller fulfils and every caller relies on."""

from collections.abc import Callable
import math
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from walking_control.controllers.parameters import LawParameters
from walking_control.exceptions import IncompatibleController, require
from walking_control.models import (
    choose_or_make,
    Command,
    Reference,
    Robot,
    RobotFile,
    Terms,
    WalkerState,
)

# (terms, knowledge, memory, support, held, q, v, effort); knowledge is of the law's own kind
LawFunction = Callable[
    [Terms, Any, np.ndarray, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None
]


class ArrayLaw(NamedTuple):
    """A control law as one array function: plain or compiled, in walks of thousands of strides.

    Attributes:
        function: An `array_function` (terms, knowledge, memory, support, held, q, v, effort) that
            fills the efforts of one tick: ``terms`` gives the support terms, ``support`` is the
            index of the stance foot, ``held`` says which locks hold, ``(n_locks,)``.
        knowledge: What the law knows: a tuple of plain arrays and numbers, not changed.
        memory: What it remembers from tick to tick, ``(k,)``; a walk begins with a copy.
        knee_flexed: Flexion after which an extending knee's lock is armed again, rad.
        passive: Whether it never gives an effort.
    """

    function: LawFunction
    knowledge: Any
    memory: np.ndarray
    knee_flexed: float = 0.0
    passive: bool = False


class Controller(Protocol):
    """A control law: from what is known to what is commanded, tick by tick.

    Write a law as a subclass: then what it does not offer has the default given here.

    Args:
        robot_file: The `RobotFile` it is built for.
        values: Of the class `parameters`.

    Attributes:
        name: Name on the command line, in robot files and of the section of its parameters.
        parameters: The class of its parameters; ``rate`` (Hz) is among them.
        standstill: What it does when a velocity of zero is asked for, for as long as it is: stands,
            or steps on the spot; None of a law that can do neither.
        values: Its parameters as they are now. Those marked live may be replaced at any time.

    Raises:
        IncompatibleController: The law does not fit the robot; raised on construction.
        InvalidInput: What it was given, such as a gait, cannot be used.
    """

    name: ClassVar[str]
    parameters: ClassVar[type[LawParameters]]
    values: LawParameters
    standstill: str | None = None

    def __new__(cls, *args: Any, **parameters: Any) -> Any:
        """Return an object; of parameters by name alone, the class chosen with them."""
        return choose_or_make(cls, *args, **parameters)

    def __init__(self, robot_file: RobotFile, values: LawParameters) -> None:
        """Do everything slow here: no tick may cost more than the next."""

    def reset(self, state: WalkerState) -> None:
        """Begin anew from a state; what was remembered is forgotten."""

    def take_over(self, state: WalkerState) -> None:
        """Begin anew in the middle of another law's walk; from rest, unless the law can do more.

        Args:
            state: What is known.
        """
        self.reset(state)

    def update(self, state: WalkerState, reference: Reference, dt: float, command: Command) -> None:
        """Fill the `Command` for this tick.

        Args:
            state: What is known.
            reference: What is wanted.
            dt: Time since the last tick, s.
            command: Filled: every effort, every lock.
        """

    def velocity_limits(self) -> tuple[float, float, float]:
        """Return the largest speed ahead or back, sideways (m/s) and of turning (rad/s) it takes.

        Infinite where it has no limit of its own, or does not look.
        """
        return math.inf, math.inf, math.inf

    @staticmethod
    def telemetry_fields(robot: Robot) -> tuple[tuple[str, str], ...]:
        """Return (name, unit) of everything the law says of a tick on a robot; nothing, unless."""
        return ()

    def write_telemetry(self, out: np.ndarray) -> None:
        """Fill an array with the values of `telemetry_fields` in the last tick."""
        return  # a body: without one it would be abstract to type checkers

    def array_law(self) -> ArrayLaw | None:
        """Return the law as an array function, for compiled walks; None where it has no such form.

        Sweeps, margins and limit cycles on the rigid plant are open to laws that have one.
        """
        return None


@runtime_checkable
class PostureHolder(Protocol):
    """What a controller offers besides that holds a posture by forces on its feet.

    Over ROS 2 it is told `Reference.posture` and `Reference.support`, and what it relies on is
    published.

    Attributes:
        dynamics: Of the robot, for its weight.
        contacts: foot -> `Contact` it counts on.
        distributor: The `StaticTorque` that shares the weight, for the margins.
        solution: The `StaticSolution` it relies on; None without one.
    """

    dynamics: Any
    contacts: dict[str, Any]
    distributor: Any
    solution: Any


class FootPlan(NamedTuple):
    """What a law that steps does with its feet: places from the base's origin, floor axes.

    Attributes:
        feet: Where the feet are, m, ``(n_feet, 3)``.
        yaws: How the feet are turned about the floor normal, rad, ``(n_feet,)``.
        swing: Index of the foot that swings; None while all stand.
        foothold: Where it shall land, m, ``(3,)``; None while all stand.
        capture: Where the fall would end, on the floor, m, ``(3,)``.
        heading: Where the robot shall look, rad.
        sole: Length and width of the soles relied on, m; zeros of points.
    """

    feet: np.ndarray
    yaws: np.ndarray
    swing: int | None
    foothold: np.ndarray | None
    capture: np.ndarray
    heading: float
    sole: tuple[float, float]


class Stoppable(NamedTuple):
    """Whether a robot that walks can still be brought to a stand, as its law's step plan has it.

    Args:
        steps: Until nothing is left to catch; 0 of one that stands, -1 if it cannot be stopped.
        margin: How much farther the fall might end at the last of them, m; below zero: by how much
            a step too many misses it.
    """

    steps: int
    margin: float


@runtime_checkable
class FootPlanner(Protocol):
    """What a controller offers besides that plans footholds in space: over ROS 2 they are drawn."""

    def foot_plan(self) -> FootPlan:
        """Return the `FootPlan` of the last tick."""


@runtime_checkable
class StopJudge(Protocol):
    """What a controller offers besides that knows whether the robot could be stopped."""

    def stoppable(self) -> Stoppable:
        """Return the `Stoppable` of the last tick."""


def read_telemetry(controller: Controller, robot: Robot) -> dict[str, Any]:
    """Return name -> value of what a controller says of the last tick.

    Args:
        controller: A law after a tick.
        robot: The `Robot` it is built for.
    """
    names = [name for name, _ in controller.telemetry_fields(robot)]
    values = np.zeros(len(names))
    controller.write_telemetry(values)
    return dict(zip(names, values.tolist()))


def require_motors(law: str, robot: Robot, biped: bool = False) -> None:
    """Refuse a robot whose posture a law could not hold; some laws are of bipeds alone.

    Args:
        law: Its name, for the message.
        robot: The `Robot`.
        biped: Whether it must have two feet.

    Raises:
        IncompatibleController: Its base is not free, its feet are more or fewer, or a joint has no
            motor, or one without torque.
    """
    what = f'controller {law} on {robot.name}'
    require(
        robot.is_free and (not biped or len(robot.feet) == 2),
        what,
        limit='needs a biped in space (base: free, two feet)'
        if biped
        else 'needs a robot in space (base: free)',
        remedy='choose another controller',
        error=IncompatibleController,
    )
    for joint in robot.joints:
        require(
            joint in robot.actuators and robot.limits[joint].effort != 0.0,
            what,
            value=joint,
            limit='every joint needs a motor with an effort limit',
            remedy='add it to robot.actuators and the URDF',
            error=IncompatibleController,
        )
