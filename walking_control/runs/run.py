# SPDX-License-Identifier: Apache-2.0
"""The record of a run: one row per control tick, plain arrays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import walking_control  # whose front door knows what comes after a run
from walking_control.exceptions import import_optional
from walking_control.models import BaseState, Command, Robot, WalkerState, World
from walking_control.runs import Route
from walking_control.safety import FALL, Fault


@dataclass
class Run:
    """What happened, in SI units; T rows.

    Attributes:
        robot: The `Robot`.
        controller: Name of the controller.
        plant: Name of the plant.
        world: Namespace of the world's parameters (slope, gravity, friction).
        fell: Whether the robot fell.
        fall_reason: Why, or None.
        fault: The `Fault` that ended the run, a fall among them; None when it went well.
        settings: name -> value of the controller's parameters; empty when not known.
        disturbances: Planned `Disturbance` of the plant, as a tuple.
        sensors: name -> value of `SensorParameters` where they spoiled, delayed or lost anything.
        telemetry: name -> ``(T,)``, what the controller said of each tick; empty where it says
            nothing.
        units: name -> unit of each entry of `telemetry`.
        route: The `Route` it was asked for, if any.
        columns: name -> array. ``time (T,)``; ``q, v`` generalised truth, as `Truth` has it;
            ``coordinates, rates (T, n_coordinates)`` of the estimated `WalkerState`;
            ``estimate (T, 13)`` its base: position, orientation, linear, angular;
            ``covariance (T, 9, 9)`` as it has it, where it has one;
            ``support (T,)``; ``steps (T,)``; ``contact (T, n_feet)``; ``locked (T, n_locks)``;
            ``foot_force (T, n_feet, 3)`` floor frame; ``foot_height (T, n_feet)`` over the floor
            there, m, NaN where not known; ``effort (T, n_efforts)``;
            ``work (T, n_efforts)`` cumulative, J; ``electrical_energy (T,)`` cumulative, J.
    """

    robot: Robot
    controller: str
    plant: str
    world: World
    fell: bool = False
    fall_reason: str | None = None
    fault: Fault | None = None
    settings: dict[str, Any] = field(default_factory=dict, repr=False)
    disturbances: tuple[Any, ...] = ()
    sensors: dict[str, Any] = field(default_factory=dict, repr=False)
    telemetry: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    units: dict[str, str] = field(default_factory=dict, repr=False)
    route: Route | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def base(self) -> BaseState:
        """The `BaseState` of all rows, from ``q`` and ``v``."""
        return self.robot.base.state(self.q, self.v)

    @property
    def joints(self) -> np.ndarray:
        """Positions of the joints, ``(T, n_joints)``, rad or m."""
        return self.q[:, self.robot.base.nq :]

    @property
    def broke_off(self) -> bool:
        """Whether the run ended before its time: by a fall or another fault."""
        return self.fell or self.fault is not None

    def __getattr__(self, name: str) -> np.ndarray:
        """Give the columns as attributes."""
        try:
            return np.asarray(self.__dict__['columns'][name])
        except KeyError:
            raise AttributeError(name) from None

    def summary(self) -> 'walking_control.Summary':
        """Return what the run was worth, see `summarize`."""
        return walking_control.summarize(self)

    def report(self, directory: Path | str) -> list[str]:
        """Write page, figures, animation and table into a directory, see `write_report`."""
        return walking_control.write_report(self, self.summary(), directory)

    def plot(self, name: str | None = None) -> Any:
        """Return a matplotlib figure, see `plot_run`."""
        return walking_control.plot_run(self, name)

    def to_dataframe(self) -> Any:
        """Return the table of the run, one row a tick, units in the header, as pandas has it.

        Raises:
            MissingDependency: pandas is not installed.
        """
        from walking_control.runs.tables import run_columns

        return import_optional('pandas', 'a data frame').DataFrame(run_columns(self))


class Recorded(Protocol):
    """What of a `Plant` is recorded."""

    name: str
    world: World
    truth: Any
    sensors: Mapping[str, Any]

    @property
    def time(self) -> float:
        """Simulated time, s."""

    @property
    def disturbances(self) -> Sequence[Any]:
        """What was planned."""


FIRST_CAPACITY = 6000  # rows: a minute of walking at 100 Hz


# columns of a run that the plant's truth and the estimate have under the same name
OF_TRUTH = 'q', 'v', 'foot_force', 'foot_height', 'locked', 'work', 'electrical_energy'
OF_STATE = 'coordinates', 'rates', 'support', 'steps', 'contact'


class Recorder:
    """Collect rows, hardly ever allocating in the tick, then make a `Run`.

    Args:
        controller: Name of the controller.
        capacity: Expected number of rows. However many, memory is taken as they come, in blocks
            that are joined at the end: nothing is copied while the robot walks.
        settings: name -> value of the controller's parameters.
        fields: (name, unit) of each entry of the controller's telemetry, if it is recorded.
    """

    def __init__(
        self,
        robot: Robot,
        controller: str,
        plant: Recorded,
        capacity: int = FIRST_CAPACITY,
        settings: Mapping[str, Any] | None = None,
        fields: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.run = Run(
            robot,
            controller,
            plant.name,
            plant.world,
            settings=dict(settings or {}),
            disturbances=tuple(plant.disturbances),
            sensors=dict(plant.sensors),
            units=dict(fields),
        )
        capacity = min(capacity, FIRST_CAPACITY)
        truth = plant.truth
        nc, nf, nl, na = (
            len(robot.coordinates),
            len(robot.feet),
            len(robot.locks),
            len(robot.efforts),
        )
        shapes = {
            'time': (),
            'q': truth.q.shape,
            'v': truth.v.shape,
            'coordinates': (nc,),
            'rates': (nc,),
            'estimate': (13,),
            'support': (),
            'steps': (),
            'contact': (nf,),
            'locked': (nl,),
            'foot_force': (nf, 3),
            'foot_height': (nf,),
            'effort': (na,),
            'work': (na,),
            'electrical_energy': (),
            'telemetry': (len(fields),),
        }
        kinds = {'support': int, 'steps': int, 'contact': bool, 'locked': bool}
        self._arrays = {
            name: np.zeros((capacity, *shape), dtype=kinds.get(name, float))
            for name, shape in shapes.items()
        }
        self._rows = 0
        self._blocks: list[dict[str, np.ndarray]] = []  # that are full

    def record(
        self,
        plant: Recorded,
        state: WalkerState,
        command: Command,
        write_telemetry: Callable[[np.ndarray], None] | None = None,
    ) -> None:
        """Append the state of this tick and the command that answers it.

        Args:
            write_telemetry: Fills an array with what the controller says of this tick.
        """
        row = self._rows
        if row == len(self._arrays['time']):
            self._blocks.append(self._arrays)
            self._arrays = {name: np.zeros_like(array) for name, array in self._arrays.items()}
            self._rows = row = 0
        arrays, truth = self._arrays, plant.truth
        arrays['time'][row] = plant.time
        for name in OF_TRUTH:
            arrays[name][row] = getattr(truth, name)
        for name in OF_STATE:
            arrays[name][row] = getattr(state, name)
        base, estimate = state.base, arrays['estimate'][row]
        estimate[:3], estimate[3:7] = base.position, base.orientation
        estimate[7:10], estimate[10:] = base.linear, base.angular
        if state.covariance is not None:
            if 'covariance' not in arrays:
                for block in (*self._blocks, arrays):
                    block['covariance'] = np.zeros((len(block['time']), 9, 9))
            arrays['covariance'][row] = state.covariance
        driven = command.stiffness.any() or command.damping.any()
        n = len(self.run.robot.joints)
        arrays['effort'][row] = (
            command.torque(truth.q[-n:], truth.v[-n:]) if driven else command.effort
        )
        if write_telemetry is not None:
            write_telemetry(arrays['telemetry'][row])
        self._rows += 1

    def finish(self, fault: Fault | None = None, fall_reason: str | None = None) -> Run:
        """Return the `Run`; the robot may have fallen after a fault of another kind.

        Args:
            fault: That ended it; None without one.
            fall_reason: Why the robot fell; None if it did not, or as the fault says.
        """
        blocks = [
            *self._blocks,
            {name: array[: self._rows] for name, array in self._arrays.items()},
        ]
        columns = {name: np.concatenate([block[name] for block in blocks]) for name in self._arrays}
        self.run.telemetry = dict(zip(self.run.units, columns.pop('telemetry').T, strict=True))
        self.run.columns = columns
        if fault is not None and fault.code == FALL:
            fall_reason = fault.message
        self.run.fault = fault
        self.run.fell = fall_reason is not None
        self.run.fall_reason = fall_reason
        return self.run
