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
import math

import numpy as np

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.models import Dynamics, WalkerState

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
        footholds: What each of the last three alone says, the newest first.
        flat: Whether feet are soles, which feel the slope.
        felt: Whether the newest sole has been looked at for long enough in this very tick.
    """

    def __init__(self, dynamics: Dynamics, values: EstimatorParameters) -> None:
        self._dynamics, self._feet = dynamics, dynamics.robot.feet
        # views of the feet's z axes, which move with the dynamics
        self._up = [dynamics.data.oMf[dynamics.frames[foot]].rotation[:, 2] for foot in self._feet]
        self._variation = values.floor_variation**2
        self._lasting, self._roughness = values.foot_persistence, values.floor_roughness
        self.flat = values.sole_spin > 0.0  # else points, which turn
        self.value = np.zeros(2)
        self.reset()

    def reset(self) -> None:
        """Forget the past: the floor is as the robot file says."""
        self.value[:] = 0.0
        self.footholds = [[0.0, 0.0]] * 3  # at first all one
        self.covariance = [[self._variation, 0.0], [0.0, self._variation]]
        self._stamp, self._steps = -math.inf, -1
        self._looked, self.felt = 0.0, False
        self._since = [math.inf] * len(self._feet)  # when each foot touched

    def update(self, state: WalkerState, places: Sequence[Sequence[float]]) -> None:
        """Take a tick's contacts and feet.

        Args:
            state: The `WalkerState`: stamp, contacts and support.
            places: Of the feet from the base, floor axes, m.
        """
        dt, self._stamp = state.stamp - self._stamp, state.stamp
        self._since = [
            min(since, state.stamp) if touches else math.inf
            for since, touches in zip(self._since, state.contact.tolist())
        ]
        if state.steps != self._steps:
            self._step(state, places)
        self.felt = False
        if self.flat and 0.0 < dt < self._lasting:
            foot = state.support
            if (
                state.stamp - self._since[foot] > SETTLED
                and math.hypot(*self._dynamics.foot_spin(self._feet[foot]).tolist()[:2]) < TURNING
            ):
                x, y, z = self._up[foot].tolist()
                noise = SOLE**2 * self._lasting / dt
                self._take(-x / max(z, STEEPEST), 1.0, 0.0, noise)
                self._take(-y / max(z, STEEPEST), 0.0, 1.0, noise)
                self.felt = self._looked < LOOKED <= self._looked + dt
                self._looked += dt
        self.value[0], self.value[1] = [sorted(rises)[1] for rises in zip(*self.footholds)]

    def _step(self, state: WalkerState, places: Sequence[Sequence[float]]) -> None:
        """Go on to the next foothold."""
        if self._steps >= 0:
            self.footholds = [self.value.tolist(), *self.footholds[:2]]
        new, self._steps, self._looked = state.support, state.steps, 0.0
        for axis in range(2):
            self.covariance[axis][axis] += self._variation
        if not self.flat and len(places) == 2:
            x, y, z = (there - here for there, here in zip(places[new], places[1 - new]))
            self._take(z, x, y, self._roughness**2)

    def _take(self, seen: float, x: float, y: float, noise: float) -> None:
        """Correct by ``seen = (x, y) . s``, with the variance of its noise."""
        (a, b), (_, c) = self.covariance
        with_x, with_y = x * a + y * b, x * b + y * c
        share = 1.0 / (x * with_x + y * with_y + noise)
        gain = with_x * share, with_y * share
        own = self.footholds[0]
        off = seen - (x * own[0] + y * own[1])
        for axis in range(2):
            own[axis] = min(max(own[axis] + gain[axis] * off, -STEEPEST), STEEPEST)
        b -= gain[0] * with_y
        self.covariance = [[a - gain[0] * with_x, b], [b, c - gain[1] * with_y]]
