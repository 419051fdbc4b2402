# SPDX-License-Identifier: Apache-2.0
"""Which velocity is aimed at: what is commanded, followed within limits, and trimmed."""

import numpy as np

from walking_control.controllers import Size, SteppingParameters, USUAL
from walking_control.controllers.stepping.trim import SpeedTrim
from walking_control.models.signals import Reference

SLOWING = 3.0  # times faster it slows down than it speeds up


class VelocityAim:
    """The velocity that steps are planned for: ahead, to the left (m/s) and of turning (rad/s).

    Attributes:
        wanted: What is commanded, within the limits, ``(3,)``.
        value: What is aimed at now, ``(3,)``.
        begun_for: What of it the step under way is for, m/s, ``(2,)``.
        crouch: By which share of its height the base is lowered.

    Args:
        size: Of the robot.
        trim: What steps are planned for besides, so that the robot walks as fast as is aimed at.
    """

    def __init__(self, size: Size = USUAL) -> None:
        self.trim = SpeedTrim(size)
        self.reset()

    def reset(self) -> None:
        """Begin anew, at rest."""
        self.wanted, self.value, self._rate = np.zeros(3), np.zeros(3), 0.0
        self.begun_for, self.crouch = np.zeros(2), 0.0
        self.trim.reset()

    def follow(self, reference: Reference, values: SteppingParameters, blocked: bool) -> None:
        """Take what is commanded.

        Args:
            reference: What is commanded; the parameters where it says nothing.
            values: The parameters, with the limits.
            blocked: Whether it shall not go ahead.
        """
        usual = values.speed, values.sideways, values.turn
        wanted = reference.velocity_within(velocity_limits(values), usual)
        if blocked:
            wanted[0] = min(wanted[0], 0.0)
        self.wanted, self._rate, self.crouch = wanted, values.speed_rate, reference.lower

    def after(self, time: float, slowing: float = SLOWING) -> np.ndarray:
        """Return what will be aimed at after a time in s, ``(3,)``; nothing changes.

        Args:
            time: From now, s.
            slowing: How many times faster it slows down than it speeds up.
        """
        most, after = self._rate * time, []  # three numbers: Python is faster than numpy
        for now, wanted in zip(self.value.tolist(), self.wanted.tolist()):
            step = most * (slowing if abs(wanted) < abs(now) else 1.0)
            after.append(now + min(max(wanted - now, -step), step))
        return np.array(after)

    @property
    def planned(self) -> np.ndarray:
        """Return what steps are planned for, ``(3,)``."""
        return np.array(
            [v + more for v, more in zip(self.value.tolist(), (*self.trim.value.tolist(), 0.0))]
        )


def velocity_limits(values: SteppingParameters) -> tuple[float, float, float]:
    """Return the largest speed ahead or back, sideways (m/s) and of turning (rad/s)."""
    return values.speed_limit, values.sideways_limit, values.turn_limit
