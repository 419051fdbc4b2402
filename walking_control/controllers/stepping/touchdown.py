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


class Thresholds(NamedTuple):
    """What tells rest from motion, in the size of a robot: m and m/s, see the constants."""

    stopped: float
    far: float
    rising: float
    bouncing: float
    creep: float
    slow: float


def thresholds_of(size: Size) -> Thresholds:
    """Return the `Thresholds` of a robot of a size, by dynamic similarity."""
    return Thresholds(
        STOPPED * size.length,
        FAR * size.length,
        RISING * size.speed,
        BOUNCING * size.speed,
        CREEP * size.speed,
        SLOW * size.speed,
    )


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
        rest: The `Thresholds` of the robot.
        size: Of the robot.

    Attributes:
        rest: As given.
        trip: What the foot in the air met: while it is lifted it does not land.
    """

    def __init__(self, rest: Thresholds, size: Size = USUAL) -> None:
        self.rest, self.trip = rest, Trip(size)
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
        foot, rest, speed, lag = descent.foot, self.rest, descent.velocity[2], descent.lag
        self._touches, self._stands = bool(contact[foot]), bool(contact[1 - foot])
        self._lifted = self._lifted or not self._touches
        carries = (
            self._lifted
            and self._touches
            and descent.elapsed > EARLIEST * step_time
            and self._is_halted(descent)
        )
        self._felt[1 - foot] |= bool(contact[1 - foot])
        waits = self._felt[foot] and (lag > rest.far or speed < -rest.creep)
        patience = PATIENT * step_time if waits else 0.0
        stopped = descent.remaining <= -patience and lag > rest.stopped
        # of one that shall come down and carries the speed may be noise
        falls = carries and descent.planned[2] < -rest.creep and speed < rest.bouncing
        stands = (carries or stopped) and (falls or speed < rest.rising)
        self._landing = self._landing + 1 if stands else 0
        return self._landing >= TOUCHING and not self.trip.lifts(descent.elapsed)

    def _is_halted(self, descent: Descent) -> bool:
        """Return whether the swing foot, as measured, is nearer to rest than to its planned motion.

        Upwards alone, or in all: on ice a foot that has landed slides on.
        """
        planned, moves, creep = descent.planned, descent.measured, self.rest.creep
        return (
            planned[2] < -creep
            and moves[2] > 0.5 * planned[2]
            or bool(planned @ planned > creep**2 and moves @ planned < 0.5 * planned @ planned)
        )
