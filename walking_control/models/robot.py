# SPDX-License-Identifier: Apache-2.0
"""A walker as the package sees it, and the state it starts in."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class JointLock:
    """A lock that holds a joint at an angle once armed and arrived.

    Args:
        joint: Joint name.
        foot: Foot of the leg the joint belongs to.
        angle: Angle held, rad.
        capture: The lock engages when the joint is within this of the angle, rad.
    """

    joint: str
    foot: str
    angle: float
    capture: float


@dataclass(frozen=True)
class Robot:
    """A walker as the package sees it; built by `load_robot`.

    Args:
        name: Name.
        urdf: URDF text.
        base_link: Root link of the URDF.
        imu_link: Link that carries the IMU.
        planar: True when the robot moves in the x-z plane only.
        joints: Moving joints in the package's order.
        limits: `UrdfJoint` by joint.
        feet: Foot links.
        mirror: joint -> (partner, sign): the relabelling at touchdown.
        coordinates: Names of the minimal coordinates.
        supports: foot -> matrix, ``(n_coordinates, 1 + n_joints)``, that maps the base pitch
            (about +y, from the floor normal) followed by the joints to the minimal coordinates;
            of spatial robots ``(n_coordinates, n_joints)``, without pitch.
        actuators: joint -> `GearedMotor`.
        locks: The `JointLock` of each lockable joint.
        springs: joint -> `JointSpring`, passive.
        ground_torque: Largest torque of the floor on the stance foot, N m, a virtual effort of
            plants (see `models.efforts`); None without.
    """

    name: str
    urdf: str = field(repr=False)
    base_link: str
    imu_link: str
    planar: bool
    joints: tuple
    limits: dict = field(repr=False)
    feet: tuple
    mirror: dict = field(repr=False)
    coordinates: tuple
    supports: dict = field(repr=False)
    actuators: dict = field(repr=False)
    locks: tuple = field(repr=False)
    springs: dict = field(repr=False, default_factory=dict)
    ground_torque: float | None = None

    @property
    def efforts(self):
        """Return the names of all efforts in the order of `Command.effort`."""
        return (*self.actuators, *(() if self.ground_torque is None else ('ground_torque',)))

    def joint_index(self, name):
        """Return the position of a joint in the package's order."""
        return self.joints.index(name)


@dataclass(frozen=True)
class Start:
    """The state a run begins with: planar robots just after touchdown, others at rest.

    Args:
        support: Stance foot (of a robot at rest: the first foot).
        q: Minimal coordinates, rad, ``(n_coordinates,)``.
        v: Their rates, rad/s.
        posture: Joint positions of a robot at rest, rad or m, ``(n_joints,)``; None for planar
            robots.
    """

    support: str
    q: np.ndarray
    v: np.ndarray
    posture: np.ndarray | None = None


def in_words(name):
    """Return a name of the robot file as people read it."""
    return name.replace('_', ' ')
