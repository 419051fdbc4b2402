# SPDX-License-Identifier: Apache-2.0
"""How the floor rises where the robot stands, which nobody told it: felt by its feet.

The floor near the stance foot is z = s_x x + s_y y in the floor frame. A Kalman filter of the two
numbers s: from one foothold to the next they may change by `floor_variation`; a sole that lies
flat, carries and does not turn shows both, its normal being (-s_x, -s_y, 1); of points the way d
from one foothold to the next says d_z = s . (d_x, d_y). Errors of the base's orientation are in s
as they are in the soles' normals: soles follow the floor whichever of the two is wrong.

A sole on an edge leans, and the floor does not: what counts is the median of the last three
footholds, so that none of them is believed alone.
"""

from collections.abc import Sequence

import numpy as np

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import WalkerState

SETTLED = 0.03  # s: so long a foot has touched before its sole is believed
LOOKED = 0.03  # s: so long a sole is looked at before its foothold's height counts
TURNING = 0.5  # rad/s: a sole that turns faster rolls over an edge
SOLE = 0.02  # rad: of one look at a sole on a rough floor, for as long as a foot's motion lasts
STEEPEST = 0.3  # rise over run: nothing steeper is walked on


class FloorSlope:
    """Rise of the floor over x and y at the stance foot, and how well it is known.

    Args:
        dynamics: The robot's `Dynamics`, which the estimator moves; its base is free.

    Attributes:
        value: s, ``(2,)``; that of the state it is made for.
        covariance: Of what the newest foothold says, ``(2, 2)``.
        flat: Whether feet are soles, which feel the slope.
        felt: Whether the newest sole has been looked at for long enough in this very tick.
    """

    def __init__(self, dynamics: Dynamics, values: EstimatorParameters) -> None:
        self._dynamics, self._feet = dynamics, dynamics.robot.feet
        self._variation = values.floor_variation**2 * np.eye(2)
        self._lasting, self._roughness = values.foot_persistence, values.floor_roughness
        self.flat = values.sole_spin > 0.0  # else points, which turn
        self.value, self.covariance = np.zeros(2), np.zeros((2, 2))
        self.reset()

    def reset(self) -> None:
        """Forget the past: the floor is as the robot file says."""
        self.value[:] = 0.0
        self._footholds = [np.zeros(2)] * 3  # what each said, the newest first; at first all one
        self.covariance[:] = self._variation
        self._stamp, self._steps = -np.inf, -1
        self._looked, self.felt = 0.0, False
        self._since = [np.inf] * len(self._feet)  # when each foot touched

    def update(self, state: WalkerState, places: Sequence[Sequence[float]]) -> None:
        """Take a tick's contacts and feet.

        Args:
            state: The `WalkerState`: stamp, contacts and support.
            places: Of the feet from the base, floor axes, m.
        """
        dt, self._stamp = state.stamp - self._stamp, state.stamp
        for i, touches in enumerate(state.contact):
            self._since[i] = min(self._since[i], state.stamp) if touches else np.inf
        if state.steps != self._steps:
            self._step(state, places)
        self.felt = False
        if self.flat and 0.0 < dt < self._lasting:
            foot = state.support
            if (
                state.stamp - self._since[foot] > SETTLED
                and np.hypot(*self._dynamics.foot_spin(self._feet[foot])[:2]) < TURNING
            ):
                normal = self._dynamics.foot_rotation(self._feet[foot])[:, 2]
                self._take(
                    -normal[:2] / max(normal[2], STEEPEST),
                    np.eye(2),
                    SOLE**2 * self._lasting / dt * np.eye(2),
                )
                self.felt = self._looked < LOOKED <= self._looked + dt
                self._looked += dt

    @property
    def newest(self) -> np.ndarray:
        """What the newest foothold alone says, ``(2,)``."""
        return self._footholds[0]

    def _step(self, state: WalkerState, places: Sequence[Sequence[float]]) -> None:
        """Go on to the next foothold."""
        if self._steps >= 0:
            self._footholds = [self.value.copy(), *self._footholds[:2]]
        new, self._steps, self._looked = state.support, state.steps, 0.0
        self.covariance += self._variation
        if not self.flat and len(places) == 2:
            way = np.subtract(places[new], places[1 - new])
            self._take(way[2:], way[None, :2], np.array([[self._roughness**2]]))

    def _take(self, seen: np.ndarray, rows: np.ndarray, noise: np.ndarray) -> None:
        """Correct by ``seen = rows s + noise``."""
        P, own = self.covariance, self._footholds[0]
        gain = np.linalg.solve(rows @ P @ rows.T + noise, rows @ P).T
        own += gain @ (seen - rows @ own)
        np.clip(own, -STEEPEST, STEEPEST, out=own)
        self.value[:] = np.sort(self._footholds, axis=0)[1]
        P -= gain @ rows @ P
