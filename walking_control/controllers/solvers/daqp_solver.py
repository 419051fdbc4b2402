# SPDX-License-Identifier: Apache-2.0
"""DAQP: dual active set with recursive LDL' updates (MIT, dense, the fastest here; optional)."""

import daqp
import numpy as np

from walking_control.controllers.solvers.problem import Solution

LOOSE = False

_EQUALITY = 5
_NO_BOUND = 1e30
_senses = {}


def _sense(count, equalities):
    """Return the row kinds and the upper bounds' pattern of a problem's shape."""
    key = count, equalities
    if key not in _senses:
        sense = np.zeros(count, dtype=np.int32)
        sense[:equalities] = _EQUALITY
        _senses[key] = sense
    return _senses[key]


def solve(problem):
    """Return DAQP's `Solution` of a `Problem`."""
    m = problem.equalities
    upper = np.full(len(problem.bound), _NO_BOUND)
    upper[:m] = problem.bound[:m]
    x, _, flag, info = daqp.solve(problem.hessian, problem.gradient, problem.rows, upper,
                                  problem.bound, _sense(len(problem.bound), m).copy(),
                                  primal_tol=1e-10)
    if flag < 1:
        return Solution(None, None, f'exit flag {flag}')
    return Solution(x, -info['lam'], 'solved')
