# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of a static tick in four functions, compiled by numba where it is installed.

They are plain numpy and run as such without numba; compiled, a tick on two legs takes about two
thirds of the time. The first call compiles or loads; `StaticTorque.prepare` does so before time
counts.
"""

import math
from typing import Any

import numpy as np

from walking_control.models.array_functions import Function
from walking_control.models.base import ROOT

try:
    import scipy.linalg  # noqa: F401  numba's matrix products need its BLAS

    from walking_control.models.code_cache import compile_function as compiled
except ImportError:
    def compiled(function: Function, **options: Any) -> Function:
        """Return the function as it is."""
        return function


@compiled
def fill_program(gravity: np.ndarray, jacobian: np.ndarray, columns: np.ndarray,
                 limited: np.ndarray, weights: np.ndarray, limits: np.ndarray,
                 force_hessian: np.ndarray, hessian: np.ndarray, gradient: np.ndarray,
                 rows: np.ndarray, bound: np.ndarray, upper: int, lower: int) -> None:
    """Write what depends on the configuration into a static program.

    Args:
        gravity: Generalised gravity, ``(nv,)``.
        jacobian: Stacked contact Jacobians, ``(n, nv)``.
        columns: Of the loaded joints in the velocity, ``(k,)``.
        limited: Which of them have a torque limit, ``(l,)``.
        weights: Of their squared torques, ``(k,)``.
        limits: Torque limits, ``(l,)``, N m.
        force_hessian: Of the force objective, ``(n, n)``.
        hessian: Written, ``(n, n)``.
        gradient: Written, ``(n,)``.
        rows: Written in part, ``(m, n)``.
        bound: Written in part, ``(m,)``.
        upper: First row of the upper torque limits.
        lower: First row of the lower torque limits.
    """
    lever = jacobian[:, columns]
    load = gravity[columns]
    pull = lever * weights
    hessian[:] = np.dot(pull, lever.T) + force_hessian
    gradient[:] = -np.dot(pull, load)
    rows[:ROOT] = jacobian[:, :ROOT].T
    bound[:ROOT] = gravity[:ROOT]
    k = len(limited)
    reach = lever[:, limited].T
    need = load[limited]
    rows[upper:upper + k] = reach
    rows[lower:lower + k] = -reach
    bound[upper:upper + k] = need - limits
    bound[lower:lower + k] = -need - limits


@compiled
def is_beyond(positions: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Return whether a number is below its lower or above its upper bound; NaN is neither."""
    return bool(np.any((positions < lower) | (positions > upper)))


@compiled
def judge_forces(gravity: np.ndarray, jacobian: np.ndarray, rows: np.ndarray, bound: np.ndarray,
                 forces: np.ndarray, free: np.ndarray,
                 free_limits: np.ndarray) -> tuple[np.ndarray, float, float, float]:
    """Return what contact forces do: efforts, and how far they are from being a solution.

    Args:
        gravity: Generalised gravity, ``(nv,)``.
        jacobian: Stacked contact Jacobians, ``(n, nv)``.
        rows: Constraints of the program, the six base equations first, ``(m, n)``.
        bound: ``(m,)``.
        forces: Contact forces, ``(n,)``.
        free: Columns of limited joints that no contact loads, ``(k,)``.
        free_limits: Their torque limits, ``(k,)``.

    Returns:
        ``(efforts, equality, shortfall, overload)``: ``(nv,)``; the largest error of a base
        equation; the largest shortfall of an inequality; the largest excess of a free joint's
        torque. All infinite when a force is not finite.
    """
    efforts = gravity - np.dot(forces, jacobian)
    if not math.isfinite(forces.sum()):
        return efforts, math.inf, math.inf, math.inf
    slack = np.dot(rows, forces) - bound
    overload = 0.0
    if len(free):
        overload = max(0.0, (np.abs(efforts[free]) - free_limits).max())
    return efforts, np.abs(slack[:ROOT]).max(), max(0.0, -slack[ROOT:].min()), overload


@compiled
def stand_on_one(gravity: np.ndarray, jacobian: np.ndarray, rows: np.ndarray, bound: np.ndarray,
                 limits: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float, float]:
    """Return what a single sole must do ([STATIC], one support leg), and whether it can.

    The 6 x 6 base block of the sole's Jacobian is [[R, -R [p]], [0, R]] with R the rotation from
    base to sole axes and p the sole's place in the base, so its transpose is solved by two
    rotations.

    Args:
        gravity: Generalised gravity, ``(nv,)``.
        jacobian: Of the sole in its own axes, ``(6, nv)``.
        rows: Limits of the contact, ``(m, 6)``.
        bound: ``(m,)``.
        limits: Torque limits, ``(n_joints,)``.

    Returns:
        ``(torque, wrench, residual, slack, overload)``: ``(n_joints,)`` N m; ``(6,)`` N, N m in
        the sole frame; largest error of the base equations; least slack of the contact's limits;
        largest excess of a torque over its limit.
    """
    rotation = np.ascontiguousarray(jacobian[:3, :3])
    wrench = np.empty(6)
    force = np.dot(rotation, gravity[:3])
    moved = np.dot(np.ascontiguousarray(jacobian[:3, 3:ROOT]).T, force)
    wrench[:3] = force
    wrench[3:] = np.dot(rotation, gravity[3:ROOT] - moved)
    efforts = gravity - np.dot(wrench, jacobian)
    torque = efforts[ROOT:]
    slack = np.dot(rows, wrench) - bound
    return (torque, wrench, np.abs(efforts[:ROOT]).max(), slack.min(),
            (np.abs(torque) - limits).max())
