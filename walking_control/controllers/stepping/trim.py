# SPDX-License-Identifier: Apache-2.0
"""What the aim is corrected by so that the robot walks as fast as it should.

The pendulum leaves out what legs with mass do, and the walk settles at a speed that is some
hundredths off. An integral of that error, step by step, takes it away. But it must not learn from a
push: while one is caught the speed says nothing of what it would settle at, and what was learned
would make the robot run for seconds. So a step teaches only where the speed is that of the step
before, nearly, and never more than an undisturbed walk can be off.
"""

import math

import numpy as np

from walking_control.controllers.stepping.size import Size, USUAL

STEADY = 0.1  # m/s: a speed that changes more from step to step, or is more off, is disturbed
MOST = 0.4  # m/s


class SpeedTrim:
    """The correction, ahead and to the left.

    Attributes: `value`: m/s, ``(2,)``.

    Args:
        size: Of the robot.
    """

    def __init__(self, size: Size = USUAL) -> None:
        self._steady, self._most = STEADY * size.speed, MOST * size.speed
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self.value = np.zeros(2)
        self._last: tuple[np.ndarray, float, np.ndarray] | None = None
        self._mean = np.zeros(2)

    def add(self, way: np.ndarray, time: float, aim: np.ndarray, share: float) -> None:
        """Take a step.

        Args:
            way: From foot to foot, heading frame, m, ``(2,)``.
            time: It took, s.
            aim: Velocity it was begun for, m/s, ``(2,)``.
            share: Of the error of the last two steps that is added.
        """
        last, self._last = self._last, (way, time, aim)
        if last is None:
            return
        # of two steps, one with each foot: the width comes and goes
        before, self._mean = self._mean, (last[0] + way) / (last[1] + time)
        if math.hypot(*(self._mean - before)) < self._steady:
            error = np.clip(0.5 * (last[2] + aim) - self._mean, -self._steady, self._steady)
            np.clip(self.value + share * error, -self._most, self._most, out=self.value)
