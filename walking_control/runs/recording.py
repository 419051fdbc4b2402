# SPDX-License-Identifier: Apache-2.0
"""What a robot itself knows of a walk: estimated coordinates, contacts, efforts, by tick."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.exceptions import InvalidInput

if TYPE_CHECKING:
    from walking_control.models.robot import Robot

TABLE, SUMMARY = 'run.csv', 'summary.json'   # in the folder of a report


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


def read_recording(path: Path, robot: Robot) -> Recording:
    """Return the `Recording` in a table of a run, see `runs.table`.

    Args:
        path: The table, or the folder of a report with one.

    Raises:
        InvalidInput: It cannot be read, holds what is no number, or is of another robot.
    """
    path = path / TABLE if path.is_dir() else path
    columns = _columns(path)

    def pick(*headers: str) -> np.ndarray:
        for header in headers:
            if header not in columns:
                raise InvalidInput(f'run {path}', limit=f'has no column {header}, so it is no run '
                                   f'of {robot.name}', remedy='choose another --robot')
        rows: np.ndarray = np.array([columns[header] for header in headers]) \
            .reshape(len(headers), -1).T
        return rows

    units = {joint: 'N' if robot.limits[joint].kind == 'prismatic' else 'N m'
             for joint in robot.actuators}
    efforts = [f'{joint}_effort [{units.get(joint, "N m")}]' for joint in robot.efforts]
    return Recording(
        pick('time [s]')[:, 0], pick(*(f'{name} [rad]' for name in robot.coordinates)),
        pick(*(f'{name}_rate [rad/s]' for name in robot.coordinates)),
        pick('support [index of foot]')[:, 0].astype(int), pick('steps [1]')[:, 0].astype(int),
        pick(*(f'{foot}_contact [bool]' for foot in robot.feet)) > 0.5,
        pick(*(f'{lock.joint}_locked [bool]' for lock in robot.locks)) > 0.5
        if robot.locks else np.zeros((len(columns['time [s]']), 0), bool), pick(*efforts))


def _columns(path: Path) -> dict[str, np.ndarray]:
    """Return header -> numbers of a table."""
    try:
        with open(path, newline='', encoding='utf-8') as file:
            header, *rows = csv.reader(file)
        numbers = np.array(rows, dtype=float)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f'run {path}', limit=f'cannot be read: {error}', remedy='give the '
                           'folder of simulate --out, or its run.csv') from error
    except ValueError as error:
        raise InvalidInput(f'run {path}', limit=f'is no table of numbers: {error}', remedy='give '
                           'the folder of simulate --out, or its run.csv') from error
    if numbers.ndim != 2 or numbers.shape[1] != len(header):
        raise InvalidInput(f'run {path}', value=len(rows), limit='holds too few rows')
    return dict(zip(header, numbers.T, strict=True))


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary that lies beside the table of a run; empty without one.

    Raises:
        InvalidInput: There is one that cannot be read.
    """
    place = (path if path.is_dir() else path.parent) / SUMMARY
    if not place.is_file():
        return {}
    try:
        found = json.loads(place.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise InvalidInput(f'summary {place}', limit=f'cannot be read: {error}') from error
    return found if isinstance(found, dict) else {}
