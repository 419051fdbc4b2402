# SPDX-License-Identifier: Apache-2.0
"""OSQP: operator splitting (Apache-2.0, optional); loose, so its answers need polishing."""

import numpy as np
import osqp
from scipy import sparse

from walking_control.statics.solvers.problem import NO_BOUND, Problem, Solution

LOOSE = True

# Stops at 1e-5 of the problem's scale: enough to see which constraints act.
# Begun anew each time, so that an answer does not depend on the question before.
SETTINGS = {
    'verbose': False,
    'eps_abs': 1e-5,
    'eps_rel': 1e-5,
    'eps_prim_inf': 1e-7,
    'max_iter': 1000,
    'polishing': False,
    'adaptive_rho_interval': 25,
    'warm_starting': False,
}


def solve(problem: Problem) -> Solution:
    """Return OSQP's `Solution` of a `Problem`."""
    lower = np.where(problem.bound > -NO_BOUND, problem.bound, -np.inf)
    upper = np.full(len(lower), np.inf)
    upper[: problem.equalities] = lower[: problem.equalities]
    solver = osqp.OSQP()
    try:
        solver.setup(
            sparse.csc_matrix(np.triu(problem.hessian)),
            problem.gradient,
            sparse.csc_matrix(problem.rows),
            lower,
            upper,
            **SETTINGS,
        )
        found = solver.solve(raise_error=False)
    except (osqp.OSQPException, ValueError) as error:  # its way to say that it found nothing
        return Solution(None, None, str(error))
    if found.x is None or not (np.isfinite(found.x).all() and np.isfinite(found.y).all()):
        return Solution(None, None, found.info.status)
    return Solution(found.x, -found.y, found.info.status)
