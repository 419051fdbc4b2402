# SPDX-License-Identifier: Apache-2.0
"""Lift limits by stated amounts: what a reason says must give, given."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from walking_control.exceptions import InvalidInput
from walking_control.statics.contacts import (
    CENTRE_OF_PRESSURE,
    Contact,
    FRICTION,
    LEAST_FORCE,
    MAX_FORCE,
    Shortfall,
    TORQUE,
    TORSION,
    UNILATERAL,
)
from walking_control.statics.distributor import StaticTorque


def lift(
    distributor: StaticTorque,
    shortfalls: Iterable[Shortfall],
    caps: Mapping[str, float] | None = None,
) -> tuple[StaticTorque, dict[str, float]]:
    """Return a distributor that has what shortfalls ask for, and caps likewise.

    The edges of a sole move out by the amount, a motor becomes stronger, friction is joined by a
    tangential force or a twist, a foot that would have to pull gets a magnet. `distributor`: the
    `StaticTorque` that found the posture impossible. `shortfalls`: of its `StaticSolution`. `caps`:
    contact -> largest normal force, N, as given to its `solve`. Returns ``(distributor, caps)``: a
    new `StaticTorque`, and the caps for its `solve`. Raises `InvalidInput`: a shortfall is none
    that anything could lift (`base_equilibrium`).
    """
    contacts, caps = dict(distributor.contacts), dict(caps or {})
    efforts = dict(zip(distributor.dynamics.joints, distributor.effort_limits.tolist()))
    for shortfall in shortfalls:
        where, amount = shortfall.where, shortfall.amount
        if shortfall.limit == TORQUE:
            efforts[where] += amount
        elif where not in contacts:
            raise InvalidInput(
                f'shortfall {shortfall}',
                limit='cannot be lifted',
                remedy='put the centre of mass above the contacts',
            )
        else:
            contacts[where] = _lift_contact(contacts[where], shortfall.limit, amount)
            if shortfall.limit == MAX_FORCE and where in caps:
                caps[where] += amount
    return StaticTorque(
        distributor.dynamics, contacts, distributor.objective, efforts, distributor.solver
    ), caps


def _lift_contact(contact: Contact, limit: str, amount: float) -> Contact:
    if limit == CENTRE_OF_PRESSURE:
        return replace(
            contact, length=contact.length + 2.0 * amount, width=contact.width + 2.0 * amount
        )
    if limit == MAX_FORCE:
        return replace(contact, max_force=contact.max_force + amount)
    if limit == LEAST_FORCE:
        return replace(contact, min_force=max(0.0, contact.min_force - amount))
    field = {FRICTION: 'shear', TORSION: 'twist', UNILATERAL: 'adhesion'}[limit]
    return replace(contact, **{field: getattr(contact, field) + amount})
