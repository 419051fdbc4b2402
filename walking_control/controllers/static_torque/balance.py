# SPDX-License-Identifier: Apache-2.0
"""Balance within the soles: feedback of centre of mass and angular momentum as a net wrench.

doc/controllers/static_torque_evidence.md derives sway and balance. Contact forces come nearest to a
force F and a moment L' of the floor within all limits of the static program,

    minimise  |F(f) - F|^2 / W^2 + momentum_weight |L'(f) - L'|^2 / (W l)^2,

the force first: at the edge of a sole the upper body is thrown the way the robot falls, which
brakes the fall (the hip strategy). What accelerates the legs themselves is left out. How far the
capture point ([Pra06]) is from the edge says, before the robot tips, whether a step is needed.
"""

from collections.abc import Mapping, Sequence
import math

import numpy as np
import pinocchio as pin

from walking_control.controllers.static_torque.body_motion import BodyMotion, heading
from walking_control.models import BaseState, ROOT
from walking_control.statics.contacts import Contact
from walking_control.statics.distributor import StaticTorque
from walking_control.statics.kernels import hull_of, margin_inside, share_inside
from walking_control.statics.program import StaticProgram
from walking_control.statics.solvers import Problem

_SMALL = 1e-7  # curvature of the program
_LEVER = 1.0  # m: a moment counts as a force on it
_SMOOTHING = 0.01  # s: memory of the centre of mass's velocity
_REACH = 0.95  # of the way to the edge that braking may take the centre of pressure


class Balance:
    """Torques of the stance legs that bring the body back, and what is left of the soles.

    Args:
        distributor: The `StaticTorque`.
        contacts: foot -> `Contact`.

    Attributes:
        margin: Distance of the capture point to the edge of the soles, m; below zero it is
            outside, and only a step keeps the robot up.
        rest_margin: The same of the centre of mass that is held.
    """

    def __init__(self, distributor: StaticTorque, contacts: Mapping[str, Contact]) -> None:
        self._distributor, self.dynamics = distributor, distributor.dynamics
        self._gravity = np.array(self.dynamics.model.gravity.linear)  # of the floor's axes
        self._now = BodyMotion(self.dynamics, contacts)
        self._held = BodyMotion(self.dynamics, contacts)
        self._held_posture = np.full(len(self.dynamics.joints), np.nan)
        self._rest = np.zeros(self.dynamics.nq)
        self._names = list(contacts)
        self.margin = self.rest_margin = 0.0

    def reset(self) -> None:
        """Forget the past."""
        self._velocity: np.ndarray | None = None
        self._planned: np.ndarray | None = None
        self._feet: list[int] = []
        self.margin = self.rest_margin = 0.0

    def observe(
        self,
        q: np.ndarray,
        velocity: np.ndarray,
        base: BaseState,
        held: np.ndarray,
        support: Sequence[str],
        dt: float,
    ) -> None:
        """Look at a state; `margin` and `rest_margin` are those of it.

        Args:
            q: Configuration, the base at the origin, ``(nq,)``.
            velocity: Of the joints, ``(n_joints,)``.
            base: The `BaseState`.
            held: Posture that is held, ``(n_joints,)``.
            support: Feet that stand; with none nothing is said.
            dt: Since the last look, s.
        """
        self._feet = [self._names.index(foot) for foot in support]
        if not support:
            self._planned = None
            return
        now = self._now
        now.update(q, velocity, base)
        if self._velocity is None:
            self._velocity = now.velocity.copy()
        self._velocity += dt / (dt + _SMOOTHING) * (now.velocity - self._velocity)
        if not np.array_equal(held, self._held_posture):
            self._held_posture[:] = held
            self.dynamics.configuration(held, out=self._rest)
            self._held.update(self._rest, velocity, None)
        self._follow_plan(dt)
        height = max(
            now.com[2] - sum(now.feet[foot][2] for foot in self._feet) / len(self._feet), 1e-3
        )
        self._frequency = math.sqrt(-self._gravity[2] / height)
        # where the pressure holds it at rest: under it along gravity, not along the floor's normal
        self._ground = now.com[:2] - height * self._gravity[:2] / self._gravity[2]
        capture = self._ground + self._velocity[:2] / self._frequency
        self._hull = hull_of(now.corners(self._feet))
        self.margin = margin_inside(self._hull, capture)
        self.rest_margin = margin_inside(self._hull, self._ground + self._error()[:2])

    def _follow_plan(self, dt: float) -> None:
        """Find how fast the centre of mass of the held posture moves over each foot."""
        places = np.array([self._held.from_sole(foot) for foot in range(len(self._names))])
        self._rates = (
            np.zeros_like(places)
            if self._planned is None or dt <= 0.0
            else (places - self._planned) / dt
        )
        self._planned = places

    def brake(self, damping: float) -> np.ndarray | None:
        """Return the acceleration that brakes the sway, floor axes, ``(3,)``, m/s^2.

        Args:
            damping: See the head of this module.

        Returns:
            What the soles allow of it; None where they allow nothing, or nothing is wanted.
        """
        if not self._feet or damping <= 0.0:
            return None
        assert self._velocity is not None
        planned = sum(heading(self._now.turns[foot]) @ self._rates[foot] for foot in self._feet)
        ahead = damping / self._frequency * (self._velocity - planned / len(self._feet))[:2]
        share = share_inside(self._hull, self._ground, ahead / _REACH)
        if share <= 0.0:
            return None
        return np.array([*(-share * self._frequency**2 * ahead), 0.0])

    def torque(
        self,
        q: np.ndarray,
        base: BaseState,
        program: StaticProgram,
        caps: Mapping[str, float],
        weight_of_momentum: float,
        turn: float,
        spin: float,
    ) -> np.ndarray | None:
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
        found = self._distributor.solve_problem(
            Problem(
                weight**2 * (reach.T @ reach) + _SMALL * np.eye(n),
                -weight * (reach.T @ aim),
                problem.rows[ROOT:],
                problem.bound[ROOT:] / weight,
                0,
            )
        )
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
        return np.asarray(
            sum(
                heading(now.turns[foot]) @ (held.from_sole(foot) - now.from_foot(foot))
                for foot in self._feet
            )
            / len(self._feet)
        )

    def _wrench(
        self, base: BaseState, rotation: np.ndarray, turn: float, spin: float
    ) -> np.ndarray:
        """Return the wanted force and moment at the centre of mass, floor axes, ``(6,)``."""
        assert self._velocity is not None
        now, held, rate = self._now, self._held, self._frequency
        error, upright = self._error(), np.zeros((3, 3))
        for foot in self._feet:  # of the base, the sole level
            upright += heading(now.turns[foot]) @ held.turns[foot].T
        gains = np.array([rate**2, rate**2, 4.0 * rate**2])
        force = self.dynamics.mass * (gains * error - 2.0 * np.sqrt(gains) * self._velocity)
        tilt = _rotation_vector(upright, rotation)
        return np.concatenate((force, turn * tilt - spin * (rotation @ base.angular)))


def _rotation_vector(wanted: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return the turn that leads from a rotation to a sum of wanted ones, floor axes, rad."""
    u, _, v = np.linalg.svd(wanted)
    return np.asarray(pin.log3(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v @ rotation.T))
