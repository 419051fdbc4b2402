# SPDX-License-Identifier: Apache-2.0
"""When a robot that is stopped stands."""

from walking_control.models.signals import WalkerState
from walking_control.safety.parameters import SafetyParameters

TURNING = 0.25  # share of the height at which turning counts as speed of the base


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
