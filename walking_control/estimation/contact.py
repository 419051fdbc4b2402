# SPDX-License-Identifier: Apache-2.0
"""Foot contacts from forces: hysteresis against noise, a hold time against flicker."""

import math

# Stamps are rounded on their way through messages; a hair early counts.
STAMP_TOLERANCE = 1e-6


class ContactDebouncer:
    """Contact of one foot.

    A change is taken at once, so that touchdown is seen without delay; the next change must wait
    for the hold time.

    Args:
        on_force: Force that makes contact, N.
        off_force: Force below which contact ends, N.
        hold: Shortest time between two changes, s.
    """

    def __init__(self, on_force: float, off_force: float, hold: float) -> None:
        self._on_force = on_force
        self._off_force = off_force
        self._hold = hold
        self.contact = False
        self.suppressed = 0   # changes not taken within the current second
        self._changed = -math.inf
        self._raw = False
        self._second = -math.inf

    def update(self, force: float, stamp: float) -> bool:
        """Return the contact, given the magnitude of the force in N and the time in s."""
        wanted = force > (self._off_force if self.contact else self._on_force)
        if stamp - self._second >= 1.0:
            self._second, self.suppressed = stamp, 0
        if wanted == self.contact:
            self._raw = wanted
        elif stamp - self._changed >= self._hold - STAMP_TOLERANCE:
            self.contact = self._raw = wanted
            self._changed = stamp
        elif wanted != self._raw:
            self._raw = wanted
            self.suppressed += 1
        return self.contact
