# SPDX-License-Identifier: Apache-2.0
"""The exact small program against its optimality conditions, quadprog and a linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from walking_control.controllers.limits.nearest_point import nearest_allowed


def problem(rng, spread):
    """Return (H, A, d, wanted): random, of condition 10^(2 spread), with degenerate rows."""
    k = int(rng.integers(1, 7))
    rows = 2 * k + 5
    U = np.linalg.qr(rng.normal(size=(k, k)))[0]
    H = (U * 10.0 ** rng.uniform(-spread, spread, k)) @ U.T
    A = rng.normal(size=(rows, k)) * 10.0 ** rng.uniform(-spread, spread, (rows, 1))
    kind = rng.integers(4)
    if kind == 1:
        A[1], A[2] = 2.0 * A[0], -A[0]
    elif kind == 2:
        A[3] = 0.0
    length = np.linalg.norm(A, axis=1)
    inside = rng.normal(size=k)
    if rng.uniform() < 0.7:
        # a vertex of many rows where the rows leave no room
        d = A @ inside + (kind != 3) * np.abs(rng.normal(size=rows)) * length
    else:
        d = rng.normal(size=rows) * length
        d[3] = abs(d[3])
    return 0.5 * (H + H.T), A, d, 10.0 * rng.normal(size=k)


def room(A, d):
    """Return how far the rows can be tightened at once, up to 1: negative if nothing fits."""
    length = np.linalg.norm(A, axis=1)
    length[length == 0.0] = 1.0
    k = A.shape[1]
    answer = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.column_stack((A / length[:, None], -np.ones(len(d)))),
        b_ub=d / length,
        bounds=[(None, None)] * k + [(-1.0, None)],
        method='highs',
    )
    return -answer.x[-1]


@pytest.mark.parametrize('spread', [0.0, pytest.param(1.5, marks=pytest.mark.long), 3.0])
def test_answers_are_optimal_or_there_is_none(spread):
    """An effort that is allowed but not the nearest throws away what the motors could do; a false
    'impossible' lets go of a foot that could be held."""
    rng = np.random.default_rng(int(10 * spread))
    impossible, bound = 0, 0
    for _ in range(250):
        H, A, d, wanted = problem(rng, spread)
        x = wanted.copy()
        found = nearest_allowed(np.linalg.cholesky(H), A, d, x)
        space = room(A, d)
        if abs(space) > 1e-7:
            assert found == (space > 0.0)
        if not found:
            impossible += 1
            assert np.array_equal(x, wanted)
            continue
        length = np.linalg.norm(A, axis=1)
        length[length == 0.0] = 1.0
        slack = (d - A @ x) / length
        assert slack.min() > -1e-9 * (1.0 + np.abs(x).max())
        # Karush-Kuhn-Tucker: the pull is a sum of tight rows; in the metric of the problem
        inverse = np.linalg.inv(np.linalg.cholesky(H))
        pull = np.linalg.cholesky(H).T @ (wanted - x)
        tight = slack < 1e-7 * (1.0 + np.abs(x).max())
        normals = inverse @ A[tight].T
        normals = normals / np.maximum(np.linalg.norm(normals, axis=0), 1e-300)
        rest = nnls(normals, pull)[1] if tight.any() else np.linalg.norm(pull)
        assert rest < 1e-6 * (1.0 + np.linalg.norm(pull))
        bound += np.linalg.norm(pull) > 1e-9
    assert impossible > 15 and bound > 100


def test_same_answer_as_quadprog():
    """Two methods, one answer."""
    quadprog = pytest.importorskip('quadprog')
    rng, compared = np.random.default_rng(8), 0
    for _ in range(700):
        H, A, d, wanted = problem(rng, 3.0)
        x = wanted.copy()
        length = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
        if not nearest_allowed(np.linalg.cholesky(H), A, d, x) or length.min() < 1e-200:
            continue
        try:
            other = quadprog.solve_qp(H, H @ wanted, -(A / length[:, None]).T, -d / length)[0]
        except ValueError:  # degenerate: quadprog takes it for impossible
            continue
        gap, size = x - other, wanted - other
        assert gap @ H @ gap < 1e-14 * (1.0 + size @ H @ size)
        compared += 1
    assert compared > 300


def test_rows_of_rounding():
    """A row that is zero but for rounding must neither bind nor divide by nothing."""
    x = np.array([2.0, 1.0])
    A = np.array([[1.0, 0.0], [0.0, 0.0], [1e-18, -1e-18], [1.0, 0.0], [1.0, 0.0]])
    assert nearest_allowed(np.eye(2), A, np.array([1.0, 0.0, 1e-20, 1.0, 1.0 + 1e-15]), x)
    assert x == pytest.approx([1.0, 1.0], abs=1e-14)
    assert not nearest_allowed(np.eye(2), A, np.array([1.0, -1e-9, 0.0, 1.0, 1.0]), x)
    x = np.array([3.0, -4.0])
    assert nearest_allowed(np.eye(2), np.vstack((np.eye(2), -np.eye(2))), np.full(4, np.inf), x)
    assert x == pytest.approx([3.0, -4.0])


def test_compiled_gives_the_same():
    """One program, two ways to run it."""
    pytest.importorskip('numba')
    from walking_control.models.support.compiled import compile_law

    compiled, rng = compile_law(nearest_allowed), np.random.default_rng(2)
    for _ in range(300):
        H, A, d, wanted = problem(rng, 1.0)
        L, x, y = np.linalg.cholesky(H), wanted.copy(), wanted.copy()
        assert nearest_allowed(L, A, d, x) == compiled(L, A, d, y)
        assert y == pytest.approx(x, rel=1e-9, abs=1e-9)
