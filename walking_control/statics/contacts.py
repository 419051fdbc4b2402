# SPDX-License-Identifier: Apache-2.0
"""What a floor can do to a sole: the set of contact wrenches as linear inequalities.

A wrench is ``[fx, fy, fz, mx, my, mz]``, the action of the floor on the robot at the middle of the
sole in its axes, z away from the floor. A rectangular sole (half length X, half width Y) that
presses with its corners, each within a friction pyramid of slope m, transmits exactly

    |fx|, |fy| <= m fz            friction
    |mx| <= Y fz, |my| <= X fz    centre of pressure in the sole
    |mz + m (...)| <= ...         torsion, eight faces coupled with the tangential force

([CPN15]). The pyramid lies inside the friction cone: m = friction / sqrt(2), so that a force
in the pyramid is one the floor gives in every direction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math

import numpy as np

from walking_control.exceptions import require

# The limits; where several are short, the one further down is named first.
MAX_FORCE, LEAST_FORCE, TORQUE, TORSION, FRICTION, CENTRE_OF_PRESSURE, UNILATERAL = LIMITS = (
    'load_cap',
    'least_force',
    'joint_torque',
    'torsional_friction',
    'friction',
    'centre_of_pressure',
    'unilateral_force',
)
NO_BALANCE = 'base_equilibrium'
_WORDS = {
    MAX_FORCE: ('must carry {amount:.4g} N more than its load may be', 'N'),
    LEAST_FORCE: ('presses with {amount:.4g} N less than it must', 'N'),
    TORQUE: ('needs {amount:.4g} N m more than its effort limit', 'N m'),
    FRICTION: ('needs {amount:.4g} N more tangential force than friction gives', 'N'),
    TORSION: ('needs {amount:.4g} N m more twist than friction gives', 'N m'),
    CENTRE_OF_PRESSURE: (
        'needs its centre of pressure {amount:.4g} m beyond the edge of the sole',
        'm',
    ),
    UNILATERAL: (
        'would have to pull on the floor: it holds if stuck there with {amount:.4g} N',
        'N',
    ),
    NO_BALANCE: (
        'cannot balance the robot with any force: its centre of mass lies {amount:.4g} m beside',
        'm',
    ),
}


@dataclass(frozen=True)
class Shortfall:
    """A physical limit that a posture would break.

    Args:
        limit: One of `LIMITS`, or ``'base_equilibrium'`` when no forces at all balance the robot.
        where: The contact or joint.
        amount: By how much, in `unit`. With every limit of a reason lifted by its amount the
            posture can be held.
    """

    limit: str
    where: str  # the contact or joint
    amount: float

    @property
    def unit(self) -> str:
        """Unit of the amount."""
        return _WORDS.get(self.limit, ('', ''))[1]

    def __str__(self) -> str:
        words = _WORDS.get(self.limit, ('carries nothing', ''))[0]
        return f'{self.limit}: {self.where} ' + words.format(amount=self.amount)


@dataclass(frozen=True)
class Contact:
    """A flat part of the robot that may touch the floor.

    Args:
        frame: Link or fixed joint of the URDF.
        length: Size of the sole along x, m; length and width 0 make it a point contact.
        width: Size along y, m.
        friction: Coefficient of friction with the floor.
        offset: Middle of the sole in the frame's axes, m.
        torsional_friction: Largest mz / fz, m; None leaves the corners' friction alone to limit
            it (no effect on point contacts, which transmit no moment).
        min_force: Smallest normal force, N; above zero it keeps the sole pressed.
        max_force: Largest normal force, N.
        rotation: From the contact's axes to the frame's, quaternion xyzw; z points away from the
            floor. None: the frame's own axes for a sole; for a point, which may stand on the floor
            at any angle, the floor's normal with x along the robot's heading.
        adhesion: Force with which the contact sticks (a magnet, suction), N: friction, sole and
            twist count it as pressure, and so much it may be pulled.
        shear: Tangential force it transmits beside friction, N.
        twist: Moment about the normal it transmits beside friction, N m.
    """

    frame: str
    length: float = 0.0
    width: float = 0.0
    friction: float = 0.7
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torsional_friction: float | None = None
    min_force: float = 0.0
    max_force: float = math.inf
    rotation: tuple[float, float, float, float] | None = None
    adhesion: float = 0.0
    shear: float = 0.0
    twist: float = 0.0

    def __post_init__(self) -> None:
        """Refuse sizes and coefficients that describe no sole."""
        for name in (
            'length',
            'width',
            'friction',
            'torsional_friction',
            'min_force',
            'max_force',
            'adhesion',
            'shear',
            'twist',
        ):
            value = getattr(self, name)
            require(
                value is None or value >= 0.0,
                f'{name} of contact {self.frame}',
                value=value,
                limit='must not be negative',
            )
        require(
            (self.length > 0.0) == (self.width > 0.0),
            f'sole of contact {self.frame}',
            value=(self.length, self.width),
            limit='length and width must both be positive, or both 0 (a point)',
        )
        require(
            self.min_force <= self.max_force,
            f'min_force of contact {self.frame}',
            value=self.min_force,
            limit=f'must not be above its max_force ({self.max_force:g} N)',
        )
        require(
            all(
                math.isfinite(v)
                for v in (
                    *self.offset,
                    self.length,
                    self.width,
                    self.friction,
                    self.min_force,
                    self.adhesion,
                    self.shear,
                    self.twist,
                )
            ),
            f'contact {self.frame}',
            limit='sizes, friction, forces and offset '
            'must be finite; only max_force may be without bound',
        )
        require(
            self.rotation is None or abs(math.hypot(*self.rotation) - 1.0) <= 1e-3,
            f'rotation of contact {self.frame}',
            value=self.rotation,
            limit='must be a unit quaternion (xyzw)',
        )

    @property
    def is_point(self) -> bool:
        """Whether the contact transmits forces only."""
        return self.length == 0.0

    @property
    def size(self) -> int:
        """How many components of the wrench are free."""
        return 3 if self.is_point else 6

    @property
    def pyramid(self) -> float:
        """Slope of the friction pyramid inside the cone."""
        return self.friction / math.sqrt(2.0)


def wrench_limits(contact: Contact) -> tuple[np.ndarray, list[str]]:
    """Return the inequalities of a contact without its force bounds: rows f >= bound.

    The bound is zero but for contacts with adhesion, shear or twist, see `wrench_bounds`.

    Returns:
        ``(rows, limits)``: ``(k, size)`` and the name of the limit each row stands for.
    """
    slope, half_length, half_width = contact.pyramid, 0.5 * contact.length, 0.5 * contact.width
    sides = (-1.0, 1.0)
    faces = [({2: slope, axis: sign}, FRICTION) for axis in (0, 1) for sign in sides]
    if not contact.is_point:
        faces += [
            ({2: half, moment: sign}, CENTRE_OF_PRESSURE)
            for sign in sides
            for moment, half in ((3, half_width), (4, half_length))
        ]
        reach = slope * (half_length + half_width)
        faces += [
            (
                {
                    0: a * half_width,
                    1: b * half_length,
                    2: reach,
                    3: turn * a * slope,
                    4: turn * b * slope,
                    5: -turn,
                },
                TORSION,
            )
            for turn in sides
            for a in sides
            for b in sides
        ]
        if contact.torsional_friction is not None:
            faces += [({2: contact.torsional_friction, 5: sign}, TORSION) for sign in sides]
    rows = np.zeros((len(faces), contact.size))
    for row, (entries, _) in zip(rows, faces):
        row[[*entries]] = [*entries.values()]
    return rows, [limit for _, limit in faces]


def wrench_bounds(contact: Contact, rows: np.ndarray, limits: Sequence[str]) -> np.ndarray:
    """Return the right-hand sides of `wrench_limits`, ``(k,)``.

    Args:
        rows: ``(k, size)``.
        limits: The name of the limit each row stands for.
    """
    beside = {FRICTION: contact.shear, TORSION: contact.twist}
    return -contact.adhesion * rows[:, 2] - [beside.get(limit, 0.0) for limit in limits]


def edge_gains(contact: Contact) -> np.ndarray:
    """Return by how much each row of `wrench_limits` gives when all edges of a sole move out.

    Returns:
        ``(k, size)``: times a wrench that presses, the change of the row's value per metre.
    """
    if contact.is_point:
        return np.zeros((4, 3))
    wider = replace(contact, length=contact.length + 2.0, width=contact.width + 2.0)
    return np.asarray(wrench_limits(wider)[0] - wrench_limits(contact)[0])


def centre_of_pressure(wrench: np.ndarray) -> np.ndarray:
    """Return the point of the sole plane where the normal pressure acts, ``(2,)``, m.

    Args:
        wrench: ``(6,)``.

    Returns:
        x, y in the sole frame; NaN where nothing presses.
    """
    if not wrench[2] > 0.0:
        return np.array([math.nan, math.nan])
    return np.asarray(np.array([-wrench[4], wrench[3]]) / wrench[2])


def contact_margins(contact: Contact, wrench: np.ndarray) -> dict[str, float | None]:
    """Return how far a wrench is from each limit of its contact.

    Args:
        wrench: ``(6,)``, N and N m.

    Returns:
        ``normal_force`` above `min_force` in N, ``friction`` still unused (1 unloaded, 0 at the
        pyramid), ``centre_of_pressure`` to the sole's edge in m, ``torsion`` to its nearest face
        in N m; None where the contact has no such limit.
    """
    pressure = float(wrench[2]) + contact.adhesion
    margins = {
        'normal_force': pressure - contact.min_force,
        'friction': None,
        'centre_of_pressure': None,
        'torsion': None,
    }
    if pressure > 0.0:
        tangential = max(abs(wrench[0]), abs(wrench[1]))
        reach = contact.pyramid * pressure + contact.shear
        margins['friction'] = float(1.0 - tangential / reach) if reach > 0.0 else None
        if not contact.is_point:
            x, y = abs(wrench[4]) / pressure, abs(wrench[3]) / pressure
            margins['centre_of_pressure'] = float(
                min(0.5 * contact.length - x, 0.5 * contact.width - y)
            )
    if not contact.is_point:
        rows, limits = wrench_limits(contact)
        slack = rows @ wrench - wrench_bounds(contact, rows, limits)
        margins['torsion'] = float(min(s for s, limit in zip(slack, limits) if limit == TORSION))
    return margins
