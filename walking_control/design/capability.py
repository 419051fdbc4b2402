# SPDX-License-Identifier: Apache-2.0
"""Forces that a limb can give or resist at its end: polytopes of [SR20] (14).

A limb at rest that pushes with the force f needs ``D^T J^T f`` of its motors behind the gears. Each
may give its torque limit times the share of its gear: all of it without losses (FC), the forward
efficiency of it while it drives (FFC), and 1 / backward efficiency times it while it is driven, for
then friction helps to hold (BFC). In a motion some motors drive and others are driven, and each
limit depends on the sign of the torque: the asymmetric polytope AFC.

Polytopes are kept as half-spaces, ``-low <= A f <= high``, which serves redundant limbs as well:
f is then what all joints together hold in balance. A map of the corners of all torques through a
pseudo-inverse, as printed, would count torques that only move the joints against each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walking_control.design.limb import Limb
from walking_control.design.transmission import BACKWARD, FORWARD, LOSSLESS
from walking_control.exceptions import InvalidInput

CAPABILITIES = {'FC': LOSSLESS, 'FFC': FORWARD, 'BFC': BACKWARD}
_REST = 1e-9   # share of the fastest motor's rate below which a motor rests


@dataclass(frozen=True)
class ForcePolytope:
    """Forces f with ``-low <= A f <= high``.

    Args:
        map: A, torques behind the gears per force, ``(m, d)``.
        low: Limits against the positive direction, N m, ``(m,)``.
        high: Limits along it, N m.
    """

    map: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def reach(self, direction: np.ndarray) -> float:
        """Return the largest force along a unit direction, N; infinite where nothing limits it."""
        torques = self.map @ direction
        with np.errstate(divide='ignore', invalid='ignore'):
            limits = np.where(torques > 0.0, self.high / torques, -self.low / torques)
        held = np.abs(torques) > 1e-12 * np.abs(self.map).max()
        return float(limits[held].min()) if held.any() else np.inf

    def holds(self, force: np.ndarray) -> bool:
        """Return whether a force is within the limits."""
        torques = self.map @ force
        return bool(((torques <= self.high) & (torques >= -self.low)).all())

    def corners(self) -> np.ndarray | None:
        """Return its corners, ``(k, d)``, N, in the plane counter-clockwise; None if unbounded."""
        from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError
        limits = np.concatenate([self.high, self.low])
        rows = np.concatenate([self.map, -self.map])
        if (limits <= 0.0).any():
            return None
        rows = rows / limits[:, None]            # rows f <= 1; zero where nothing limits
        kept = np.abs(rows).max(axis=1) > 1e-12 * np.abs(rows).max()
        rows = rows[kept]
        if not len(rows) or np.linalg.matrix_rank(rows) < rows.shape[1]:
            return None
        if rows.shape[1] == 1:
            return np.array([[-self.reach(-np.ones(1))], [self.reach(np.ones(1))]])
        size = np.abs(rows).max()
        try:
            with np.errstate(divide='ignore', invalid='ignore'):   # corners far away
                points = HalfspaceIntersection(
                    np.column_stack([rows / size, -np.ones(len(rows))]),
                    np.zeros(rows.shape[1])).intersections
            points = points[np.isfinite(points).all(axis=1)]
            extent = np.abs(points).max()
            points = extent * np.unique(np.round(points / extent, 9), axis=0)
            return np.asarray(points[ConvexHull(points).vertices] / size)
        except QhullError:   # as good as unbounded, or as good as flat
            return None


def force_capability(limb: Limb, kind: str = 'FC') -> ForcePolytope:
    """Return the forces of a limb with all its motors in one mode.

    Args:
        kind: ``'FC'``, ``'FFC'`` or ``'BFC'``.
    """
    limits = limb.transmission.shares(CAPABILITIES[kind]) * limb.transmission.torque
    return ForcePolytope(_torque_map(limb), limits, limits)


def asymmetric_capability(limb: Limb, velocity: np.ndarray) -> ForcePolytope:
    """Return the forces on the surroundings during a slow motion of the end (AFC).

    A motor that turns with its torque drives, one that turns against it is driven, one that rests
    holds as if it were driven. Of a redundant limb the joints move least.

    Args:
        velocity: Of the end along the limb's axes, any size but zero, ``(d,)``.

    Raises:
        InvalidInput: The velocity is zero.
    """
    if not np.any(velocity) or not np.isfinite(velocity).all():
        raise InvalidInput('velocity of the end', value=np.asarray(velocity).tolist(),
                           limit='must be finite and not zero')
    rates = np.linalg.solve(limb.transmission.topology,
                            np.linalg.pinv(limb.own_jacobian) @ velocity)
    torque = limb.transmission.torque
    drive = limb.transmission.shares(FORWARD) * torque
    hold = limb.transmission.shares(BACKWARD) * torque
    still = _REST * np.abs(rates).max()
    return ForcePolytope(_torque_map(limb), np.where(rates < -still, drive, hold),
                         np.where(rates > still, drive, hold))


def _torque_map(limb: Limb) -> np.ndarray:
    return np.asarray(limb.transmission.topology.T @ limb.own_jacobian.T)
