# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of a static tick and of soles, compiled by numba where it is installed.

They are plain numpy and run as such without numba; compiled, a tick on two legs takes about two
thirds of the time. The first call compiles or loads; `StaticTorque.prepare` does so before time
counts.
"""

import math
from typing import NamedTuple

import numpy as np

from walking_control.models import compile_where_possible, ROOT


@compile_where_possible
def fill_program(
    gravity: np.ndarray,
    jacobian: np.ndarray,
    columns: np.ndarray,
    limited: np.ndarray,
    weights: np.ndarray,
    limits: np.ndarray,
    force_hessian: np.ndarray,
    hessian: np.ndarray,
    gradient: np.ndarray,
    rows: np.ndarray,
    bound: np.ndarray,
    upper: int,
    lower: int,
) -> None:
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
    rows[upper : upper + k] = reach
    rows[lower : lower + k] = -reach
    bound[upper : upper + k] = need - limits
    bound[lower : lower + k] = -need - limits


@compile_where_possible
def is_beyond(positions: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Return whether a number is below its lower or above its upper bound; NaN is neither.

    Args:
        positions: ``(n,)``.
        lower: ``(n,)``.
        upper: ``(n,)``.
    """
    return bool(np.any((positions < lower) | (positions > upper)))


@compile_where_possible
def judge_forces(
    gravity: np.ndarray,
    jacobian: np.ndarray,
    rows: np.ndarray,
    bound: np.ndarray,
    forces: np.ndarray,
    free: np.ndarray,
    free_limits: np.ndarray,
) -> tuple[np.ndarray, float, float, float]:
    """Return what contact forces do: efforts, and how far they are from being a solution.

    Args:
        gravity: Generalised gravity, ``(nv,)``.
        jacobian: Stacked contact Jacobians, ``(n, nv)``.
        rows: Constraints of the program, the six base equations first, ``(m, n)``.
        bound: ``(m,)``.
        forces: Contact forces, ``(n,)``.
        free: Columns of limited joints that no contact loads, ``(k,)``.
        free_limits: Their torque limits, ``(k,)``.

    Returns ``(efforts, equality, shortfall, overload)``: ``(nv,)``; the largest error of a base
    equation; the largest shortfall of an inequality; the largest excess of a free joint's torque.
    All infinite when a force is not finite.
    """
    efforts = gravity - np.dot(forces, jacobian)
    if not math.isfinite(forces.sum()):
        return efforts, math.inf, math.inf, math.inf
    slack = np.dot(rows, forces) - bound
    overload = 0.0
    if len(free):
        overload = max(0.0, (np.abs(efforts[free]) - free_limits).max())
    return efforts, np.abs(slack[:ROOT]).max(), max(0.0, -slack[ROOT:].min()), overload


@compile_where_possible
def stand_on_one(
    gravity: np.ndarray,
    jacobian: np.ndarray,
    rows: np.ndarray,
    bound: np.ndarray,
    limits: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float, float, float]:
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
    return (
        torque,
        wrench,
        np.abs(efforts[:ROOT]).max(),
        slack.min(),
        (np.abs(torque) - limits).max(),
    )


class Hull(NamedTuple):
    """A convex polygon, counter-clockwise; each edge begins at its corner.

    Attributes:
        corners: ``(n, 2)``, m.
        inwards: Normals of the edges, ``(n, 2)``.
        lengths: Of the edges, ``(n,)``, m.
    """

    corners: np.ndarray
    inwards: np.ndarray
    lengths: np.ndarray


@compile_where_possible
def margin_inside(hull: Hull, point: np.ndarray) -> float:
    """Return how far a point, ``(2,)``, lies inside a `Hull`, m; below zero outside.

    Args:
        hull: The `Hull`.
        point: m, ``(2,)``.
    """
    least, nearest = np.inf, np.inf
    for corner, inward, length in zip(*hull):
        x, y = point[0] - corner[0], point[1] - corner[1]
        least = min(least, inward[0] * x + inward[1] * y)
        along = min(max(inward[1] * x - inward[0] * y, 0.0), length)
        nearest = min(nearest, math.hypot(x - along * inward[1], y + along * inward[0]))
    return least if least >= 0.0 else -nearest


@compile_where_possible
def share_inside(hull: Hull, point: np.ndarray, move: np.ndarray) -> float:
    """Return which share of a move, at most 1, ends inside a `Hull`; 0 from outside.

    Args:
        hull: The `Hull`.
        point: Where the move begins, ``(2,)``.
        move: ``(2,)``.
    """
    share = 1.0
    for corner, inward, _ in zip(*hull):
        room = inward[0] * (point[0] - corner[0]) + inward[1] * (point[1] - corner[1])
        rate = inward[0] * move[0] + inward[1] * move[1]
        if room < 0.0:
            return 0.0
        if rate < 0.0:
            share = min(share, -room / rate)
    return share


@compile_where_possible
def hull_of(points: np.ndarray) -> Hull:
    """Return the convex `Hull` of points, ``(n, 2)``, not all on one line (Andrew's chain)."""
    n, k = len(points), 0
    ordered = points[np.argsort(points[:, 0])]
    for i in range(1, n):  # ties
        j = i
        while j > 0 and ordered[j, 0] == ordered[j - 1, 0] and ordered[j, 1] < ordered[j - 1, 1]:
            ordered[j, 1], ordered[j - 1, 1] = ordered[j - 1, 1], ordered[j, 1]
            j -= 1
    chain = np.empty((2 * n, 2))
    for half in range(2):
        first = k
        for i in range(n):
            p = ordered[n - 1 - i if half else i]
            while k - first > 1 and (chain[k - 1, 0] - chain[k - 2, 0]) * (
                p[1] - chain[k - 2, 1]
            ) <= (chain[k - 1, 1] - chain[k - 2, 1]) * (p[0] - chain[k - 2, 0]):
                k -= 1
            chain[k] = p
            k += 1
        k -= 1
    corners = chain[:k].copy()
    inwards, lengths = np.empty((k, 2)), np.empty(k)
    for i in range(k):
        x, y = corners[(i + 1) % k] - corners[i]
        lengths[i] = math.hypot(x, y)
        inwards[i] = -y / lengths[i], x / lengths[i]
    return Hull(corners, inwards, lengths)
