# SPDX-License-Identifier: Apache-2.0
"""Postures in a row: shift the weight, stand on one leg, come back, the other leg."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping

import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.statics.contacts import Contact
from walking_control.statics.posture_search import search_posture

# move time s, pause s, posture ``(n_joints,)``, support
Key = tuple[float, float, np.ndarray, tuple[str, ...]]


class PostureRoutine:
    """Key postures joined by smooth moves; begins again after the last.

    Args:
        keys: `Key` after `Key`; the support holds from the moment its move begins.
        first: Posture at time zero, ``(n_joints,)``.
    """

    def __init__(self, keys: Iterable[Key], first: np.ndarray) -> None:
        self._keys = list(keys)
        self._postures = [first, *(key[2] for key in self._keys)]
        self._starts = [0.0]
        for move, pause, _, _ in self._keys:
            self._starts.append(self._starts[-1] + move + pause)
        self.duration = self._starts[-1]

    def begin_at(self, posture: np.ndarray) -> 'PostureRoutine':
        """Return the same routine begun at another posture."""
        return PostureRoutine(self._keys, posture)

    def at(self, time: float) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return posture and support at a time, s."""
        lap, time = divmod(time, self.duration)
        i = bisect_right(self._starts, time) - 1
        move, _, target, support = self._keys[i]
        origin = self._postures[-1] if i == 0 and lap else self._postures[i]
        s = min(1.0, (time - self._starts[i]) / move) if move > 0.0 else 1.0
        s = s ** 3 * (10.0 - 15.0 * s + 6.0 * s * s)
        return origin + s * (target - origin), support


def shifting_routine(dynamics: Dynamics, posture: np.ndarray,
                     contacts: Mapping[str, Contact], lift: float = 0.04, press: float = 0.008,
                     move: float = 1.5, pause: float = 1.5) -> PostureRoutine:
    """Return the `PostureRoutine` that stands on every foot in turn.

    Args:
        dynamics: The `Dynamics`.
        posture: Posture on both feet, ``(n_joints,)``.
        contacts: foot -> `Contact`, two of them.
        lift: How high the free foot rises, m.
        press: How far below the floor it is then aimed, so that it touches for certain, m.
        move: Time of every move, s.
        pause: Time of every rest, s.

    Raises:
        NotAchieved: A posture of the routine is out of reach.
    """
    feet = tuple(contacts)
    middle = search_posture(dynamics, posture, contacts, dict.fromkeys(feet, 0.5))
    keys = [(move, pause, middle, feet)]
    for stance, swing in (feet, feet[::-1]):
        over = search_posture(dynamics, middle, contacts, {stance: 1.0, swing: 0.0})
        raised, pressed = (search_posture(dynamics, over, contacts, {stance: 1.0, swing: 0.0},
                                          {swing: height}) for height in (lift, -press))
        keys += [(move, pause, over, feet), (0.0, pause, over, (stance,)),
                 (move, pause, raised, (stance,)), (move, pause, pressed, feet),
                 (move, pause, middle, feet)]
    return PostureRoutine(keys, posture)
