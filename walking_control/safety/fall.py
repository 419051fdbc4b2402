# SPDX-License-Identifier: Apache-2.0
"""When a robot counts as fallen."""

from walking_control.models.dynamics import standing_height


class FallDetector:
    """Judges lean and height of a `WalkerState`.

    Args:
        robot: The `Robot`.
        values: Validated values of `SAFETY`.
    """

    def __init__(self, robot, values):
        self._lean = values.fall_lean
        self._height = values.fall_height * standing_height(robot)

    def reason(self, state):
        """Return why the robot counts as fallen, or None."""
        lean = abs(float(state.q[0]))
        if lean > self._lean:
            return f'the stance leg leans {lean:.2f} rad; limit {self._lean:g}'
        if state.base_height < self._height:
            return (f'the base is {state.base_height:.2f} m above the stance foot; '
                    f'limit {self._height:.2f}')
        return None
