# SPDX-License-Identifier: Apache-2.0
"""Which contacts of a rigid body stay closed: the worked examples of [DS09] 3.3.

The tip of an arm that is pressed up by a force that points down (example 3.13), a closet that rocks
from foot to foot (example 3.15), and bars on two blocks (Fig. 3.20 and 3.21). The bars are solved a
second time as a linear complementarity problem, as [DS09] 6.2 suggests: normal forces that press,
accelerations that leave, and one of both zero.

Run: python examples/two_contacts.py
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from walking_control.models import contact

GRAVITY = 10.0  # m/s^2, of the source
ROUNDS = 1000


def choose_contacts(
    M: np.ndarray,
    contacts: Sequence[np.ndarray],
    force: np.ndarray,
    drifts: Sequence[np.ndarray],
    normal: int = -1,
) -> tuple[bool, bool]:
    """Decide which of two closed contacts stay closed ([DS09] Fig. 3.20).

    Args:
        M: Mass matrix, ``(n, n)``.
        contacts: The two constraint matrices; their normal columns point away from the floor.
        force: Applied, gravity and velocity-dependent forces, ``(n,)``.
        drifts: ``d(A^T)/dt v`` of each.
        normal: Column of the floor normal.

    Returns:
        Tuple of two bools.
    """

    def separates(i: int, active: int | None = None) -> bool:
        total = force
        if active is not None:
            A = contacts[active]
            total = force + A @ contact.constraint_forces(M, A, force, drifts[active])
        return bool(contact.contact_acceleration(M, contacts[i], total, drifts[i])[normal] > 0.0)

    free = separates(0), separates(1)
    if all(free):
        return False, False
    # The point that would sink alone is the likelier support and is tried first.
    for active in (1, 0) if free[0] else (0, 1):
        if separates(1 - active, active):
            return active == 0, active == 1
    return True, True


def complementary(
    M: np.ndarray, normals: np.ndarray, force: np.ndarray, drift: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal forces and accelerations of which neither pulls nor sinks, ``(m,)`` each.

    With G = N^T M^-1 N and b the accelerations without contact, 0 <= f, 0 <= G f + b, and their
    product is zero: the conditions of the least |L^-1 N f + L^-1 (force + M drift)| with f >= 0,
    M = L L^T, where a drift is one of the normals' accelerations.

    Args:
        M: Mass matrix, ``(n, n)``.
        normals: Directions of the normal forces, ``(n, m)``.
        force: All other forces, ``(n,)``.
        drift: Acceleration of the points while the velocity stays, ``(m,)``.
    """
    L = np.linalg.cholesky(M)
    pressed = np.linalg.solve(L, normals)
    moved = np.linalg.solve(L, force) + np.linalg.lstsq(pressed.T, drift, rcond=None)[0]
    forces, _ = nnls(pressed, -moved)
    return forces, pressed.T @ (pressed @ forces + moved)


def arm_tip() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mass matrix, tip constraint and joint torques of [DS09] example 3.13."""
    q1, q2 = np.pi / 4, np.pi / 2
    c2 = np.cos(q2)
    M = np.array([[1.5 + c2, 0.25 + 0.5 * c2], [0.25 + 0.5 * c2, 0.25]])

    def jacobian(fraction: float) -> np.ndarray:
        """Columns d(x, y)/dq of the point at a fraction of the second link."""
        a, b = q1, q1 + q2
        return np.array(
            [
                [-np.sin(a) - fraction * np.sin(b), -fraction * np.sin(b)],
                [np.cos(a) + fraction * np.cos(b), fraction * np.cos(b)],
            ]
        )

    # the example measures q1 from the vertical: rotate the picture by a quarter turn
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    tip, middle = quarter @ jacobian(1.0), quarter @ jacobian(0.5)
    return M, tip.T, middle.T @ np.array([1.0, 0.0])


def closet(
    w: float, h: float, J: float, angle: float = 0.0, m: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mass matrix and constraints of both feet of [DS09] example 3.15 at a tilt.

    Args:
        w: Half of the width, m.
        h: Half of the height, m.
        J: Inertia, kg m^2.
        angle: Tilt, rad.
        m: Mass, kg.
    """
    M = np.diag([m, m, J])
    c, s = np.cos(angle), np.sin(angle)
    left = np.array([[1, 0], [0, 1], [w * s + h * c, -w * c + h * s]])
    right = np.array([[1, 0], [0, 1], [-w * s + h * c, w * c + h * s]])
    return M, left, right


def turning_about_left(left: np.ndarray, omega: float) -> np.ndarray:
    """Return the velocity of the closet that turns clockwise about its left foot."""
    r = left[2]
    return np.array([r[0] * omega, r[1] * omega, -omega])


def rocking(
    w: float = 0.5, h: float = 1.0, angle: float = 0.2, duration: float = 0.4, step: float = 1e-3
) -> tuple[float, float]:
    """Return how far the left foot of a closet slips, m, and its energy, J ([DS09] (3.62)).

    A box of 1 kg falls back onto its right foot, about the left one, by q' = M^-1 p and
    p' = -dH/dq + A lambda, with lambda from (3.47). The energy is that at the end less that at the
    start.
    """
    J, force = (4.0 * h * h + 4.0 * w * w) / 12.0, np.array([0.0, -GRAVITY, 0.0])

    def rates(x: np.ndarray) -> np.ndarray:
        M, A, _ = closet(w, h, J, x[2])
        v = np.linalg.solve(M, x[3:])
        ahead, behind = (closet(w, h, J, x[2] + e)[1] for e in (1e-6, -1e-6))
        drift = (ahead - behind).T / 2e-6 * v[2] @ v
        return np.concatenate((v, force + A @ contact.constraint_forces(M, A, force, drift)))

    def energy(x: np.ndarray) -> float:
        M, _, _ = closet(w, h, J)
        return float(0.5 * x[3:] @ np.linalg.solve(M, x[3:]) - force @ x[:3])

    def foot(x: np.ndarray) -> np.ndarray:
        c, s = np.cos(x[2]), np.sin(x[2])
        return np.array([x[0] - w * c + h * s, x[1] - w * s - h * c])

    x = np.array([0.0, 0.0, angle, 0.0, 0.0, 0.0])
    foot_before, energy_before = foot(x), energy(x)
    for _ in range(round(duration / step)):
        a = rates(x)
        b = rates(x + 0.5 * step * a)
        c = rates(x + 0.5 * step * b)
        x = x + step / 6.0 * (a + 2.0 * b + 2.0 * c + rates(x + step * c))
    return float(np.abs(foot(x) - foot_before).max()), energy(x) - energy_before


def momentum_map(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return the operator that maps the momentum before impact to that after ([DS09] (3.44))."""
    return np.transpose([M @ contact.project_velocity(M, A, v) for v in np.linalg.inv(M)])


def bar(
    points: Sequence[float], push: float | None = None
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, list[np.ndarray]]:
    """Return M, contacts, force and drifts of a bar of 1 kg and 2 m on two blocks.

    Args:
        points: Places of the blocks, m from the middle.
        push: Place of a force of 11 N upwards, m, or None.
    """
    M = np.diag([1.0, 1.0, 4.0 / 12.0])
    contacts = [np.array([[1.0, 0.0], [0.0, 1.0], [0.0, x]]) for x in points]
    force = np.array([0.0, -GRAVITY, 0.0])
    if push is not None:
        force = force + np.array([0.0, 11.0, 11.0 * push])
    return M, contacts, force, [np.zeros(2), np.zeros(2)]


BARS = (((-0.8, 0.8), None), ((-0.8, 0.8), 0.0), ((-0.8, -0.3), None), ((-0.8, -0.3), 1.0))


def lands(w: float, h: float, J: float) -> bool:
    """Return whether a closet rocks on when its right foot strikes ([DS09] (3.57))."""
    M, left, right = closet(w, h, J)
    return contact.impact_of_second_foot(M, left, right, turning_about_left(left, 1.0))[1]


def main() -> dict[str, object]:
    """Print what stays closed in each example; return the figures."""
    M, A, torque = arm_tip()
    force = contact.constraint_forces(M, A, torque, np.zeros(2))
    free = contact.contact_acceleration(M, A, torque, np.zeros(2))
    held = A.T @ contact.acceleration(M, torque, A, force)
    print(
        f'arm: the floor gives {force} N; without it the tip accelerates by {free} m/s^2: it stays'
    )
    heights = np.linspace(0.5, 1.5, 1001)
    point, solid = (
        next(h for h in heights if lands(1.0, h, inertia(h)))
        for inertia in (lambda h: 1e-6, lambda h: (4 * h * h + 4.0) / 12)
    )
    print(f'closet 2 m wide: rocks above h = {point:.3f} m as a point mass, {solid:.3f} m as a box')
    slip, gained = rocking()
    print(f'closet on its left foot: the foot moves by {slip:.1e} m, energy by {gained:.1e} J')
    chosen = []
    for points, push in BARS:
        M, contacts, force, drifts = bar(points, push)
        kept = choose_contacts(M, contacts, force, drifts)
        normals = np.column_stack([A[:, 1] for A in contacts])
        pressed, leaving = complementary(M, normals, force, np.zeros(2))
        print(f'bar on {points}: {kept}; complementarity {pressed} N, {leaving} m/s^2')
        chosen.append((kept, tuple((pressed > 1e-9).tolist())))
    rng, differ, worst = np.random.default_rng(0), 0, 0.0
    for _ in range(ROUNDS):
        root, force = rng.normal(size=(4, 4)), rng.normal(size=4)
        M, N = root @ root.T + np.eye(4), rng.normal(size=(4, 2))
        drift = rng.normal(size=2)
        kept = choose_contacts(M, [N[:, :1], N[:, 1:]], force, [drift[:1], drift[1:]])
        pressed, leaving = complementary(M, N, force, drift)
        A = N[:, list(kept)]
        total = force + A @ contact.constraint_forces(M, A, force, drift[list(kept)])
        found = N.T @ np.linalg.solve(M, total) + drift
        same = kept == tuple((pressed > 1e-12).tolist())
        differ += not same
        worst = max(worst, np.abs(found - leaving).max() if same else 0.0)
    print(f'{ROUNDS} random pairs of contacts: {differ} differ, else by {worst:.1e} m/s^2 at most')
    return {
        'arm': (force, free, held),
        'rocks above': (point, solid),
        'rocking': (slip, gained),
        'bars': chosen,
        'differ': differ,
        'worst': worst,
    }


if __name__ == '__main__':
    main()
