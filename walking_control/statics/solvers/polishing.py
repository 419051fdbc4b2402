# SPDX-License-Identifier: Apache-2.0
"""Turn a loose answer of a quadratic program into an exact one by its active constraints."""

import numpy as np

from walking_control.statics.solvers.problem import Problem, residuals, Solution

_ROUNDS = 30


def polish(problem: Problem, solution: Solution, activity: float = 1e-3) -> Solution:
    """Return the solution with its active constraints met exactly.

    The first guess of the active set are the inequalities with a multiplier above their slack,
    both relative to the largest. Each round solves the optimality conditions for that set, then
    drops the constraint that pulls hardest in the wrong direction or else adds the one violated
    most.

    Args:
        solution: A `Solution` with a point and multipliers.
        activity: Share of the largest multiplier below which a constraint counts as idle.

    Returns:
        The polished `Solution`, or the given one when polishing made nothing better.
    """
    m, multipliers = problem.equalities, solution.multipliers
    assert solution.x is not None and multipliers is not None
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
        if not (_drop_pulling(multipliers, active)
                or _add_violated(problem, x, active, 1e-10 * scale)):
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
    slack[:problem.equalities] = 0.0
    slack[active] = 0.0
    worst = int(np.argmin(slack))
    if slack[worst] >= -tolerance:
        return False
    active.append(worst)
    return True
