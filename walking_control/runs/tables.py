# SPDX-License-Identifier: Apache-2.0
"""Tables of a run: one written for people, one read as what the robot itself knew."""

from collections.abc import Callable, Iterable, Mapping
import csv
import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple
import zlib

import numpy as np

from walking_control.exceptions import InvalidInput, refusing, require
from walking_control.models import Robot
from walking_control.runs import motors, Run

TABLE, SUMMARY = 'run.csv', 'summary.json'  # in the folder of a report


def run_columns(run: Run) -> dict[str, np.ndarray]:
    """Return the table of a run.

    Returns:
        header -> ``(T,)``, the header being ``name [unit]``. Base and joints are the plant's
        truth in the floor frame, the angular velocity in base axes; minimal coordinates and
        support are the estimator's. What the controller said of each tick comes last, its name in
        front.
    """
    robot, base = run.robot, run.base
    joints = {joint: joint_unit(robot, joint) for joint in robot.joints}
    known = 'foot_height' in run.columns
    columns: list[tuple[np.ndarray, Iterable[str]]] = [
        (run.time, ['time [s]']),
        (base.position, [f'{axis} [m]' for axis in 'xyz']),
        (base.orientation, [f'quaternion_{axis} [1]' for axis in 'xyzw']),
        (run.q[:, 2] if robot.is_planar else np.asarray(base.pitch), ['pitch [rad]']),
        (run.joints, [f'{joint} [{unit}]' for joint, unit in joints.items()]),
        (base.linear, [f'{axis}_rate [m/s]' for axis in 'xyz']),
        (base.angular, [f'angular_velocity_{axis} [rad/s]' for axis in 'xyz']),
        (base.angular[:, 1], ['pitch_rate [rad/s]']),
        (run.v[:, robot.base.nv :], [f'{name}_rate [{unit}/s]' for name, unit in joints.items()]),
        (run.coordinates, [f'{name} [rad]' for name in robot.coordinates]),
        (run.rates, [f'{name}_rate [rad/s]' for name in robot.coordinates]),
        (run.support, ['support [index of foot]']),
        (run.steps, ['steps [1]']),
        (run.contact.astype(int), [f'{foot}_contact [bool]' for foot in robot.feet]),
        (run.foot_force, [f'{foot}_force_{axis} [N]' for foot in robot.feet for axis in 'xyz']),
        *([(run.foot_height, [f'{foot}_height [m]' for foot in robot.feet])] if known else []),
        (run.locked.astype(int), [f'{lock.joint}_locked [bool]' for lock in robot.locks]),
        (run.effort, effort_headers(robot)),
        (run.work, [f'{name}_work [J]' for name in robot.efforts]),
        *(
            (motor.current(run.effort[:, i]), [f'{joint}_current [A]'])
            for i, joint, motor in motors(robot)
        ),
        (run.electrical_energy, ['electrical_energy [J]']),
        # a law may say the same word as the robot, such as the current of its motor
        *(
            (values, [f'{run.controller}_{name} [{run.units[name]}]'])
            for name, values in run.telemetry.items()
        ),
    ]
    return {
        header: column
        for values, headers in columns
        for header, column in zip(headers, values.reshape(len(run.time), -1).T, strict=True)
    }


def write_run_table(run: Run, path: Path | str) -> None:
    """Write the table of a run as CSV, numbers with nine significant digits.

    Args:
        run: The `Run`.
        path: Of the file.
    """
    columns = run_columns(run)
    table = np.column_stack([*columns.values()])
    np.savetxt(path, table, '%.9g', ',', header=','.join(columns), comments='', encoding='utf-8')


def joint_unit(robot: Robot, joint: str) -> str:
    """Return the unit of a joint's position.

    Args:
        robot: The `Robot`.
        joint: Its name.
    """
    return 'm' if robot.limits[joint].kind == 'prismatic' else 'rad'


class Recording(NamedTuple):
    """A walk in minimal coordinates, T rows; an effort of a row is held until the next.

    Attributes:
        time: s, ``(T,)``.
        q: Minimal coordinates of the support, ``(T, n)``.
        v: Their rates.
        support: Index of the stance foot.
        steps: Count of touchdowns.
        contact: Feet in contact, ``(T, n_feet)``.
        locked: Engaged locks, ``(T, n_locks)``.
        effort: Efforts commanded, ``(T, n_efforts)``.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    support: np.ndarray
    steps: np.ndarray
    contact: np.ndarray
    locked: np.ndarray
    effort: np.ndarray


def effort_headers(robot: Robot) -> list[str]:
    """Return the headers of a robot's efforts in a table."""
    units = {joint: 'N' if joint_unit(robot, joint) == 'm' else 'N m' for joint in robot.actuators}
    return [f'{joint}_effort [{units.get(joint, "N m")}]' for joint in robot.efforts]


def read_table(path: Path, robot: Robot) -> Callable[..., np.ndarray]:
    """Return what gives columns ``(T, n)`` of a table or report's folder by their headers.

    Args:
        path: Of the table, or of the folder of a report.
        robot: The `Robot` it is of.
    """
    path = path / TABLE if path.is_dir() else path
    return pick_columns(read_columns(path), path, robot)


def pick_columns(
    columns: Mapping[str, np.ndarray], path: Path, robot: Robot
) -> Callable[..., np.ndarray]:
    """Return what gives columns ``(T, n)`` of a run by their headers.

    Args:
        columns: header -> numbers.
        path: Where they are from.
        robot: The `Robot` it is of.
    """

    def pick(*headers: str) -> np.ndarray:
        for header in headers:
            require(
                header in columns,
                f'run {path}',
                limit=f'has no column {header}, so it is no run of {robot.name}',
                remedy='choose another --robot',
            )
        rows: np.ndarray = (
            np.array([columns[header] for header in headers]).reshape(len(headers), -1).T
        )
        return rows

    return pick


def read_recording(path: Path, robot: Robot) -> Recording:
    """Return the `Recording` in a table of `run_columns`, or in the folder of a report with one.

    Args:
        path: Of the table, or of the folder of a report.
        robot: The `Robot` it is of.

    Raises:
        InvalidInput: It cannot be read, holds what is no number, or is of another robot.
    """
    pick = read_table(path, robot)
    time = pick('time [s]')[:, 0]
    return Recording(
        time,
        pick(*(f'{name} [rad]' for name in robot.coordinates)),
        pick(*(f'{name}_rate [rad/s]' for name in robot.coordinates)),
        pick('support [index of foot]')[:, 0].astype(int),
        pick('steps [1]')[:, 0].astype(int),
        pick(*(f'{foot}_contact [bool]' for foot in robot.feet)) > 0.5,
        pick(*(f'{lock.joint}_locked [bool]' for lock in robot.locks)) > 0.5
        if robot.locks
        else np.zeros((len(time), 0), bool),
        pick(*effort_headers(robot)),
    )


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """Return header -> numbers of a table of text, packed (.gz) or not.

    Its columns are separated by commas, semicolons or tabs.

    Raises:
        InvalidInput: It cannot be read, or a line does not hold a number for every column.
    """
    remedy = 'give the folder of simulate --out, or its run.csv' if path.name == TABLE else None
    with refusing(
        (OSError, EOFError, UnicodeDecodeError, zlib.error),
        f'run {path}',
        limit='cannot be read: {error}',
        remedy=remedy,
    ):
        with (gzip.open if path.suffix == '.gz' else open)(path, 'rt', encoding='utf-8') as file:
            lines = file.read().splitlines()
    mark = max(',;\t', key=lines[0].count) if lines else ','
    header, *rows = csv.reader(lines or [''], delimiter=mark)
    for number, row in enumerate(rows, 2):
        require(
            len(row) == len(header),
            f'run {path}, line {number}',
            value=f'{len(row)} columns',
            limit=f'must be {len(header)} separated by {mark!r}, as in its first line',
            remedy='is it cut there, or separated in another way?',
        )
    require(
        rows and len(header) >= 2,
        f'run {path}',
        value=f'{len(rows)} rows of {len(header)} columns',
        limit='must hold columns separated by commas, semicolons or tabs',
        remedy=remedy,
    )
    try:
        numbers = np.array(rows, dtype=float)
    except ValueError as error:
        words = f'is no table of numbers: {str(error)[:80]}'
        raise InvalidInput(f'run {path}', limit=words, remedy=remedy) from error
    return dict(zip((name.strip() for name in header), numbers.T, strict=True))


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary that lies beside the table of a run; empty without one.

    Raises:
        InvalidInput: There is one that cannot be read.
    """
    place = (path if path.is_dir() else path.parent) / SUMMARY
    if not place.is_file():
        return {}
    with refusing((OSError, ValueError), f'summary {place}', limit='cannot be read: {error}'):
        found = json.loads(place.read_text(encoding='utf-8'))
    return found if isinstance(found, dict) else {}
