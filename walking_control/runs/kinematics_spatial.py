# SPDX-License-Identifier: Apache-2.0
"""Where base, limbs and soles of a recorded robot in space are, from its URDF.

All places are in the floor frame: x along the floor, y to the left, z along the floor normal.
"""

import numpy as np
import pinocchio as pin

from walking_control.models.spatial import SpatialDynamics
from walking_control.models.urdf import parse

BASE = 7  # coordinates of the base in the plant's truth: x, y, z, quaternion xyzw


class SpatialKinematics:
    """Places of a robot in space at rows of a `Run`; fits `Skeleton`.

    Args:
        robot: The `Robot`.
        gravity: Magnitude, m/s^2.

    Attributes:
        model, data: Pinocchio's.
        frames: foot -> id of its frame.
        mass: kg.
    """

    def __init__(self, robot, gravity=9.81):
        self.robot = robot
        self._dynamics = SpatialDynamics(robot.urdf, gravity, robot.name)
        self.frames = {foot: self._dynamics.frame(foot) for foot in robot.feet}
        self.model, self.data = self._dynamics.model, self._dynamics.data
        self.mass = pin.computeTotalMass(self.model)
        self._to_model = [robot.joints.index(joint) for joint in self._dynamics.joints]
        self._soles = {foot: sole_corners(robot.urdf, foot) for foot in robot.feet}
        self._q = np.zeros(self.model.nq)

    def configuration(self, q):
        """Return Pinocchio's configuration of one row of the plant's truth; a view, not a copy."""
        return self._dynamics.configuration(q[BASE:][self._to_model], q[3:BASE], q[:3],
                                            out=self._q)

    def place(self, q):
        """Compute all placements at one row of the plant's truth."""
        pin.framesForwardKinematics(self.model, self.data, self.configuration(q))

    def center_of_mass(self, q):
        """Return the centre of mass, ``(3,)``, m."""
        return self._dynamics.center_of_mass(self.configuration(q))

    def sole(self, foot):
        """Return the closed outline of a sole after `place`, m, ``(n, 3)``."""
        place = self.data.oMf[self.frames[foot]]
        return self._soles[foot] @ place.rotation.T + place.translation


def sole_corners(urdf, foot):
    """Return the closed outline of a sole in the axes of its link, m, ``(n, 3)``.

    It is the lower face of the first collision box of the link; any other sole is its origin.
    """
    for collision in parse(urdf).iterfind(f"link[@name='{foot}']/collision"):
        box, origin = collision.find('geometry/box'), collision.find('origin')
        if box is None:
            continue
        x, y, z = (0.5 * float(number) for number in box.get('size').split())
        corners = np.array([(x, y, -z), (x, -y, -z), (-x, -y, -z), (-x, y, -z), (x, y, -z)])
        if origin is None:
            return corners
        turn, shift = ([float(number) for number in origin.get(name, '0 0 0').split()]
                       for name in ('rpy', 'xyz'))
        return corners @ pin.rpy.rpyToMatrix(*turn).T + shift
    return np.zeros((1, 3))


def base_rotations(run):
    """Return the rotation of the base to the floor frame in every row, ``(T, 3, 3)``."""
    x, y, z, w = run.q[:, 3:BASE].T
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
                     2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                     2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
                    axis=1).reshape(-1, 3, 3)


def base_lean(run):
    """Return how far the base leans from the vertical.

    Returns:
        ``(tilt, forward, left)``, each ``(T,)``, rad: the angle between the base's z axis and the
        vertical, and the leans of that axis along its own x and y direction over the floor.
    """
    slope = run.world.slope
    up = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    x, y, z = np.moveaxis(base_rotations(run), 2, 0) @ up   # the vertical in base axes
    return np.arctan2(np.hypot(x, y), z), np.arctan2(-x, z), np.arctan2(-y, z)
