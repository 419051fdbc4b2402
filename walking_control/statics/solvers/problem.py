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


@dataclass(slots=True)
class Problem:
    """A convex quadratic program.

    Args:
        hessian: Positive definite, ``(n, n)``.
        gradient: ``(n,)``.
        rows: Equality rows first, ``(m, n)``.
        bound: ``(m,)``.
        equalities: How many of the rows are equalities.
    """

    hessian: np.ndarray
    gradient: np.ndarray
    rows: np.ndarray
    bound: np.ndarray
    equalities: int


@dataclass(slots=True)
class Solution:
    """What a solver claims. Nothing here is trusted before `residuals` has judged it.

    Args:
        x: The point, ``(n,)``; None when the solver found none.
        multipliers: ``(m,)``; None when the solver gives none.
        claim: The solver's own word for how it ended.
    """

    x: np.ndarray | None
    multipliers: np.ndarray | None
    claim: str


@dataclass(frozen=True, slots=True)
class Residuals:
    """How far a point is from being the solution; all four are zero there.

    Args:
        equality: Largest |rows x - bound| of the equalities.
        inequality: Largest shortfall bound - rows x of the inequalities, 0 when none.
        stationarity: Largest entry of |hessian x + gradient - rows' multipliers|.
        gap: |multipliers' (rows x - bound)|, with negative multipliers of inequalities counted in.
    """

    equality: float
    inequality: float
    stationarity: float
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
    gap = abs(multipliers[m:]) @ abs(slack[m:]) - np.minimum(multipliers[m:], 0.0).sum()
    return Residuals(*primal_residuals(problem, x), float(abs(gradient).max()), float(gap))


def is_certificate(problem: Problem, multipliers: np.ndarray, tolerance: float = 1e-6) -> bool:
    """Return True when multipliers prove that no point satisfies the constraints (Farkas).

    Multipliers y, not negative on inequalities, with rows' y = 0 and bound' y > 0 would give
    0 = y' rows x >= y' bound > 0.

    Args:
        problem: The `Problem`.
        multipliers: ``(m,)``.
        tolerance: Allowed size of rows' y against bound' y times the length of a point of the
            problem's own scale.
    """
    y = np.array(multipliers)
    if not np.isfinite(y).all():
        return False
    y[problem.equalities:] = np.maximum(y[problem.equalities:], 0.0)
    strength = problem.bound @ y
    scale = max(1.0, abs(problem.bound).max())
    return bool(strength > 0.0 and abs(problem.rows.T @ y).sum() * scale <= tolerance * strength)
