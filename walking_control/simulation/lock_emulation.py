# SPDX-License-Identifier: Apache-2.0
"""Locks for simulators that know none: a stiff spring by effort where the lock would engage."""

import numpy as np

from walking_control.models import Dynamics, Robot

# Of the spring and the limb it moves, rad/s. An effort that acts a time t late takes w t / 2 of the
# damping away: the spring rings from t = 2 d / w on, 20 ms here. A stiffer one rings sooner, and so
# does one of more damping once 2 d w t nears 1; a much softer one lets a leg buckle that carries
# the robot, for w^2 J must be large against m g L.
FREQUENCY, DAMPING = 30.0, 0.3
# Of a spring inside the simulator, which acts without delay.
OWN_FREQUENCY, OWN_DAMPING = 200.0, 0.7


class LockEmulator:
    """Holds joints whose lock is armed, once they have arrived, by damped springs.

    A simplification: a lock that is pulled gives way a little (its load over w^2 J), and takes the
    inertia of the limb with all other joints at rest at zero.

    Args:
        robot: The `Robot`.
        frequency: Of the spring and the limb it moves, rad/s.
        damping: Of critical damping.

    Attributes:
        engaged: Which locks hold, ``(n_locks,)``.
        angle: At which they hold, rad, ``(n_locks,)``.
        gains: Of each spring and its damper, N m/rad and N m s/rad, ``(n_locks, 2)``.
    """

    def __init__(
        self, robot: Robot, frequency: float = FREQUENCY, damping: float = DAMPING
    ) -> None:
        self._joints = [robot.joint_index(lock.joint) for lock in robot.locks]
        dynamics = Dynamics(robot)
        inertia = np.diag(
            dynamics.mass_matrix(dynamics.configuration(np.zeros(len(robot.joints))))
        )[-len(robot.joints) :][self._joints]
        self.gains = np.outer(inertia, (frequency**2, 2.0 * damping * frequency))
        self.angle = np.array([lock.angle for lock in robot.locks])
        self._capture = np.array([lock.capture for lock in robot.locks])
        self.engaged = np.zeros(len(robot.locks), dtype=bool)

    def update(self, position: np.ndarray, velocity: np.ndarray, armed: np.ndarray) -> np.ndarray:
        """Engage and release, and return the efforts, N m.

        Args:
            position: Of all joints, rad, ``(n_joints,)``.
            velocity: Likewise, rad/s.
            armed: Which locks are armed, ``(n_locks,)``.
        """
        away = position[self._joints] - self.angle
        self.engaged[:] = armed & (self.engaged | (np.abs(away) <= self._capture))
        moved = np.column_stack((away, velocity[self._joints]))
        return np.where(self.engaged, -np.sum(self.gains * moved, axis=1), 0.0)
