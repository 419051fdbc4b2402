# SPDX-License-Identifier: Apache-2.0
"""What one step obeys, as CasADi functions of a robot's minimal coordinates.

Lagrange's equations over the URDF's tree with one foot at rest: torques, contact force and the
jump at touchdown, in the plane or in space. Masses, first moments, inertias, gravity, springs and
rotor inertias enter linearly and stay parameters, so that one set of functions serves every mass
distribution on the same skeleton, and an optimiser may change them.

Friction of joints is built in, dry friction smooth enough for an optimiser: it fades below
`FADE`. Losses of gears are not: forces are those that arrive at the joints.

Simplifications: rigid bodies; the other foot is the only one that may land; the base turns in the
plane or not at all (joints of walkers in space leave from a point mass), so that their angles
count from the floor frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin

from walking_control.exceptions import MissingDependency, refusing, require
from walking_control.models import (
    COULOMB,
    Dynamics,
    friction_table,
    joint_axis,
    REFLECTION,
    Robot,
    VISCOUS,
)
from walking_control.models.step_numbers import FADE

with refusing(
    ImportError,
    'gait search',
    limit='needs the package casadi ({error})',
    remedy='pip install casadi',
    error=MissingDependency,
):
    import casadi as ca


@dataclass(frozen=True, eq=False)
class StepEquations:
    """Functions of one step; ``theta`` is the vector of `step_parameters`.

    Attributes:
        n: Number of minimal coordinates.
        axes: Axes of the floor frame a force has, those of the `Base`.
        relabel: S of [DS09] (4.10): coordinates of one support to those of the other.
        masses: Where the bodies' masses stand in theta.
        effort: (q, v, a, theta) -> forces collocated with q that the motion takes beside springs.
        force: (q, v, a, theta) -> force of the floor on the stance foot, N, ``(len(axes),)``.
        foot: (q) -> the other foot relative to the stance foot, m, ``(len(axes),)``.
        foot_velocity: (q, v) -> its velocity, m/s.
        impact: (q, v, v_new, theta) -> (momentum mismatch ``(n,)`` in the coordinates of the new
            support, impulse on the landing foot, velocity of the foot left behind).
        momentum: (q, v, theta) -> mass matrix times v with the stance foot at rest, ``(n,)``.
        energy: (q, v, theta) -> kinetic and potential energy, J; potential counts from the
            stance foot.
        friction_power: (v) -> power that friction of the joints takes, W.
    """

    n: int
    axes: tuple[int, ...]  # axes of the floor frame a force has, those of the `Base`
    # S of [DS09] (4.10): coordinates of one support to those of the other
    relabel: tuple[tuple[float, ...], ...]
    masses: slice  # where the bodies' masses stand in theta
    # (q, v, a, theta) -> forces collocated with q that the motion takes beside springs
    effort: ca.Function = field(repr=False)
    # (q, v, a, theta) -> force of the floor on the stance foot, N, ``(len(axes),)``
    force: ca.Function = field(repr=False)
    # (q) -> the other foot relative to the stance foot, m, ``(len(axes),)``
    foot: ca.Function = field(repr=False)
    foot_velocity: ca.Function = field(repr=False)  # (q, v) -> its velocity, m/s
    # (q, v, v_new, theta) -> (momentum mismatch ``(n,)`` in the coordinates of the new support,
    # impulse on the landing foot, velocity of the foot left behind)
    impact: ca.Function = field(repr=False)
    # (q, v, theta) -> mass matrix times v with the stance foot at rest, ``(n,)``
    momentum: ca.Function = field(repr=False)
    # (q, v, theta) -> kinetic and potential energy, J; potential counts from the stance foot
    energy: ca.Function = field(repr=False)
    # (v) -> power that friction of the joints takes, W
    friction_power: ca.Function = field(repr=False)


def step_equations(robot: Robot) -> StepEquations:
    """Return the `StepEquations` of a robot standing on its first foot.

    Robots with the same skeleton share them.

    Raises:
        UrdfError: A joint neither turns nor slides about one axis.
        InvalidInput: The base turns freely.
    """
    require(
        not robot.is_free,
        f'robot {robot.name}',
        value='base: free',
        limit='the equations of a step know planar and translating bases',
    )
    return _build(_Skeleton(robot))


class Keyed:
    """What is one by its `key`: of the same key, functions are built once."""

    key: str

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.key == other.key


class _Skeleton(Keyed):
    """What of a robot is built into the functions; equal skeletons share them."""

    def __init__(self, robot: Robot) -> None:
        model = Dynamics(robot).model
        stance, other = robot.feet
        self.axes = robot.base.axes
        self.pitch = (
            robot.lifts[stance][0] if robot.base.angles else np.zeros(len(robot.coordinates))
        )
        rows = self.rows = robot.joint_lifts[stance]
        self.relabel = robot.supports[other] @ robot.lifts[stance]
        by_joint = {model.getJointId(name): rows[i] for i, name in enumerate(robot.joints)}
        self.tree = [
            (
                model.parents[i],
                model.jointPlacements[i].rotation.copy(),
                model.jointPlacements[i].translation.copy(),
                *joint_axis(model, i),
                by_joint[i],
            )
            for i in range(2, model.njoints)
        ]
        self.friction = friction_table(robot)
        frames = [model.frames[model.getFrameId(foot)] for foot in robot.feet]
        self.feet = [(frame.parentJoint, frame.placement.translation.copy()) for frame in frames]
        self.key = repr(
            (
                self.axes,
                np.round(self.pitch, 12).tolist(),
                np.round(rows, 12).tolist(),
                np.round(self.relabel, 12).tolist(),
                self.friction.tolist(),
                [
                    [np.round(np.asarray(item, dtype=float), 12).tolist() for item in entry]
                    for entry in (*self.tree, *self.feet)
                ],
            )
        )


def rotation_about(axis: Sequence[float] | np.ndarray, angle: ca.SX) -> ca.SX:
    """Return the rotation about a constant unit axis (Rodrigues).

    Args:
        axis: Of unit length, ``(3,)``.
        angle: rad, symbolic.
    """
    K = ca.DM(pin.skew(np.asarray(axis, dtype=float)))
    return ca.sparsify(ca.SX.eye(3) + ca.sin(angle) * K + (1.0 - ca.cos(angle)) * (K @ K))


class _Walk:
    """Placements and velocities of all bodies with the stance foot at the origin."""

    def __init__(self, skeleton: _Skeleton, q: ca.SX, v: ca.SX, slip: ca.SX) -> None:
        pitch = _combine(skeleton.pitch, q)
        rotations = {1: rotation_about([0.0, 1.0, 0.0], pitch)}
        spins = {1: ca.DM([0.0, 1.0, 0.0]) * _combine(skeleton.pitch, v)}
        places = {1: ca.SX(3, 1)}
        for i, (parent, turn, shift, axis, slides, row) in enumerate(skeleton.tree, start=2):
            angle, rate = _combine(row, q), _combine(row, v)
            rotation = rotations[parent] @ tidy(turn)
            place = places[parent] + rotations[parent] @ tidy(shift)
            spin = tidy(turn).T @ spins[parent]
            if slides:
                place = place + rotation @ tidy(axis) * angle
            else:
                relative = rotation_about(axis, angle)
                rotation, spin = rotation @ relative, relative.T @ spin + tidy(axis) * rate
            rotations[i], places[i], spins[i] = rotation, place, spin
        feet = [places[joint] + rotations[joint] @ tidy(point) for joint, point in skeleton.feet]
        self.foot = feet[1] - feet[0]
        self.bodies = [(places[i] - feet[0], rotations[i], spins[i]) for i in rotations]
        self.velocities = [slip + ca.jtimes(place, q, v) for place, _, _ in self.bodies]


def tidy(array: ArrayLike) -> ca.DM:
    """Return constants without what rounding leaves of zeros."""
    array = np.asarray(array, dtype=float)
    return ca.sparsify(ca.DM(np.where(abs(array) < 1e-14, 0.0, array)))


def _combine(row: np.ndarray, vector: ca.SX) -> ca.SX:
    return sum((float(factor) * vector[i] for i, factor in enumerate(row) if factor), ca.SX(0))


def _energies(walk: _Walk, inertias: ca.SX, gravity: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return kinetic energy, potential energy and linear momentum; all linear in `inertias`."""
    kinetic, potential, momentum = 0.0, 0.0, 0.0
    for k, (place, rotation, spin) in enumerate(walk.bodies):
        mass, first = inertias[0, k], inertias[1:4, k]
        inertia = inertia_matrix([inertias[4 + j, k] for j in range(6)])
        along = rotation.T @ walk.velocities[k]
        swirl = ca.cross(spin, first)
        kinetic += (
            0.5 * mass * ca.dot(walk.velocities[k], walk.velocities[k])
            + ca.dot(along, swirl)
            + 0.5 * ca.dot(spin, inertia @ spin)
        )
        potential -= ca.dot(gravity, mass * place + rotation @ first)
        momentum += mass * walk.velocities[k] + rotation @ swirl
    return kinetic, potential, momentum


def inertia_matrix(entries: Sequence[ca.SX]) -> ca.SX:
    """Return the matrix of xx, xy, yy, xz, yz, zz, ``(3, 3)``."""
    xx, xy, yy, xz, yz, zz = entries
    return ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))


def function(name: str, inputs: list[ca.SX], *outputs: ca.SX) -> ca.Function:
    """Return a function whose outputs are dense and share what is equal in them."""
    return ca.Function(name, inputs, [ca.cse(ca.densify(output)) for output in outputs])


def smooth_friction(table: np.ndarray, rates: ca.SX) -> ca.SX:
    """Return the torque of friction on every joint, opposing."""
    return ca.DM(table[:, VISCOUS]) * rates + ca.DM(table[:, COULOMB]) * ca.tanh(rates / FADE)


@lru_cache(maxsize=8)
def _build(skeleton: _Skeleton) -> StepEquations:
    n, joints = len(skeleton.pitch), len(skeleton.rows)
    bodies = len(skeleton.tree) + 1
    q, v, a = (ca.SX.sym(name, n) for name in 'qva')
    v_new, slip = ca.SX.sym('v_new', n), ca.SX.sym('slip', 3)
    theta = ca.SX.sym('theta', 3 + 4 * joints + 10 * bodies)
    gravity = theta[:3]
    armature, stiffness, damping, rest = (
        theta[3 + k * joints : 3 + (k + 1) * joints] for k in range(4)
    )
    inertias = ca.reshape(theta[3 + 4 * joints :], 10, bodies)
    walk = _Walk(skeleton, q, v, slip)
    kinetic, potential, momentum = _energies(walk, inertias, gravity)
    rows = tidy(skeleton.rows)
    rotors = 0.5 * ca.dot(armature, (rows @ v) ** 2)
    standing = ca.substitute(kinetic, slip, ca.DM.zeros(3)) + rotors
    axes = skeleton.axes

    momenta = ca.gradient(standing, v)
    passive = rows.T @ (stiffness * (rows @ q - rest) + damping * (rows @ v))
    rubbing = smooth_friction(skeleton.friction, rows @ v)
    passive += rows.T @ rubbing
    effort = (
        ca.jtimes(momenta, v, a)
        + ca.jtimes(momenta, q, v)
        - ca.gradient(standing, q)
        + ca.gradient(potential, q)
        + passive
    )
    still = ca.substitute(momentum, slip, ca.DM.zeros(3))
    mass = ca.sum2(inertias[0, :])
    force = ca.jtimes(still, v, a) + ca.jtimes(still, q, v) - mass * gravity
    foot = walk.foot[list(axes)]
    foot_velocity = ca.jtimes(foot, q, v)

    foot_speed = function('foot_velocity', [q, v], ca.jtimes(walk.foot, q, v))
    moving = function(
        'moving', [q, slip, v, theta], ca.gradient(kinetic + rotors, v), ca.gradient(kinetic, slip)
    )
    S = ca.DM(skeleton.relabel)
    mirror = ca.DM(REFLECTION if 1 in axes else np.eye(3))
    new_q = S @ q
    before = moving(new_q, mirror @ foot_speed(q, v), S @ v, theta)
    after = moving(new_q, ca.DM.zeros(3), v_new, theta)
    left = foot_speed(new_q, v_new)
    return StepEquations(
        n,
        axes,
        tuple(map(tuple, skeleton.relabel)),
        slice(3 + 4 * joints, None, 10),
        function('effort', [q, v, a, theta], effort),
        function('force', [q, v, a, theta], force[list(axes)]),
        function('foot', [q], foot),
        function('foot_velocity', [q, v], foot_velocity),
        function(
            'impact',
            [q, v, v_new, theta],
            after[0] - before[0],
            (after[1] - before[1])[list(axes)],
            left[list(axes)],
        ),
        function('momentum', [q, v, theta], momenta),
        function('energy', [q, v, theta], standing, potential),
        function('friction_power', [v], ca.dot(rubbing, rows @ v)),
    )
