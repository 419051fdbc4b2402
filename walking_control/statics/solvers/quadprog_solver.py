# SPDX-License-Identifier: Apache-2.0
"""quadprog: dual active set of Goldfarb and Idnani (GPL, optional)."""

import numpy as np
import quadprog

from walking_control.statics.solvers.problem import Problem, Solution

LOOSE = False


def solve(problem: Problem) -> Solution:
    """Return quadprog's `Solution` of a `Problem`."""
    try:
        found = quadprog.solve_qp(
            problem.hessian, -problem.gradient, problem.rows.T, problem.bound, problem.equalities
        )
    except ValueError as error:  # its only way to say that it found nothing
        return Solution(None, None, str(error))
    return Solution(found[0], _signed(problem, found[0], found[4]), 'solved')


def _signed(problem: Problem, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Give the multipliers of the equalities the sign that quadprog leaves out."""
    m = problem.equalities
    if m:
        normal = problem.rows[:m]
        pull = problem.hessian @ x + problem.gradient - problem.rows[m:].T @ multipliers[m:]
        try:
            multipliers[:m] = np.linalg.solve(normal @ normal.T, normal @ pull)
        except np.linalg.LinAlgError:
            multipliers[:m] = np.linalg.lstsq(normal.T, pull, rcond=None)[0]
    return multipliers
