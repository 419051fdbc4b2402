# SPDX-License-Identifier: Apache-2.0
"""What a walking law knows of the floor: its slope, edges it was told of, and how deep feet went.

Places are in floor axes, from the base's origin or the stance foot; heights are over the stance
foot.
"""

import math

import numpy as np

from walking_control.controllers import Size, SteppingParameters, USUAL
from walking_control.controllers.stepping.stairs import Stairs
from walking_control.models.signals import WalkerState

AWAITED = 2  # steps: so long who went up alone is expected to come down again
SAGGING = 0.15  # s: within which the base comes back to its height after a stair


class Floor:
    """The floor as it is known now.

    Args:
        least_drop: Of the floor from step to step that is told from a level one, m.
        fall: Of the floor ahead against gravity, as a slope, 1.
        size: Of the robot.

    Attributes:
        downhill: Where gravity pulls along the floor, over what it pulls into it, ``(2,)``.
        tilted: Turns level places into places on the slope, ``(3, 3)``.
        level: And back, ``(3, 3)``.
        normal: The floor's, its vertical part 1, ``(3,)``.
        stairs: The edges it was told of; None without any.
        rise: Of the foothold over the stance foot, m.
        between: Of the highest floor on the way there, m.
        stamp: Of what was observed last, s.
    """

    def __init__(self, least_drop: float, fall: float = 0.0, size: Size = USUAL) -> None:
        self._least_drop, self.downhill = least_drop, np.array([fall, 0.0])
        self._size = size
        self.reset()

    def reset(self) -> None:
        """Begin anew, on a level floor."""
        self.tilted, self.level = np.eye(3), np.eye(3)
        self.normal = self.level[2]
        self._told: SteppingParameters | None = None  # whose edges `stairs` has
        self.stairs: Stairs | None = None
        self.stamp = self.rise = self.between = self._sag = self._drift = 0.0
        self._ways = np.zeros((2, 3))  # from foot to foot, of the last two steps, m
        self._alone = True  # whether the floor came down again after it rose the last time
        self._risen, self._since = 0.0, 0  # by how much that was, m, and how many steps ago

    def observe(self, state: WalkerState, values: SteppingParameters) -> None:
        """Take slope and place of the base, and the edges, which may change while it walks.

        Args:
            state: What is known.
            values: The parameters of this tick, with the edges.
        """
        place, self.stamp = state.base.position, state.stamp
        self._place, self._altitude = float(place[0]) + self._drift, float(place[2])
        self.lean(state.floor_slope)
        if self._told is not values:
            self._told, half = values, 0.5 * values.sole_length
            places, rises = values.edge_places, values.edge_rises
            length, highest = self._size.length, values.highest_edge
            self.stairs = Stairs(places, rises, half, highest, length) if places else None

    def lean(self, slope: np.ndarray) -> None:
        """Take the floor's rise over run along x and y, ``(2,)``."""
        self.tilted[2, :2], self.level[2, :2] = slope, -slope

    def ends_within(self, way: float) -> bool:
        """Return whether an edge that is not stepped over is nearer than a way ahead, m."""
        return self.stairs is not None and self._place + way > self.stairs.end

    def move_foothold(self, foothold: np.ndarray, stance: np.ndarray, swing: float) -> None:
        """Move a foothold off the edges, and find how high the floor is there and on the way.

        Args:
            foothold: From the stance foot, m, ``(2,)``; it is changed.
            stance: Place of the stance foot, m, ``(3,)``.
            swing: Of the swing foot ahead of the stance foot, m.
        """
        assert self.stairs is not None
        own = self._place + float(stance[0])
        foothold[0] = self.stairs.beside(own + float(foothold[0]), own) - own
        self.rise, self.between = self.stairs.rise(own, own + swing, own + float(foothold[0]))

    @property
    def next_drop(self) -> float:
        """Return by how much the next foothold may be lower, m; a foot that is early does no harm.

        Who went down goes on down; who went up alone comes down again within two steps, unless the
        last time it was the first of stairs.
        """
        before, last = (self._ways @ self.normal).tolist()
        drop = max(-0.5 * (before + last), self._risen if self._alone else 0.0)
        return drop if drop > self._least_drop else 0.0

    def sink(self, dt: float) -> None:
        """Let the base come back to its height; without edges, foresee the next drop."""
        if self.stairs is not None:
            self._sag *= math.exp(-dt / (SAGGING * self._size.time))
        else:
            self.rise = -self.next_drop

    def lowering(self, swing_height: float, part: float) -> float:
        """Return how much higher than usual over the stance foot the base shall be, m.

        While the floor is late it goes down after the foot; on stairs it rises on the way.

        Args:
            swing_height: At which the swing foot shall be, m.
            part: Of the step that is over.
        """
        late = min(swing_height, 0.0)
        if self.stairs is None:
            return late
        # a foot that comes up from a lower stair is no late floor
        return (late if part > 0.5 else 0.0) + self._sag + max(self.rise, 0.0) * part

    def end_step(self, way: np.ndarray, foot: np.ndarray, lowering: float) -> None:
        """Take a touchdown.

        Args:
            way: From foot to foot, m, ``(3,)``.
            foot: Place of the one that landed, m, ``(3,)``.
            lowering: Of the base at that time, m: it goes on from there, now over the other foot.
        """
        rise = float((self.level @ way)[2])
        self._since += 1
        if self._risen > 0.0:
            came_down = -rise > 0.5 * self._risen
            if came_down or rise > 0.5 * self._risen or self._since == AWAITED:
                self._alone, self._risen = came_down, 0.0
        if self._risen == 0.0 and rise > self._least_drop:
            self._risen, self._since = rise, 0
        self._sag, self._ways = lowering - rise, np.array([self._ways[1], way])
        if self.stairs is not None:
            x, _, z = foot
            self._drift += self.stairs.locate(self._place + x, self._altitude + z)
