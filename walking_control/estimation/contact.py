# SPDX-License-Identifier: Apache-2.0
"""Foot contacts from evidence: measured load, height over the floor, and time.

One noisy reading proves little, several in a row do. Each reading beyond a threshold adds its
excess to a sum that never falls below zero; the contact changes when it reaches what noise alone
hardly ever does ([Pag54]). A clear change is taken at its first reading, a faint one after some.

With readings whose mean lies a margin m on the safe side of the threshold, and white noise of
standard deviation s, the sum exceeds h in a tick with a probability of at most exp(-2 m h / s^2)
(Wald's inequality), so h = s^2 ln(1 / p) / (2 m) holds false changes below a rate p.

Simplification: noise counts as white from tick to tick; a slow drift of a sensor is a load.
"""

from collections.abc import Sequence
import math

import numpy as np

# Stamps are rounded on their way through messages; a hair early counts.
STAMP_TOLERANCE = 1e-6
FALSE_CHANGES = 1e-7  # per tick: one in hours


class ContactEvidence:
    """Contact of one foot.

    After a change the next must wait for the hold time.

    Args:
        hold: Shortest time between two changes, s.
    """

    def __init__(self, hold: float) -> None:
        self._hold = hold
        self._sum = 0.0
        self.contact = False
        self.suppressed = 0  # changes not taken within the current second
        self._changed = -math.inf
        self._raw = False
        self._second = -math.inf

    def expect(self, on_force: float, off_force: float, noise: float) -> None:
        """Take what loads are from now on.

        Args:
            on_force: Load that makes contact when it lasts, N.
            off_force: Load below which contact ends when it lasts, N.
            noise: Standard deviation of a measured load, N.
        """
        self._on_force, self._off_force = on_force, off_force
        # nothing in the air; on the floor at least twice the load that makes contact
        worth = 0.5 * noise * noise * math.log(1.0 / FALSE_CHANGES)
        self._to_make, self._to_end = worth / on_force, worth / (2.0 * on_force - off_force)

    def update(self, load: float, stamp: float) -> bool:
        """Return the contact.

        Args:
            load: Measured, less what speaks against a contact, N; see `lift_load`.
            stamp: Time, s.
        """
        wanted = self._wanted(load)
        if stamp - self._second >= 1.0:
            self._second, self.suppressed = stamp, 0
        if wanted == self.contact:
            self._raw = wanted
        elif stamp - self._changed >= self._hold - STAMP_TOLERANCE:
            self.contact = self._raw = wanted
            self._changed, self._sum = stamp, 0.0
        elif wanted != self._raw:
            self._raw = wanted
            self.suppressed += 1
        return self.contact

    def _wanted(self, load: float) -> bool:
        """Return whether the evidence so far says contact."""
        excess = self._off_force - load if self.contact else load - self._on_force
        enough = self._to_end if self.contact else self._to_make
        # no more than is needed, so that the first contrary reading counts
        self._sum = min(max(0.0, self._sum + excess), enough)
        return self.contact != (excess > 0.0 and self._sum >= enough)


class PullEvidence:
    """Whether a floor seems to pull a foot down: no floor does, a sensor is wrong.

    The sum of `ContactEvidence`, for twice the noise that is declared. No single reading fills it.

    Args:
        on_force: Load that makes contact when it lasts, N; half of it, pulling, counts.
        noise: Standard deviation of a measured load, N.
    """

    def __init__(self, on_force: float, noise: float) -> None:
        self._least = 0.5 * on_force
        self._enough = max(
            2.0 * noise * noise * math.log(1.0 / FALSE_CHANGES) / self._least, 2.0 * self._least
        )
        self._sum = 0.0

    def update(self, load: float) -> bool:
        """Return whether measured loads, N, say so up to this one."""
        excess = min(-load - self._least, self._enough / 3.0)
        self._sum = min(max(0.0, self._sum + excess), self._enough)
        return self._sum >= self._enough * (1.0 - 1e-9)


def lift_load(height: float, rise: float, horizon: float, lifted: float, load: float) -> float:
    """Return the load that a foot's height over the floor speaks against its contact, N.

    Soft evidence: the floor may be higher than known, and then the measured load wins.

    Args:
        height: Over the floor through the stance foot, m.
        rise: Its rate, m/s.
        horizon: How far ahead the height counts, s.
        lifted: Height from which on a foot counts as lifted, m.
        load: What that is worth, N.
    """
    return load * min(max((height + horizon * rise) / lifted, 0.0), 1.0)


BALANCING = 0.01  # s: impacts are sampled by the feet and averaged by the IMU
NAMED, FORGOTTEN = 0.2, 0.2  # s of contradiction that name a sensor; s of them lost in a second
EXCESS = 0.6  # of what may be missing is too much: only feet in the air are accused of it


class LoadBalance:
    """Loads of the feet that agree with the weight, whatever the sensor of one of them says.

    The momentum of a robot changes by gravity and the floor alone: the feet together carry its mass
    times the specific force along the floor's normal, but for what swinging legs make of it (9 N
    of 98 on a robot of 10 kg at 0.5 m/s). What is missing lies on a foot that is down and says
    nothing; what is too much is said by a foot in the air. A sensor that was wrong for long enough
    is named; the load of its foot is for others to say from then on.

    Args:
        most: By how much the balance may be wrong, N.
        on_force: Load that makes contact, N.
        lifted: Height over the lowest foot from which on a foot is in the air, m.
        lies: Written: which sensors have been found wrong, ``(n_feet,)``.
    """

    def __init__(self, most: float, on_force: float, lifted: float, lies: np.ndarray) -> None:
        self._most, self._on_force, self._lifted = most, on_force, lifted
        self.lies = lies
        self.reset()

    def reset(self) -> None:
        """Trust every sensor."""
        self.lies[:] = False
        self._error, self._stamp = 0.0, math.inf
        self._wrong = [0.0] * len(self.lies)  # s

    def correct(
        self,
        loads: list[float],
        weighed: float,
        heights: Sequence[float],
        support: int,
        stamp: float,
    ) -> int | None:
        """Change loads in place to what they must be; return of which foot, if of any.

        Args:
            loads: Of every foot, N.
            weighed: Mass times specific force along the floor's normal, N.
            heights: Of every foot over a plane along the floor, m.
            support: The stance foot.
            stamp: s.
        """
        dt, self._stamp = max(stamp - self._stamp, 0.0), stamp
        self._error += min(dt / BALANCING, 1.0) * (weighed - sum(loads) - self._error)
        self._wrong = [max(wrong - FORGOTTEN * dt, 0.0) for wrong in self._wrong]
        if -EXCESS * self._most < self._error < self._most:
            return None
        suspect = self._suspect(loads, heights, support)
        if suspect is not None:
            self._wrong[suspect] += dt
            self.lies[suspect] |= self._wrong[suspect] > NAMED
            loads[suspect] = max(loads[suspect] + self._error, 0.0)
        return suspect

    def _suspect(
        self, loads: Sequence[float], heights: Sequence[float], support: int
    ) -> int | None:
        """Return the foot whose load is not as it says; None: it does not matter."""
        limit = min(heights) + self._lifted
        if self._error < 0.0:  # the highest of those in the air that say they carry
            up = [
                foot
                for foot, height in enumerate(heights)
                if height > limit and loads[foot] > self._on_force
            ]
            return max(up, key=lambda foot: heights[foot], default=None)
        down = [foot for foot, height in enumerate(heights) if height <= limit]
        silent = [foot for foot in down if loads[foot] < self._on_force]
        return silent[0] if len(silent) == 1 else support if support in down else down[0]
