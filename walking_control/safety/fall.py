# SPDX-License-Identifier: Apache-2.0
"""When a robot counts as fallen, and when one that is stopped stands."""

import math

from walking_control.models import Dynamics, Robot, WalkerState
from walking_control.safety.parameters import SafetyParameters

TURNING = 0.25  # share of the height at which turning counts as speed of the base


class FallDetector:
    """Judges lean and height of a `WalkerState`.

    Args:
        robot: The `Robot`.
        values: `SafetyParameters`.
    """

    def __init__(self, robot: Robot, values: SafetyParameters) -> None:
        # in the plane the first coordinate is the angle of the stance leg from the floor normal
        self._has_leg = robot.is_planar and bool(robot.coordinates)
        self._lean = values.fall_lean
        self.standing_height = Dynamics(robot).standing_height()  # m
        self._height = values.fall_height * self.standing_height

    def reason(self, state: WalkerState, low: bool = False) -> str | None:
        """Return why the robot counts as fallen, or None.

        Args:
            state: What is known.
            low: Whether it may be low.
        """
        if self._has_leg:
            what, lean = 'stance leg', abs(float(state.coordinates[0]))
        else:
            x, y = state.base.orientation[:2].tolist()
            what, lean = 'base', math.acos(max(-1.0, 1.0 - 2.0 * (x * x + y * y)))
        if lean > self._lean:
            return 'the {} leans {} rad; limit {}'.format(what, *told_apart(lean, self._lean))
        height = state.base.position.item(2) - state.foothold.item(2)
        if height < self._height and not low:
            return 'the base is {} m above the stance foot; limit {}'.format(
                *told_apart(height, self._height)
            )
        return None


def told_apart(value: float, limit: float) -> tuple[str, str]:
    """Return a number and its limit in two decimals, or as many more as tell them apart."""
    texts = [(f'{value:.{digits}f}', f'{limit:.{digits}f}') for digits in range(2, 9)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[-1])


class StandDetector:
    """Judges by `WalkerState`s whether a robot has stood for a while: at rest, on all feet.

    Args:
        values: `SafetyParameters`.
        standing_height: Of the base at zero angles, m.
    """

    def __init__(self, values: SafetyParameters, standing_height: float) -> None:
        self._height = TURNING * standing_height
        self._speed, self._time = values.stand_speed, values.stand_time
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._since: float | None = None

    def stands(self, state: WalkerState) -> bool:
        """Return whether the robot stands, and has for `safety.stand_time`."""
        base = state.base
        still = (
            bool(state.contact.all())
            and float(base.linear @ base.linear) < self._speed**2
            and self._height**2 * float(base.angular @ base.angular) < self._speed**2
        )
        if not still or self._since is None:
            self._since = state.stamp if still else None
        return self._since is not None and state.stamp - self._since >= self._time
