# SPDX-License-Identifier: Apache-2.0
"""Rigid contact: impact, constraint forces and release as functions of plain arrays.

The symbols are those of [DS09] section 3.3: mass matrix ``M``, constraint matrix ``A`` of shape
``(n, m)`` whose columns are the directions of the constraint forces ``lambda`` (so that contact
demands ``A^T v = 0``), and ``force``, everything else that drives the robot:
``M dv/dt = force + A lambda``.

Simplifications: rigid bodies, inelastic contact, no slip (friction is reported, not limited).
"""

import numpy as np


def inverse_inertia(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return ``A^T M^-1 A``, the inverse inertia felt at the contact, ``(m, m)``."""
    return np.asarray(A.T @ np.linalg.solve(M, A))


def solve_contact(M: np.ndarray, A: np.ndarray, right: np.ndarray,
                  compliance: np.ndarray | None = None) -> np.ndarray:
    """Solve ``(A^T M^-1 A) x = right``, also when contact directions depend on each other.

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint matrix, ``(n, m)``, of any rank.
        right: Right-hand side, ``(m,)``.
        compliance: Relative compliance of each direction, ``(m,)``, positive; dependent
            directions share the load in favour of the stiff ones ([DS09] section 3.3.5).

    Returns:
        The solution that is smallest in the compliance metric, ``(m,)``.
    """
    weight = np.ones(A.shape[1]) if compliance is None else np.asarray(compliance, dtype=float)
    root = 1.0 / np.sqrt(weight)
    scaled = root[:, None] * inverse_inertia(M, A) * root
    inverse = np.linalg.pinv(scaled, rcond=1e-11, hermitian=True)
    return np.asarray(root * (inverse @ (root * right)))


def impact_impulse(M: np.ndarray, A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the contact impulses that stop the contact points ([DS09] (3.43)), ``(m,)``, N s.

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint matrix, ``(n, m)``.
        v: Velocity before impact, ``(n,)``.
    """
    return -solve_contact(M, A, A.T @ v)


def project_velocity(M: np.ndarray, A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the velocity after an inelastic impact ([DS09] (4.12)), ``(n,)``."""
    return v + np.linalg.solve(M, A @ impact_impulse(M, A, v))


def loss_matrix(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return D of [DS09] (4.17): impact costs the energy ``v^T D v / 2``, ``(n, n)``."""
    columns = [A @ solve_contact(M, A, row) for row in A]
    return np.asarray(np.array(columns).T)


def contact_acceleration(M: np.ndarray, A: np.ndarray, force: np.ndarray,
                         drift: np.ndarray) -> np.ndarray:
    """Return the acceleration of the contact points without contact forces ([DS09] (3.55)).

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint matrix, ``(n, m)``.
        force: Applied, gravity and velocity-dependent forces, ``(n,)``.
        drift: ``d(A^T)/dt v``, ``(m,)``, m/s^2.
    """
    return np.asarray(A.T @ np.linalg.solve(M, force) + drift)


def constraint_forces(M: np.ndarray, A: np.ndarray, force: np.ndarray, drift: np.ndarray,
                      v: np.ndarray | None = None, damping: float = 0.0,
                      compliance: np.ndarray | None = None) -> np.ndarray:
    """Return the contact forces that keep the contact at rest ([DS09] (3.46), (3.47)).

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint matrix, ``(n, m)``.
        force: Applied, gravity and velocity-dependent forces, ``(n,)``.
        drift: ``d(A^T)/dt v``, ``(m,)``, m/s^2.
        v: Velocity, needed with damping only.
        damping: beta of (3.47), 1/s: the rate at which a velocity error of the contact decays.
        compliance: See `solve_contact`.

    Returns:
        lambda, ``(m,)``, N.
    """
    a = contact_acceleration(M, A, force, drift)
    if damping:
        a = a + damping * (A.T @ v)
    return -solve_contact(M, A, a, compliance)


def acceleration(M: np.ndarray, force: np.ndarray, A: np.ndarray | None = None,
                 forces: np.ndarray | None = None) -> np.ndarray:
    """Return ``dv/dt`` under applied forces and contact forces, ``(n,)``."""
    return np.linalg.solve(M, force if A is None else force + A @ forces)


def impact_of_second_foot(M: np.ndarray, A_old: np.ndarray, A_new: np.ndarray, v: np.ndarray,
                          normal: int = -1) -> tuple[np.ndarray, bool]:
    """Return what remains of two contacts when the second point strikes ([DS09] (3.57)).

    Args:
        M: Mass matrix, ``(n, n)``.
        A_old: Constraint matrix of the point that has been in contact, ``(n, m)``.
        A_new: Constraint matrix of the point that strikes.
        v: Velocity before impact, ``(n,)``.
        normal: Column of `A_old` along the floor normal, pointing away from the floor.

    Returns:
        ``(v_after, instantaneous)``: with instantaneous True the old contact lifts off and support
        passes at once; otherwise both points stop.
    """
    after = project_velocity(M, A_new, v)
    if A_old[:, normal] @ after > 0.0:
        return after, True
    return project_velocity(M, np.hstack((A_old, A_new)), v), False
