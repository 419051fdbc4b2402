# SPDX-License-Identifier: Apache-2.0
"""The words all rooms share: what is measured, what is known, what is commanded.

All arrays are allocated once and filled in place, so that a control tick allocates nothing.
Joints, feet and locks are in the order of the robot file; names map to positions only at the
border (topics, plants).

================================  =======  ==================================================
signal                            unit     meaning
================================  =======  ==================================================
Measurement.stamp                 s        time of the measurement
Measurement.position              rad, m   joint positions, ``(n_joints,)``
Measurement.velocity              rad/s    joint velocities, ``(n_joints,)``
Measurement.orientation           1        IMU frame to gravity-aligned world, xyzw
Measurement.angular_velocity      rad/s    of the IMU, in the IMU frame
Measurement.linear_acceleration   m/s^2    specific force at the IMU, in the IMU frame
Measurement.foot_force            N        force of the floor on each foot, foot frame
Measurement.locked                bool     joint lock engaged, ``(n_locks,)``
WalkerState.support               1        index of the stance foot
WalkerState.steps                 1        touchdowns that changed the stance foot so far
WalkerState.touchdown             s        stamp of the last of them
WalkerState.step_length           m        between the feet at that touchdown
WalkerState.step_time             s        time between the last two touchdowns
WalkerState.pitch                 rad      base about +y, from the floor normal
WalkerState.q, v                  rad      minimal coordinates of the current support, rates
WalkerState.contact               bool     debounced foot contacts, ``(n_feet,)``
WalkerState.base_x                m        base ahead of the stance foot, along the floor
WalkerState.base_height           m        base above the stance foot, along the normal
WalkerState.foothold              m        place of the stance foot, sum of the steps
WalkerState.foot_height           m        of each foot above the stance foot
WalkerState.flicker               1        contact changes suppressed within 1 s
WalkerState.orientation           1        base to gravity-aligned world, xyzw (robots in space)
Command.effort                    N m, N   by actuated joint, ground torque last, ``(n_efforts,)``
Command.lock                      bool     lock armed, ``(n_locks,)``
================================  =======  ==================================================
"""

from dataclasses import dataclass

import numpy as np


class Measurement:
    """What the sensors say at one instant.

    Args:
        robot: Anything with ``joints``, ``feet`` and ``locks`` sequences.
    """

    __slots__ = ('stamp', 'values', 'position', 'velocity', 'orientation', 'angular_velocity',
                 'linear_acceleration', 'foot_force', 'locked')

    def __init__(self, robot):
        n_joints, n_feet = len(robot.joints), len(robot.feet)
        self.stamp = 0.0
        # one block of memory, so that one look tells whether everything is finite
        self.values = np.zeros(2 * n_joints + 10 + 3 * n_feet)
        ends = np.cumsum([n_joints, n_joints, 4, 3, 3, 3 * n_feet])
        (self.position, self.velocity, self.orientation, self.angular_velocity,
         self.linear_acceleration, forces) = np.split(self.values, ends[:-1])
        self.foot_force = forces.reshape(n_feet, 3)
        self.orientation[3] = 1.0
        self.locked = np.zeros(len(robot.locks), dtype=bool)


class WalkerState:
    """What the estimator knows: who stands, where the coordinates are, how fast they move.

    Joint positions, velocities and locks are those of the measurement, not copies.

    Args:
        robot: The `Robot`.
    """

    __slots__ = ('stamp', 'support', 'steps', 'touchdown', 'step_length', 'step_time', 'pitch',
                 'pitch_rate', 'q', 'v', 'position', 'velocity', 'contact', 'locked',
                 'base_x', 'base_height', 'foothold', 'foot_height', 'flicker',
                 'orientation')

    def __init__(self, robot):
        self.stamp = 0.0
        self.support = 0
        self.steps = 0
        self.touchdown = 0.0
        self.step_length = 0.0
        self.step_time = 0.0
        self.pitch = 0.0
        self.pitch_rate = 0.0
        self.q = np.zeros(len(robot.coordinates))
        self.v = np.zeros(len(robot.coordinates))
        self.position = np.zeros(len(robot.joints))
        self.velocity = np.zeros(len(robot.joints))
        self.contact = np.zeros(len(robot.feet), dtype=bool)
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.base_x = 0.0
        self.base_height = 0.0
        self.foothold = 0.0
        self.foot_height = [0.0] * len(robot.feet)
        self.flicker = 0
        self.orientation = np.array([0.0, 0.0, 0.0, 1.0])


class Command:
    """What the robot shall do until the next command.

    Args:
        robot: The `Robot`.
    """

    __slots__ = ('effort', 'lock')

    def __init__(self, robot):
        self.effort = np.zeros(len(robot.efforts))
        self.lock = np.zeros(len(robot.locks), dtype=bool)


@dataclass
class Reference:
    """What the user wants of the walker.

    Args:
        speed: Forward speed in m/s; None leaves it to the controller's parameters.
        posture: Joint positions to hold, ``(n_joints,)``; None leaves them to the controller.
        support: Feet that shall carry the robot; None takes all that touch the floor.
    """

    speed: float | None = None
    posture: np.ndarray | None = None
    support: tuple | None = None

    def clear(self):
        """Want nothing: the controller's parameters decide."""
        self.speed = self.posture = self.support = None
