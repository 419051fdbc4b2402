# SPDX-License-Identifier: Apache-2.0
"""Closest points of simple bodies over a plane, in closed form ([DS09] 3.1.1).

A pose is the rotation R and the place p of the body's frame in that of the plane; a twist is the
body's angular velocity w and the velocity v of its point in the plane's origin, both in the plane's
axes: [DS09]'s ``T_1^{0,0} = (w, v)``. The plane is where the coordinate along its normal is zero.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from walking_control.exceptions import InvalidInput


class Pose(NamedTuple):
    """Rotation ``(3, 3)`` and place ``(3,)``, m, of a frame in another."""

    rotation: np.ndarray
    place: np.ndarray


class Twist(NamedTuple):
    """Angular velocity ``(3,)``, rad/s, and velocity ``(3,)`` of the point in the origin, m/s."""

    angular: np.ndarray
    linear: np.ndarray

    def at(self, point: np.ndarray) -> np.ndarray:
        """Return the velocity of the body's point that is at a place, m/s."""
        return self.linear + np.cross(self.angular, point)


class ClosestPoints(NamedTuple):
    """The points of plane and body that are closest, and how their coordinates change.

    Attributes:
        on_plane: In the frame of the plane, m, ``(3,)``.
        on_body: In the frame of the body, m, ``(3,)``.
        plane_rate: Rate of `on_plane`, m/s.
        body_rate: Rate of `on_body`, m/s: how the point moves over the body.
        distance: m; negative where the body is in the plane.
    """

    on_plane: np.ndarray
    on_body: np.ndarray
    plane_rate: np.ndarray
    body_rate: np.ndarray
    distance: float


def point_over_plane(
    pose: Pose, twist: Twist, point: Sequence[float] | np.ndarray, axis: int = 2
) -> ClosestPoints:
    """Return the closest points of a point fixed on a body and a plane ([DS09] (3.1), (3.2)).

    Args:
        pose: Of the body.
        twist: Of the body.
        point: In the frame of the body, m, ``(3,)``.
        axis: Of the plane's normal.
    """
    return _project(pose, twist, np.asarray(point, float), np.zeros(3), axis)


def disc_over_plane(
    pose: Pose, twist: Twist, radius: float, smooth: float = 1e-12, axis: int = 2
) -> ClosestPoints:
    """Return the closest points of a flat disc and a plane ([DS09] (3.3) to (3.5)).

    [DS09] (3.5) prints the rate of the point on the disc with the wrong sign.

    Args:
        pose: Of the disc, whose centre is the origin and whose normal the z axis.
        twist: Of the disc.
        radius: m.
        smooth: Regularises the level disc, of which every edge point is as close.
        axis: Of the plane's normal.
    """
    _require_positive('radius of the disc', radius)
    up, rise = _normal_seen(pose, twist, axis)
    length = np.sqrt(up[0] ** 2 + up[1] ** 2 + smooth)
    point, rate = np.zeros(3), np.zeros(3)
    point[:2] = -radius * up[:2] / length
    rate[:2] = -radius / length * (rise[:2] - up[:2] * (up[:2] @ rise[:2]) / length**2)
    return _project(pose, twist, point, rate, axis)


def ellipsoid_over_plane(
    pose: Pose, twist: Twist, radii: Sequence[float] | np.ndarray, axis: int = 2
) -> ClosestPoints:
    """Return the closest points of an ellipsoid and a plane ([DS09] (3.6), (3.7)).

    An ellipse over a line is the same with axis 1 and any third radius. The cross product of the
    scaled axes in [DS09] is ``-S n`` up to its length, n being the plane's normal seen from the
    body: so the point on the body is ``-S S n / |S n|``.

    Args:
        pose: Of the ellipsoid, centre and principal axes.
        twist: Of the ellipsoid.
        radii: Along its axes, m, ``(3,)``.
        axis: Of the plane's normal.
    """
    for radius in radii:
        _require_positive('radius of the ellipsoid', float(radius))
    scale = np.asarray(radii, float)
    up, rise = _normal_seen(pose, twist, axis)
    scaled, turned = scale * up, scale * rise
    length = float(np.linalg.norm(scaled))
    point = -scale * scaled / length
    rate = -scale * (turned / length - scaled * (scaled @ turned) / length**3)
    return _project(pose, twist, point, rate, axis)


def _normal_seen(pose: Pose, twist: Twist, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the plane's normal in the axes of the body, and its rate."""
    up = np.eye(3)[axis]
    return pose.rotation.T @ up, pose.rotation.T @ np.cross(up, twist.angular)


def _project(
    pose: Pose, twist: Twist, point: np.ndarray, rate: np.ndarray, axis: int
) -> ClosestPoints:
    place = pose.place + pose.rotation @ point
    velocity = twist.at(place) + pose.rotation @ rate
    distance = float(place[axis])
    place[axis] = velocity[axis] = 0.0
    return ClosestPoints(place, point, velocity, rate, distance)


def _require_positive(what: str, value: float) -> None:
    if not 0.0 < value < np.inf:
        raise InvalidInput(what, value=value, limit='must be above 0 m')
