# SPDX-License-Identifier: Apache-2.0
"""How large a robot is against the walker that the constants of stepping are written for."""

import math
from typing import NamedTuple

LEG, GRAVITY = 0.8, 9.81  # m and m/s^2, of that walker


class Size(NamedTuple):
    """Factors of lengths and of accelerations; the others follow by dynamic similarity."""

    length: float = 1.0
    acceleration: float = 1.0

    @property
    def speed(self) -> float:
        """Factor of speeds: at it two walkers of different size have the same Froude number."""
        return math.sqrt(self.length * self.acceleration)

    @property
    def time(self) -> float:
        """Factor of times."""
        return math.sqrt(self.length / self.acceleration)


USUAL = Size()
