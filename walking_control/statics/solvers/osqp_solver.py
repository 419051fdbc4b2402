# SPDX-License-Identifier: Apache-2.0
"""OSQP: operator splitting (Apache-2.0, optional); loose, so its answers need polishing."""

import numpy as np
import osqp
from scipy import sparse

from walking_control.statics.solvers.problem import Problem, Solution

LOOSE = True

# Stops at 1e-5 of the problem's scale: enough to see which constraints act.
SETTINGS = {'verbose': False, 'eps_abs': 1e-5, 'eps_rel': 1e-5, 'eps_prim_inf': 1e-7,
            'max_iter': 20000, 'polishing': False, 'adaptive_rho_interval': 25}


def solve(problem: Problem) -> Solution:
    """Return OSQP's `Solution` of a `Problem`."""
    upper = np.full(len(problem.bound), np.inf)
    upper[:problem.equalities] = problem.bound[:problem.equalities]
    solver = osqp.OSQP()
    solver.setup(sparse.csc_matrix(np.triu(problem.hessian)), problem.gradient,
                 sparse.csc_matrix(problem.rows), problem.bound, upper, **SETTINGS)
    found = solver.solve(raise_error=False)
    if found.x is None or not np.isfinite(found.x).all():
        return Solution(None, None, found.info.status)
    return Solution(found.x, -found.y, found.info.status)
