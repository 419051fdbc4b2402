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

import math

# Stamps are rounded on their way through messages; a hair early counts.
STAMP_TOLERANCE = 1e-6
FALSE_CHANGES = 1e-7   # per tick: one in hours


class ContactEvidence:
    """Contact of one foot.

    After a change the next must wait for the hold time.

    Args:
        on_force: Load that makes contact when it lasts, N.
        off_force: Load below which contact ends when it lasts, N.
        noise: Standard deviation of a measured load, N.
        hold: Shortest time between two changes, s.
    """

    def __init__(self, on_force: float, off_force: float, noise: float, hold: float) -> None:
        self._on_force, self._off_force = on_force, off_force
        # nothing in the air; on the floor at least twice the load that makes contact
        worth = 0.5 * noise * noise * math.log(1.0 / FALSE_CHANGES)
        self._to_make, self._to_end = worth / on_force, worth / (2.0 * on_force - off_force)
        self._hold = hold
        self._sum = 0.0
        self.contact = False
        self.suppressed = 0   # changes not taken within the current second
        self._changed = -math.inf
        self._raw = False
        self._second = -math.inf

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
        self._enough = max(2.0 * noise * noise * math.log(1.0 / FALSE_CHANGES) / self._least,
                           2.0 * self._least)
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
