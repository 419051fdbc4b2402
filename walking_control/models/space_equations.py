# SPDX-License-Identifier: Apache-2.0
"""What a step in space obeys, as CasADi functions of a biped's joints, one sole flat on the floor.

The tree of the URDF is rooted at the stance foot, which rests, so that the joints are all the
coordinates there are, and walked once out and once back by the recursive Newton-Euler algorithm:
efforts, the wrench of the floor on the sole and, with velocities in the place of accelerations,
momenta. Numbers of the robot enter linearly, as `step_parameters`, and stay parameters.

Between a motor and its joint stand rotor, gear and friction, in the order of `models.friction`.
What a gear loses fades below `IDLE`, for the solver.

Simplifications: rigid bodies; the other sole is the only one that may land; joints turn.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import casadi as ca
import numpy as np

from walking_control.exceptions import require
from walking_control.models import (
    DRIVING_LOSS,
    Dynamics,
    friction_table,
    gear_table,
    joint_axis,
    mirrored_joints,
    Robot,
)
from walking_control.models.step_equations import (
    function,
    inertia_matrix,
    Keyed,
    rotation_about,
    smooth_friction,
    tidy,
)

IDLE = 0.5  # W: power through a gear below which its loss fades


@dataclass(frozen=True, eq=False)
class SpaceEquations:
    """Functions of one step on the robot's first foot; ``theta`` is of `step_parameters`.

    Poses and the wrench are in the stance sole's frame, which is the floor's.

    Attributes:
        n: Number of joints.
        legs: The joints of the legs of both feet, each from the base, as indices.
        mirror: From the joints of a step on one foot to those of the step on the other, ``(n, n)``.
        dynamics: (q, v, a, theta) -> efforts of the motors ``(n,)``, wrench of the floor on the
            stance sole, force and moment about its origin, ``(6,)``.
        poses: (q) -> positions of the other sole and of the base ``(3, 2)``, their rotations,
            ``(3, 6)``.
        swing_twist: (q, v) -> velocity of the other sole in its own axes, linear first, ``(6,)``.
        impact: (q, twist, v, v_new, theta) -> momenta of the joints gained ``(n,)`` and impulse
            wrench on the stance sole ``(6,)``, as it stops from a twist, v becoming v_new.
        energy: (q, v, theta) -> kinetic energy, J.
    """

    n: int  # number of joints
    # the joints of the legs of both feet, each from the base, as indices
    legs: tuple[tuple[int, ...], ...]
    # from the joints of a step on one foot to those of the step on the other, ``(n, n)``
    mirror: np.ndarray = field(repr=False)
    # (q, v, a, theta) -> efforts of the motors ``(n,)``, wrench of the floor on the stance sole,
    # force and moment about its origin, ``(6,)``
    dynamics: ca.Function = field(repr=False)
    # (q) -> positions of the other sole and of the base ``(3, 2)``, their rotations, ``(3, 6)``
    poses: ca.Function = field(repr=False)
    # (q, v) -> velocity of the other sole in its own axes, linear first, ``(6,)``
    swing_twist: ca.Function = field(repr=False)
    # (q, twist, v, v_new, theta) -> momenta of the joints gained ``(n,)`` and impulse wrench on the
    # stance sole ``(6,)``, as it stops from a twist, v becoming v_new
    impact: ca.Function = field(repr=False)
    energy: ca.Function = field(repr=False)


class _Tree(Keyed):
    """What of a robot is built into the functions; equal ones share them."""

    def __init__(self, robot: Robot) -> None:
        self.legs, self.mirror = mirrored_joints(robot)
        self.n, model = len(robot.joints), Dynamics(robot).model
        frames = [model.frames[model.getFrameId(foot)] for foot in robot.feet]
        self.feet = [(frame.parentJoint, frame.placement.copy()) for frame in frames]
        joints = {
            i: (
                model.parents[i],
                model.jointPlacements[i].copy(),
                joint_axis(model, i)[0],
                robot.joint_index(model.names[i]),
            )
            for i in range(2, model.njoints)
        }
        require(
            all(not joint_axis(model, i)[1] for i in joints),
            f'gait of {robot.name} in space',
            limit='needs joints that turn',
        )
        # edges outwards from the stance foot: joint, body reached, body left, way of the joint
        self.edges: list[tuple[int, int, int, bool]] = []
        reached, rest = [self.feet[0][0]], dict(joints)
        for body in reached:
            for i, (parent, *_) in list(rest.items()):
                if body in (i, parent):
                    self.edges.append((i, parent if body == i else i, body, body == parent))
                    reached.append(self.edges[-1][1])
                    del rest[i]
        self.joints, self.friction = joints, friction_table(robot)
        gears = dict(
            zip(robot.actuators, gear_table(robot)[:, DRIVING_LOSS:].tolist(), strict=True)
        )
        self.gears = np.array([gears[joint] for joint in robot.joints])
        self.key = repr(
            (
                self.legs,
                self.mirror.tolist(),
                self.friction.tolist(),
                self.gears.tolist(),
                self.edges,
                [
                    (
                        entry[0],
                        np.round(entry[1].homogeneous, 12).tolist(),
                        np.round(entry[2], 12).tolist(),
                        entry[3],
                    )
                    for entry in joints.values()
                ],
                [(i, np.round(place.homogeneous, 12).tolist()) for i, place in self.feet],
            )
        )


def space_equations(robot: Robot) -> SpaceEquations:
    """Return the `SpaceEquations` of a biped; robots with the same skeleton share them.

    Raises:
        InvalidInput: It has not two mirrored legs of six joints.
    """
    return _build(_Tree(robot))


class _Motion:
    """Placements, and spatial velocities and accelerations in each body's own axes."""

    def __init__(
        self, tree: _Tree, q: ca.SX, v: ca.SX, a: ca.SX, twist: ca.SX, acceleration: ca.SX
    ) -> None:
        """Walk outwards; twist and acceleration are those of the stance sole, linear first."""
        self.tree, self.turns = tree, {}
        first, foot = tree.feet[0]
        R, t = tidy(foot.rotation), tidy(foot.translation)
        self.place = {first: (R.T, -R.T @ t)}
        self.velocity = {first: _carry(R, t, (twist[:3], twist[3:]))}
        self.acceleration = {first: _carry(R, t, (acceleration[:3], acceleration[3:]))}
        for i, body, start, outwards in tree.edges:
            _, placement, axis, k = tree.joints[i]
            axis = tidy(axis)
            R = tidy(placement.rotation) @ rotation_about(axis, q[k])
            t = tidy(placement.translation)
            self.turns[i] = R
            old, point = self.place[start]
            before, rate = self.velocity[start], self.acceleration[start]
            if outwards:
                self.place[body] = old @ R, point + old @ t
                v_new = _back(R, t, before)
                v_new = v_new[0], v_new[1] + axis * v[k]
                a_new = _back(R, t, rate)
                self.velocity[body] = v_new
                self.acceleration[body] = (
                    a_new[0] + ca.cross(v_new[0], axis) * v[k],
                    a_new[1] + axis * a[k] + ca.cross(v_new[1], axis) * v[k],
                )
            else:
                self.place[body] = old @ R.T, point - old @ (R.T @ t)
                self.velocity[body] = _carry(R, t, (before[0], before[1] - axis * v[k]))
                self.acceleration[body] = _carry(
                    R,
                    t,
                    (
                        rate[0] - ca.cross(before[0], axis) * v[k],
                        rate[1] - axis * a[k] - ca.cross(before[1], axis) * v[k],
                    ),
                )

    def wrenches(self, inertias: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Walk back; return torques along the joints ``(n,)`` and the wrench on the sole."""
        tree = self.tree
        force = {
            body: _newton_euler(inertias[:, body - 1], self.velocity[body], self.acceleration[body])
            for body in self.place
        }
        torque = ca.SX.zeros(tree.n)
        for i, body, start, outwards in reversed(tree.edges):
            _, placement, axis, k = tree.joints[i]
            R, t = self.turns[i], tidy(placement.translation)
            f, n = force[body]
            if outwards:
                torque[k] = ca.dot(tidy(axis), n)
                f = R @ f
                n = R @ n + ca.cross(t, f)
            else:
                n = R.T @ (n - ca.cross(t, f))
                f = R.T @ f
                torque[k] = -ca.dot(tidy(axis), n)
            force[start] = force[start][0] + f, force[start][1] + n
        first, foot = tree.feet[0]
        f, n = force[first]
        R, t = tidy(foot.rotation), tidy(foot.translation)
        return torque, ca.vertcat(R.T @ f, R.T @ (n - ca.cross(t, f)))


def _carry(R: ca.SX, t: ca.SX, motion: tuple[ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX]:
    """Return a spatial motion of a frame (R, t) in the axes, and at the origin, it is given in."""
    linear, angular = R @ motion[0], R @ motion[1]
    return linear + ca.cross(t, angular), angular


def _back(R: ca.SX, t: ca.SX, motion: tuple[ca.SX, ca.SX]) -> tuple[ca.SX, ca.SX]:
    """Return the inverse of `_carry`."""
    return R.T @ (motion[0] + ca.cross(motion[1], t)), R.T @ motion[1]


def _newton_euler(
    inertia: ca.SX, velocity: tuple[ca.SX, ca.SX], acceleration: tuple[ca.SX, ca.SX]
) -> tuple[ca.SX, ca.SX]:
    """Return the wrench a body's motion takes, about its origin."""
    (v, w), (dv, dw) = velocity, acceleration
    mass, first = inertia[0], inertia[1:4]
    about = inertia_matrix([inertia[4 + j] for j in range(6)])
    p = mass * v + ca.cross(w, first)
    along = about @ w + ca.cross(first, v)
    return (
        mass * dv + ca.cross(dw, first) + ca.cross(w, p),
        about @ dw + ca.cross(first, dv) + ca.cross(w, along) + ca.cross(v, p),
    )


def _before_gears(losses: np.ndarray, leaving: ca.SX, v: ca.SX) -> ca.SX:
    """Return the torques that enter the gears for torques to leave them, as `entering_torque`.

    Args:
        losses: Shares lost driving and driven, see `gear_table`, ``(n, 2)``.
        leaving: N m.
        v: Rates of the joints.
    """
    if not losses.any():
        return leaving
    drives = 0.5 * (1.0 + ca.tanh(leaving * v / IDLE))
    share = drives / (1.0 - ca.DM(losses[:, 0])) + (1.0 - drives) / (1.0 + ca.DM(losses[:, 1]))
    return leaving * share


@lru_cache(maxsize=8)
def _build(tree: _Tree) -> SpaceEquations:
    n, bodies = tree.n, len(tree.joints) + 1
    q, v, a, v_new = (ca.SX.sym(name, n) for name in ('q', 'v', 'a', 'v_new'))
    twist, still = ca.SX.sym('twist', 6), ca.SX.zeros(6)
    theta = ca.SX.sym('theta', 3 + 4 * n + 10 * bodies)
    armature, stiffness, damping, rest = (theta[3 + k * n : 3 + (k + 1) * n] for k in range(4))
    inertias = ca.reshape(theta[3 + 4 * n :], 10, bodies)
    motion = _Motion(tree, q, v, a, still, ca.vertcat(-theta[:3], ca.SX.zeros(3)))
    effort, wrench = motion.wrenches(inertias)
    effort += stiffness * (q - rest) + damping * v
    effort += smooth_friction(tree.friction, v)
    effort = armature * a + _before_gears(tree.gears, effort, v)
    (body, foot), none = tree.feet[1], ca.SX.zeros(n)
    R, point = motion.place[body]
    swing, base = point + R @ tidy(foot.translation), motion.place[1]
    moving = _back(tidy(foot.rotation), tidy(foot.translation), motion.velocity[body])
    # the mass matrix times a velocity is what inverse dynamics says of it as an acceleration
    gained, impulse = _Motion(tree, q, none, v_new - v, still, -twist).wrenches(inertias)
    momenta, _ = _Motion(tree, q, none, v, still, still).wrenches(inertias)
    energy = 0.5 * ca.dot(v, momenta + armature * v)

    return SpaceEquations(
        n,
        tree.legs,
        tree.mirror,
        function('dynamics', [q, v, a, theta], effort, wrench),
        function(
            'poses', [q], ca.horzcat(swing, base[1]), ca.horzcat(R @ tidy(foot.rotation), base[0])
        ),
        function('swing_twist', [q, v], ca.vertcat(*moving)),
        function('impact', [q, twist, v, v_new, theta], gained + armature * (v_new - v), impulse),
        function('energy', [q, v, theta], energy),
    )
