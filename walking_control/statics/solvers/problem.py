# SPDX-License-Identifier: Apache-2.0
"""One form of quadratic program, one form of answer, and how to tell whether the answer is right.

minimise    1/2 x' hessian x + gradient' x
such that   rows[:equalities] x  = bound[:equalities]
            rows[equalities:] x >= bound[equalities:]

Multipliers have one entry per row: hessian x + gradient = rows' multipliers, and those of the
inequalities are not negative.

Least violation: programs whose answer decides a verdict, so no solver's failure may stop them.

Their objective is linear but for a curvature so small that it only chooses among equals. An exact
solver of quadratic programs does them in some 30 us; what it leaves undone, or a loose one, goes to
HiGHS as a linear program.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NO_BOUND = 1e30  # its negative stands for an inequality without bound


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

    @property
    def scale(self) -> float:
        """The largest bound there is, at least 1."""
        sizes = abs(self.bound)
        return float(max(1.0, sizes[sizes < NO_BOUND].max(initial=0.0)))


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
    stationarity: float  # largest entry of |hessian x + gradient - rows' multipliers|
    # |multipliers' (rows x - bound)|, with negative multipliers of inequalities counted in
    gap: float


Solver = Callable[[Problem], Solution]


def primal_residuals(problem: Problem, x: np.ndarray) -> tuple[float, float]:
    """Return the largest equality error and the largest shortfall of an inequality at x.

    Args:
        problem: The `Problem`.
        x: The point, ``(n,)``.
    """
    slack = (problem.rows.dot(x) - problem.bound).tolist()  # small: Python is faster than numpy
    m = problem.equalities
    return (max(map(abs, slack[:m]), default=0.0), max(0.0, -min(slack[m:], default=0.0)))


def residuals(problem: Problem, solution: Solution) -> Residuals:
    """Return the `Residuals` of a solution that has a point and multipliers.

    Args:
        problem: The `Problem`.
        solution: The `Solution`.
    """
    x, multipliers = solution.x, solution.multipliers
    assert x is not None and multipliers is not None
    m = problem.equalities
    slack = problem.rows @ x - problem.bound
    gradient = problem.hessian @ x + problem.gradient - problem.rows.T @ multipliers
    bounded = problem.bound[m:] > -NO_BOUND
    gap = (
        abs(multipliers[m:][bounded]) @ abs(slack[m:][bounded])
        - np.minimum(multipliers[m:], 0.0).sum()
    )
    return Residuals(*primal_residuals(problem, x), float(abs(gradient).max()), float(gap))


_ROUNDS = 30


def polish(problem: Problem, solution: Solution, activity: float = 1e-3) -> Solution:
    """Return the solution with its active constraints met exactly.

    The first guess of the active set are the inequalities with a multiplier above their slack,
    both relative to the largest. Each round solves the optimality conditions for that set, then
    drops the constraint that pulls hardest in the wrong direction or else adds the one violated
    most.

    Args:
        solution: A `Solution`; one without a point or multipliers is returned as it is.
        activity: Share of the largest multiplier below which a constraint counts as idle.

    Returns:
        The polished `Solution`, or the given one when polishing made nothing better.
    """
    m, multipliers = problem.equalities, solution.multipliers
    if solution.x is None or multipliers is None:
        return solution
    slack = problem.rows @ solution.x - problem.bound
    floor = activity * max(1e-12, abs(multipliers[m:]).max(initial=0.0))
    active = [i for i in range(m, len(slack)) if multipliers[i] > floor]
    scale = problem.scale
    best, best_error = solution, _error(problem, solution)
    for _ in range(_ROUNDS):
        x, multipliers = _solve_active(problem, active)
        candidate = Solution(x, multipliers, 'polished')
        error = _error(problem, candidate)
        if error < best_error:
            best, best_error = candidate, error
        if not (
            _drop_pulling(multipliers, active) or _add_violated(problem, x, active, 1e-10 * scale)
        ):
            break
    return best


def _error(problem: Problem, solution: Solution) -> float:
    found = residuals(problem, solution)
    return found.equality + found.inequality + found.stationarity + found.gap


def _solve_active(problem: Problem, active: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Solve the optimality conditions with the given inequalities as equalities."""
    rows = [*range(problem.equalities), *active]
    normal = problem.rows[rows]
    n, k = len(problem.gradient), len(rows)
    matrix = np.zeros((n + k, n + k))
    matrix[:n, :n] = problem.hessian
    matrix[:n, n:] = -normal.T
    matrix[n:, :n] = normal
    right = np.concatenate((-problem.gradient, problem.bound[rows]))
    try:
        values = np.linalg.solve(matrix, right)
        values += np.linalg.solve(matrix, right - matrix @ values)
    except np.linalg.LinAlgError:
        values = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        values += np.linalg.lstsq(matrix, right - matrix @ values, rcond=1e-12)[0]
    multipliers = np.zeros(len(problem.bound))
    multipliers[rows] = values[n:]
    return values[:n], multipliers


def _drop_pulling(multipliers: np.ndarray, active: list[int]) -> bool:
    worst = min(active, key=lambda i: multipliers[i], default=None)
    if worst is None or multipliers[worst] >= 0.0:
        return False
    active.remove(worst)
    return True


def _add_violated(problem: Problem, x: np.ndarray, active: list[int], tolerance: float) -> bool:
    slack = problem.rows @ x - problem.bound
    slack[: problem.equalities] = 0.0
    slack[active] = 0.0
    worst = int(np.argmin(slack))
    if slack[worst] >= -tolerance:
        return False
    active.append(worst)
    return True


_EXACT = 1e-9  # left in the constraints of a program in natural units


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
    found = linprog(
        problem.gradient,
        -rows[bounded],
        -bound[bounded],
        rows[:m],
        bound[:m],
        bounds=(None, None),
        method='highs',
        options={'primal_feasibility_tolerance': 1e-10},
    )
    if found.status != 0:
        return None
    x = found.x  # its equalities to rounding
    return np.asarray(x + np.linalg.lstsq(rows[:m], bound[:m] - rows[:m] @ x, rcond=None)[0])
