# SPDX-License-Identifier: Apache-2.0
"""Least violation: programs whose answer decides a verdict, so no solver's failure may stop them.

Their objective is linear but for a curvature so small that it only chooses among equals. An exact
solver of quadratic programs does them in some 30 us; what it leaves undone, or a loose one, goes to
HiGHS as a linear program.
"""

import numpy as np

from walking_control.statics.solvers.problem import NO_BOUND, primal_residuals, Problem, Solver

_EXACT = 1e-9   # left in the constraints of a program in natural units


class Decider:
    """Solves programs whose answer decides: within 1e-9 of all constraints, or not at all.

    Args:
        solve: An exact solver to ask first; None asks HiGHS alone, without the curvature.
    """

    def __init__(self, solve: Solver | None) -> None:
        self._exact = solve

    def solve(self, problem: Problem) -> np.ndarray | None:
        """Return the point; None where nothing meets the constraints, which HiGHS has confirmed."""
        x = None if self._exact is None else self.attempt(problem)
        return _solve_linear(problem) if x is None else x

    def attempt(self, problem: Problem) -> np.ndarray | None:
        """Return the point; None where nothing meets the constraints or nothing was found."""
        if self._exact is None:
            return _solve_linear(problem)
        x = self._exact(problem).x
        if x is None or not np.isfinite(x).all():
            return None
        error = max(primal_residuals(problem, x))
        # solvers count distances to a constraint: a long row makes more of one
        if error > _EXACT and error > _EXACT * np.linalg.norm(problem.rows, axis=1).max():
            return None
        return x


def _solve_linear(problem: Problem) -> np.ndarray | None:
    from scipy.optimize import linprog
    m, rows, bound = problem.equalities, problem.rows, problem.bound
    bounded = m + np.flatnonzero(bound[m:] > -NO_BOUND)
    found = linprog(problem.gradient, -rows[bounded], -bound[bounded], rows[:m], bound[:m],
                    bounds=(None, None), method='highs',
                    options={'primal_feasibility_tolerance': 1e-10})
    if found.status != 0:
        return None
    x = found.x   # its equalities to rounding
    return np.asarray(x + np.linalg.lstsq(rows[:m], bound[:m] - rows[:m] @ x, rcond=None)[0])
