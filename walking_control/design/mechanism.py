# SPDX-License-Identifier: Apache-2.0
"""A robot in a posture, its base held in place or free, as the tools of this room take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from walking_control.exceptions import require
from walking_control.loading import load_robot
from walking_control.models import Base, check_limits, Dynamics, is_urdf, load_bare_robot, RobotFile

AXES = 'xyz'
SINGULAR = 1e-6  # of the largest singular value: below, a direction counts as lost
_MASSLESS = 1e-14  # of what the joints alone resist: below, an inertia is singular


class Mechanism:
    """A robot in a posture.

    Velocities are those of the base (none if it is held), then of all joints, ``n`` in all.
    Rotor inertia, where the robot file knows it, is part of the inertia.

    Args:
        dynamics: The `Dynamics` of the robot.
        q: Its generalised coordinates, ``(nq,)``.
        held: Whether the base is held in place.
        assumptions: What was assumed, in words.
        standing: Feet on the floor in this posture.

    Attributes:
        name: Of the robot.
        moving: Places of our velocities among those of the `Dynamics`.
        n_base: How many of them are the base's.
        mass: Of all that moves, kg.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        q: np.ndarray,
        held: bool,
        assumptions: Sequence[str] = (),
        standing: Sequence[str] = (),
    ) -> None:
        self.dynamics, self.q, self.held = dynamics, np.array(q, float), held
        self.assumptions, self.standing = list(assumptions), tuple(standing)
        self.name, self.joints = dynamics.robot.name, dynamics.joints
        first = dynamics.base.nv if held else 0
        self.moving = np.arange(first, dynamics.nv)
        self.n_base = dynamics.base.nv - first
        base = dynamics.model.inertias[1].mass  # the body behind the root joint
        self.mass = dynamics.mass - (base if held else 0.0)
        require(self.joints, f'robot {self.name}', limit='has no moving joint')
        require(
            self.mass > 0.0,
            f'mass of what moves of {self.name}',
            value=self.mass,
            limit='must be positive (kg)',
        )

    def at(self, positions: np.ndarray) -> Mechanism:
        """Return the same robot with other joint positions, ``(n_joints,)``."""
        q = self.q.copy()
        q[self.dynamics.base.nq :] = positions
        return Mechanism(self.dynamics, q, self.held, self.assumptions, self.standing)

    def moved(self, velocity: np.ndarray) -> Mechanism:
        """Return the same robot after a unit of time at a velocity, ``(n,)``."""
        full = np.zeros(self.dynamics.nv)
        full[self.moving] = velocity
        theirs = pin.integrate(
            self.dynamics.model,
            self.dynamics.to_pinocchio(self.q),
            self.dynamics.to_pinocchio_velocity(full),
        )
        q = self.dynamics.from_pinocchio(theirs)
        # continuous joints keep counting turns
        q[self.dynamics.base.nq :] = self.positions + full[self.dynamics.base.nv :]
        return Mechanism(self.dynamics, q, self.held, self.assumptions, self.standing)

    @property
    def positions(self) -> np.ndarray:
        """Joint positions, ``(n_joints,)``, rad or m."""
        return self.q[self.dynamics.base.nq :]

    def velocity_places(self, joints: Sequence[str]) -> np.ndarray:
        """Return the places of joints among our velocities."""
        return self.n_base + np.array([self.joints.index(joint) for joint in joints], int)

    def inertia(self, rotors: bool = True) -> np.ndarray:
        """Return the mass matrix, ``(n, n)``, with or without the rotors' inertia."""
        full = self.dynamics.mass_matrix(self.q)
        if not rotors:
            full = full - np.diag(self.dynamics.model.armature[self.dynamics.pinocchio_order])
        return np.asarray(full[np.ix_(self.moving, self.moving)])

    def momentum_map(self) -> np.ndarray:
        """Return what velocities make of linear momentum, ``(3, n)``: mass times com Jacobian."""
        dynamics = self.dynamics
        jacobian = pin.jacobianCenterOfMass(
            dynamics.model, dynamics.data, dynamics.to_pinocchio(self.q)
        )
        return np.asarray(dynamics.mass * jacobian[:, dynamics.pinocchio_order][:, self.moving])

    def center_of_mass(self) -> np.ndarray:
        """Return the centre of mass of what moves, ``(3,)``, m."""
        center = self.dynamics.mass * self.dynamics.center_of_mass(self.q)
        if self.held:
            body = self.dynamics.model.inertias[1]
            self.dynamics.place(self.q)
            center = center - body.mass * self.dynamics.data.oMi[1].act(body.lever)
        return np.asarray(center / self.mass)

    def point_jacobian(self, frame: int) -> np.ndarray:
        """Return the Jacobian of a frame in the world's axes, linear rows first, ``(6, n)``."""
        full = pin.computeFrameJacobian(
            self.dynamics.model,
            self.dynamics.data,
            self.dynamics.to_pinocchio(self.q),
            frame,
            pin.LOCAL_WORLD_ALIGNED,
        )
        return np.asarray(full[:, self.dynamics.pinocchio_order][:, self.moving])

    def place_of(self, frame: int) -> np.ndarray:
        """Return where a frame is, ``(3,)``, m."""
        return self.dynamics.placement(self.q, frame)[0]

    def joints_to(self, frame: int) -> list[str]:
        """Return the joints between base and frame, from the base outwards."""
        model = self.dynamics.model
        return [model.names[i] for i in model.supports[model.frames[frame].parentJoint] if i > 1]


def load_mechanism(
    robot: str | Path,
    overrides: Sequence[tuple[str, Any]] = (),
    positions: Mapping[str, float] | None = None,
    orientation: Sequence[float] | None = None,
    held: bool | None = None,
) -> Mechanism:
    """Return a robot, by its name, the path of a robot file, URDF or xacro, in a posture.

    Joints without a position, rad or m, and the base without an orientation, quaternion xyzw, are
    as the robot file starts, or zero and upright. `held` None holds the base of a URDF alone and of
    no other. InvalidInput: the robot, a joint or a position is unusable.
    """
    assumptions: list[str] = []
    standing: tuple[str, ...] = ()
    if is_urdf(robot):
        machine = load_bare_robot(robot, overrides)
        dynamics = Dynamics(machine)
        start = dynamics.configuration(dict.fromkeys(dynamics.joints, 0.0))
        if held is None:
            held = True
            assumptions.append('the base is held in place (--base free lets it go)')
    else:
        file = load_robot(robot, overrides)
        machine = file.robot
        dynamics = Dynamics(machine, file.sections.get('world', {}).get('gravity', 9.81))
        start = _start(file, dynamics)
        # a walker with coordinates stands on one foot, others on all
        standing = (file.start.support,) if machine.coordinates else machine.feet
        held = bool(held)
    first = dynamics.base.nq
    joints = dict(zip(machine.joints, start[first:].tolist()))
    q = dynamics.configuration({**joints, **(positions or {})}) if positions else start.copy()
    q[:first] = start[:first]
    if orientation is not None:
        require(
            dynamics.base is Base.FREE,
            f'orientation of {machine.name}',
            value=list(orientation),
            limit=f'its base is {dynamics.base.value}',
        )
        q = dynamics.configuration(q[first:], orientation, start[:3])
    if positions:
        check_limits(q[first:], machine.joints, machine.limits)
    else:
        assumptions.append('all joints at zero' if not q[first:].any() else 'the start posture')
    return Mechanism(dynamics, q, held, assumptions, standing)


def _start(file: RobotFile, dynamics: Dynamics) -> np.ndarray:
    """Return the configuration in which a robot file lets its robot start."""
    start = file.start
    if start.posture is not None:
        return dynamics.configuration(start.posture)
    if file.robot.coordinates:
        return dynamics.base_from_coordinates(start.support, start.q, start.v)[0]
    return dynamics.configuration(dict.fromkeys(dynamics.joints, 0.0))


def require_inertia(inertia: np.ndarray, name: str) -> np.ndarray:
    """Return an inertia matrix that resists every motion; InvalidInput: one does not.

    Args:
        inertia: ``(n, n)``.
        name: Of the robot, for the message.
    """
    size = np.sqrt(np.clip(np.diag(inertia), 0.0, None))
    require(
        size.all() and np.linalg.eigvalsh(inertia / np.outer(size, size))[0] >= _MASSLESS,
        f'inertia of {name}',
        limit='is singular: some motion moves no mass',
        remedy='give every moving link an <inertial>, or its motor a rotor inertia',
    )
    return inertia


def unit_direction(direction: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return a direction of length 1.

    Raises:
        InvalidInput: It is zero or not finite.
    """
    vector = np.asarray(direction, float)
    largest = np.abs(vector).max(initial=0.0)  # NaN stays
    require(
        vector.shape == (3,) and 0.0 < largest < np.inf,
        'direction',
        value=vector.tolist(),
        limit='must be three finite numbers, not all zero',
        remedy='give one such as 0,0,1',
    )
    vector = vector / largest  # or squares overflow
    return np.asarray(vector / np.linalg.norm(vector))
