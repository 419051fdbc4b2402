# SPDX-License-Identifier: Apache-2.0
"""Postures in a row: shift the weight, stand on one leg, come back, the other leg."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from walking_control.models import Dynamics
from walking_control.statics import Contact, search_posture


class Key(NamedTuple):
    """A posture and the way there.

    Attributes:
        move: Time of the move, s.
        pause: Time of the rest after it, s.
        posture: ``(n_joints,)``.
        support: Feet that shall carry from the moment the move begins.
        lands: Foot that is lowered: the move ends where it touches the floor, and goes on while
            it does not; the pause counts while it does. None: time alone decides.
    """

    move: float
    pause: float
    posture: np.ndarray
    support: tuple[str, ...]  # feet that shall carry from the moment the move begins
    # Foot that is lowered: the move ends where it touches the floor, and goes on while it does not;
    # the pause counts while it does. None: time alone decides.
    lands: str | None = None


class PostureRoutine:
    """Key postures joined by smooth moves; begins again after the last.

    A foot is lowered until it touches, no further: one pressed below the floor lifts its side of
    the robot and pushes the centre of mass to the far edge of the other sole, by the height of
    the centre of mass over the distance of the feet for every metre. If the landed foot comes off
    again during the next move, which loads it, the routine lowers it again from there.

    Args:
        keys: `Key` after `Key`.
        first: Posture at time zero, ``(n_joints,)``.
    """

    def __init__(self, keys: Iterable[Key], first: np.ndarray) -> None:
        self._keys = list(keys)
        self._begin(0, first)

    def _begin(self, index: int, origin: np.ndarray) -> None:
        self._index, self._origin, self._posture = index, origin, origin
        self._moved = self._rested = 0.0

    def begin_at(self, posture: np.ndarray) -> 'PostureRoutine':
        """Return the same routine begun at another posture."""
        return PostureRoutine(self._keys, posture)

    @property
    def duration(self) -> float:
        """Time of a lap whose feet land where their moves end, s."""
        return sum(key.move + key.pause for key in self._keys)

    def advance(self, dt: float, touching: Collection[str]) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return posture and support after a time.

        Args:
            dt: Since the last call, s.
            touching: Feet on the floor now.
        """
        before = self._keys[self._index - 1]
        if before.lands is not None and before.lands not in touching:
            self._begin((self._index - 1) % len(self._keys), self._posture)
        key = self._keys[self._index]
        if key.lands is None:  # move first, rest with what is left
            move = min(dt, key.move - self._moved)
            self._moved += move
            self._rested += dt - move
        elif key.lands in touching:
            self._rested += dt
        else:
            self._moved = min(self._moved + dt, key.move)
        self._posture = self._origin + _smooth(self._moved, key.move) * (key.posture - self._origin)
        if self._rested > key.pause - 1e-9:  # a hair early counts
            self._begin((self._index + 1) % len(self._keys), self._posture)
        return self._posture, key.support


def _smooth(time: float, duration: float) -> float:
    """Return the share of a move done, at rest at both ends."""
    s = min(1.0, time / duration) if duration > 0.0 else 1.0
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def shifting_routine(
    dynamics: Dynamics,
    posture: np.ndarray,
    contacts: Mapping[str, Contact],
    lift: float = 0.04,
    press: float = 0.008,
    move: float = 1.5,
    pause: float = 1.5,
) -> PostureRoutine:
    """Return the `PostureRoutine` that stands on every foot in turn.

    Args:
        posture: Posture on both feet, ``(n_joints,)``.
        contacts: foot -> `Contact`, two of them.
        lift: How high the free foot rises, m.
        press: How far below the floor it is then lowered unless it touches before, m.
        move: Time of every move, s.
        pause: Time of every rest, s.

    Raises:
        NotAchieved: A posture of the routine is out of reach.
    """
    feet = tuple(contacts)
    middle = search_posture(dynamics, posture, contacts, dict.fromkeys(feet, 0.5))
    keys = [Key(move, pause, middle, feet)]
    for stance, swing in (feet, feet[::-1]):
        over = search_posture(dynamics, middle, contacts, {stance: 1.0, swing: 0.0})
        raised, pressed = (
            search_posture(dynamics, over, contacts, {stance: 1.0, swing: 0.0}, {swing: height})
            for height in (lift, -press)
        )
        keys += [
            Key(move, pause, over, feet),
            Key(0.0, pause, over, (stance,)),
            Key(move, pause, raised, (stance,)),
            Key(move, pause, pressed, feet, swing),
            Key(move, pause, middle, feet),
        ]
    return PostureRoutine(keys, posture)
