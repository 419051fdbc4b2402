# SPDX-License-Identifier: Apache-2.0
"""Which velocity is aimed at: what is commanded, followed within limits, and trimmed."""

import numpy as np

from walking_control.controllers import Size, SteppingParameters, USUAL
from walking_control.controllers.stepping.trim import SpeedTrim
from walking_control.models import array_function
from walking_control.models.signals import Reference

SLOWING = 3.0  # times faster it slows down than it speeds up


class VelocityAim:
    """The velocity that steps are planned for: ahead, to the left (m/s) and of turning (rad/s).

    Attributes:
        wanted: What is commanded, within the limits, ``(3,)``.
        value: What is aimed at now, ``(3,)``.
        rate: How fast the value changes, m/s^2, of the turn rad/s^2.
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
        self.wanted, self.value, self.rate = np.zeros(3), np.zeros(3), 0.0
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
        self.wanted, self.rate, self.crouch = wanted, values.speed_rate, reference.lower

    def after(self, time: float, slowing: float = SLOWING) -> np.ndarray:
        """Return what will be aimed at after a time in s, ``(3,)``; nothing changes.

        Args:
            time: From now, s.
            slowing: How many times faster it slows down than it speeds up.
        """
        most, ways = self.rate * time, zip(self.value.tolist(), self.wanted.tolist())
        return np.array([approach(now, wanted, most, slowing) for now, wanted in ways])

    @property
    def planned(self) -> np.ndarray:
        """Return what steps are planned for, ``(3,)``."""
        return np.array(
            [v + more for v, more in zip(self.value.tolist(), (*self.trim.value.tolist(), 0.0))]
        )


@array_function
def approach(now: float, wanted: float, most: float, slowing: float) -> float:
    """Return a velocity, moved towards the one that is wanted; all in m/s, or rad/s.

    Args:
        now: The velocity.
        wanted: Where it goes.
        most: How far it is moved.
        slowing: How many times farther if it slows down.
    """
    step = most * (slowing if abs(wanted) < abs(now) else 1.0)
    return now + min(max(wanted - now, -step), step)


def velocity_limits(values: SteppingParameters) -> tuple[float, float, float]:
    """Return the largest speed ahead or back, sideways (m/s) and of turning (rad/s)."""
    return values.speed_limit, values.sideways_limit, values.turn_limit
