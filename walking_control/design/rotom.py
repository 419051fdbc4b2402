# SPDX-License-Identifier: Apache-2.0
"""What share of a force on the centre of mass moves it: RoToM and its ellipsoid ([Mor17]).

doc/design.md has the formulas, doc/errata.md what the source calls the distance to the surface. Of
a robot that stands, the contacts are kept: M^-1 becomes
``P = M^-1 - M^-1 C^T (C M^-1 C^T)^+ C M^-1`` with the Jacobian C of the contacts. Nothing is
damped: a damped pseudo-inverse in the source's (4) gives ratios above 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from walking_control.design.mechanism import Mechanism, require_inertia, SINGULAR, unit_direction
from walking_control.exceptions import InvalidInput, require, require_known

POINT, SOLE = 'point', 'sole'
_DEPENDENT = 1e-9  # of the largest: below, a contact repeats what others hold already
_STEP = 1e-5  # rad or m, of derivatives
_POSTURES = 20  # random ones, to find in which directions a centre of mass can move at all


@dataclass(frozen=True)
class Transmissibility:
    """How a posture passes forces on the centre of mass into its motion.

    Args:
        matrix: T, ``(3, 3)``.
        space: Orthonormal directions in which the centre of mass can move in some posture, columns
            ``(3, k)``: a planar robot has two.
    """

    matrix: np.ndarray  # T, ``(3, 3)``
    # orthonormal directions in which the centre of mass can move in some posture, columns ``(3,
    # k)``: a planar robot has two
    space: np.ndarray

    def rotom(self, direction: np.ndarray) -> float:
        """Return the ratio of transmission of motion along a unit direction, 0 to 1."""
        return float(np.linalg.norm(self.matrix @ direction))

    def to_surface(self, direction: np.ndarray) -> float:
        """Return the distance from the centre to the ellipsoid's surface along a unit direction."""
        values, vectors = np.linalg.eigh(self.matrix)
        along = vectors.T @ direction
        flat = values < _DEPENDENT
        if np.linalg.norm(along[flat]) > 1e-9:
            return 0.0
        return float(1.0 / np.linalg.norm(along[~flat] / values[~flat])) if (~flat).any() else 0.0

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Lengths of the ellipsoid's half axes, ``(3,)``, rising, and their directions, columns."""
        values, vectors = np.linalg.eigh(self.matrix)
        return np.clip(values, 0.0, None), vectors

    @property
    def index(self) -> float:
        """Transmissibility index: smallest to largest half axis, among directions of `space`."""
        values = np.linalg.eigvalsh(self.space.T @ self.matrix @ self.space)
        return float(max(0.0, values[0]) / values[-1]) if values[-1] > _DEPENDENT else 0.0


@dataclass(frozen=True)
class Contacts:
    """What holds a robot to its surroundings.

    Args:
        frames: Names of the frames that stay where they are.
        kind: ``'point'``: they may turn; ``'sole'``: they may not.
    """

    frames: tuple[str, ...] = ()
    kind: str = SOLE

    def jacobian(self, mechanism: Mechanism) -> np.ndarray:
        """Return the velocities that must stay zero, ``(c, n)`` per velocity."""
        rows = 3 if self.kind == POINT else 6
        return np.concatenate(
            [
                np.zeros((0, len(mechanism.moving))),
                *(
                    mechanism.point_jacobian(mechanism.dynamics.frame(name))[:rows]
                    for name in self.frames
                ),
            ]
        )


NO_CONTACTS = Contacts()


def transmissibility(
    mechanism: Mechanism, contacts: Contacts = NO_CONTACTS, space: np.ndarray | None = None
) -> Transmissibility:
    """Return the transmissibility of a posture.

    Args:
        contacts: The `Contacts` that are kept.
        space: As `Transmissibility`'s; None takes `motion_space`.
    """
    momentum = mechanism.momentum_map()
    P = constrained_mobility(
        require_inertia(mechanism.inertia(), mechanism.name), contacts.jacobian(mechanism)
    )
    T = momentum @ P @ momentum.T / mechanism.mass
    return Transmissibility(0.5 * (T + T.T), motion_space(mechanism) if space is None else space)


def constrained_mobility(inertia: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return acceleration per force while ``rows a = 0``, ``(n, n)``; dependent rows do no harm.

    Args:
        inertia: ``(n, n)``.
        rows: Of the constraints, ``(k, n)``.
    """
    inverse = np.linalg.inv(inertia)
    if not len(rows):
        return inverse
    # of the rows in the metric of the inertia: what they hold, orthonormal
    factor = np.linalg.cholesky(inertia)
    _, sizes, held = np.linalg.svd(np.linalg.solve(factor, rows.T).T, full_matrices=False)
    held = held[sizes > _DEPENDENT * sizes.max()]
    freed = np.linalg.solve(factor.T, np.eye(len(inertia)) - held.T @ held)
    return freed @ np.linalg.inv(factor)


def motion_space(mechanism: Mechanism) -> np.ndarray:
    """Return orthonormal directions in which the centre of mass moves in some posture, (3, k)."""
    rng = np.random.default_rng(0)
    postures = rng.uniform(-np.pi, np.pi, (_POSTURES, len(mechanism.joints)))
    maps = [
        each.momentum_map() / mechanism.mass
        for each in (mechanism, *(mechanism.at(posture) for posture in postures))
    ]
    directions, sizes, _ = np.linalg.svd(np.concatenate(maps, axis=1), full_matrices=False)
    space = directions[:, sizes > SINGULAR * sizes.max()]
    # axes of the world where they serve as well
    return (
        np.eye(3)[:, np.abs(space).max(axis=1) > SINGULAR]
        if np.count_nonzero(np.abs(space).max(axis=1) > SINGULAR) == space.shape[1]
        else space
    )


def rotom_gradient(
    mechanism: Mechanism, direction: Sequence[float] | np.ndarray, contacts: Contacts = NO_CONTACTS
) -> np.ndarray:
    """Return the derivative of RoToM by our velocities, ``(n,)``, 1/rad or 1/m.

    Central differences: of order 1e-9 exact. Where RoToM is zero it has a kink, and the result is
    that of the two sides together, 0.
    """
    u, space = unit_direction(direction), np.eye(3)

    def rotom(velocity: np.ndarray) -> float:
        return transmissibility(mechanism.moved(velocity), contacts, space).rotom(u)

    return np.array(
        [
            (rotom(_STEP * unit) - rotom(-_STEP * unit)) / (2.0 * _STEP)
            for unit in np.eye(len(mechanism.moving))
        ]
    )


def descending_torque(
    mechanism: Mechanism, direction: Sequence[float] | np.ndarray, contacts: Contacts = NO_CONTACTS
) -> np.ndarray:
    """Return the joint torques towards less RoToM ([Mor17] (15)), ``(n_joints,)``.

    On a held base minus the gradient, per unit of force and mass. Of a robot on contacts, the least
    torques that do the same work on every motion the contacts allow.

    Args:
        contacts: The `Contacts` that are kept.
    """
    gradient = rotom_gradient(mechanism, direction, contacts)
    if mechanism.n_base == 0 and not contacts.frames:
        return -gradient
    _, sizes, right = np.linalg.svd(contacts.jacobian(mechanism))
    rank = int((sizes > _DEPENDENT * sizes.max(initial=0.0)).sum())
    free = right[rank:].T
    return np.asarray(
        -np.linalg.lstsq(free[mechanism.n_base :].T, free.T @ gradient, rcond=None)[0]
    )


def rotom_zeros(
    mechanism: Mechanism, direction: Sequence[float] | np.ndarray, starts: int = 40, seed: int = 0
) -> list[np.ndarray]:
    """Return postures whose RoToM along a direction is zero ([Mor17] (16)), within joint limits.

    The base is held. M^-1 is positive definite, so ``J M^-1 J^T F = 0`` just where ``J^T F = 0``:
    n equations in n joint positions. Along gravity these are the postures that need no torque. They
    are sought from random starts; of a continuum of zeros the result is a sample.

    Returns:
        Joint positions, each ``(n_joints,)``, the ones found more often first, without doubles.

    Raises:
        InvalidInput: The base is free, or the centre of mass cannot move along the direction.
    """
    from scipy.optimize import least_squares

    require(
        not mechanism.n_base,
        'zeros of RoToM of a free base',
        limit='are sought on a held one only',
        remedy='choose --base held',
    )
    u = unit_direction(direction)
    require(
        np.linalg.norm(motion_space(mechanism).T @ u) >= SINGULAR,
        'direction',
        value=u.tolist(),
        limit='the centre of mass cannot move along it: RoToM is zero in every posture',
    )
    low, high = _ranges(mechanism)
    rng = np.random.default_rng(seed)
    found: list[list[Any]] = []  # posture, how often
    for start in rng.uniform(low, high, (starts, len(low))):
        solution = least_squares(
            lambda q: mechanism.at(q).momentum_map().T @ u / mechanism.mass,
            start,
            bounds=(low, high),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        space = np.eye(3)
        if transmissibility(mechanism.at(solution.x), space=space).rotom(u) > 1e-6:
            continue
        for entry in found:
            # the same but for whole turns
            if np.abs((solution.x - entry[0] + np.pi) % (2.0 * np.pi) - np.pi).max() < 1e-3:
                entry[1] += 1
                break
        else:
            found.append([solution.x, 1])
    return [posture for posture, _ in sorted(found, key=lambda entry: -entry[1])]


def _ranges(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper positions to look between, one turn of joints without limits."""
    limits = [mechanism.dynamics.robot.limits[joint] for joint in mechanism.joints]
    low = np.array([max(limit.lower, -np.pi) for limit in limits])
    high = np.array([min(limit.upper, np.pi) for limit in limits])
    return low, np.maximum(high, low + 1e-9)


def index_over_joint(
    mechanism: Mechanism, joint: str, contacts: Contacts = NO_CONTACTS, points: int = 181
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of a joint, within its limits, and the index there with contacts kept.

    It is NaN where some motion moves no mass.

    Raises:
        InvalidInput: There is no such joint.
    """
    require_known(
        joint,
        mechanism.joints,
        f'joint {joint}',
        limit=f'is not a moving joint of {mechanism.name}',
    )
    place, space = mechanism.joints.index(joint), motion_space(mechanism)
    low, high = _ranges(mechanism)
    values = np.linspace(low[place], high[place], points)
    indices = []
    for value in values:
        positions = mechanism.positions.copy()
        positions[place] = value
        try:
            indices.append(transmissibility(mechanism.at(positions), contacts, space).index)
        except InvalidInput:  # there some motion moves no mass
            indices.append(np.nan)
    return values, np.array(indices)
