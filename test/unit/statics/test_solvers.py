# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs with known answers, against every solver that is installed."""

import numpy as np
import pytest
from static_robots import humanoid, random_orientation, random_posture

from walking_control.exceptions import MissingDependency, ParameterError
from walking_control.statics import solvers
from walking_control.statics.diagnosis import nearest_point
from walking_control.statics.distributor import StaticTorque

TOLERANCE = 1e-8


def is_certificate(problem, multipliers, tolerance=1e-6):
    """Return True when multipliers prove that no point satisfies the constraints (Farkas).

    Multipliers y, not negative on inequalities, with rows' y = 0 and bound' y > 0 would give
    0 = y' rows x >= y' bound > 0.
    """
    y = np.array(multipliers)
    if not np.isfinite(y).all():
        return False
    y[problem.equalities :] = np.maximum(y[problem.equalities :], 0.0)
    strength = problem.bound @ y
    leak = abs(problem.rows.T @ y).sum() * problem.scale
    return bool(strength > 0.0 and leak <= tolerance * strength)


def random_problem(rng, n=12, equalities=6, inequalities=40):
    """Return a problem with a solution: a point is drawn first, the bounds follow."""
    root = rng.normal(size=(n, n))
    rows = rng.normal(size=(equalities + inequalities, n))
    inside = rng.normal(size=n)
    bound = rows @ inside
    bound[equalities:] -= rng.uniform(0.0, 2.0, inequalities)
    return solvers.Problem(
        root @ root.T + np.eye(n), 10.0 * rng.normal(size=n), rows, bound, equalities
    )


@pytest.fixture(params=solvers.available())
def solve(request):
    """Return each installed solver."""
    return solvers.load(request.param)


def test_box_projection(solve):
    """The nearest point of a box would be wrong: a bound or a sign is read the other way round."""
    target = np.array([2.0, -3.0, 0.25])
    problem = solvers.Problem(
        np.eye(3), -target, np.vstack((np.eye(3), -np.eye(3))), -np.ones(6), 0
    )
    assert solve(problem).x == pytest.approx([1.0, -1.0, 0.25], abs=TOLERANCE)


def test_plane_projection(solve):
    """The nearest point of a plane would be wrong: equalities are treated as inequalities."""
    problem = solvers.Problem(np.eye(3), np.zeros(3), np.ones((1, 3)), np.array([-3.0]), 1)
    solution = solve(problem)
    assert solution.x == pytest.approx([-1.0, -1.0, -1.0], abs=TOLERANCE)
    assert solution.multipliers == pytest.approx([-1.0], abs=TOLERANCE)


def test_residuals_of_solutions_vanish(solve):
    """A solver's answer would not satisfy the optimality conditions after polishing."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        problem = random_problem(rng)
        found = solvers.residuals(problem, solve(problem))
        assert max(found.equality, found.inequality) < TOLERANCE
        assert found.stationarity < 1e-7 and found.gap < 1e-6


def test_solvers_agree():
    """Two solvers would give different points for the same strictly convex problem."""
    if len(solvers.available()) < 2:
        pytest.skip('only one solver is installed')
    rng = np.random.default_rng(2)
    for _ in range(30):
        problem = random_problem(rng)
        points = [solvers.load(name)(problem).x for name in solvers.available()]
        for point in points[1:]:
            assert point == pytest.approx(points[0], abs=1e-7)


def test_residuals_see_a_wrong_answer():
    """A wrong point or wrong multipliers would pass as a solution."""
    problem = random_problem(np.random.default_rng(3))
    good = solvers.load()(problem)
    shifted = solvers.residuals(problem, solvers.Solution(good.x + 1e-3, good.multipliers, ''))
    assert shifted.equality > 1e-4
    doubled = solvers.residuals(problem, solvers.Solution(good.x, 2.0 * good.multipliers, ''))
    assert doubled.stationarity > 1e-4
    pulling = solvers.residuals(problem, solvers.Solution(good.x, good.multipliers - 1.0, ''))
    assert pulling.gap > 1.0


def test_polishing_repairs_a_loose_answer():
    """Polishing would keep an error of 1e-3, or settle on the wrong active constraints."""
    rng = np.random.default_rng(4)
    exact = solvers.load()
    for _ in range(30):
        problem = random_problem(rng)
        solution = exact(problem)
        loose = solvers.Solution(
            solution.x + 1e-3 * rng.normal(size=12),
            solution.multipliers + 1e-3 * rng.normal(size=46),
            'loose',
        )
        assert solvers.polish(problem, loose).x == pytest.approx(solution.x, abs=1e-8)


def test_polishing_finds_a_missed_constraint():
    """Polishing would only ever use the constraints the loose solver happened to see."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        problem = random_problem(rng)
        solution = solvers.load()(problem)
        multipliers = solution.multipliers.copy()
        weakest = min((i for i in range(6, 46) if multipliers[i] > 1e-9), key=multipliers.item)
        multipliers[weakest] = 0.0
        blind = solvers.Solution(solution.x, multipliers, 'blind')
        assert solvers.polish(problem, blind).x == pytest.approx(solution.x, abs=1e-8)


def test_contradiction_has_no_solution(solve):
    """A solver would return a point where none satisfies the constraints."""
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    problem = solvers.Problem(np.eye(2), np.zeros(2), rows, np.array([1.0, 0.0]), 0)
    solution = solve(problem)
    assert solution.x is None or solvers.primal_residuals(problem, solution.x)[1] > 0.1


def test_certificate():
    """A proof of infeasibility would be accepted that proves nothing, or a good one refused."""
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    problem = solvers.Problem(np.eye(2), np.zeros(2), rows, np.array([1.0, 0.0, 0.0]), 0)
    assert is_certificate(problem, np.array([1.0, 1.0, 0.0]))
    assert not is_certificate(problem, np.array([1.0, 0.5, 0.0]))
    assert not is_certificate(problem, np.array([0.0, 0.0, 1.0]))


def test_verdicts_are_proven():
    """A posture would be called impossible without a proof: multipliers of the least violation."""
    dynamics, contacts, posture = humanoid()
    program = StaticTorque(dynamics, contacts).program()
    rng = np.random.default_rng(6)
    proven = 0
    while proven < 20:
        q = dynamics.configuration(random_posture(rng, posture), random_orientation(rng, 0.4))
        program.assemble(q)
        forces = nearest_point(program, solvers.load_decider())
        if program.judge(forces)[1] is not None:
            continue
        least = program.violation
        multipliers = solvers.load()(least).multipliers[:-1]  # the last is the violation's own
        hard = solvers.Problem(np.eye(12), np.zeros(12), least.rows[:-1, :-1], least.bound[:-1], 6)
        assert is_certificate(hard, multipliers, 1e-3)
        proven += 1


@pytest.mark.parametrize(
    'length, short, taken',
    [(1.0, 0.9e-9, True), (1.0, 2e-9, False), (10.0, 5e-9, True), (10.0, 2e-8, False)],
)
def test_exact_answer_is_judged_by_its_distance(length, short, taken):
    """A row's length would send a good answer to HiGHS, 30 times as slow, or pass a bad one."""
    problem = solvers.Problem(1e-6 * np.eye(1), np.ones(1), np.array([[length]]), np.zeros(1), 0)
    answer = solvers.Solution(np.array([-short / length]), np.ones(1), 'solved')
    assert (solvers.Decider(lambda _: answer).attempt(problem) is not None) == taken
    assert solvers.Decider(lambda _: answer).solve(problem) == pytest.approx(0.0, abs=1e-8)


def test_unknown_solver_is_refused():
    """A misspelt solver would silently become another one."""
    with pytest.raises(ParameterError, match='did you mean quadprog'):
        solvers.load('quadprog2')


def test_absent_solver_is_named(monkeypatch):
    """A missing package would surface as an import error without saying what to install."""
    monkeypatch.setattr(solvers, '_module', lambda name: None)
    with pytest.raises(MissingDependency, match='pip install quadprog'):
        solvers.load('quadprog')
