# SPDX-License-Identifier: Apache-2.0
"""When each sensor was heard: whether a set is complete, what is missing, silent or too slow."""

from collections import deque
from collections.abc import Mapping
import math

RATE_MARGIN = 0.8  # of `state_timeout` that may lie between two messages on average
# Messages of each sensor by which its rate is judged. The first may be heard a whole interval late:
# (START - 2) / (START - 1) must not be less than RATE_MARGIN, or slow sensors would pass.
START = 6
SLOWEST_CLOCK = 0.1  # of the steady clock's pace, by which stamps stand still in real time


class Arrivals:
    """Judges the arrival of sensors on the steady clock.

    In lockstep a set is complete when all stamps are equal. Otherwise every joint state completes
    it, once each sensor has been heard often enough to know its rate.

    Args:
        kinds: sensor -> kind, the end of its fault code; ``'joint_state'`` is one of the sensors.
        lockstep: Whether stamps must be equal.
        timeout: Longest silence of a sensor, s.
    """

    def __init__(self, kinds: Mapping[str, str], lockstep: bool, timeout: float) -> None:
        self._kinds, self._lockstep, self._timeout = kinds, lockstep, timeout
        # stamps that crawl would keep the law from its turn, and its last effort on
        self._least_advance = 0.0 if lockstep else SLOWEST_CLOCK * timeout
        self.reset(0.0)

    def reset(self, now: float) -> None:
        """Forget all; begin to wait."""
        self._heard: dict[str, float] = {}
        self._stamps: dict[str, float] = {}
        self.complete_at = self._advanced_at = self._stamp = -math.inf
        self.wait(now)

    def wait(self, now: float) -> None:
        """Begin to wait for a complete set."""
        self.waiting_since = now
        self._recent: dict[str, deque[float]] = {
            sensor: deque(maxlen=START) for sensor in self._kinds
        }
        self._ready = self._lockstep

    def arrived(self, sensor: str, stamp: float, now: float) -> bool:
        """Note a message; return whether it completes a set.

        Args:
            sensor: Its name.
            stamp: Its stamp, s.
            now: Steady clock, s.
        """
        self._heard[sensor], self._stamps[sensor] = now, stamp
        if not self._ready:
            self._recent[sensor].append(now)
        if len(self._heard) < len(self._kinds):
            return False
        if self._lockstep:
            if any(other != stamp for other in self._stamps.values()):
                return False
        elif sensor != 'joint_state':
            return False
        self._ready = self._ready or not (self.missing(now) or self.slow())
        if not self._ready:
            return False
        if abs(stamp - self._stamp) > self._least_advance:
            self._stamp, self._advanced_at = stamp, now
        self.complete_at = now
        return True

    # -- while waiting -----------------------------------------------------------------------

    def missing(self, now: float) -> list[str]:
        """Return the sensors not heard lately, or not often enough to know their rate."""
        return [
            sensor
            for sensor in self._kinds
            if now - self._heard.get(sensor, -math.inf) > self._timeout
            or not (self._lockstep or self._ready)
            and len(self._recent[sensor]) < START
        ]

    def slow(self) -> dict[str, float]:
        """Return sensor -> rate in Hz of those that come more rarely than the timeout allows."""
        if self._lockstep:
            return {}
        gaps = {
            sensor: (times[-1] - times[0]) / (len(times) - 1)
            for sensor, times in self._recent.items()
            if len(times) == START
        }
        return {
            sensor: 1.0 / gap for sensor, gap in gaps.items() if gap > RATE_MARGIN * self._timeout
        }

    @property
    def slowest_rate(self) -> float:
        """Lowest rate at which a sensor may come, Hz."""
        return 1.0 / (RATE_MARGIN * self._timeout)

    def excuse(self, now: float) -> None:
        """Let silence count from now on: until then the sensors waited for us."""
        self.complete_at = self._advanced_at = now

    # -- while walking -----------------------------------------------------------------------

    def silences(self, now: float) -> list[tuple[str, float]]:
        """Return a list of (kind, time since it was heard in s), one entry per sensor."""
        return [
            (kind, now - self._heard.get(sensor, -math.inf)) for sensor, kind in self._kinds.items()
        ]

    def lags(self) -> dict[str, float]:
        """Return sensor -> how far its stamp is behind that of the joint states, s."""
        now, stamps = self._stamps['joint_state'], self._stamps
        return {sensor: now - stamps[sensor] for sensor in self._kinds}

    def silence(self, now: float) -> float:
        """Return the time since the last complete set, s."""
        return now - self.complete_at

    def stillness(self, now: float) -> float:
        """Return the time since the stamp last advanced, s."""
        return now - self._advanced_at
