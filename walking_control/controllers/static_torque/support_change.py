# SPDX-License-Identifier: Apache-2.0
"""From one support to another without a jump: contacts held still, shares that move slowly."""

from collections.abc import Collection, Sequence

import numpy as np


class SupportChange:
    """Which feet carry, and how much of the weight each of them may carry.

    A foot counts as on the floor once its contact has been the same for the debounce time. Its
    share then moves to 1 if it is wanted, to 0 if it is not, within the ramp time; at 0 it is no
    longer part of the support. A foot that has lost the floor leaves the support at once: nothing
    carries it, so nothing may be planned on it.

    Args:
        feet: Names of the feet.
        debounce: How long a contact must be the same to be believed, s.
        ramp_time: How long a share takes between 0 and 1, s.
    """

    def __init__(self, feet: Sequence[str], debounce: float, ramp_time: float) -> None:
        self._feet = tuple(feet)
        self._debounce = debounce
        self._ramp_time = ramp_time
        self.reset([True] * len(self._feet))

    def reset(self, contact: Sequence[bool] | np.ndarray) -> None:
        """Begin with the given contacts, believed and fully loaded."""
        self.contact = [bool(c) for c in contact]
        self.share = [1.0 if c else 0.0 for c in self.contact]
        self._waiting = [0.0] * len(self._feet)

    def update(
        self, contact: Sequence[bool] | np.ndarray, wanted: Collection[str] | None, dt: float
    ) -> None:
        """Advance by one tick.

        Args:
            contact: Whether each foot touches the floor now, as measured.
            wanted: Names of the feet that shall carry; None takes all.
            dt: Time since the last tick, s.
        """
        step = dt / self._ramp_time if self._ramp_time > 0.0 else 1.0
        for i, foot in enumerate(self._feet):
            self._believe(i, bool(contact[i]), dt)
            if not self.contact[i]:
                self.share[i] = 0.0
            elif wanted is None or foot in wanted:
                self.share[i] = min(1.0, self.share[i] + step)
            else:
                self.share[i] = max(0.0, self.share[i] - step)
        # what is not carried by others is carried at once
        total = sum(self.share)
        if 0.0 < total < 1.0:
            self.share = [share / total for share in self.share]

    def _believe(self, i: int, contact: bool, dt: float) -> None:
        if contact == self.contact[i]:
            self._waiting[i] = 0.0
            return
        self._waiting[i] += dt
        # a hair early counts, so that rounding does not cost a tick
        if self._waiting[i] >= self._debounce - 1e-9:
            self.contact[i] = contact
            self._waiting[i] = 0.0

    def hold_back(self, wanted: Collection[str] | None, dt: float) -> None:
        """Give leaving feet two steps back: the balance cannot do without them yet.

        Args:
            wanted: Feet that shall carry; None: all that touch.
            dt: Time since the last tick, s.
        """
        step = 2.0 * dt / self._ramp_time if self._ramp_time > 0.0 else 1.0
        for i, foot in enumerate(self._feet):
            if self.contact[i] and wanted is not None and foot not in wanted:
                self.share[i] = min(1.0, self.share[i] + step)

    @property
    def changing(self) -> bool:
        """Whether a share is on its way."""
        return any(0.0 < share < 1.0 for share in self.share)

    @property
    def support(self) -> tuple[str, ...]:
        """Names of the feet that carry."""
        return tuple(foot for foot, share in zip(self._feet, self.share) if share > 0.0)

    def caps(self, weight: float) -> dict[str, float]:
        """Return foot -> largest normal force, N, of the feet whose share is on its way."""
        return {
            foot: share * weight for foot, share in zip(self._feet, self.share) if 0.0 < share < 1.0
        }
