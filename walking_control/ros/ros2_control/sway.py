# SPDX-License-Identifier: Apache-2.0
"""What legs say of a robot that somebody sways by hand: how its base turns, and where its feet are.

Feet that stand keep their places. So each of them says how the base turns and moves, and one of
them does not move in the axes of the other, whatever the base does.
"""

import math

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput
from walking_control.models import Dynamics, Robot

CLOSED = 0.4  # rad/s and leg lengths/s, rms, by which one foot moves to another while both stand
EXPLAINED = 0.4  # of that, squared, is left if one joint is believed to lie
ALONG = 0.5  # cosine between the axis of a joint that may be off and that about which a sole leans


class Legs:
    """IMU and feet, by the encoders, a row each.

    Args:
        robot: The `Robot`.
        position: Of the joints in the robot's order, rad, ``(T, n_joints)``.
    """

    def __init__(self, robot: Robot, position: np.ndarray) -> None:
        self._robot, self._dynamics = robot, Dynamics(robot)
        self._frames = list(self._dynamics.frames.values())
        self._rows = [self._dynamics.configuration(row) for row in position]
        imu, self._places = self._dynamics.frame(robot.imu_link), list[list[pin.SE3]]()
        for q in self._rows:
            found = [self._dynamics.placement(q, frame) for frame in (imu, *self._frames)]
            self._places.append([pin.SE3(turned, place) for place, turned in found])

    def rotations(self) -> list[np.ndarray]:
        """Return how the IMU is turned, but for where it began, if two feet stand."""
        if self._robot.is_free:  # on soles, which lie flat
            return [one.rotation.T @ imu.rotation for imu, one, *_ in self._places]
        lines = [imu.rotation.T @ (b.translation - a.translation) for imu, a, b in self._places]
        return [pin.utils.rotate('y', -math.atan2(line[0], line[2])) for line in lines]

    def path(self, rotations: list[np.ndarray]) -> np.ndarray:
        """Return where the IMU is, from the first foot, in the world, ``(T, 3)``, m.

        Args:
            rotations: Of the IMU to the world.
        """
        rows = zip(rotations, self._places)
        return np.array([-turn @ imu.actInv(one).translation for turn, (imu, one, *_) in rows])

    def heights(self, up: np.ndarray) -> np.ndarray:
        """Return the heights of the feet over the lowest one, ``(T, n_feet)``, m.

        Args:
            up: Normal of the floor in axes of the IMU, ``(T, 3)``.
        """
        rows = [
            [float(normal @ imu.actInv(foot).translation) for foot in feet]
            for normal, (imu, *feet) in zip(up, self._places)
        ]
        return np.asarray(rows - np.min(rows, axis=1)[:, None])

    def leans(self, up: np.ndarray) -> list[tuple[float, str]]:
        """Return by how much each sole leans in the last row, rad, and the joints that may say so.

        Args:
            up: Normal of the floor in axes of the IMU, ``(3,)``.
        """
        rows, (imu, *feet) = [], self._places[-1]
        for foot, frame in zip(feet, self._frames):
            normal = foot.rotation.T @ imu.rotation @ up
            axis = np.cross(normal, [0.0, 0.0, 1.0])
            J = self._dynamics.frame_jacobian(self._rows[-1], frame)[3:, self._robot.base.nv :]
            shares = np.abs(axis @ J) / max(float(np.linalg.norm(axis)), 1e-12)
            named = [joint for joint, share in zip(self._robot.joints, shares) if share > ALONG]
            rows.append((math.acos(max(-1.0, min(float(normal[2]), 1.0))), ', '.join(named)))
        return rows

    def closed(self, spans: np.ndarray, n: int, length: float) -> InvalidInput | None:
        """Judge the encoders by how one foot moves in the axes of the other: it does not.

        Args:
            spans: Of the windows that begin with each row, s.
            n: Rows in a window.
            length: Of a leg, m.
        """
        between = [one.actInv(two) for _, one, two in self._places[::n]]
        pairs, size = zip(between, between[1:], spans[::n]), np.repeat([1.0 / length, 1.0], 3)
        if self._robot.is_free:
            moved = [size * np.asarray(pin.log6(a.actInv(b))) / span for a, b, span in pairs]
        else:  # points roll: only how far they are apart
            far = np.linalg.norm
            ways = [(far(b.translation) - far(a.translation), span) for a, b, span in pairs]
            moved = [np.array([way / length / span]) for way, span in ways]
        total = float(np.sum(np.square(moved)))
        if total <= CLOSED**2 * len(moved):
            return None
        joint = self._liar(moved, between, size, n) if self._robot.is_free else ''
        return InvalidInput(
            f'position of joint {joint}' if joint else 'positions of joints',
            value=f'feet that move apart by {math.sqrt(total / len(moved)):.2g} rad/s',
            limit='both stand, and must keep their places',
            remedy='its sign is the other one, it repeats itself, or it is told for another joint',
        )

    def _liar(
        self, moved: list[np.ndarray], between: list[pin.SE3], size: np.ndarray, n: int
    ) -> str:
        """Return the joint that explains how the feet moved if it is not believed, or ''."""
        total = float(np.sum(np.square(moved)))
        left = np.full(len(self._robot.joints), total)
        for row, place, q in zip(moved, between, self._rows[::n]):
            one, two = (
                self._dynamics.frame_jacobian(q, frame)[:, self._robot.base.nv :]
                for frame in self._frames
            )
            columns = size[:, None] * (two - place.toActionMatrixInverse() @ one)
            left -= (row @ columns) ** 2 / np.maximum(np.sum(columns**2, axis=0), 1e-12)
        best = int(np.argmin(left))
        return self._robot.joints[best] if left[best] <= EXPLAINED * total else ''
