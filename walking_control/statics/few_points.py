# SPDX-License-Identifier: Apache-2.0
"""Standing on one or two points: no sole to shift the load within, so little is left to choose.

One point leaves no choice, two leave the force by which they press against each other along their
line. Gravity must do the rest: the centre of mass must be above the point or the line.
"""

import numpy as np

from walking_control.statics.solvers.problem import Problem

_RANK = 1e-9  # relative; smaller singular values of the base equations count as zero


def stand_on_points(problem: Problem, equations: int) -> np.ndarray:
    """Return the forces on at most two points that cost least.

    Args:
        problem: The `Problem`; minimises ``x^T H x / 2 + g^T x`` for ``rows x >= bound``, of which
            the first are equalities.
        equations: How many.

    Returns:
        Forces, ``(n,)``: of those nearest to the base's equilibrium the cheapest within the
        limits, or, where limits contradict each other, the one that breaks them least.
    """
    A, b = problem.rows[:equations], problem.bound[:equations]
    G, h = problem.rows[equations:], problem.bound[equations:]
    U, sizes, V = np.linalg.svd(A)
    rank = int(np.sum(sizes > _RANK * sizes[0]))
    x: np.ndarray = V[:rank].T @ ((U.T @ b)[:rank] / sizes[:rank])
    if rank == len(x):
        return x
    along = V[rank]
    rate, slack = G @ along, h - G @ x
    low = max((slack[i] / rate[i] for i in np.flatnonzero(rate > _RANK)), default=-np.inf)
    high = min((slack[i] / rate[i] for i in np.flatnonzero(rate < -_RANK)), default=np.inf)
    best = -(along @ (problem.hessian @ x + problem.gradient)) / (along @ problem.hessian @ along)
    share = min(max(best, low), high) if low <= high else 0.5 * (low + high)
    return np.asarray(x + along * share)
