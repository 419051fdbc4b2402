# SPDX-License-Identifier: Apache-2.0
"""The velocity a law is asked for: judged as it comes, taken back when it is late or on stop."""

from collections.abc import Callable, Sequence
import math

import numpy as np

from walking_control.models.signals import Reference

# name, unit of the parts of a velocity
PARTS = (('ahead', 'm/s'), ('to the left', 'm/s'), ('turning', 'rad/s'))
ROUNDING = 1e-9  # s: stamps are rounded


class Steering:
    """Writes commanded velocities into a `Reference`.

    Velocities that are not finite are nobody's wish and are refused; those beyond the law's limits
    are clipped. One that is not renewed is taken back to zero, as is one that is stopped.

    Args:
        reference: The `Reference` of the law.
        limits: Returns the law's largest speed ahead or back, sideways and of turning.
        hold: How long a velocity holds, s; 0 for ever.
        deceleration: How fast it is taken back then, m/s^2; turning in rad/s^2.

    Attributes:
        stopped: Whether it stays at zero until `start`.
        refused: Velocities refused so far.
        clipped: Velocities clipped so far.
    """

    def __init__(
        self,
        reference: Reference,
        limits: Callable[[], Sequence[float]],
        hold: float,
        deceleration: float,
    ) -> None:
        self._reference, self._limits = reference, limits
        self._hold, self._deceleration = hold, deceleration
        self.refused = self.clipped = 0
        self.reset()

    def reset(self) -> None:
        """Forget what was commanded, and a stop: the law's parameters decide."""
        self.stopped = False
        self._velocity: np.ndarray | None = None
        self._since: float | None = None  # when it came; None takes the next tick's time
        self._stopped_at: float | None = None
        self._own = True  # whether nobody has commanded a velocity yet

    @property
    def source(self) -> str:
        """Who decides on the velocity: ``'stop'``, ``'cmd_vel'`` or ``'parameters'``."""
        return 'stop' if self.stopped else 'parameters' if self._own else 'cmd_vel'

    def command(self, velocity: Sequence[float], now: float | None) -> str | None:
        """Take a velocity ahead and to the left in m/s, turning to the left in rad/s.

        A stopped robot does not hear it.

        Args:
            velocity: ``(3,)``.
            now: When it came, on the clock that `steer` is told; None takes that of the next call.

        Returns:
            In words what of it was not taken as it came, or None.
        """
        if not all(map(math.isfinite, velocity)):
            words = ', '.join(f'{value:g}' for value in velocity)
            return self.refuse(f'({words}) is not finite')
        if self.stopped:
            return None
        wanted, limit = np.array(velocity, dtype=float), np.array(self._limits())
        self._velocity = np.clip(wanted, -limit, limit)
        self._since, self._own = now, False
        self._refer(1.0)
        over = [
            f'{name} {value:.4g} {unit}, limit {most:.4g}'
            for (name, unit), value, most in zip(PARTS, wanted, limit)
            if abs(value) > most
        ]
        self.clipped += bool(over)
        return f'clipped: {"; ".join(over)}' if over else None

    def refuse(self, words: str) -> str:
        """Count a velocity that is not taken, and say so; the one before it holds as it did.

        Args:
            words: Why.
        """
        self.refused += 1
        return f'refused: {words}'

    def stop(self, now: float | None) -> None:
        """Take the velocity back to zero and keep it there until `start`.

        Args:
            now: As for `command`.
        """
        if not self.stopped:
            self.stopped, self._stopped_at = True, now
            if self._velocity is None:  # the law's own: it brakes as it does for its parameters
                self._velocity = np.zeros(3)
                self._refer(0.0)

    def start(self) -> None:
        """Obey again: the next velocity, or the law's parameters if nobody ever gave one."""
        if self.stopped:
            self.stopped = False
            if self._own:
                self._velocity = self._reference.velocity = self._reference.speed = None
            else:  # what was wanted before the stop is no longer
                self._velocity = np.zeros(3)
                self._refer(0.0)

    def steer(self, time: float) -> None:
        """Take the velocity back as far as it is late, or stopped, at a time, s."""
        if self._velocity is None:
            return
        if self._since is None:
            self._since = time
        late = time - self._since - self._hold if self._hold else -math.inf
        if self.stopped:
            if self._stopped_at is None:
                self._stopped_at = time
            late = max(late, time - self._stopped_at)
        if late > ROUNDING:
            largest, lost = np.abs(self._velocity).max(), self._deceleration * late
            self._refer(float(1.0 - lost / largest) if lost < largest else 0.0)

    def _refer(self, share: float) -> None:
        """Ask the law for a share of the velocity.

        Laws that know forward speed alone take a negative one as: return to your parameters.
        """
        assert self._velocity is not None
        ahead = float(self._velocity[0])
        self._reference.velocity = share * self._velocity
        self._reference.speed = share * ahead if ahead >= 0.0 else None
