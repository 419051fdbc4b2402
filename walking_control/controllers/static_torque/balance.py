# SPDX-License-Identifier: Apache-2.0
"""Balance within the soles: feedback of centre of mass and angular momentum as a net wrench.

Where the impedance of the joints alone would press the feet over their edges, the law asks the
floor for a net wrench instead: a force that brings the centre of mass back,

    F = m (stiffness (c_ref - c) - damping c'),

and a moment L' that turns the base upright. The contact forces that come nearest to both within
all limits of the static program follow from one quadratic program without equations,

    minimise  |F(f) - F|^2 / W^2 + momentum_weight |L'(f) - L'|^2 / (W l)^2,

the force first: where the centre of pressure has reached the edge of a sole, the upper body is
thrown the way the robot falls, which brakes the fall (the hip strategy). Torques follow from the
forces as at rest; what accelerates the legs themselves is left out.

The capture point c + c' / w, w^2 = g / height, is where the robot would have to put its centre of
pressure to come to rest ([Pra06]). Its distance to the edge of the soles says, before the robot
tips, whether a step is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from walking_control.models.base import ROOT
from walking_control.statics.solvers import Problem

if TYPE_CHECKING:
    from walking_control.models.dynamics import Dynamics
    from walking_control.models.signals import BaseState
    from walking_control.statics.contacts import Contact
    from walking_control.statics.distributor import StaticTorque
    from walking_control.statics.program import StaticProgram

_SMALL = 1e-7        # curvature of the program
_LEVER = 1.0         # m: a moment counts as a force on it


class BodyMotion:
    """Where the centre of mass is and how it moves, seen from the feet that stand.

    Args:
        dynamics: The `Dynamics`, of a free base.
        contacts: foot -> `Contact`.

    Attributes:
        com: Centre of mass, the base at the origin, floor axes, ``(3,)``, m.
        velocity: Its velocity over the floor, ``(3,)``, m/s.
        feet: Place of each sole, base at the origin, ``(n_feet, 3)``, m.
        turns: Rotation of each sole to the floor, ``(n_feet, 3, 3)``.
    """

    def __init__(self, dynamics: Dynamics, contacts: Mapping[str, Contact]) -> None:
        self._dynamics = dynamics
        self._contacts = list(contacts.values())
        self._frames = [dynamics.frame(contact.frame, contact.offset, contact.rotation)
                        for contact in self._contacts]
        self._data = dynamics.model.createData()
        self._v = np.zeros(dynamics.nv)
        self.com, self.velocity = np.zeros(3), np.zeros(3)
        self.feet = np.zeros((len(self._frames), 3))
        self.turns = np.zeros((len(self._frames), 3, 3))

    def update(self, q: np.ndarray, velocity: np.ndarray, base: BaseState | None) -> None:
        """Look at a configuration with the base at the origin; without a base at rest."""
        dynamics, data, v = self._dynamics, self._data, self._v
        model, place = dynamics.model, dynamics.to_pinocchio(q)
        v[:] = 0.0
        if base is not None:
            v[:3] = base.linear @ base.rotation
            v[3:ROOT] = base.angular
            v[dynamics.order[ROOT:]] = velocity
        pin.centerOfMass(model, data, place, v)
        for i, frame in enumerate(self._frames):
            pin.updateFramePlacement(model, data, frame)
            self.feet[i] = data.oMf[frame].translation
            self.turns[i] = data.oMf[frame].rotation
        self.com[:], self.velocity[:] = data.com[0], data.vcom[0]

    def from_foot(self, foot: int) -> np.ndarray:
        """Return the centre of mass over a foot in its heading, ``(3,)``, m."""
        return (self.com - self.feet[foot]) @ _heading(self.turns[foot])

    def corners(self, feet: Sequence[int]) -> np.ndarray:
        """Return the corners of soles on the floor, ``(4 n, 2)``, m."""
        points = []
        for foot in feet:
            contact, turn = self._contacts[foot], self.turns[foot]
            for x in (-0.5, 0.5):
                for y in (-0.5, 0.5):
                    points.append(self.feet[foot][:2] + x * contact.length * turn[:2, 0]
                                  + y * contact.width * turn[:2, 1])
        return np.array(points)


def margin_inside(points: np.ndarray, point: np.ndarray) -> float:
    """Return how far a point lies inside the convex hull of others, m; below zero outside.

    Args:
        points: ``(n, 2)``, n >= 3 and not all on one line.
        point: ``(2,)``.
    """
    hull = _hull(points)
    edges = np.roll(hull, -1, axis=0) - hull
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    to = point - hull
    inside = (edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0]) / lengths
    least = float(inside.min())
    if least >= 0.0:
        return least
    along = np.clip((edges * to).sum(axis=1) / lengths ** 2, 0.0, 1.0)
    return -float(np.hypot(*(to - along[:, None] * edges).T).min())


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, counter-clockwise (Andrew's chain)."""
    ordered = sorted(map(tuple, points.tolist()))
    chain: list[tuple[float, ...]] = []
    for sweep in (ordered, ordered[::-1]):
        half: list[tuple[float, ...]] = []
        for p in sweep:
            while len(half) > 1 and (half[-1][0] - half[-2][0]) * (p[1] - half[-2][1]) \
                    <= (half[-1][1] - half[-2][1]) * (p[0] - half[-2][0]):
                half.pop()
            half.append(p)
        chain += half[:-1]
    return np.array(chain)


class Balance:
    """Torques of the stance legs that bring the body back, and what is left of the soles.

    Args:
        distributor: The `StaticTorque`.
        contacts: foot -> `Contact`.
        gravity: Magnitude, m/s^2.

    Attributes:
        margin: Distance of the capture point to the edge of the soles, m; below zero it is
            outside, and only a step keeps the robot up.
        rest_margin: The same of the centre of mass that is held.
    """

    def __init__(self, distributor: StaticTorque, contacts: Mapping[str, Contact],
                 gravity: float) -> None:
        self._distributor, self._gravity = distributor, gravity
        self.dynamics = distributor.dynamics
        self._now = BodyMotion(self.dynamics, contacts)
        self._held = BodyMotion(self.dynamics, contacts)
        self._held_posture = np.full(len(self.dynamics.joints), np.nan)
        self._rest = np.zeros(self.dynamics.nq)
        self._names = list(contacts)
        self.margin = self.rest_margin = 0.0

    def reset(self) -> None:
        """Forget the past."""
        self._velocity: np.ndarray | None = None
        self.margin = self.rest_margin = 0.0

    def observe(self, q: np.ndarray, velocity: np.ndarray, base: BaseState, held: np.ndarray,
                support: Sequence[str], smoothing: float) -> float:
        """Return `margin` of a state.

        Args:
            q: Configuration, the base at the origin, ``(nq,)``.
            velocity: Of the joints, ``(n_joints,)``.
            base: The `BaseState`.
            held: Posture that is held, ``(n_joints,)``.
            support: Feet that stand.
            smoothing: Share of a new velocity in the smoothed one.
        """
        now = self._now
        now.update(q, velocity, base)
        if self._velocity is None:
            self._velocity = now.velocity.copy()
        self._velocity += smoothing * (now.velocity - self._velocity)
        if not np.array_equal(held, self._held_posture):
            self._held_posture[:] = held
            self.dynamics.configuration(held, out=self._rest)
            self._held.update(self._rest, velocity, None)
        self._feet = [self._names.index(foot) for foot in support]
        height = float(np.mean([now.com[2] - now.feet[foot][2] for foot in self._feet]))
        self._frequency = math.sqrt(self._gravity / max(height, 1e-3))
        capture = now.com[:2] + self._velocity[:2] / self._frequency
        corners = now.corners(self._feet)
        self.margin = margin_inside(corners, capture)
        self.rest_margin = margin_inside(corners, now.com[:2] + self._error()[:2])
        return self.margin

    def torque(self, q: np.ndarray, base: BaseState, program: StaticProgram,
               caps: Mapping[str, float], weight_of_momentum: float, turn: float,
               spin: float) -> np.ndarray | None:
        """Return joint torques for the net wrench, ``(n_joints,)``, N m; None without any.

        Args:
            q: As observed.
            base: The `BaseState`.
            program: The `StaticProgram` of the support.
            caps: contact -> largest normal force, N.
            weight_of_momentum: See the head of this module.
            turn: Moment per tilt of the base, N m/rad.
            spin: Moment per rate of the base, N m s/rad.
        """
        problem, rotation = program.assemble(q, caps), base.rotation
        n, weight = problem.rows.shape[1], self.dynamics.weight
        to_com = self._base_to_com(rotation)
        reach = to_com @ problem.rows[:ROOT]
        aim = self._wrench(base, rotation, turn, spin) + to_com @ problem.bound[:ROOT]
        scale = np.array([1.0] * 3 + [math.sqrt(weight_of_momentum) / _LEVER] * 3) / weight
        reach, aim = reach * scale[:, None], aim * scale
        found = self._distributor.solve_problem(Problem(
            weight ** 2 * (reach.T @ reach) + _SMALL * np.eye(n), -weight * (reach.T @ aim),
            problem.rows[ROOT:], problem.bound[ROOT:] / weight, 0))
        return None if found is None else program.judge(found * weight)[0]

    def _base_to_com(self, rotation: np.ndarray) -> np.ndarray:
        """Return the map of generalised base forces to force and moment at the centre of mass."""
        mapping = np.zeros((ROOT, ROOT))
        mapping[:3, :3] = mapping[3:, 3:] = rotation
        mapping[3:, :3] = -rotation @ pin.skew(rotation.T @ self._now.com)
        return mapping

    def _error(self) -> np.ndarray:
        """Return where the centre of mass should go from here, ``(3,)``, m."""
        now, held = self._now, self._held
        return np.mean([_heading(now.turns[foot]) @ (held.from_foot(foot) - now.from_foot(foot))
                        for foot in self._feet], axis=0)

    def _wrench(self, base: BaseState, rotation: np.ndarray, turn: float,
                spin: float) -> np.ndarray:
        """Return the wanted force and moment at the centre of mass, floor axes, ``(6,)``."""
        assert self._velocity is not None
        now, held, rate = self._now, self._held, self._frequency
        error, upright = self._error(), np.zeros((3, 3))
        for foot in self._feet:   # of the base, the sole level
            upright += _heading(now.turns[foot]) @ held.turns[foot].T
        gains = np.array([rate ** 2, rate ** 2, 4.0 * rate ** 2])
        force = self.dynamics.mass * (gains * error - 2.0 * np.sqrt(gains) * self._velocity)
        tilt = _rotation_vector(upright, rotation)
        return np.concatenate((force, turn * tilt - spin * (rotation @ base.angular)))


def _heading(turn: np.ndarray) -> np.ndarray:
    """Return the turn about the floor's normal of a rotation, ``(3, 3)``."""
    length = math.hypot(turn[0, 0], turn[1, 0]) or 1.0
    cos, sin = turn[0, 0] / length, turn[1, 0] / length
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _rotation_vector(wanted: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return the turn that leads from a rotation to a sum of wanted ones, floor axes, rad."""
    u, _, v = np.linalg.svd(wanted)
    return pin.log3(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v @ rotation.T)
