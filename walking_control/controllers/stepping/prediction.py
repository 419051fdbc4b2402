# SPDX-License-Identifier: Apache-2.0
"""Where the robot will be when the efforts of this tick act: the law's own plan, carried forward.

Between a measurement and the efforts that answer it, the efforts of earlier ticks act. Their
accelerations are known: they were planned. So the state is carried over the delay with them, which
needs no more model than the plan. What a touchdown changes in that time is not foreseen.
"""

from collections import deque

import numpy as np
import pinocchio as pin

from walking_control.models.dynamics import Dynamics


class Prediction:
    """Carries a state over a known delay.

    Args:
        dynamics: The robot's `Dynamics`.
        delay: From measurement to effort, s.
    """

    def __init__(self, dynamics: Dynamics, delay: float) -> None:
        self._dynamics, self._delay = dynamics, delay
        self._planned: deque[tuple[np.ndarray, float]] = deque()
        self._span = 0.0

    def reset(self) -> None:
        """Forget the past: nothing has been planned."""
        self._planned.clear()
        self._span = 0.0

    def remember(self, acceleration: np.ndarray, dt: float) -> None:
        """Note the acceleration planned for the coming tick, Pinocchio's order, ``(nv,)``."""
        if self._delay <= 0.0:
            return
        self._planned.append((acceleration.copy(), dt))
        self._span += dt
        while self._planned and self._span - self._planned[0][1] >= self._delay - 1e-9:
            self._span -= self._planned.popleft()[1]

    def predict(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v after the delay; the arguments themselves where there is none."""
        if not self._planned:
            return q, v
        dynamics = self._dynamics
        left = self._span   # at start less is planned than the delay
        change, way = np.zeros(dynamics.nv), np.zeros(dynamics.nv)
        for acceleration, dt in self._planned:
            left -= dt
            change += acceleration * dt
            way += acceleration * (dt * (left + 0.5 * dt))
        V = dynamics.to_pinocchio_velocity(v)
        Q = pin.integrate(dynamics.model, dynamics.to_pinocchio(q), V * self._span + way)
        return dynamics.from_pinocchio(Q), (V + change)[dynamics.pinocchio_order]
