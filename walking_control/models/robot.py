# SPDX-License-Identifier: Apache-2.0
"""A walker as the package sees it, and the state it starts in."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from walking_control.models import (
    Base,
    GearedMotor,
    JointFriction,
    JointSpring,
    MotorThermal,
    OwnSignal,
    UrdfJoint,
)

SENSORS: str = 'sensors'
MOTORS: str = 'motors'
INERTIAL: str = 'imu'


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
        base: The `Base`: how the base moves.
        joints: Moving joints in the package's order.
        limits: `UrdfJoint` by joint.
        feet: Foot links.
        mirror: joint -> (partner, sign): the relabelling at touchdown.
        coordinates: Names of the minimal coordinates.
        supports: foot -> invertible matrix, ``(n_coordinates, n_coordinates)``, that maps the
            angles of the base (`Base.angles`: of planar robots the pitch, about +y from the floor
            normal), then the joints to the minimal coordinates.
        actuators: joint -> `GearedMotor`.
        locks: The `JointLock` of each lockable joint.
        springs: joint -> `JointSpring`, passive.
        friction: joint -> `JointFriction`, of joints that have any.
        thermal: joint -> `MotorThermal`, of motors whose cooling is known.
        servos: joint -> largest speed, rad/s, of joints of massless limbs, which no torque can
            drive: their speed is commanded (see `models.support.dynamics`).
        push_off: Largest speed at which the stance leg pushes off as the other foot lands, m/s, a
            virtual effort of plants; None without.
        ground_torque: Largest torque of the floor on the stance foot, N m, a virtual effort of
            plants (see `models.support.dynamics`); None without.
        meshes: Paths of the mesh files that are there, by what the URDF calls them.
        more_imus: Links that carry another IMU: it is measured, told, recorded and judged.
        signals: name -> `OwnSignal`: what else is measured, told, recorded, judged and drawn.
        effort_share: Of each motor's largest effort that search, laws and supervisor count on.
        foot_forces: What tells the forces on the feet: `SENSORS` in them, `MOTORS` and IMU,
            or, less well, the IMU alone, `INERTIAL`.
    """

    name: str
    urdf: str = field(repr=False)
    base_link: str
    imu_link: str
    base: Base
    joints: tuple[str, ...]
    limits: dict[str, UrdfJoint] = field(repr=False)
    feet: tuple[str, ...] = ()
    mirror: dict[str, tuple[str, float]] = field(repr=False, default_factory=dict)
    coordinates: tuple[str, ...] = ()
    supports: dict[str, np.ndarray] = field(repr=False, default_factory=dict)
    actuators: dict[str, GearedMotor] = field(repr=False, default_factory=dict)
    locks: tuple[JointLock, ...] = field(repr=False, default=())
    springs: dict[str, JointSpring] = field(repr=False, default_factory=dict)
    friction: dict[str, JointFriction] = field(repr=False, default_factory=dict)
    thermal: dict[str, MotorThermal] = field(repr=False, default_factory=dict)
    servos: dict[str, float] = field(repr=False, default_factory=dict)
    push_off: float | None = None
    ground_torque: float | None = None
    meshes: dict[str, str] = field(repr=False, default_factory=dict)
    more_imus: tuple[str, ...] = ()
    signals: dict[str, OwnSignal] = field(default_factory=dict)
    effort_share: float = 1.0
    foot_forces: str = SENSORS

    @property
    def efforts(self) -> tuple[str, ...]:
        """Return the names of all efforts in the order of `Command.effort`."""
        return (*self.actuators, *self.servos, *self.virtual_efforts)

    @property
    def virtual_efforts(self) -> tuple[str, ...]:
        """Return the names of efforts that no machine has, only plants."""
        return (
            *(() if self.push_off is None else ('push_off',)),
            *(() if self.ground_torque is None else ('ground_torque',)),
        )

    @cached_property
    def lifts(self) -> dict[str, np.ndarray]:
        """Return foot -> matrix from the minimal coordinates to base angles and joints."""
        return {foot: np.linalg.inv(mapping) for foot, mapping in self.supports.items()}

    @cached_property
    def joint_lifts(self) -> dict[str, np.ndarray]:
        """Return foot -> matrix from the minimal coordinates to the joints."""
        return {foot: lift[len(self.base.angles) :] for foot, lift in self.lifts.items()}

    @cached_property
    def effort_limits(self) -> np.ndarray:
        """Return the largest effort of each motor within its URDF limit: N m, N, rad/s or m/s.

        Of motors it is `effort_share` of that.
        """
        limits = [
            self.effort_share * min(motor.effort_limit, self.limits[joint].effort)
            for joint, motor in self.actuators.items()
        ]
        virtual = (limit for limit in (self.push_off, self.ground_torque) if limit is not None)
        return np.array([*limits, *self.servos.values(), *virtual])

    @property
    def has_gear_losses(self) -> bool:
        """Return whether any gear loses power."""
        return any(
            min(motor.efficiency, motor.back_efficiency) < 1.0 for motor in self.actuators.values()
        )

    @property
    def foot_sensors(self) -> tuple[str, ...]:
        """Return the feet whose force a sensor tells: all, or none."""
        return self.feet if self.foot_forces == SENSORS else ()

    @property
    def is_planar(self) -> bool:
        """Return whether its base moves in the vertical plane."""
        return self.base is Base.PLANAR

    @property
    def is_free(self) -> bool:
        """Return whether its base moves and turns freely in space."""
        return self.base is Base.FREE

    def joint_index(self, name: str) -> int:
        """Return the position of a joint in the package's order."""
        return self.joints.index(name)


@dataclass(frozen=True)
class Start:
    """The state a run begins with: just after touchdown, or at rest without coordinates.

    Args:
        support: Stance foot (of a robot at rest: the first foot).
        q: Minimal coordinates, rad, ``(n_coordinates,)``.
        v: Their rates, rad/s.
        posture: Joint positions of a robot at rest, rad or m, ``(n_joints,)``; None of one that
            begins in minimal coordinates.
    """

    support: str
    q: np.ndarray
    v: np.ndarray
    posture: np.ndarray | None = None


def in_words(name: str) -> str:
    """Return a name of the robot file as people read it."""
    return name.replace('_', ' ')
