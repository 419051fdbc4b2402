# SPDX-License-Identifier: Apache-2.0
"""Where the robot will be when the efforts of this tick act: the law's own plan, carried forward.

Between a measurement and the efforts that answer it, the efforts of earlier ticks act. Their
accelerations are known: they were planned. So the state is carried over the delay with them, which
needs no more model than the plan. What a touchdown changes in that time is not foreseen.

Drives that differentiate encoders smooth the result: what they tell lags. Of a first-order low-pass
with time constant T it lags by T times the acceleration that has gone through the same low-pass,
v = LP(v) + T LP(v'). With the planned acceleration for v' that adds nothing of the encoders' noise.

What is left of the noise a longer T takes away, likewise: between measurements joints go on as
planned, and are drawn back to what is measured over T. What was not planned, as an impact, counts
at once where it is more than noise can be: the estimate stays within `JUMP` of the measurement.
"""

from collections import deque
import math

import numpy as np
import pinocchio as pin

from walking_control.models import Dynamics, ROOT

JUMP = 0.5  # rad/s: three standard deviations of an encoder of 1 mrad, differentiated at 40 Hz


class Prediction:
    """Carries a state over a known delay.

    Args:
        dynamics: The robot's `Dynamics`.
        delay: From measurement to effort, s.
        lag: Time constant of the low-pass that joint velocities have gone through, s.
        smoothing: Time constant with which planned velocities are drawn to measured ones, s; 0: the
            measured ones count.

    Attributes:
        delay, lag: As given.
        measured: The last velocity before it was carried on, Pinocchio's order, ``(nv,)``.
        impact: Jump of velocities that the coming tick brings beside, likewise; None: it is none.
    """

    impact: np.ndarray | None

    def __init__(
        self, dynamics: Dynamics, delay: float, lag: float = 0.0, smoothing: float = 0.0
    ) -> None:
        self._dynamics, self.delay, self.lag = dynamics, delay, lag
        self._smoothing = smoothing
        self.reset()

    def reset(self) -> None:
        """Forget the past: nothing has been planned."""
        self._planned: deque[tuple[np.ndarray, float]] = deque()
        self._span, self.impact = 0.0, None
        self._behind = np.zeros(self._dynamics.nv)  # how far velocities lag, of joints alone
        # joint rates as they go on until the next measurement, and how much of that then counts
        self._expected, self._kept = np.zeros(self._dynamics.nv - ROOT), 0.0

    def remember(self, acceleration: np.ndarray, dt: float) -> None:
        """Note the acceleration planned for the coming tick, Pinocchio's order, ``(nv,)``.

        Args:
            acceleration: Planned, Pinocchio's order, ``(nv,)``.
            dt: Of the tick, s.
        """
        acceleration = acceleration.copy()
        if dt > 0.0 and self.impact is not None:  # a stamp that comes twice lets nothing happen
            acceleration += self.impact / dt
            self.impact = None
        self._planned.append((acceleration, dt))
        self._span += dt
        while self._planned and self._span - self._planned[0][1] >= self.delay - 1e-9:
            acted, time = self._planned.popleft()
            self._span -= time
            if self.lag > 0.0:
                share = 1.0 - math.exp(-time / self.lag)
                self._behind[ROOT:] += share * (self.lag * acted[ROOT:] - self._behind[ROOT:])
            self._expected += acted[ROOT:] * time
            self._kept = math.exp(-time / self._smoothing) if self._smoothing > 0.0 else 0.0

    def predict(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v after the delay; q itself where there is none.

        Args:
            q: Generalised coordinates, ``(nq,)``.
            v: Generalised velocities, ``(nv,)``.
        """
        dynamics = self._dynamics
        V = np.empty_like(v)
        V[dynamics.pinocchio_order] = v
        self.measured = V.copy()
        V += self._behind
        if self._smoothing > 0.0:
            V[ROOT:] += np.clip(self._kept * (self._expected - V[ROOT:]), -JUMP, JUMP)
            self._expected = V[ROOT:].copy()
        if not self._planned:
            return q, V[dynamics.pinocchio_order]
        left = self._span  # at start less is planned than the delay
        way = V * left
        for acceleration, dt in self._planned:
            left -= dt
            V += acceleration * dt
            way += acceleration * (dt * (left + 0.5 * dt))
        Q = pin.integrate(dynamics.model, dynamics.to_pinocchio(q), way)
        return dynamics.from_pinocchio(Q), V[dynamics.pinocchio_order]
