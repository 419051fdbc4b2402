# SPDX-License-Identifier: Apache-2.0
"""The closest points of two smooth surfaces, followed as the bodies move ([DS09] theorem 3.7)."""

from __future__ import annotations

import math

import numpy as np

from contact_kinematics.over_plane import Pose, Twist
from contact_kinematics.surface import Surface
from walking_control.exceptions import InvalidInput, NotAchieved

PARTS = 23  # samples along each coordinate of a global search
OPPOSED = 1e-6  # by how much normals at closest points may miss to be opposite
ROUNDS = 60
WEAK = 1e-9  # relative curvature, over that of both, below which it counts as none


class ClosestPair:
    """The closest points of a fixed and a moving surface.

    Args:
        fixed: `Surface` in whose frame poses and twists are given.
        moving: `Surface` in the frame of the moving body.

    Attributes:
        u: Coordinates of both points, ``(4,)``: of the fixed surface, then of the moving one.
    """

    def __init__(self, fixed: Surface, moving: Surface) -> None:
        self.fixed, self.moving = fixed, moving
        self.u = np.zeros(4)

    def find(self, pose: Pose) -> float:
        """Search both surfaces for their closest points; return the distance, m.

        All pairs of a grid, then Newton's method.

        Raises:
            InvalidInput: The bodies are in each other, so that nothing says which points meet.
            NotAchieved: No closest points inside the domains of both surfaces.
        """
        grids, points = [], []
        for surface in (self.fixed, self.moving):
            axes = [np.linspace(low, high, PARTS) for low, high in surface.domain]
            grid = np.stack(np.meshgrid(*axes, indexing='ij'), -1).reshape(-1, 2)
            grids.append(grid)
            points.append(np.array([surface.point(u) for u in grid]))
        ahead = points[1] @ pose.rotation.T + pose.place
        squares = (points[0] ** 2).sum(1)[:, None] + (ahead**2).sum(1) - 2.0 * points[0] @ ahead.T
        i, j = np.unravel_index(int(np.argmin(squares)), squares.shape)
        self.u = np.concatenate((grids[0][i], grids[1][j]))
        self._polish(pose, ROUNDS)
        distance = self.distance(pose)
        normals = self.fixed.normal(self.u[:2]) + pose.rotation @ self.moving.normal(self.u[2:])
        if distance <= 0.0:
            raise InvalidInput(
                f'{self.moving.name} over {self.fixed.name}',
                value=distance,
                limit='must be apart where the search begins, m',
                remedy='begin before the contact',
            )
        if np.linalg.norm(normals) > OPPOSED:
            raise NotAchieved(
                f'closest points of {self.moving.name} and {self.fixed.name}',
                limit='the nearest points lie on an edge of a domain',
                remedy='widen the domain of the surface',
            )
        return distance

    def distance(self, pose: Pose) -> float:
        """Return the distance along the fixed surface's normal, m ([DS09] (3.15))."""
        return float(self.fixed.normal(self.u[:2]) @ self._gap(pose, self.u))

    def points(self, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Return both points in the frame of the fixed surface, m."""
        return (
            self.fixed.point(self.u[:2]),
            pose.place + pose.rotation @ self.moving.point(self.u[2:]),
        )

    def rates(self, pose: Pose, twist: Twist, u: np.ndarray) -> np.ndarray:
        """Return the rates of the coordinates of both points ([DS09] (3.13), (3.14)), ``(4,)``.

        Args:
            pose: Of the moving body.
            twist: Of the moving body.
            u: Coordinates of the closest points.

        Raises:
            NotAchieved: The surfaces have the same curvature there, and no one closest point.
        """
        R, normal = pose.rotation, self.fixed.normal(u[:2])
        G, H = self.fixed.curvature(u[:2]), R @ self.moving.curvature(u[2:]) @ R.T
        away = twist.at(pose.place + R @ self.moving.point(u[2:]))  # of the moving body's point
        distance, rate = float(normal @ self._gap(pose, u)), float(normal @ away)
        A = (G + H @ (np.eye(3) + distance * G)) @ self.fixed.tangents(u[:2])
        right = np.cross(twist.angular, normal) - H @ (rate * normal - away)
        sizes = np.linalg.svd(A, compute_uv=False)
        scale = np.linalg.norm(G, 2) + np.linalg.norm(H, 2)
        if not sizes[-1] > WEAK * scale * np.linalg.norm(self.fixed.tangents(u[:2]), 2):
            raise NotAchieved(
                f'closest points of {self.moving.name} and {self.fixed.name}',
                limit='are not unique: the surfaces bend alike there',
                remedy='take the one that bends less for flatter or rounder',
            )
        first = np.linalg.lstsq(A, right, rcond=None)[0]
        over = self.fixed.tangents(u[:2]) @ first
        # (3.18): what the moving body's point does, in its own frame
        own = R.T @ (over + rate * normal + distance * (G @ over) - away)
        second = np.linalg.lstsq(self.moving.tangents(u[2:]), own, rcond=None)[0]
        return np.concatenate((first, second))

    def follow(self, pose: Pose, twist: Twist, duration: float, correct: bool = True) -> Pose:
        """Move the body on by a constant twist, and the points with it; return the new pose.

        One step of the classic method of order four, then a step of Newton's against drift.

        Args:
            pose: Of the moving body.
            twist: Its twist, constant in the frame of the fixed surface.
            duration: s.
            correct: Whether to correct the drift.
        """
        half, full = move(pose, twist, 0.5 * duration), move(pose, twist, duration)
        u, h = self.u, duration
        k1 = self.rates(pose, twist, u)
        k2 = self.rates(half, twist, u + 0.5 * h * k1)
        k3 = self.rates(half, twist, u + 0.5 * h * k2)
        k4 = self.rates(full, twist, u + h * k3)
        self.u = u + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        if correct:
            self._polish(full, 1)
        return full

    def _gap(self, pose: Pose, u: np.ndarray) -> np.ndarray:
        return pose.place + pose.rotation @ self.moving.point(u[2:]) - self.fixed.point(u[:2])

    def _polish(self, pose: Pose, rounds: int) -> None:
        """Bring the line between both points across both surfaces, by Newton's method."""
        R = pose.rotation
        for _ in range(rounds):
            gap = self._gap(pose, self.u)
            a, b = self.fixed.tangents(self.u[:2]), R @ self.moving.tangents(self.u[2:])
            residual = np.concatenate((a.T @ gap, b.T @ gap))
            second = R @ self.moving.bends(self.u[2:]).reshape(3, 4)
            J = np.block(
                [
                    [np.einsum('ijk,i->jk', self.fixed.bends(self.u[:2]), gap) - a.T @ a, a.T @ b],
                    [-b.T @ a, (gap @ second).reshape(2, 2) + b.T @ b],
                ]
            )
            change = np.linalg.lstsq(J, residual, rcond=None)[0]
            longest = np.abs(change).max()
            self.u = self.u - change * min(1.0, 0.2 / longest if longest > 0.0 else 1.0)
            if longest < 1e-14:
                return


def move(pose: Pose, twist: Twist, duration: float) -> Pose:
    """Return the pose after a constant twist ([DS09] (2.19): the exponential of the twist)."""
    angle = float(np.linalg.norm(twist.angular)) * duration
    if angle == 0.0:
        return Pose(pose.rotation, pose.place + duration * twist.linear)
    w = twist.angular * duration
    cross = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle**2
    turn = np.eye(3) + s * cross + c * cross @ cross
    shift = np.eye(3) + c * cross + (1.0 - s) / angle**2 * cross @ cross
    return Pose(turn @ pose.rotation, turn @ pose.place + shift @ (twist.linear * duration))
