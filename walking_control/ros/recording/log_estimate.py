# SPDX-License-Identifier: Apache-2.0
"""The estimator alone on a recording: how far it was from the truth, and its noise fitted to it."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
import math
from typing import Any

import numpy as np
from scipy.optimize import minimize

from walking_control.estimation import DECLARED, EstimatorParameters, make_estimator, require_loads
from walking_control.exceptions import InvalidInput, require
from walking_control.models.robot_file import RobotFile, with_section
from walking_control.ros.recording import Bag, read_rows, RetoldWalk, Row, TOLD
from walking_control.runs.kinematics import estimate_error, EstimateError
from walking_control.runs.run import Run

# what is fitted, and where the search begins unless the robot file says
FITTED = {
    'gyro_sigma': 0.02,
    'acceleration_sigma': 0.2,
    'position_sigma': 0.003,
    'velocity_sigma': 0.1,
    'foot_motion': 0.01,
    'way_scale': 1.0,
}
BIASES = {'gyro_bias_sigma': 0.01, 'acceleration_bias_sigma': 0.3, 'orientation_sigma': 0.01}
EVALUATIONS = 160
CAMERA = 1e-3, 5e-4  # rad, m: a truth that is measured is no better


def estimate_log(bag: Bag, robot_file: RobotFile) -> Run:
    """Return the `Run` of a recording: what was measured, the estimate, and the truth if told.

    Raises:
        InvalidInput: The recording is of another robot, or holds no complete set of sensors.
    """
    return _estimate(read_rows(bag, robot_file.robot), robot_file)


def _estimate(rows: Iterable[Row], robot_file: RobotFile) -> Run:
    require_loads(robot_file.robot)
    estimator, walk = make_estimator(robot_file), RetoldWalk(robot_file, 'estimate')
    for row in rows:
        if walk.time == 0.0:
            loads = np.linalg.norm(row.measurement.foot_force, axis=1)
            estimator.reset(robot_file.robot.feet[int(np.argmax(loads))])
        walk.add(row, estimator.update(row.measurement))
    return walk.finish()


def judge_estimate(run: Run, part: tuple[float, float] = (0.0, 1.0)) -> dict[str, Any] | None:
    """Return the errors over a part of a `Run`, given by shares of its time; None without truth.

    Returns:
        Dictionary: ``rows``, ``duration`` (s) and ``way`` on the floor (m); ``place_rms`` along x,
        y and z, ``place_final`` (m) and ``place_share`` of the way; ``tilt_rms``, roll and pitch,
        and ``yaw_rms`` (rad); ``nees``, the normalised squared error of turn and place, mean over
        its degrees of freedom: 1 of an honest filter, more of an overconfident one, None of one
        that tells no covariance.
    """
    error = estimate_error(run)
    if run.plant != TOLD or error is None:
        return None
    rows = _part(run, part)
    ground = np.diff(run.base.position[rows, :2], axis=0)
    # vibration and what a camera measures wrong are no way: as far as from second to second
    pace = max(1, round(len(ground) / max(run.time[rows][-1] - run.time[rows][0], 1e-9)))
    way = float(
        np.linalg.norm(np.add.reduceat(ground, np.arange(0, len(ground), pace)), axis=1).sum()
    )
    turn, place = error.turn[rows], error.position[rows]
    final = float(np.linalg.norm(place[-1]))
    nees = (
        None
        if error.covariance is None
        else float(np.mean([surprise for surprise, _ in _surprises(error, rows)])) / 6.0
    )
    return {
        'rows': len(rows),
        'duration': float(run.time[rows[-1]] - run.time[rows[0]]),
        'way': way,
        'place_rms': _rms(place),
        'place_final': final,
        'place_share': final / way if way > 0.1 else None,
        'tilt_rms': _rms(turn[:, :2]),
        'yaw_rms': _rms(turn[:, 2:])[0],
        'nees': nees,
    }


def fit_noise(bag: Bag, robot_file: RobotFile, share: float) -> dict[str, float]:
    """Return the noise parameters under which the errors are most likely, by Nelder and Mead.

    The likelihood is that of turn and place of the base against the truth, as independent Gaussians
    with the covariance the estimator tells, in some two hundred rows between which the robot turned
    equally much: a long stand tells little of how it walks.

    Args:
        bag: The `Bag`, with a truth.
        robot_file: The `RobotFile`; its noise, where it is declared, is where the search begins.
        share: Of the recording's time that is fitted, from the beginning.

    Raises:
        InvalidInput: The recording tells no truth.
    """
    rows = [
        replace(row, measurement=deepcopy(row.measurement))
        for row in read_rows(bag, robot_file.robot)
    ]
    values = robot_file.values(EstimatorParameters)
    declared = any(getattr(values, name) for name in DECLARED)
    start = {
        name: getattr(values, name) if declared and getattr(values, name) else first
        for name, first in {**FITTED, **BIASES}.items()
    }

    def named(x: np.ndarray) -> dict[str, float]:
        return {**start, **dict(zip(FITTED, np.exp(x).tolist(), strict=True))}

    def cost(x: np.ndarray) -> float:
        try:
            run = _estimate(rows, with_section(robot_file, EstimatorParameters.section, named(x)))
        except InvalidInput:  # out of range
            return 1e6
        require(run.plant == TOLD, f'recording {bag.path}', limit='tells no truth to fit to')
        error = estimate_error(run)
        assert error is not None
        part = _part(run, (0.0, share))
        turned = np.cumsum(np.linalg.norm(run.base.angular[part], axis=1))
        even = np.searchsorted(turned, np.linspace(0.0, turned[-1], 200))
        return float(
            np.mean(
                [
                    surprise + size
                    for surprise, size in _surprises(error, part[np.unique(even[even < len(part)])])
                ]
            )
        )

    x = np.log([start[name] for name in FITTED])
    # noise is known to a factor, the scale of the way to percent
    steps = np.diag([0.02 if name == 'way_scale' else 0.7 for name in FITTED])
    best = minimize(
        cost,
        x,
        method='Nelder-Mead',
        options={
            'maxfev': EVALUATIONS,
            'xatol': 0.02,
            'fatol': 0.01,
            'initial_simplex': np.vstack((x, x + steps)),
        },
    )
    return {
        name: float(f'{value:.3g}' if name != 'way_scale' else f'{value:.4f}')
        for name, value in named(best.x).items()
    }


def _part(run: Run, part: tuple[float, float]) -> np.ndarray:
    share = (run.time - run.time[0]) / (run.time[-1] - run.time[0])
    return np.flatnonzero((share >= part[0]) & (share <= part[1]))


def _surprises(error: EstimateError, rows: np.ndarray) -> Iterable[tuple[float, float]]:
    """Yield squared normalised error and log determinant of turn and place, sparsely."""
    assert error.covariance is not None
    own = [0, 1, 2, 6, 7, 8]
    errors, camera = error.all[:, own], np.repeat(np.square(CAMERA), 3)
    pace = max(1, len(rows) // 200)
    for row in rows[::pace]:
        P = error.covariance[row][np.ix_(own, own)] + np.diag(camera)
        yield float(errors[row] @ np.linalg.solve(P, errors[row])), float(np.linalg.slogdet(P)[1])


def _rms(values: np.ndarray) -> tuple[float, ...]:
    return tuple(math.sqrt(value) for value in np.mean(values**2, axis=0))
