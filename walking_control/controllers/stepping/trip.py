# SPDX-License-Identifier: Apache-2.0
"""What becomes of a foot in the air that meets an edge: it is lifted over it, and pushes less.

A foot that touches something in the middle of its way has met an edge. One that is behind its plan
and does not come after is held by one: a force along the floor is no load, and no contact.
"""

import math

import numpy as np

from walking_control.controllers.stepping.size import Size, USUAL
from walking_control.controllers.stepping.swing import SwingFoot

FIRST, LAST = 0.3, 0.93  # parts of the step: before, a foot that touches has not left yet; it has
# met an edge until, and is lifted over it
CLEAR = 0.06  # s: so long it does not land then,
SOON = 0.02  # s: or until so long before its time
BEHIND, HELD = 0.024, 0.3  # m, and of its speed: a foot farther behind and slower is held,
STILL = 0.4  # m/s: if it is slower than that, too
OVER, HIGHER = 0.02, 0.05  # m: so far it is lifted; one that is held after that, for nobody knows
# how much higher the edge is
PRESS = 15.0  # m/s^2: so hard it pushes on meanwhile
TURN_BACK = 50.0  # 1/s: how fast a foot is turned flat that an edge has turned


class Trip:
    """Edges that the foot in the air met in this step.

    Args:
        size: Of the robot.

    Attributes:
        met: Whether it met one.
        held: Whether one held it.
        lift: How far over where it met the last one it is lifted, m.
        height: Where that was, from the stance foot, m.
        until: Time in the step until which it is lifted, and does not land, s.
    """

    def __init__(self, size: Size = USUAL) -> None:
        self._size = size
        self.begin_step()

    def begin_step(self) -> None:
        """Begin a step: nothing is in its way."""
        self.met = self.held = False
        self.lift = self.height = self.until = 0.0

    def lifts(self, elapsed: float) -> bool:
        """Return whether the foot is lifted over an edge, a time in s after the step began."""
        return elapsed <= self.until

    def most(self, elapsed: float) -> float:
        """Return how hard the foot may push along the floor, so long after, m/s^2."""
        return PRESS * self._size.acceleration if self.held and self.lifts(elapsed) else math.inf

    def turning(self, stiffness: float, damping: float) -> tuple[float, float]:
        """Return the gains of turning the foot flat: faster than these where an edge turned it."""
        rate = TURN_BACK / self._size.time
        return (rate**2, 2.0 * rate) if self.held else (stiffness, damping)

    def meets(
        self,
        touches: bool,
        planned: SwingFoot,
        place: np.ndarray,
        velocity: np.ndarray,
        elapsed: float,
        remaining: float,
    ) -> bool:
        """Return whether the foot meets an edge now.

        Args:
            touches: Whether it touches something.
            planned: What it shall do.
            place: Of the foot, from the stance foot, floor axes, m, ``(3,)``.
            velocity: As measured, m/s, ``(3,)``: one that is foreseen goes on as it is asked to.
            elapsed: Time since the step began, s.
            remaining: Time until its touchdown, s.
        """
        left, held = remaining - SOON * self._size.time, self._is_held(planned, place, velocity)
        if self.lifts(elapsed):
            self.held = self.held or held and not touches  # what it stands on holds it, too
        elif left > 0.0 and (held or touches and not self.met):
            self.lift = (HIGHER if held and self.met else OVER) * self._size.length
            self.met, self.held, self.height = True, held or self.held, float(place[2])
            self.until = elapsed + min(CLEAR * self._size.time, left)
            return True
        return False

    def _is_held(self, planned: SwingFoot, place: np.ndarray, velocity: np.ndarray) -> bool:
        """Return whether an edge holds the foot in the air."""
        pace = math.hypot(*planned.velocity[:2])
        along = planned.velocity[:2] / max(pace, 1e-9)
        behind, goes = (planned.position - place)[:2] @ along, math.hypot(*velocity[:2])
        slow = min(HELD * pace, STILL * self._size.speed)
        return bool(behind > BEHIND * self._size.length and goes < slow)
