# SPDX-License-Identifier: Apache-2.0
"""Momentum coordinates that encode constraints or goals ([DS09] sections 2.3 and 2.4).

Choosing the momentum basis S(q) so that some directions vanish by themselves turns nonholonomic
constraints and kinematic loops into ordinary differential equations; choosing it so that one
coordinate is the momentum along a desired motion turns tracking into a statement about the others.
"""

import numpy as np


def compatible_momenta(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return a basis S of the momenta with ``A^T M^-1 S = 0``, ``(n, n - rank A)``.

    The columns are orthonormal in the metric ``M^-1``, so that the reduced mass matrix is the
    identity. The basis is continuous only where the caller makes it so; use it to check or to
    start from, not to differentiate.
    """
    L = np.linalg.cholesky(M)
    left, sizes, _ = np.linalg.svd(np.linalg.solve(L, A))
    rank = int(np.sum(sizes > 1e-10 * max(sizes[0], 1e-300)))
    return L @ left[:, rank:]


def reduced_mass(M: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return ``(S^T M^-1 S)^-1``, the mass matrix of the coordinates alpha ([DS09] (2.97))."""
    return np.linalg.inv(S.T @ np.linalg.solve(M, S))


def momentum_rates(
    M: np.ndarray,
    S: np.ndarray,
    slope_S: np.ndarray,
    gradient: np.ndarray,
    alpha: np.ndarray,
    effort: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of motion in momentum coordinates ``p = S(q) alpha`` ([DS09] (2.96)).

    Args:
        M: Mass matrix at q, ``(n, n)``.
        S: Momentum basis at q, ``(n, k)``, ``k <= n``.
        slope_S: ``d(S alpha)/dq`` at constant alpha, ``(n, n)``.
        gradient: ``dH/dq`` at constant alpha of the reduced energy
            ``alpha^T (S^T M^-1 S) alpha / 2 + V(q)``, ``(n,)``.
        alpha: Momentum coordinates, ``(k,)``.
        effort: Generalised forces collocated with dq/dt, ``(n,)``.

    Returns:
        ``(dq, dalpha)``, ``(n,)`` and ``(k,)``.
    """
    lift = np.linalg.solve(M, S)
    M_bar = np.linalg.inv(S.T @ lift)
    dq = lift @ alpha
    # d(alpha)/dt of (2.96), with dH/dalpha = M_bar^-1 alpha so that M^-1 S M_bar dH/dalpha = dq
    right = -gradient + (slope_S.T - slope_S) @ dq + effort
    return dq, M_bar @ (lift.T @ right)


def quasi_velocity_rates(
    S: np.ndarray, slope_Sp: np.ndarray, gradient: np.ndarray, v: np.ndarray, effort: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of motion in quasi-velocities ``v = S(q) dq/dt`` ([DS09] Lemma 2.17).

    Args:
        S: Invertible, ``(n, n)``.
        slope_Sp: ``d(S^T p)/dq`` at constant p, ``(n, n)``.
        gradient: ``dH/dq`` at constant p, ``(n,)``.
        v: Quasi-velocities, ``(n,)``.
        effort: Forces collocated with v, ``(n,)``.

    Returns:
        ``(dq, dp)``, each ``(n,)``, with ``p = M v``.
    """
    dq = np.linalg.solve(S, v)
    return dq, np.linalg.solve(S.T, -gradient + (slope_Sp.T - slope_Sp) @ dq) + effort
