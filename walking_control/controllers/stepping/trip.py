# SPDX-License-Identifier: Apache-2.0
"""What becomes of a foot in the air that meets an edge: it steps over it, or down before it.

People do so, too. Early in a step the foot is lifted, and the step gets longer ("elevating"). Late
in the step there is no time for that: the foot is set down at once ("lowering").

An edge holds a foot that is behind its plan and does not come after: a force along the floor is no
load, and no contact. A foot that touches on its way ahead has met one, too; one that touches on its
way down has found the floor, however it leans there.
"""

import math

import numpy as np

from walking_control.controllers import Size, SwingFoot, USUAL

# parts of the step: before, a foot that touches has not left yet; an edge that is met until then is
# stepped over. Later the fall leaves no time for that: up stairs steps got 45 cm long, and it fell
FIRST, LATE = 0.3, 0.65
OVER, CLEAR, DOWN = 0.065, 0.08, 0.08  # m, s: so far the foot is lifted in this time, and so long
# it needs to come down
SOON = 0.02  # s: so fast it is set down before an edge; one so near to its time is not lifted
LEAVES = 0.06  # s: before, a foot may not have left the floor yet: no edge holds it
BEHIND, HELD = 0.024, 0.3  # m, and of its speed: a foot farther behind and slower is held,
STILL = 0.4  # m/s: if it is slower than that, too
# a foot that shall go down more steeply, or whose sole is nowhere higher, m, and touches, finds
# the floor
STEEP, LOW = 0.5, 0.015
PRESS = 15.0  # m/s^2: so hard a foot that is held pushes on
TURN_BACK = 50.0  # 1/s: how fast a foot is turned flat that an edge has turned
UNSEEN = 0.05  # m: an edge is thought so high where the foot came down before it,
BEFORE = 0.1  # m: nearer than that to where it met it


class Trip:
    """Edges that the foot in the air met in this step.

    Args:
        size: Of the robot.

    Attributes:
        met: Whether it met one.
        held: Whether one held it.
        lowered: Whether it is set down before one.
        place: Where it met the last one, from the stance foot, floor axes, m, ``(3,)``.
        until: Time in the step until which it is lifted, and does not land, s.
        soonest: Time in the step before which it cannot come down, s.
        soon: How fast a foot is set down before an edge, s.
    """

    def __init__(self, size: Size = USUAL) -> None:
        self._size, self.soon = size, SOON * size.time
        self.begin_step()

    def begin_step(self) -> None:
        """Begin a step: nothing is in its way."""
        self.met = self.held = self.lowered = False
        self.until = self.soonest = 0.0
        self.place = np.zeros(3)

    def lifts(self, elapsed: float) -> bool:
        """Return whether the foot is lifted over an edge, a time in s after the step began."""
        return elapsed <= self.until

    @property
    def over(self) -> float:
        """Return how high the foot is lifted, from the stance foot, m."""
        return float(self.place[2]) + OVER * self._size.length

    def edge(self, place: np.ndarray) -> float:
        """Return how high the edge is, m, now that the foot stands; 0 without one.

        One that came down before it does not know its top.

        Args:
            place: Of the foot, from the other one, floor axes, m, ``(3,)``.
        """
        near = math.hypot(*(place - self.place)[:2]) < BEFORE * self._size.length
        unseen = self.held and near and place[2] < self.place[2]
        return UNSEEN * self._size.length if unseen else float(self.place[2])

    def most(self, elapsed: float) -> float:
        """Return how hard the foot may push along the floor, so long after, m/s^2."""
        waits = self.lowered or self.lifts(elapsed)
        return PRESS * self._size.acceleration if waits else math.inf

    def turning(self, stiffness: float, damping: float) -> tuple[float, float]:
        """Return the gains of turning the foot flat: faster than these where an edge turned it."""
        rate = TURN_BACK / self._size.time
        return (rate**2, 2.0 * rate) if self.held else (stiffness, damping)

    def meets(
        self,
        touches: bool,
        planned: SwingFoot,
        place: np.ndarray,
        bottom: float,
        velocity: np.ndarray,
        elapsed: float,
        remaining: float,
    ) -> bool:
        """Return whether the foot meets an edge now.

        Args:
            touches: Whether it touches something.
            planned: What it shall do.
            place: Of the foot, from the stance foot, floor axes, m, ``(3,)``.
            bottom: How high the lowest corner of its sole is, likewise, m; of one that touches.
            velocity: As measured, m/s, ``(3,)``: one that is foreseen goes on as it is asked to.
            elapsed: Time since the step began, s.
            remaining: Time until its touchdown, s.
        """
        (x, y, _), (u, v, rises), (place_x, place_y, _) = (
            each.tolist() for each in (planned.position, planned.velocity, place)
        )
        size, pace = self._size, math.hypot(u, v)
        goes = math.hypot(*velocity[:2].tolist())
        behind = ((x - place_x) * u + (y - place_y) * v) / max(pace, 1e-9)
        held = behind > BEHIND * size.length and goes < min(HELD * pace, STILL * size.speed)
        if self.lifts(elapsed):
            self.held = self.held or held and not touches  # what it stands on holds it, too
            return False
        part = elapsed / max(elapsed + remaining, 1e-9)
        lands = -rises > STEEP * pace or bottom < LOW * size.length
        scrapes = touches and not (lands or self.met) and FIRST < part < LATE
        holds = held and elapsed > LEAVES * size.time
        if self.lowered or remaining < self.soon or not (holds or scrapes):
            return False
        self.met, self.held, self.place = True, bool(self.held or held), place.copy()
        self.lowered = part > LATE
        if not self.lowered:
            self.until = elapsed + CLEAR * size.time
            self.soonest = self.until + DOWN * size.time
        return True
