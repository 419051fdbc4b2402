# SPDX-License-Identifier: Apache-2.0
"""When a gait is left and when it is entered: the one place where that is decided.

What counts is the deviation some time ahead, delta + T delta', of a low-pass of the two: a small
one that grows cannot be held, and a large one that the sole takes back does no harm. Nor does one
that the next foothold ends, as far as that can be reached. On a rough floor the deviation jumps
with every touchdown: there that foothold alone decides.
"""

import math

import numpy as np

from walking_control.controllers import NaturalWalkingParameters, Step

TO_RISE, TO_ENTER = 2, 4  # calm steps
# Parts of a step between which it is left: before, its impact still moves the deviation; after,
# there is no time for another step than the one under way.
FIRST, LAST = 0.05, 0.75
# in sqrt(L / g), L the length of a leg
FILTER = 0.035  # of the deviation's low-pass
ROUGH_FIRST, ROUGH_FILTER = 0.21, 0.105  # on a rough floor it is judged so late, and smoothly
LATEST = 0.42  # how long a late floor is waited for


class GaitSwitch:
    """Whether the robot walks on its gait.

    Args:
        time: sqrt(L / g) of the robot, s.

    Attributes:
        on_gait: Whether it does; it stands or steps otherwise.
        judged: Deviation, smoothly, m, ``(2,)``.
        rate: And how fast it grows, m/s, ``(2,)``; on a rough floor it is not looked ahead.
        begun: Whether the step under way is judged by now.
        calm: How many steps off the gait were calm, one after another; no more than needed count.
    """

    def __init__(self, time: float) -> None:
        self._time = time
        self.reset()

    def reset(self) -> None:
        """Begin anew, off the gait, with nothing to recover from."""
        self.on_gait, self.calm, self.begun = False, TO_ENTER, False
        self.judged, self.rate = np.zeros(2), np.zeros(2)

    @property
    def tall(self) -> bool:
        """Return whether the base stands as high as the gait has it."""
        return self.calm >= TO_RISE

    def count(self, deviation: np.ndarray, uneven: bool, values: NaturalWalkingParameters) -> None:
        """Take a touchdown off the gait; on an uneven floor one calm step is enough.

        Args:
            deviation: From plain stepping, m, ``(2,)``.
            uneven: Whether the floor is rough, or leans.
            values: The parameters.
        """
        if self.calm < TO_ENTER:
            more = TO_ENTER if uneven else 1
            calm = math.hypot(*deviation) < values.calm
            self.calm = min(self.calm + more, TO_ENTER) if calm else 0

    def judge(
        self, deviation: np.ndarray, elapsed: float, rough: bool, settled: bool, dt: float
    ) -> None:
        """Follow the deviation from the gait, smoothly.

        Args:
            deviation: m, ``(2,)``.
            elapsed: Time since the last touchdown, s.
            rough: Whether the floor is, or the last touchdown came at another time.
            settled: Whether the sole lies still: one that turns moves the deviation.
            dt: Of the tick, s.
        """
        begins = 2.0 * dt if settled and not rough else ROUGH_FIRST * self._time
        time = (ROUGH_FILTER if rough else FILTER) * self._time
        self.begun = elapsed >= begins
        if not self.begun:
            self.judged = deviation.copy()
        more = deviation - self.judged
        self.rate = np.zeros(2) if rough else more / time
        self.judged = self.judged + min(1.0, dt / time) * more

    def begin_step(
        self,
        speed: float,
        speeds: np.ndarray,
        deviation: np.ndarray,
        surprised: bool,
        values: NaturalWalkingParameters,
    ) -> None:
        """Decide at a touchdown: enter the gait, go on along it, or step on.

        Args:
            speed: Aimed at, m/s.
            speeds: Of the gaits there are, ascending, m/s.
            deviation: From the gait, m, ``(2,)``.
            surprised: Whether the foot came down much too early or too late: nothing is entered.
            values: The parameters.
        """
        fits = speeds[0] - values.matched < speed < speeds[-1] + values.matched
        near = math.hypot(*deviation) < values.entering and not surprised
        self.on_gait = bool(fits and (self.on_gait or near and self.calm >= TO_ENTER))

    def go_on(self, part: float, step: Step, rough: bool, values: NaturalWalkingParameters) -> None:
        """Decide within a step: leave the gait where it cannot take the deviation, or go on.

        Args:
            part: Of the step that is over, by place or by time, what is less.
            step: As it is planned.
            rough: Whether the floor is.
            values: The parameters.
        """
        limit, ahead = values.leaving, self.judged + values.look_ahead * self.rate
        far = rough or math.hypot(ahead[0], ahead[1] * limit / values.leaving_sideways) > limit
        missed = step.missing >= (values.leaving_rough if rough else values.leaving_missed)
        if (
            self.begun
            and FIRST < part < LAST
            and far
            and missed
            or step.remaining < -LATEST * self._time
        ):
            self.on_gait, self.calm = False, 0
