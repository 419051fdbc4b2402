# SPDX-License-Identifier: Apache-2.0
"""Momentum coordinates that show a desired motion ([DS09] section 5.2.1).

``p = S^T alpha``: the first column of S^T is along M w, all are orthogonal in the metric M^-1
and of
constant length, so that ``Mbar = (S M^-1 S^T)^-1`` is one constant diagonal matrix at every q.

The law itself (`curve_law`) uses projections and needs no basis of the undesired momenta; this
basis serves analysis, tests and any law that wants the coordinates one by one. In three
dimensions and more no basis is continuous for every direction of w (nor is there a way to comb a
sphere); the one given here is smooth except where w points opposite to ``pole``.
"""

import numpy as np

from walking_control.exceptions import InvalidInput


def momentum_frame(
    M: np.ndarray, w: np.ndarray, diagonal: np.ndarray | None = None, pole: np.ndarray | None = None
) -> np.ndarray:
    """Return S, ``(n, n)``.

    Args:
        M: Mass matrix, ``(n, n)``.
        w: Desired direction of motion, ``(n,)``, not zero.
        diagonal: The constant diagonal of Mbar, ``(n,)``; ones by default.
        pole: Direction of motion in whose neighbourhood the basis is smoothest, ``(n,)``; the
            first axis by default.

    Raises:
        InvalidInput: w vanishes, or M is not positive definite.
    """
    w, n = np.asarray(w, dtype=float), len(w)
    diagonal = np.ones(n) if diagonal is None else np.asarray(diagonal, dtype=float)
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError as error:
        raise InvalidInput('mass matrix', limit='must be positive definite') from error
    direction = L.T @ w
    size = np.linalg.norm(direction)
    if not size > 0.0 or not (diagonal > 0.0).all():
        raise InvalidInput(
            'desired velocity or diagonal of Mbar', value=w.tolist(), limit='must not vanish'
        )
    start = L.T @ (np.eye(n)[0] if pole is None else np.asarray(pole, dtype=float))
    Q = _rotation(start / np.linalg.norm(start), direction / size)
    E = L.T.copy()
    # velocities of unit kinetic metric are the columns of L^-T Q; S M^-1 S^T = Q^T Q / diagonal
    return (Q @ np.diag(diagonal**-0.5)).T @ E


def _rotation(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return an orthogonal matrix whose first column is end, smooth unless end is -start."""
    turn = np.eye(len(start)) - 2.0 * np.outer(start + end, start + end) / np.dot(
        start + end, start + end
    )
    base = np.linalg.qr(np.column_stack((start, np.eye(len(start)))))[0]
    base = base * np.sign(base[:, 0] @ start)
    return -turn @ base


def junction(S: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return the skew matrix that couples the momenta of the free system ([DS09] (5.5), (5.6)).

    Its first row holds X, its lower right block Y: ``d(alpha)/dt = junction @ Mbar^-1 alpha`` plus
    potential and input forces.

    Args:
        S: Frame at q, ``(n, n)``.
        slope: ``d(S^T alpha)/dq`` at constant alpha, ``(n, n)``.
    """
    inverse = np.linalg.inv(S)
    return inverse.T @ (slope.T - slope) @ inverse
