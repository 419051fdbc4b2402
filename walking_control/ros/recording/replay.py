# SPDX-License-Identifier: Apache-2.0
"""A recorded walk answered anew by its law, told again as a run, or in columns to be drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
import re
import tempfile
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import require
from walking_control.loading import load_robot
from walking_control.models import (
    BaseState,
    Command,
    LOCKS,
    OWN,
    picks_of,
    Robot,
    RobotFile,
    sensors_of,
    WalkerState,
    World,
)
from walking_control.ros.recording import Bag, CONTROLLER, open_bag, read_rows, ROBOT_FILE, Row
from walking_control.ros.ros2_control.names import ROBOT_DESCRIPTION
from walking_control.runs import Recorder, Run, tables
from walking_control.safety.faults import Fault
from walking_control.simulation.engine import Truth

TOLD, ESTIMATED = 'recording', 'recording (base as estimated)'  # names of the plant
UNITS = ('rad', 'rad/s', 'm', 'm/s', 'N', 'N m', 'J')  # what a table is drawn of
_HEAD = re.compile(r'(.+) \[(.+)\]')


def recorded_robot(bag: Bag, overrides: Iterable[tuple[str, Any]] = ()) -> RobotFile:
    """Return the `RobotFile` that a bag holds.

    Raises:
        InvalidInput: It holds none: it was recorded by others.
    """
    require(
        ROBOT_FILE in bag.texts and ROBOT_DESCRIPTION in bag.texts,
        f'recording {bag.path}',
        limit='holds no robot file',
        remedy='name the robot: --robot ROBOT',
    )
    tree = yaml.safe_load(bag.texts[ROBOT_FILE])
    robot = tree['/**']['ros__parameters']['robot']
    robot.pop('xacro_args', None)  # they are applied in the description
    with tempfile.TemporaryDirectory() as folder:
        robot['urdf'] = 'robot.urdf'
        (Path(folder) / 'robot.urdf').write_text(bag.texts[ROBOT_DESCRIPTION], encoding='utf-8')
        path = Path(folder) / f'{robot["name"]}.yaml'
        path.write_text(yaml.safe_dump(tree, sort_keys=False), encoding='utf-8')
        return load_robot(path, overrides)


def replay(
    bag: Bag, robot_file: RobotFile, controller: str | None = None
) -> tuple[dict[str, Any], Run]:
    """Return how the answers of a controller compare with those recorded, and the `Run` of them.

    Without a name it is the recorded one. InvalidInput: the bag is of another robot, or holds no
    measurements.

    Returns:
        dict with ``ticks``, ``compared`` (those with a recorded answer), ``identical`` (to the
        bit), ``first_difference`` (s), ``largest_difference`` (by effort, N m) and ``fault``; the
        run, see `RetoldWalk`.
    """
    loop = ControlLoop(robot_file, controller or bag.texts.get(CONTROLLER) or robot_file.controller)
    loop.reset()
    walk = RetoldWalk(robot_file, loop.controller.name, vars(loop.controller.values))
    ticks, compared, picks = 0, 0, picks_of(robot_file.robot)
    largest, first = np.zeros(len(robot_file.robot.efforts)), None
    for row in read_rows(bag, robot_file.robot):
        ticks += 1
        for field in ('speed', 'velocity', 'posture', 'support'):
            setattr(loop.reference, field, getattr(row.reference, field))
        command = loop.tick(row.measurement)
        walk.add(row, loop.state, command.effort)
        if row.command is None:
            continue
        compared += 1
        effort, lock = row.command
        largest = np.maximum(largest, np.abs(effort - command.effort))
        same = all(
            part.tobytes() == getattr(command, field)[picks[field]].tobytes()
            for field, part in row.parts.items()
        ) and (lock is None or np.array_equal(lock, command.lock))
        if not same and first is None:
            first = row.measurement.stamp
    result = {
        'robot': robot_file.robot.name,
        'controller': loop.controller.name,
        'ticks': ticks,
        'compared': compared,
        'identical': compared > 0 and first is None,
        'first_difference': first,
        'largest_difference': dict(zip(robot_file.robot.efforts, largest.tolist())),
        'fault': None if loop.fault is None else str(loop.fault),
    }
    return result, walk.finish(loop.fault)


class RetoldWalk:
    """Stands in for the plant of a walk that was recorded, tick by tick.

    Joints, locks and forces are those measured. The base is where the simulator or a camera said
    (`names.TRUTH`), else where the estimator believes it.

    Args:
        law: Name of the law that answers.
        settings: name -> value of its parameters.
    """

    disturbances: tuple[Any, ...] = ()
    sensors: Mapping[str, Any] = {}

    def __init__(
        self, robot_file: RobotFile, law: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.robot, self._law, self._settings = robot_file.robot, law, settings
        self.world = robot_file.values(World)
        self.truth, self.time, self.name = Truth(self.robot), 0.0, ESTIMATED
        self._level = pin.utils.rotate('y', -self.world.slope)  # from the world to the floor
        self._motor_joints = [self.robot.joint_index(joint) for joint in self.robot.actuators]
        self._rates, self._command = self.truth.v.copy(), Command(self.robot)
        self._begin: float | None = None
        self._recorder: Recorder | None = None

    def add(self, row: Row, state: WalkerState, effort: np.ndarray | None = None) -> None:
        """Record a row and its state; the effort is for rows without one, None is zero."""
        measurement, told, truth = row.measurement, row.truth, self.truth
        base = self.robot.base
        if self._begin is None:
            self._begin = measurement.stamp
            self.name = ESTIMATED if told is None else TOLD
        h, self.time = measurement.stamp - self._begin - self.time, measurement.stamp - self._begin
        true = state.base if told is None else self._floor_state(told)
        self._rates[:] = truth.v
        truth.q[: base.nq] = base.coordinates(true.position, true.orientation)
        truth.v[: base.nv] = base.velocities(true)
        truth.q[base.nq :], truth.v[base.nv :] = measurement.position, measurement.velocity
        truth.locked[:] = measurement.locked
        truth.foot_force[:] = measurement.foot_force  # of feet that stand flat
        rates = (0.5 * (self._rates + truth.v)[base.nv :])[self._motor_joints].tolist()
        held = self._command.effort  # since the row before
        truth.book(
            self.robot.actuators.values(),
            held,
            [effort * rate * h for effort, rate in zip(held.tolist(), rates)],
            rates,
            h,
        )
        self._command.effort[:] = (
            row.command[0] if row.command is not None else 0.0 if effort is None else effort
        )
        if self._recorder is None:
            self._recorder = Recorder(self.robot, self._law, self, settings=self._settings)
        self._recorder.record(self, state, self._command)

    def finish(self, fault: Fault | None = None) -> Run:
        """Return the `Run`."""
        assert self._recorder is not None  # an empty recording is refused
        return self._recorder.finish(fault)

    def _floor_state(self, told: np.ndarray) -> BaseState:
        state, tilt = BaseState(), pin.Quaternion(self._level)
        state.position[:], state.linear[:] = self._level @ told[:3], self._level @ told[7:10]
        state.orientation[:] = (tilt * pin.Quaternion(told[3:7])).coeffs()
        state.angular[:] = told[10:]
        return state


@dataclass(frozen=True)
class Columns:
    """Columns over one time.

    Args:
        time: s, ``(T,)``.
        groups: Title -> (unit, labels, values ``(T, n)``).
        remark: What is missing of them, in words, or None.
    """

    time: np.ndarray  # s, ``(T,)``
    # title -> (unit, labels, values ``(T, n)``)
    groups: dict[str, tuple[str, tuple[str, ...], np.ndarray]]
    remark: str | None = None


def read_columns(
    path: Path, robot: str | None = None, overrides: Iterable[tuple[str, Any]] = ()
) -> Columns:
    """Return the columns of a bag, or of a run's table or its folder.

    Args:
        path: Of the bag, the table or the folder.
        robot: Robot of a bag that holds none.
        overrides: As for `load_robot`.

    Raises:
        InvalidInput: It cannot be read, or holds nothing to draw.
    """
    table = path / tables.TABLE if path.is_dir() else path
    if table.suffix == '.csv' and (table.is_file() or not path.is_dir()):
        return _of_table(table)
    bag = open_bag(path)
    robot_file = recorded_robot(bag, overrides) if robot is None else load_robot(robot, overrides)
    time, rows = [], []
    efforts = np.full(len(robot_file.robot.efforts), np.nan)
    for row in read_rows(bag, robot_file.robot):
        effort = efforts if row.command is None else row.command[0]
        time.append(row.measurement.stamp)
        rows.append(np.concatenate([row.measurement.values, effort]))
    return Columns(np.array(time), _grouped(robot_file.robot, np.array(rows)), bag.remark)


def _grouped(
    robot: Robot, values: np.ndarray
) -> dict[str, tuple[str, tuple[str, ...], np.ndarray]]:
    found: dict[str, tuple[str, list[str], list[int]]] = {}
    at = 0
    for sensor in sensors_of(robot):
        for signal in sensor.signals if sensor.name != LOCKS else ():
            _, labels, columns = found.setdefault(signal.title, (signal.unit, [], []))
            for i, label in enumerate(signal.labels, at):
                if signal.drawn in ('', label):
                    axis = '' if signal.drawn else label
                    owner = sensor.name if sensor.kind == OWN and sensor.frame else sensor.frame
                    labels.append(f'{owner} {axis}'.strip())
                    columns.append(i)
            at += len(signal.labels)
    found.pop('')
    return {
        **{
            title: (unit, tuple(labels), values[:, columns])
            for title, (unit, labels, columns) in found.items()
        },
        'efforts': ('N m', robot.efforts, values[:, at:]),
    }


def _of_table(path: Path) -> Columns:
    """Return the columns of a table whose head says ``name [unit]``, in groups of one unit."""
    columns = tables.read_columns(path)
    names = {head: _HEAD.fullmatch(head) for head in columns}
    require(
        None not in names.values() and 'time [s]' in columns,
        f'table {path}',
        limit='is no table of a run: its columns must be time [s] and others with units',
    )
    found: dict[str, dict[str, np.ndarray]] = {}
    for head, name in names.items():
        if name is not None and name[2] in UNITS:
            found.setdefault(name[2], {})[name[1]] = columns[head]
    return Columns(
        columns['time [s]'],
        {
            unit: (unit, tuple(group), np.column_stack([*group.values()]))
            for unit, group in found.items()
        },
    )
