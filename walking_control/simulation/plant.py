# SPDX-License-Identifier: Apache-2.0
"""What every plant offers, and the truth only a plant knows."""

from typing import Protocol

import numpy as np


class Truth:
    """The plant's own state, for records and judgement, never for the controller.

    Attributes:
        q: Floating-base position ``[x, z, pitch, joints...]`` in the floor frame, m and rad; of a
            robot in space ``[x, y, z, quaternion xyzw, joints...]``.
        v: Its rate; of a robot in space base velocity in the floor frame, angular velocity in base
            axes, joint rates.
        foot_force: Force of the floor on each foot in the floor frame, N, ``(n_feet, 3)``.
        locked: Engaged locks, ``(n_locks,)``.
        work: Mechanical work of each effort so far, J, ``(n_efforts,)``.
        electrical_energy: Energy drawn at the motor terminals so far, J (no recuperation).
    """

    __slots__ = ('q', 'v', 'foot_force', 'locked', 'work', 'electrical_energy')

    def __init__(self, robot, base_coordinates):
        n = base_coordinates + len(robot.joints)
        self.q = np.zeros(n)
        self.v = np.zeros(n)
        self.foot_force = np.zeros((len(robot.feet), 3))
        self.locked = np.zeros(len(robot.locks), dtype=bool)
        self.work = np.zeros(len(robot.efforts))
        self.electrical_energy = 0.0


class Plant(Protocol):
    """The robot and its world, advanced by commands.

    Attributes:
        name: Name on the command line.
        robot: The `Robot`.
        world: Validated values of `WORLD`.
        time: Simulated time, s.
        truth: The `Truth`, updated by `reset` and `step`.
    """

    name: str
    time: float

    def reset(self, start):
        """Put the robot into a `Start` state at time zero."""

    def step(self, command, duration):
        """Hold a `Command` for a duration in s."""

    def measure(self, measurement):
        """Fill a `Measurement` with what the sensors say now."""

    def push(self, impulse):
        """Add a horizontal impulse in N s to the base, at once."""
