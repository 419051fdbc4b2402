# SPDX-License-Identifier: Apache-2.0
"""Smooth surfaces by parametrisation and Gauss map ([DS09] 3.1.2, (3.8) to (3.12))."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math

import numpy as np

from walking_control.exceptions import InvalidInput

FLAT = 1e-9  # sine of the angle between tangents below which there is no normal


@dataclass(frozen=True)
class Surface:
    """A surface ``f(u)`` of two coordinates, twice differentiable, with an outward normal.

    Args:
        name: For messages.
        point: u -> f(u), m, ``(3,)``.
        tangents: u -> derivatives of f, ``(3, 2)``.
        bends: u -> second derivatives, ``(3, 2, 2)``.
        domain: ``((low, high), (low, high))`` of u, in which the closest point is searched.
        outward: 1 where the normal is along the cross product of the tangents, else -1.
    """

    name: str
    point: Callable[[np.ndarray], np.ndarray]
    tangents: Callable[[np.ndarray], np.ndarray]
    bends: Callable[[np.ndarray], np.ndarray]
    domain: tuple[tuple[float, float], tuple[float, float]]
    outward: float = 1.0

    def normal(self, u: np.ndarray) -> np.ndarray:
        """Return the outward unit normal at u: the Gauss map, ``(3,)``.

        Raises:
            InvalidInput: There is none: the tangents are parallel, or one vanishes.
        """
        return self._cross(u, self.tangents(u))[1]

    def normal_rates(self, u: np.ndarray) -> np.ndarray:
        """Return the derivatives of the normal with u, ``(3, 2)``."""
        t, bends = self.tangents(u), self.bends(u)
        length, normal = self._cross(u, t)
        rates = np.empty((3, 2))
        for k in range(2):
            change = self.outward * (
                np.cross(bends[:, 0, k], t[:, 1]) + np.cross(t[:, 0], bends[:, 1, k])
            )
            rates[:, k] = (change - normal * (normal @ change)) / length
        return rates

    def curvature(self, u: np.ndarray) -> np.ndarray:
        """Return the tangent map of the Gauss map, ``(3, 3)``, 1/m.

        It takes velocities of a point over the surface to rates of its normal; what is not
        tangent counts for nothing ([DS09] (3.12)).
        """
        return self.normal_rates(u) @ np.linalg.pinv(self.tangents(u))

    def _cross(self, u: np.ndarray, t: np.ndarray) -> tuple[float, np.ndarray]:
        across = self.outward * np.cross(t[:, 0], t[:, 1])
        length = float(np.linalg.norm(across))
        if not length > FLAT * np.linalg.norm(t[:, 0]) * np.linalg.norm(t[:, 1]):
            raise InvalidInput(
                f'surface {self.name} at {[round(float(x), 6) for x in u]}',
                limit='has no normal: its tangents are parallel or vanish',
                remedy='choose other coordinates, or round the edge',
            )
        return length, across / length


def plane(half: float = 10.0) -> Surface:
    """Return the plane z = 0 about the origin, its normal up.

    Args:
        half: Half its edge, m.
    """
    along = np.eye(3)[:, :2]
    return Surface(
        'plane',
        lambda u: np.array([u[0], u[1], 0.0]),
        lambda u: along,
        lambda u: np.zeros((3, 2, 2)),
        ((-half, half), (-half, half)),
    )


def sine_floor(amplitude: float, frequency: float, half: float = 1.0) -> Surface:
    """Return the floor ``z = A sin(2 pi f y)`` of [DS09] example 3.5.

    Args:
        amplitude: A, m.
        frequency: f, 1/m.
        half: Half its edge, m.
    """
    wave = 2.0 * math.pi * frequency

    def bends(u: np.ndarray) -> np.ndarray:
        second = np.zeros((3, 2, 2))
        second[2, 1, 1] = -amplitude * wave**2 * math.sin(wave * u[1])
        return second

    return Surface(
        'sine floor',
        lambda u: np.array([u[0], u[1], amplitude * math.sin(wave * u[1])]),
        lambda u: np.array(
            [[1.0, 0.0], [0.0, 1.0], [0.0, amplitude * wave * math.cos(wave * u[1])]]
        ),
        bends,
        ((-half, half), (-half, half)),
    )


def ellipsoid(radii: Sequence[float] | np.ndarray) -> Surface:
    """Return an ellipsoid, seen from below: stereographic coordinates, 0 at its lowest point.

    Args:
        radii: Along its axes, m, ``(3,)``.
    """
    scale = np.asarray(radii, float)
    if scale.shape != (3,) or not np.all(scale > 0.0):
        raise InvalidInput(
            'radii of the ellipsoid',
            value=list(map(float, scale)),
            limit='must be three lengths above 0 m',
        )

    def point(u: np.ndarray) -> np.ndarray:
        s = 1.0 / (1.0 + u @ u)
        return scale * np.array([2.0 * u[0] * s, 2.0 * u[1] * s, 1.0 - 2.0 * s])

    def tangents(u: np.ndarray) -> np.ndarray:
        s = 1.0 / (1.0 + u @ u)
        ds = -2.0 * s * s * u
        t = np.empty((3, 2))
        for i in range(2):
            t[i] = 2.0 * u[i] * ds
            t[i, i] += 2.0 * s
        t[2] = -2.0 * ds
        return scale[:, None] * t

    def bends(u: np.ndarray) -> np.ndarray:
        s = 1.0 / (1.0 + u @ u)
        ds = -2.0 * s * s * u
        dds = -2.0 * s * s * np.eye(2) + 8.0 * s**3 * np.outer(u, u)
        b = np.empty((3, 2, 2))
        for i in range(2):
            b[i] = 2.0 * u[i] * dds
            b[i, i, :] += 2.0 * ds
            b[i, :, i] += 2.0 * ds
        b[2] = -2.0 * dds
        return scale[:, None, None] * b

    # at 0 the tangents are +x and +y, whose cross product points up, into the body
    return Surface('ellipsoid', point, tangents, bends, ((-4.0, 4.0), (-4.0, 4.0)), -1.0)
