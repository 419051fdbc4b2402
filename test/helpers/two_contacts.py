# SPDX-License-Identifier: Apache-2.0
"""Which of two closed contacts stay closed, as the source prints it."""

from collections.abc import Sequence

import numpy as np

from walking_control.models import contact


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
