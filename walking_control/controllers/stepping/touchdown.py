# SPDX-License-Identifier: Apache-2.0
"""When the swing foot has landed: it carries, or it no longer sinks as it should."""

from typing import NamedTuple

import numpy as np

from walking_control.controllers.stepping.size import Size, USUAL
from walking_control.controllers.stepping.trip import Trip

TOUCHING = 2  # ticks a contact must last to be a touchdown
EARLIEST = 0.3  # part of the step time before which the swing foot does not land
PATIENT = 0.25  # of the same: how long a sensor that works is waited for
STOPPED = 0.006  # m: how far a foot on the floor stays behind one that sinks on
FAR = 0.015  # m: a foot that is farther behind may still be in the air
RISING = 0.05  # m/s: a foot that rises faster has not landed,
BOUNCING = 0.2  # m/s: nor one that bounces, where it should come down
CREEP = 0.1  # m/s: a slower plan does not tell a foot at rest from one in the air
SLOW = 0.02  # m/s, rad/s: commands below it ask to stand


class Descent(NamedTuple):
    """The swing foot on its way down, in floor axes."""

    foot: int
    velocity: np.ndarray  # m/s, ``(3,)``
    measured: np.ndarray  # the same before it was foreseen, m/s, ``(3,)``
    planned: np.ndarray  # velocity it should have, m/s, ``(3,)``
    lag: float  # how far it is above where it should be, m
    elapsed: float  # time since the last touchdown, s
    remaining: float  # time until the planned touchdown, s


class Touchdown:
    """Finds touchdowns, by the feet's sensors and without them.

    Args:
        size: Of the robot: what tells rest from motion grows with it.

    Attributes:
        trip: What the foot in the air met: while it is lifted it does not land.
    """

    def __init__(self, size: Size = USUAL) -> None:
        self._size, self._creep, self.trip = size, CREEP * size.speed, Trip(size)
        self.reset()

    def reset(self) -> None:
        """Begin anew: all feet stand, and their sensors are believed."""
        self._landing, self._lifted, self._touches, self._stands = 0, False, False, True
        self._felt = [True, True]  # did its sensor tell of a foot's landing

    @property
    def touches(self) -> bool:
        """Return whether the foot that was lifted touches again, landed or not."""
        return self._lifted and self._touches

    @property
    def scrapes(self) -> bool:
        """Return whether that foot touches while the other one stands.

        If nothing carries the other one, this foot has landed, or the sensors are exchanged.
        """
        return self.touches and self._stands

    def begin_step(self) -> None:
        """A foot is lifted."""
        self.trip.begin_step()
        self._landing, self._lifted = 0, False

    def end_step(self, foot: int) -> None:
        """A foot has landed: note whether its sensor told of it."""
        self._felt[foot] = self._lifted and self._touches

    def has_come(self, contact: np.ndarray, descent: Descent, step_time: float) -> bool:
        """Return whether the swing foot stands: it carries, or it no longer sinks as it should.

        The second does not need a sensor of the foot; it counts once the foot shall be down. A
        sensor that has not let go since the foot was lifted is stuck: it says nothing. Nor is one
        believed while the foot goes on as planned: a floor would stop it. A leg may be too slow to
        come down, too, and is far behind, or still sinks: a sensor that told of the last landing is
        waited for.

        Args:
            contact: What the feet's sensors say, ``(2,)``.
            descent: The swing foot.
            step_time: Nominal time of a step, s.
        """
        foot, size, speed, lag = descent.foot, self._size, descent.velocity[2], descent.lag
        self._touches, self._stands = bool(contact[foot]), bool(contact[1 - foot])
        self._lifted = self._lifted or not self._touches
        carries = (
            self._lifted
            and self._touches
            and descent.elapsed > EARLIEST * step_time
            and self._is_halted(descent)
        )
        self._felt[1 - foot] |= bool(contact[1 - foot])
        waits = self._felt[foot] and (lag > FAR * size.length or speed < -self._creep)
        patience = PATIENT * step_time if waits else 0.0
        stopped = descent.remaining <= -patience and lag > STOPPED * size.length
        # of one that shall come down and carries the speed may be noise
        falls = carries and descent.planned[2] < -self._creep and speed < BOUNCING * size.speed
        stands = (carries or stopped) and (falls or speed < RISING * size.speed)
        self._landing = self._landing + 1 if stands else 0
        return self._landing >= TOUCHING and not self.trip.lifts(descent.elapsed)

    def _is_halted(self, descent: Descent) -> bool:
        """Return whether the swing foot, as measured, is nearer to rest than to its planned motion.

        Upwards alone, or in all: on ice a foot that has landed slides on.
        """
        planned, moves, creep = descent.planned, descent.measured, self._creep
        return (
            planned[2] < -creep
            and moves[2] > 0.5 * planned[2]
            or bool(planned @ planned > creep**2 and moves @ planned < 0.5 * planned @ planned)
        )
