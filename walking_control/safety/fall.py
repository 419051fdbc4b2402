# SPDX-License-Identifier: Apache-2.0
"""When a robot counts as fallen."""

import math

from walking_control.models.dynamics import standing_height


class FallDetector:
    """Judges lean and height of a `WalkerState`.

    Args:
        robot: The `Robot`.
        values: Validated values of `SAFETY`.
    """

    def __init__(self, robot, values):
        self._planar = robot.planar
        self._lean = values.fall_lean
        self._height = values.fall_height * standing_height(robot)

    def reason(self, state):
        """Return why the robot counts as fallen, or None."""
        if self._planar:
            what, lean = 'stance leg', abs(float(state.q[0]))
        else:
            x, y = state.orientation[:2].tolist()
            what, lean = 'base', math.acos(max(-1.0, 1.0 - 2.0 * (x * x + y * y)))
        if lean > self._lean:
            return f'the {what} leans {lean:.2f} rad; limit {self._lean:g}'
        if state.base_height < self._height:
            return (f'the base is {state.base_height:.2f} m above the stance foot; '
                    f'limit {self._height:.2f}')
        return None
