# SPDX-License-Identifier: Apache-2.0
"""DAQP: dual active set with recursive LDL' updates (MIT, dense, the fastest here; optional)."""

from functools import cache

import daqp
import numpy as np

from walking_control.statics.solvers.problem import NO_BOUND, Problem, Solution

LOOSE = False

_EQUALITY = 5


@cache
def _pattern(count: int, equalities: int) -> tuple[np.ndarray, np.ndarray]:
    """Return row kinds and upper bounds of a problem's shape; those of equalities are open."""
    sense = np.zeros(count, dtype=np.int32)
    sense[:equalities] = _EQUALITY
    return sense, np.full(count, NO_BOUND)


def solve(problem: Problem) -> Solution:
    """Return DAQP's `Solution` of a `Problem`."""
    m, bound = problem.equalities, problem.bound
    sense, upper = _pattern(len(bound), m)
    upper[:m] = bound[:m]
    x, _, flag, info = daqp.solve(
        problem.hessian, problem.gradient, problem.rows, upper, bound, sense, primal_tol=1e-10
    )
    if flag < 1:
        return Solution(None, None, f'exit flag {flag}')
    return Solution(x, -info['lam'], 'solved')
