# SPDX-License-Identifier: Apache-2.0
"""Locks for simulators that know none: a stiff spring by effort where the lock would engage."""

import numpy as np

from walking_control.models import Dynamics, Robot

# Of the spring and the limb it moves, rad/s. Much softer, and a leg that carries the robot would
# buckle: w^2 J must be large against m g L. Damping acts against what the effort's delay t adds,
# and adds to it itself: 2 d w t must be well below 1, for delays of some milliseconds.
FREQUENCY, DAMPING = 70.0, 0.3


class LockEmulator:
    """Holds joints whose lock is armed, once they have arrived, by damped springs.

    A simplification: a lock that is pulled gives way a little (its load over w^2 J), and takes the
    inertia of the limb with all other joints at rest at zero.

    Attributes:
        engaged: Which locks hold, ``(n_locks,)``.
    """

    def __init__(self, robot: Robot) -> None:
        self._locks = robot.locks
        self._joints = [robot.joint_index(lock.joint) for lock in robot.locks]
        dynamics = Dynamics(robot)
        inertia = np.diag(
            dynamics.mass_matrix(dynamics.configuration(np.zeros(len(robot.joints))))
        )[-len(robot.joints) :][self._joints]
        self._stiffness = FREQUENCY**2 * inertia
        self._damping = 2.0 * DAMPING * FREQUENCY * inertia
        self._angle = np.array([lock.angle for lock in robot.locks])
        self._capture = np.array([lock.capture for lock in robot.locks])
        self.engaged = np.zeros(len(robot.locks), dtype=bool)

    def update(self, position: np.ndarray, velocity: np.ndarray, armed: np.ndarray) -> np.ndarray:
        """Engage and release, and return the efforts, N m.

        Args:
            position: Of all joints, rad, ``(n_joints,)``.
            velocity: Likewise, rad/s.
            armed: Which locks are armed, ``(n_locks,)``.
        """
        away = position[self._joints] - self._angle
        self.engaged[:] = armed & (self.engaged | (np.abs(away) <= self._capture))
        return np.where(
            self.engaged, -self._stiffness * away - self._damping * velocity[self._joints], 0.0
        )
