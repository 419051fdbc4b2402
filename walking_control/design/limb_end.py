# SPDX-License-Identifier: Apache-2.0
"""What a limb's end can give, and how heavy it feels ([SR20] (14), IV-A).

A limb at rest that pushes with the force f needs ``D^T J^T f`` of its motors behind the gears. Each
may give its torque limit times the share of its gear: all of it without losses (FC), the forward
efficiency of it while it drives (FFC), and 1 / backward efficiency times it while it is driven, for
then friction helps to hold (BFC). In a motion some motors drive and others are driven, and each
limit depends on the sign of the torque: the asymmetric polytope AFC.

Polytopes are kept as half-spaces, ``-low <= A f <= high``, which serves redundant limbs as well:
f is then what all joints together hold in balance. A map of the corners of all torques through a
pseudo-inverse, as printed, would count torques that only move the joints against each other.
"""

from dataclasses import dataclass

import numpy as np

from walking_control.design import BACKWARD, FORWARD, Limb, LOSSLESS, SINGULAR
from walking_control.exceptions import require

CAPABILITIES = {'FC': LOSSLESS, 'FFC': FORWARD, 'BFC': BACKWARD}
_REST = 1e-9  # share of the fastest motor's rate below which a motor rests


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
        rows = rows / limits[:, None]  # rows f <= 1; zero where nothing limits
        kept = np.abs(rows).max(axis=1) > 1e-12 * np.abs(rows).max()
        rows = rows[kept]
        if not len(rows) or np.linalg.matrix_rank(rows) < rows.shape[1]:
            return None
        if rows.shape[1] == 1:
            return np.array([[-self.reach(-np.ones(1))], [self.reach(np.ones(1))]])
        size = np.abs(rows).max()
        try:
            with np.errstate(divide='ignore', invalid='ignore'):  # corners far away
                points = HalfspaceIntersection(
                    np.column_stack([rows / size, -np.ones(len(rows))]), np.zeros(rows.shape[1])
                ).intersections
            points = points[np.isfinite(points).all(axis=1)]
            extent = np.abs(points).max()
            points = extent * np.unique(np.round(points / extent, 9), axis=0)
            return np.asarray(points[ConvexHull(points).vertices] / size)
        except QhullError:  # as good as unbounded, or as good as flat
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
    require(
        np.any(velocity) and np.isfinite(velocity).all(),
        'velocity of the end',
        value=np.asarray(velocity).tolist(),
        limit='must be finite and not zero',
    )
    rates = np.linalg.solve(
        limb.transmission.topology, np.linalg.pinv(limb.own_jacobian) @ velocity
    )
    torque = limb.transmission.torque
    drive = limb.transmission.shares(FORWARD) * torque
    hold = limb.transmission.shares(BACKWARD) * torque
    still = _REST * np.abs(rates).max()
    return ForcePolytope(
        _torque_map(limb),
        np.where(rates < -still, drive, hold),
        np.where(rates > still, drive, hold),
    )


def _torque_map(limb: Limb) -> np.ndarray:
    return np.asarray(limb.transmission.topology.T @ limb.own_jacobian.T)


@dataclass(frozen=True)
class TaskInertia:
    """How heavy a limb's end feels: force per acceleration along axes, ``(d, d)``, kg.

    Args:
        lossless: GIE, gears without losses.
        forward: FGIE: virtual force of the motors per acceleration. Not symmetric if efficiencies
            differ.
        backward: BGIE: force on the end per acceleration. None where a gear lets nothing back.
        forward_symmetric: The symmetric approximation of FGIE.
    """

    lossless: np.ndarray  # GIE, gears without losses
    # FGIE: virtual force of the motors per acceleration. Not symmetric if efficiencies differ
    forward: np.ndarray
    # BGIE: force on the end per acceleration. None where a gear lets nothing back
    backward: np.ndarray | None
    forward_symmetric: np.ndarray


def task_inertia(limb: Limb) -> TaskInertia:
    """Return the generalised inertia of a limb's end, its base held.

    Motors that feign the force f at the end give ``tau = G^T D^T J^T f`` ([SR20] (13)), which
    accelerates it by ``J H^-1 (D^-T E D^T) J^T f``; the inverse of that is FGIE. For a square
    Jacobian and a motor at each joint it is ``J^-T (M / eta_f + Ia) J^-1``; for a redundant limb,
    where no inverse of J exists, it holds as it stands.
    """
    own, gears = limb.own_jacobian, limb.transmission
    forwards, backwards = gears.shares(FORWARD), gears.shares(BACKWARD)
    passed = limb.motor_map(forwards) @ gears.topology.T
    # with the root of E on either side of the inertia ([SR20], appendix)
    root = own @ (limb.motor_map(np.sqrt(forwards)) @ gears.topology.T).T
    return TaskInertia(
        _felt(limb, gears.shares(LOSSLESS), own, own.T),
        _felt(limb, forwards, own, passed @ own.T),
        _felt(limb, backwards, own, own.T) if np.isfinite(backwards).all() else None,
        _felt(limb, forwards, root, root.T, symmetric=True),
    )


def _felt(
    limb: Limb, shares: np.ndarray, reach: np.ndarray, push: np.ndarray, symmetric: bool = False
) -> np.ndarray:
    """Return the inverse of ``reach H^-1 push``, H being the inertia of the limb alone."""
    H = limb.inertia(shares, symmetric)[limb.n_base :, limb.n_base :]
    return np.linalg.inv(reach @ np.linalg.solve(H, push))


def backward_inertia(limb: Limb, shares: np.ndarray) -> np.ndarray:
    """Return force on the end per acceleration with the base as the mechanism has it, kg.

    Args:
        limb: The `Limb`.
        shares: Diagonal of E: share of the force that passes each gear, ``(m,)``.
    """
    return np.linalg.inv(limb.jacobian @ np.linalg.solve(limb.inertia(shares), limb.jacobian.T))


def effective_mass(inertia: np.ndarray, direction: np.ndarray) -> float:
    """Return force per acceleration along a direction, the end free to move across it, kg.

    Args:
        inertia: Force per acceleration of the end, kg, ``(k, k)``.
        direction: Of unit length, ``(k,)``.
    """
    return float(1.0 / (direction @ np.linalg.solve(inertia, direction)))


def diagonal_mass(inertia: np.ndarray, direction: np.ndarray) -> float:
    """Return force per acceleration of an end guided along a direction, kg.

    Args:
        inertia: Force per acceleration of the end, kg, ``(k, k)``.
        direction: Of unit length, ``(k,)``.
    """
    return float(direction @ inertia @ direction)


def impact_mitigation(limb: Limb, direction: np.ndarray) -> dict[str, float]:
    """Return what share of an impact's inertia moving joints take away, from 0 (stiff) to 1.

    ``L`` is the inertia with gears driven backwards, ``L_locked`` that with all joints locked.

    Args:
        limb: The `Limb`, its base free.
        direction: Of the impact, along the limb's axes, ``(d,)``.

    Returns:
        By three definitions that differ: ``factor``, ``det(1 - L L_locked^-1)`` of all directions
        together ([Wen17]); ``effective``, 1 minus the ratio of effective masses along the
        direction; ``diagonal``, 1 minus that of diagonal masses.

    Raises:
        InvalidInput: The base is held: locked, it would take any impact without moving.
    """
    require(
        limb.n_base != 0,
        'impact mitigation of a held base',
        limit='locked joints would make its end infinitely heavy',
        remedy='choose --base free',
    )
    base = limb.jacobian[:, : limb.n_base]
    locked = base @ np.linalg.solve(limb.links[: limb.n_base, : limb.n_base], base.T)
    require(
        np.linalg.cond(locked) <= 1.0 / SINGULAR,
        'impact mitigation',
        limit=f'the base cannot move the end along every one of {limb.axes}',
        remedy='choose fewer --axes',
    )
    free = _mobility(limb, limb.transmission.shares(BACKWARD))
    ratio = np.linalg.solve(free, locked)  # L L_locked^-1, of inverses
    masses = [
        (1.0 / (direction @ each @ direction), direction @ np.linalg.solve(each, direction))
        for each in (free, locked)
    ]
    return {
        'factor': max(0.0, float(np.linalg.det(np.eye(len(locked)) - ratio))),
        'effective': float(1.0 - masses[0][0] / masses[1][0]),
        'diagonal': float(1.0 - masses[0][1] / masses[1][1]),
    }


def _mobility(limb: Limb, shares: np.ndarray) -> np.ndarray:
    """Return acceleration of the end per force on it; gears with infinite shares are locked."""
    open_ = np.isfinite(shares)
    # outputs of closed gears stand still: velocities are those of base and open outputs
    keep = np.zeros((len(limb.columns), limb.n_base + int(open_.sum())))
    keep[: limb.n_base, : limb.n_base] = np.eye(limb.n_base)
    keep[limb.n_base :, limb.n_base :] = limb.transmission.topology[:, open_]
    H = keep.T @ limb.inertia(np.where(open_, shares, 1.0)) @ keep
    reach = limb.jacobian @ keep
    return reach @ np.linalg.solve(H, reach.T)


def symmetric_error(limb: Limb, mode: str = FORWARD) -> dict[str, float | None]:
    """Return what the symmetric approximation of the inertia gets wrong ([SR20], appendix).

    Returns:
        ``worst``, the largest relative error of the kinetic energy over all velocities;
        ``of_coupled``, the error relative to the coupled part of the energy alone at that velocity,
        None where that is zero; ``estimate``, what the appendix gives as bound: of equal
        efficiencies it is the error of the coupled part exactly, of others it is no bound.
    """
    shares = limb.transmission.shares(mode)
    smallest = min(shares.min(), (1.0 / shares).min())
    estimate = (1.0 - np.sqrt(smallest)) ** 2 / (1.0 + smallest)
    exact = limb.inertia(shares)
    exact = 0.5 * (exact + exact.T)  # all that a kinetic energy sees
    difference = limb.inertia(shares, symmetric=True) - exact
    factor = np.linalg.inv(np.linalg.cholesky(exact))
    errors, vectors = np.linalg.eigh(factor @ difference @ factor.T)
    place = int(np.argmax(np.abs(errors)))
    velocity = factor.T @ vectors[:, place]
    coupled = coupled_error(limb, shares, velocity)
    worst = float(abs(errors[place]))
    return {'worst': worst, 'of_coupled': coupled, 'estimate': float(estimate)}


def coupled_error(limb: Limb, shares: np.ndarray, velocity: np.ndarray) -> float | None:
    """Return the error of the kinetic energy relative to its coupled part; None where that is 0.

    Args:
        limb: The `Limb`.
        shares: Diagonal of E: share of the force that passes each gear, ``(m,)``.
        velocity: Of the joints of the limb, rad/s, ``(m,)``.
    """
    spin = limb.transmission.to_rotors @ velocity[limb.n_base :]
    flow = (limb.coupling.T @ velocity) * spin
    part = float(((1.0 + shares) * flow).sum())
    if abs(part) < 1e-12 * float(np.abs(flow).sum() or 1.0) or not flow.any():
        return None
    return float(abs((((1.0 - np.sqrt(shares)) ** 2) * flow).sum() / part))
