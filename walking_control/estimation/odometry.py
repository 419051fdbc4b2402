# SPDX-License-Identifier: Apache-2.0
"""Where the base is and how fast it moves, from legs that stand on a flat floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from walking_control.estimation.floor_slope import FloorSlope
    from walking_control.models.dynamics import Dynamics
    from walking_control.models.signals import WalkerState


class LegOdometry:
    """Place and velocity of the base, the stance foot at rest on the floor.

    Args:
        dynamics: The robot's `Dynamics`.

    Attributes:
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
        self._dynamics = dynamics
        self._feet = dynamics.robot.feet

    def reset(self) -> None:
        """Forget the past, of which there is none."""

    def place_feet(self, q: np.ndarray, v: np.ndarray) -> list[list[float]]:
        """Return x, y and z of every foot as seen from the base, in the floor's axes, m.

        Args:
            q: Generalised coordinates with the base at the origin.
            v: Generalised velocities with the base's origin at rest.
        """
        self._dynamics.move(q, v)
        return [self._dynamics.foot_position(foot) for foot in self._feet]

    def loads(self, forces: np.ndarray) -> list[float]:
        """Return what each foot carries, N: along the floor's normal or its own z axis, the larger.

        Many sensors have the one axis only. A magnitude would count sideways noise as load.

        Args:
            forces: In the feet's axes, ``(n_feet, 3)``, at the pose of `place_feet`.
        """
        rotations = [self._dynamics.foot_rotation(foot) for foot in self._feet]
        return [
            max(float(rotation[2] @ force), float(force[2]))
            for rotation, force in zip(rotations, forces)
        ]

    def foot_rate(self, foot: int) -> float:
        """Return how fast a foot rises, seen from the base, m/s; after `place_feet`."""
        return float(self._dynamics.foot_velocity(self._feet[foot])[2])

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
        np.negative(self._dynamics.foot_velocity(self._feet[state.support]), out=base.linear)
        for i, place in enumerate(places):
            state.foot_height[i] = place[2] - z
