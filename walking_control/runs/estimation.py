# SPDX-License-Identifier: Apache-2.0
"""How far the estimate of the base was from the truth, and from what its covariance said."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, TYPE_CHECKING

import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import BaseState
from walking_control.runs.kinematics import foot_positions
from walking_control.runs.result import Result

if TYPE_CHECKING:
    from walking_control.runs.run import Run

SETTLED = 1e-12   # variance below which an entry is none: the robot cannot move that way


@dataclass(frozen=True)
class EstimateError:
    """Estimate less truth of the base, row by row, in the floor frame."""

    turn: np.ndarray   # rotation vector of the error, rad, ``(T, 3)``
    velocity: np.ndarray   # m/s, ``(T, 3)``
    position: np.ndarray   # m, ``(T, 3)``
    # of all three in this order, as the estimator said, ``(T, 9, 9)``; None where it said nothing
    covariance: np.ndarray | None

    @property
    def all(self) -> np.ndarray:
        """All nine, ``(T, 9)``."""
        return np.hstack((self.turn, self.velocity, self.position))

    @property
    def sigma(self) -> np.ndarray | None:
        """Standard deviations as the estimator said, ``(T, 9)``, or None."""
        if self.covariance is None:
            return None
        return np.asarray(np.sqrt(np.maximum(np.einsum('tii->ti', self.covariance), 0.0)))


def estimate_error(run: Run) -> EstimateError | None:
    """Return the error of the estimate of a run; None of a record without one.

    The estimate counts places from where the first stance foot stood.
    """
    if 'estimate' not in run.columns or not len(run.time):
        return None
    estimate, truth = recorded_base(run), run.base
    origin = foot_positions(Dynamics(run.robot), run.q[:1])[0, run.support[0]]
    error = np.einsum('tij,tkj->tik', estimate.rotation, truth.rotation)
    sine = 0.5 * np.stack([error[:, 2, 1] - error[:, 1, 2], error[:, 0, 2] - error[:, 2, 0],
                           error[:, 1, 0] - error[:, 0, 1]], axis=1)
    size = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(size, 0.5 * (np.einsum('tii->t', error) - 1.0))
    turn = sine * np.divide(angle, size, out=np.ones_like(size), where=size > 1e-12)[:, None]
    return EstimateError(turn, estimate.linear - truth.linear,
                         estimate.position - (truth.position - origin),
                         run.columns.get('covariance'))


def recorded_base(run: Run) -> BaseState:
    """Return the `BaseState` of all rows as the estimator knew it."""
    base = BaseState((len(run.time),))
    base.position, base.orientation, base.linear, base.angular = np.split(
        run.estimate, [3, 7, 10], axis=1)
    return base


@dataclass(eq=False)
class EstimationMeasures(Result):
    """How far the estimate of a run was off.

    ``roll_rms`` and ``pitch_rms`` (rad; about the floor's x and y), ``velocity_rms`` (m/s)
    and ``position_rms`` (m), each over all axes; ``position_final`` (m); of an estimator with
    a covariance also ``nees``, the mean of the normalised squared error over its degrees of
    freedom (1 of an honest one, less of one that promises little), ``within_3_sigma``, the
    share of all errors of all entries, and ``worst_within_3_sigma``, of the worst entry.
    """

    roll_rms: float
    pitch_rms: float
    velocity_rms: float
    position_rms: float
    position_final: float
    nees: float | None = None
    within_3_sigma: float | None = None
    worst_within_3_sigma: float | None = None


def estimation_measures(run: Run) -> EstimationMeasures | None:
    """Measure the estimate of a run; None of a record without one."""
    error = estimate_error(run)
    if error is None:
        return None
    return EstimationMeasures(
        _rms(error.turn[:, 0]), _rms(error.turn[:, 1]),
        _rms(np.linalg.norm(error.velocity, axis=1)),
        _rms(np.linalg.norm(error.position, axis=1)), float(np.linalg.norm(error.position[-1])),
        *(() if error.covariance is None else _consistency(error)))


def _rms(values: np.ndarray) -> float:
    return math.sqrt(np.mean(values ** 2))


def _consistency(error: EstimateError) -> tuple[Any, Any, Any]:
    """Return what the errors say of the covariance."""
    covariance, sigma = error.covariance, error.sigma
    assert covariance is not None and sigma is not None
    own = np.flatnonzero((sigma ** 2 > SETTLED).any(axis=0))
    errors, P = error.all[:, own], covariance[:, own][:, :, own]
    # in units of sigma: entries of different units would spoil the solution
    scale = np.maximum(sigma[:, own], math.sqrt(SETTLED))
    unit, correlation = errors / scale, P / (scale[:, :, None] * scale[:, None, :])
    correlation += SETTLED * np.eye(len(own))   # of one that claims to be perfect in some way
    nees = np.einsum('ti,ti->t', unit, np.linalg.solve(correlation, unit[..., None])[..., 0])
    inside = (np.abs(errors) <= 3.0 * sigma[:, own]).mean(axis=0)
    return nees.mean() / len(own), inside.mean(), inside.min()
