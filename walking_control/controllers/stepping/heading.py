# SPDX-License-Identifier: Apache-2.0
"""Heading of a robot on points: what it is on the average of a stride, and the moment for that.

About the floor's normal only friction within the point of contact turns a robot on one point:
I theta'' = M, |M| <= friction * torsion * normal force. The swinging legs turn the base to and fro,
once a stride, and need more than that to be held against. A law that tries has its moment at the
limit nearly always, where it can no longer answer a heading that is lost: the slow motion is left
without damping. But what the legs do one step they undo the next. So the sway is let be, and the
moment is that of error and rate on the average of a stride, which do not contain it:

    M = I (k mean(heading - yaw) - d mean(yaw' - heading'))

The mean is half a stride old. With k = w^2, d = 2 D w that costs a phase of w T at the frequency w.
"""

from collections import deque
import math

import numpy as np

from walking_control.models import array_function


class Heading:
    """Where the robot shall look: its frame has x ahead and y to the left.

    Attributes:
        angle: Against the floor frame, about the normal, rad.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget where it looked."""
        self.angle, self._begun = 0.0, False

    def begin(self, yaw: float) -> None:
        """Look where the robot looks, rad, unless there is a heading already."""
        self.angle, self._begun = self.angle if self._begun else yaw, True

    def from_floor(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector of floor axes, ``(2,)`` or ``(3,)``, in the heading frame."""
        return turn_back(vector, self.angle)

    def to_floor(self, vector: np.ndarray) -> np.ndarray:
        """Return a vector of the heading frame, ``(2,)`` or ``(3,)``, in floor axes."""
        return turn_back(vector, -self.angle)


@array_function
def turn_back(vector: np.ndarray, heading: float) -> np.ndarray:
    """Return a vector as it is seen in the frame of a heading.

    Args:
        vector: In floor axes, ``(2,)`` or ``(3,)``.
        heading: rad.
    """
    c, s, turned = math.cos(heading), math.sin(heading), vector.copy()
    turned[0] = c * vector[0] + s * vector[1]
    turned[1] = -s * vector[0] + c * vector[1]
    return np.asarray(turned)


class StrideMean:
    """Mean of a quantity and of its rate over the last stride."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._past: deque[tuple[float, float]] = deque()
        self._span = self._sum = 0.0

    def add(self, value: float, dt: float, stride: float) -> tuple[float, float]:
        """Take a value; return the means of value and rate.

        Args:
            value: Of this tick.
            dt: Time since the last value, s.
            stride: How far back the means reach, s.
        """
        past = self._past
        past.append((value, dt))
        self._span += dt
        self._sum += value * dt
        while len(past) > 1 and self._span > stride:
            old, lasted = past.popleft()
            self._span -= lasted
            self._sum -= old * lasted
        rate = (value - past[0][0]) / (self._span - past[0][1]) if len(past) > 1 else 0.0
        return self._sum / self._span, rate
