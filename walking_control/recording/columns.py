# SPDX-License-Identifier: Apache-2.0
"""What can be drawn of a recording or of the table of a run: columns by group."""

from collections.abc import Iterable
import csv
from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.robot import Robot
from walking_control.models.sensors import CONTACT, LOCKS, sensors_of
from walking_control.recording.bag import open_bag, read_rows
from walking_control.recording.replay import recorded_robot
from walking_control.runs.tables import TABLE

UNITS = ('rad', 'rad/s', 'm', 'm/s', 'N', 'N m', 'J')   # what a table is drawn of
_HEAD = re.compile(r'(.+) \[(.+)\]')


@dataclass(frozen=True)
class Columns:
    """Columns over one time."""

    time: np.ndarray   # s, ``(T,)``
    # title -> (unit, labels, values ``(T, n)``)
    groups: dict[str, tuple[str, tuple[str, ...], np.ndarray]]
    remark: str | None = None   # what is missing of them, in words, or None


def read_columns(path: Path, robot: str | None = None,
                 overrides: Iterable[tuple[str, Any]] = ()) -> Columns:
    """Return the columns of a bag, or of a run's table or its folder.

    Args:
        path: Of the bag, the table or the folder.
        robot: Robot of a bag that holds none.
        overrides: As for `load_robot`.

    Raises:
        InvalidInput: It cannot be read, or holds nothing to draw.
    """
    table = path / TABLE if path.is_dir() else path
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
    if not rows:
        raise InvalidInput(f'recording {path}', limit='holds no complete set of sensors of robot '
                           f'{robot_file.robot.name}')
    return Columns(np.array(time), _grouped(robot_file.robot, np.array(rows)), bag.remark)


def _grouped(robot: Robot, values: np.ndarray) -> dict[str, tuple[str, tuple[str, ...],
                                                                  np.ndarray]]:
    found: dict[str, tuple[str, list[str], list[int]]] = {}
    at = 0
    for sensor in sensors_of(robot):
        for signal in sensor.signals if sensor.name != LOCKS else ():
            _, labels, columns = found.setdefault(signal.title, (signal.unit, [], []))
            for i, label in enumerate(signal.labels, at):
                if sensor.kind != CONTACT or label == 'z':   # of forces, what the foot carries
                    axis = '' if sensor.kind == CONTACT else label
                    labels.append(f'{sensor.frame} {axis}'.strip())
                    columns.append(i)
            at += len(signal.labels)
    found.pop('')
    return {**{title: (unit, tuple(labels), values[:, columns])
               for title, (unit, labels, columns) in found.items()},
            'efforts': ('N m', robot.efforts, values[:, at:])}


def _of_table(path: Path) -> Columns:
    """Return the columns of a table whose head says ``name [unit]``, in groups of one unit."""
    try:
        with path.open(newline='', encoding='utf-8') as file:
            head, *rows = csv.reader(file)
            values = np.array([[float(cell) for cell in row] for row in rows])
    except (OSError, ValueError) as error:
        raise InvalidInput(f'table {path}', limit=f'cannot be read: {error}') from error
    names = [_HEAD.fullmatch(name) for name in head]
    if values.ndim != 2 or values.shape[1] != len(head) or None in names \
            or not head or names[0] is None or names[0][1] != 'time':
        raise InvalidInput(f'table {path}', limit='is no table of a run: its columns must be '
                           'time [s] and others with units')
    found: dict[str, list[int]] = {}
    for i, name in enumerate(names[1:], 1):
        if name is not None and name[2] in UNITS:
            found.setdefault(name[2], []).append(i)
    return Columns(values[:, 0], {
        unit: (unit, tuple(name[1] for i in columns if (name := names[i]) is not None),
               values[:, columns]) for unit, columns in found.items()})
