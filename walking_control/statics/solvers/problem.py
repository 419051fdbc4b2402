# SPDX-License-Identifier: Apache-2.0
"""One form of quadratic program, one form of answer, and how to tell whether the answer is right.

minimise    1/2 x' hessian x + gradient' x
such that   rows[:equalities] x  = bound[:equalities]
            rows[equalities:] x >= bound[equalities:]

Multipliers have one entry per row: hessian x + gradient = rows' multipliers, and those of the
inequalities are not negative.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NO_BOUND = 1e30   # its negative stands for an inequality without bound


@dataclass(slots=True)
class Problem:
    """A convex quadratic program."""

    hessian: np.ndarray   # positive definite, ``(n, n)``
    gradient: np.ndarray   # ``(n,)``
    rows: np.ndarray   # equality rows first, ``(m, n)``
    bound: np.ndarray   # ``(m,)``
    equalities: int   # how many of the rows are equalities

    @property
    def scale(self) -> float:
        """The largest bound there is, at least 1."""
        sizes = abs(self.bound)
        return float(max(1.0, sizes[sizes < NO_BOUND].max(initial=0.0)))


@dataclass(slots=True)
class Solution:
    """What a solver claims. Nothing here is trusted before `residuals` has judged it."""

    x: np.ndarray | None   # the point, ``(n,)``; None when the solver found none
    multipliers: np.ndarray | None   # ``(m,)``; None when the solver gives none
    claim: str   # the solver's own word for how it ended


@dataclass(frozen=True, slots=True)
class Residuals:
    """How far a point is from being the solution; all four are zero there."""

    equality: float   # largest |rows x - bound| of the equalities
    inequality: float   # largest shortfall bound - rows x of the inequalities, 0 when none
    stationarity: float   # largest entry of |hessian x + gradient - rows' multipliers|
    # |multipliers' (rows x - bound)|, with negative multipliers of inequalities counted in
    gap: float


Solver = Callable[[Problem], Solution]


def primal_residuals(problem: Problem, x: np.ndarray) -> tuple[float, float]:
    """Return the largest equality error and the largest shortfall of an inequality at x."""
    slack = (problem.rows.dot(x) - problem.bound).tolist()  # small: Python is faster than numpy
    m = problem.equalities
    return (max(map(abs, slack[:m]), default=0.0),
            max(0.0, -min(slack[m:], default=0.0)))


def residuals(problem: Problem, solution: Solution) -> Residuals:
    """Return the `Residuals` of a solution that has a point and multipliers."""
    x, multipliers = solution.x, solution.multipliers
    assert x is not None and multipliers is not None
    m = problem.equalities
    slack = problem.rows @ x - problem.bound
    gradient = problem.hessian @ x + problem.gradient - problem.rows.T @ multipliers
    bounded = problem.bound[m:] > -NO_BOUND
    gap = abs(multipliers[m:][bounded]) @ abs(slack[m:][bounded]) \
        - np.minimum(multipliers[m:], 0.0).sum()
    return Residuals(*primal_residuals(problem, x), float(abs(gradient).max()), float(gap))
