# SPDX-License-Identifier: Apache-2.0
"""Contact: rigid (impact, constraint forces, release) and by the spatial spring of [DS09] 3.2.

The symbols of rigid contact are those of [DS09] section 3.3: mass matrix ``M``, constraint matrix
``A`` of shape ``(n, m)`` whose columns are the directions of the constraint forces ``lambda`` (so
that contact demands ``A^T v = 0``), and ``force``, everything else that drives the robot:
``M dv/dt = force + A lambda``. Simplifications: rigid bodies, inelastic contact, no slip (friction
is reported, not limited).

Of the spring, twists and wrenches are ``(6,)``, turning part first. The contact frame has its z
axis along the normal of body 1; seen from it, body 2 moves by the twist T: it rolls by its first
two components, twists by the third, slides by the fourth and fifth, and by the sixth goes away
from body 1.
"""

import math
from typing import NamedTuple

import numpy as np


def solve_contact(
    M: np.ndarray, A: np.ndarray, right: np.ndarray, compliance: np.ndarray | None = None
) -> np.ndarray:
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
    scaled = root[:, None] * (A.T @ np.linalg.solve(M, A)) * root
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
    """Return the velocity after an inelastic impact ([DS09] (4.12)), ``(n,)``.

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint directions, ``(n, m)``.
        v: Before, ``(n,)``.
    """
    return v + np.linalg.solve(M, A @ impact_impulse(M, A, v))


def loss_matrix(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return D of [DS09] (4.17): impact costs the energy ``v^T D v / 2``, ``(n, n)``.

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint directions, ``(n, m)``.
    """
    columns = [A @ solve_contact(M, A, row) for row in A]
    return np.asarray(np.array(columns).T)


def contact_acceleration(
    M: np.ndarray, A: np.ndarray, force: np.ndarray, drift: np.ndarray
) -> np.ndarray:
    """Return the acceleration of the contact points without contact forces ([DS09] (3.55)).

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint matrix, ``(n, m)``.
        force: Applied, gravity and velocity-dependent forces, ``(n,)``.
        drift: ``d(A^T)/dt v``, ``(m,)``, m/s^2.
    """
    return np.asarray(A.T @ np.linalg.solve(M, force) + drift)


def constraint_forces(
    M: np.ndarray,
    A: np.ndarray,
    force: np.ndarray,
    drift: np.ndarray,
    v: np.ndarray | None = None,
    damping: float = 0.0,
    compliance: np.ndarray | None = None,
) -> np.ndarray:
    """Return the contact forces that keep the contact at rest ([DS09] (3.46), (3.47)).

    Args:
        M: Mass matrix, ``(n, n)``.
        A: Constraint matrix, ``(n, m)``.
        force: Applied, gravity and velocity-dependent forces, ``(n,)``.
        drift: ``d(A^T)/dt v``, ``(m,)``, m/s^2.
        v: Velocity, needed with damping only.
        damping: beta of (3.47), 1/s: the rate at which a velocity error of the contact decays.
        compliance: See `solve_contact`.

    Returns lambda, ``(m,)``, N.
    """
    a = contact_acceleration(M, A, force, drift)
    if damping:
        a = a + damping * (A.T @ v)
    return -solve_contact(M, A, a, compliance)


def acceleration(
    M: np.ndarray, force: np.ndarray, A: np.ndarray | None = None, forces: np.ndarray | None = None
) -> np.ndarray:
    """Return ``dv/dt`` under applied forces and contact forces, ``(n,)``."""
    return np.linalg.solve(M, force if A is None else force + A @ forces)


def impact_of_second_foot(
    M: np.ndarray, A_old: np.ndarray, A_new: np.ndarray, v: np.ndarray, normal: int = -1
) -> tuple[np.ndarray, bool]:
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


class SpringModel(NamedTuple):
    """A spring, a damper and what lets them slip.

    Attributes:
        translation: Kt of (3.32), N/m.
        rotation: Kr of (3.32), N m/rad.
        damping: r of the Kelvin-Voigt model, N s/m (and N m s/rad).
        relief: beta of (3.25), 1/rad: how fast rolling relieves the sliding deformation.
        most_slide: Largest deformation along the surface, m; inf never slips.
        most_twist: Largest twist, rad.
        share: k2 / (k1 + k2), the part of the deformation that is body 1's ((3.28)).
    """

    translation: float
    rotation: float
    damping: float = 0.0
    relief: float = 0.0
    most_slide: float = math.inf
    most_twist: float = math.inf
    share: float = 0.5


class Deformation(NamedTuple):
    """Deformation of both surfaces as in (3.24): turn, x, y, z of each, ``(4,)``."""

    first: np.ndarray
    second: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Turn, x, y and z of both together ((3.31)), rad and m."""
        turn, x, y, z = self.first
        c, s = math.cos(turn), math.sin(turn)
        other = self.second
        return np.array(
            [
                turn + other[0],
                x + c * other[1] - s * other[2],
                y + s * other[1] + c * other[2],
                z + other[3],
            ]
        )


def undeformed() -> Deformation:
    """Return no deformation, as at the moment of touchdown."""
    return Deformation(np.zeros(4), np.zeros(4))


def slip_share(slide: float, velocity: float, most: float) -> float:
    """Return the share of a velocity that still deforms, (3.26): 1 far from saturation, 0 at it."""
    return 1.0 - abs(slide) / most if slide * velocity > 0.0 else 1.0


def deforming_motions(
    spring: SpringModel, deformation: Deformation, twist: np.ndarray
) -> np.ndarray:
    """Return the matrix X of (3.25), with the rows of rolling as its text means them, ``(6, 6)``.

    Rolling about y goes along x and relieves the slide along x; (3.25) as printed would pair x with
    x, and rolling in the plane of a slide, as in Fig. 3.10, would not relieve it.

    Args:
        twist: Of body 2 against body 1 in the contact frame.
    """
    turn, x, y, _ = deformation.total
    X = np.zeros((6, 6))
    X[2, 2] = slip_share(turn, twist[2], spring.most_twist)
    X[3, 3] = slip_share(x, twist[3], spring.most_slide)
    X[4, 4] = slip_share(y, twist[4], spring.most_slide)
    X[3, 1] = -spring.relief * x * np.sign(twist[1])
    X[4, 0] = -spring.relief * y * np.sign(twist[0])
    X[5, 5] = 1.0
    return X


def deformation_rates(
    spring: SpringModel, deformation: Deformation, deforming: np.ndarray
) -> Deformation:
    """Return the rates of both surfaces' deformation, (3.29) and (3.30) in coordinates."""
    turn, x, y = deforming[2:5]
    c, s = math.cos(deformation.first[0]), math.sin(deformation.first[0])
    place = deformation.second
    first = np.array([turn, c * x - s * y, s * x + c * y, deforming[5]])
    second = np.array([turn, x - turn * place[2], y + turn * place[1], deforming[5]])
    return Deformation(spring.share * first, (1.0 - spring.share) * second)


def deform(
    spring: SpringModel, deformation: Deformation, twist: np.ndarray, duration: float
) -> Deformation:
    """Return the deformation after a constant twist, by one step of the midpoint rule.

    Args:
        deformation: `Deformation` before.
        twist: Of body 2 against body 1 in the contact frame, ``(6,)``.
        duration: s.
    """

    def rates(at: Deformation) -> Deformation:
        return deformation_rates(spring, at, deforming_motions(spring, at, twist) @ twist)

    half, whole = rates(deformation), deformation
    middle = Deformation(
        whole.first + 0.5 * duration * half.first, whole.second + 0.5 * duration * half.second
    )
    change = rates(middle)
    return Deformation(
        whole.first + duration * change.first, whole.second + duration * change.second
    )
