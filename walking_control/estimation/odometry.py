# SPDX-License-Identifier: Apache-2.0
"""Where the base is and how fast it moves, from legs that stand on a flat floor."""

from collections.abc import Sequence

import numpy as np

from walking_control.estimation.floor_slope import FloorSlope
from walking_control.models import BaseState, Dynamics, WalkerState

JUMP = 0.25  # m/s from one tick to the next: a base that a foot at rest carries does not


class LegOdometry:
    """Place and velocity of the base, the stance foot at rest on the floor.

    Args:
        dynamics: The robot's `Dynamics`.

    Attributes:
        base: The `BaseState` that is written.
        covariance: How well the base is known, see `WalkerState`; None where it is not said.
        rate_covariance: Of its angular velocity, base axes, ``(3, 3)``, rad^2/s^2; likewise.
        floor: The `FloorSlope` that soles feel, or None.
        level_by_imu: Whether a filter takes how the base leans from the IMU's orientation.
    """

    covariance: np.ndarray | None = None
    rate_covariance: np.ndarray | None = None
    floor: FloorSlope | None = None
    level_by_imu = False

    def __init__(self, dynamics: Dynamics) -> None:
        self.base = BaseState()
        # views of what moves with the dynamics, to which no frame is added any more
        self._dynamics, self._data = dynamics, dynamics.data
        feet = [self._data.oMf[frame] for frame in dynamics.frames.values()]
        self._places = [place.translation for place in feet]
        self._normals = [place.rotation[2] for place in feet]
        self._feet, self._is_free = dynamics.robot.feet, dynamics.robot.is_free
        self._moved: np.ndarray | None = None  # how the base moved a tick ago, m/s

    def reset(self) -> None:
        """Forget how the base moved."""
        self._moved = None

    def place_feet(self, q: np.ndarray, v: np.ndarray) -> list[list[float]]:
        """Return x, y and z of every foot as seen from the base, in the floor's axes, m.

        Args:
            q: Generalised coordinates with the base at the origin.
            v: Generalised velocities with the base's origin at rest.
        """
        self._dynamics.move(q, v)
        return [place.tolist() for place in self._places]

    def loads(self, forces: Sequence[Sequence[float]]) -> list[float]:
        """Return what each foot carries, N: along the floor's normal or its own z axis, the larger.

        Many sensors have the one axis only. A magnitude would count sideways noise as load.

        Args:
            forces: In the feet's axes, ``(n_feet, 3)``, at the pose of `place_feet`.
        """
        return [
            max(a * x + b * y + c * z, z)
            for (a, b, c), (x, y, z) in zip(map(np.ndarray.tolist, self._normals), forces)
        ]

    def foot_motion(self, foot: int) -> np.ndarray:
        """Return how a foot moves, seen from the base, m/s, ``(3,)``; after `place_feet`."""
        return self._dynamics.foot_velocity(self._feet[foot])

    def update(
        self, state: WalkerState, places: Sequence[Sequence[float]], forces: np.ndarray
    ) -> None:
        """Write base and foot heights of a `WalkerState` whose stance foot is known.

        Args:
            state: Written in place.
            places: Of the feet from the base, floor axes, m, ``(n_feet, 3)``.
            forces: On the feet, N, ``(n_feet, 3)``; not used.
        """
        x, y, z = places[state.support]
        along, across, _ = state.foothold.tolist()
        base = state.base
        base.position[0], base.position[1], base.position[2] = along - x, across - y, -z
        base.linear[:] = self._velocity(state)
        state.foot_height[:] = [place[2] - z for place in places]

    def _velocity(self, state: WalkerState) -> np.ndarray:
        """Return how fast the base moves over the foot that rests, floor axes, m/s, ``(3,)``.

        That is the stance foot. But a foot that has just come down carries before it rests: if it
        says that a base that is free jumps, another that touches is believed where it says less.
        """
        moved, before = -self.foot_motion(state.support), self._moved
        if before is not None and np.linalg.norm(moved - before) > JUMP:
            touching = [-self.foot_motion(int(i)) for i in np.flatnonzero(state.contact)]
            moved = min([moved, *touching], key=lambda each: float(np.linalg.norm(each - before)))
        self._moved = moved if self._is_free else None
        return moved
