# SPDX-License-Identifier: Apache-2.0
"""Torques for wanted accelerations, as far as floor and motors allow.

One quadratic program in the generalised accelerations and the forces on the feet that stand. The
equations of motion of the base and feet at rest on the floor are equalities; friction, the edges
of the soles and the motors' torques are limits; everything wanted is a weighted least square. As
long as no limit is met each wish is met exactly, whatever its weight.
"""

from collections.abc import Sequence
import math

import numpy as np

from walking_control.controllers.stepping.body import Body, Foot
from walking_control.models.actuators import GearedMotor
from walking_control.models.base import ROOT
from walking_control.statics import solvers
from walking_control.statics.contacts import Contact, FRICTION, wrench_limits
from walking_control.statics.solvers import Problem

FACES = 8          # of the pyramid of friction; its edges lie on the cone, four along the axes
REST_RATE = 20.0   # 1/s: how fast a foot that stands and still moves is brought to rest
STOP_TIME = 0.015     # s: how fast a joint of a swinging leg is held back from its stop,
STOP_GAP = 0.05       # rad: before it; behind a straight knee a leg would only lock itself,
STOP_BRAKE = 1000.0   # rad/s^2: at most


class FootContact:
    """What the floor can do to a foot: limits of its force and moment.

    Args:
        length, width: Of the sole, m; both zero for a point.
        friction: Coefficient of friction.
        torsion: Radius at which friction resists the turning of a point about the floor normal, m;
            that of soles follows from their size.
        smallest: Smallest normal force, N.

    Attributes:
        size: Number of forces and moments: x, y, z and, of soles, about x, y, z; of points about
            z alone, if there is torsion.
        rows: Limits: ``rows @ force >= bound``.
    """

    def __init__(self, length: float, width: float, friction: float, torsion: float,
                 smallest: float) -> None:
        sole = Contact('foot', length, width, friction)
        limits, names = wrench_limits(sole)
        limits = limits[[name != FRICTION for name in names]]
        faces = np.arange(FACES) * 2.0 * math.pi / FACES + math.pi / FACES
        rows = np.zeros((1 + FACES + len(limits), 6))
        rows[0, 2] = 1.0
        rows[1:1 + FACES, 0], rows[1:1 + FACES, 1] = np.cos(faces), np.sin(faces)
        rows[1:1 + FACES, 2] = friction * math.cos(math.pi / FACES)
        rows[1 + FACES:, :sole.size] = limits
        self.parts = np.arange(sole.size)
        if sole.is_point and torsion > 0.0:
            self.parts = np.array([0, 1, 2, 5])
            radius = friction * torsion
            rows = np.vstack([rows, [0, 0, radius, 0, 0, 1], [0, 0, radius, 0, 0, -1]])
        self.size = len(self.parts)
        self.rows = rows[:, self.parts]
        self.bound = np.zeros(len(rows))
        self.bound[0] = smallest

    def turned(self, foot: Foot) -> np.ndarray:
        """Return the rows for forces in floor axes on a foot that is turned about the normal."""
        c, s = foot.rotation[0, 0], foot.rotation[1, 0]
        norm = np.hypot(c, s)
        turn = np.eye(6)
        turn[:2, :2] = turn[3:5, 3:5] = np.array([[c, s], [-s, c]]) / norm
        return self.rows @ turn[np.ix_(self.parts, self.parts)]


class MotorLimits:
    """Torques the motors can give, by their speed; what brakes a joint by itself counts as none.

    Args:
        motors: Of each joint, in any order.
        effort_limits: Largest torque of each, N m.
    """

    def __init__(self, motors: Sequence[GearedMotor], effort_limits: np.ndarray) -> None:
        self._limits = effort_limits
        self._stall = np.array([motor.stall_effort for motor in motors])
        self._drag = np.array([motor.speed_drag for motor in motors])
        self._limited = bool(np.isfinite(self._stall).any())

    def range(self, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return smallest and largest torques at joint velocities, N m."""
        if not self._limited:
            return -self._limits, self._limits
        brake = self._drag * velocity
        return -np.clip(self._stall + brake, 0.0, self._limits), \
            np.clip(self._stall - brake, 0.0, self._limits)


class WholeBody:
    """The program, for a biped whose every joint has a motor.

    Args:
        body: The `Body`.
        contact: What the floor can do to each foot.
        motors: What the motors can do, in Pinocchio's order.
        stops: Smallest and largest joint angles, likewise, rad, ``(2, n)``.
    """

    def __init__(self, body: Body, contact: FootContact, motors: MotorLimits,
                 stops: np.ndarray) -> None:
        self._body, self._contact, self._motors = body, contact, motors
        self._stops = stops + STOP_GAP * np.array([[1.0], [-1.0]])
        self._solve = solvers.load()
        self._regularisation = 1e-7
        self.acceleration = np.zeros(body.nv)
        self.forces = np.zeros((len(body.feet), 6))
        self.feasible = True
        self.begin(())

    def begin(self, standing: Sequence[int]) -> None:
        """Begin a new program for a support.

        Args:
            standing: Indices of the feet that stand.
        """
        self._standing = tuple(standing)
        nv, size = self._body.nv, self._contact.size
        self._n = nv + size * len(self._standing)
        self._hessian = np.zeros((self._n, self._n))
        self._gradient = np.zeros(self._n)
        diagonal = self._hessian.ravel()[::self._n + 1]
        diagonal[:nv] = self._regularisation
        diagonal[nv:] = 1e-6

    def want(self, rows: np.ndarray, values: np.ndarray, weight: float,
             first: int = 0) -> None:
        """Add a wish: rows @ (accelerations from the first) = values.

        Args:
            rows: ``(k, m)``.
            values: ``(k,)``.
            weight: Of the squared error.
            first: Column of the program the rows begin at.
        """
        end = first + rows.shape[1]
        weighted = weight * rows.T
        self._hessian[first:end, first:end] += weighted @ rows
        self._gradient[first:end] -= weighted @ values

    def want_pressure(self, foot: int, place: np.ndarray, weight: float) -> None:
        """Add a wish: the centre of pressure of a foot that stands on its sole.

        Args:
            foot: Index of the foot.
            place: In floor axes, from the middle of the sole, m, ``(2,)``.
            weight: Of the squared moment.
        """
        if self._contact.size < 6:
            return
        rows = np.array([[0.0, 0.0, -place[1], 1.0, 0.0, 0.0],
                         [0.0, 0.0, place[0], 0.0, 1.0, 0.0]])
        self.want(rows, np.zeros(2), weight, self._column(foot))

    def want_torsion(self, foot: int, moment: float, weight: float) -> None:
        """Add a wish: the moment about the floor's normal on a foot that stands on a point.

        Args:
            foot: Index of the foot.
            moment: N m.
            weight: Of the squared moment.
        """
        self.want(np.eye(1), np.array([moment]), weight, self._column(foot) + 3)

    def want_com(self, acceleration: np.ndarray, weight: float) -> None:
        """Add a wish: the acceleration of the centre of mass along the floor, m/s^2, ``(2,)``.

        By Newton it is that of the sum of the feet's forces.
        """
        rows = np.zeros((2, self._n - self._body.nv))
        for foot in self._standing:
            column = self._column(foot) - self._body.nv
            rows[0, column] = rows[1, column + 1] = 1.0 / self._body.mass
        self.want(rows, acceleration, weight, self._body.nv)

    def _column(self, foot: int) -> int:
        return int(self._body.nv + self._contact.size * self._standing.index(foot))

    def _hold_back(self) -> tuple[np.ndarray, np.ndarray]:
        """Return limits of accelerations that keep joints from their stops, rows and bounds.

        What is left to the stop, h, ends as h'' = -2 h' / T - h / T^2 at the fastest. Legs that
        stand are left out: the floor might not allow it.
        """
        body, (low, high) = self._body, self._stops
        velocity = body.velocity[ROOT:]
        left = np.array([body.angles - low, high - body.angles])
        pace = np.array([velocity, -velocity])
        bound = -2.0 * pace / STOP_TIME - left / STOP_TIME ** 2
        for foot in self._standing:
            bound[:, body.feet[foot].jacobian[:, ROOT:].any(axis=0)] = -math.inf
        side, joint = np.nonzero(bound > -STOP_BRAKE)
        rows = np.zeros((len(side), self._n))
        rows[np.arange(len(side)), ROOT + joint] = 1.0 - 2.0 * side
        return rows, np.minimum(bound[side, joint], STOP_BRAKE)

    def solve(self) -> np.ndarray:
        """Return the joint torques in Pinocchio's order, ``(nv - 6,)``, N m.

        Where no torque keeps all limits, those of the feet are left out; `feasible` tells.
        """
        body, size, n = self._body, self._contact.size, self._n
        nv, parts = body.nv, self._contact.parts
        full = np.zeros((nv, n))   # generalised efforts per unknown
        full[:, :nv] = body.mass_matrix
        equal = [full[:ROOT]]
        right = [-body.bias[:ROOT]]
        limits, bounds = [], []
        for foot in self._standing:
            column, state = self._column(foot), body.feet[foot]
            jacobian = state.jacobian[parts]
            full[:, column:column + size] = -jacobian.T
            still = np.zeros((size, n))
            still[:, :nv] = jacobian
            equal.append(still)
            right.append(-state.drift[parts] - REST_RATE * state.velocity[parts])
            rows = np.zeros((len(self._contact.bound), n))
            rows[:, column:column + size] = self._contact.turned(state)
            limits.append(rows)
            bounds.append(self._contact.bound)
        stops, bound = self._hold_back()
        limits.append(stops)
        bounds.append(bound)
        torque = full[ROOT:]
        bias = body.bias[ROOT:]
        rows = np.vstack([*equal, torque, -torque, *limits])
        low, high = self._motors.range(body.velocity[ROOT:])
        bound = np.concatenate([*right, low - bias, bias - high, *bounds])
        equalities = sum(map(len, right))
        x = self._solve(Problem(self._hessian, self._gradient, rows, bound, equalities)).x
        self.feasible = x is not None
        if x is None:   # the floor's limits are left out, then the motors'
            x = self._solve(Problem(self._hessian, self._gradient, rows[:equalities],
                                    bound[:equalities], equalities)).x
        if x is None:
            x = np.zeros(n)
        effort: np.ndarray = np.clip(torque @ x + bias, low, high)
        if not self.feasible:   # what the clipped torques do, not what was wished
            motion = np.vstack([full, *equal[1:]])
            driven = np.concatenate([-body.bias, *right[1:]])
            driven[ROOT:nv] += effort
            x = np.linalg.lstsq(motion, driven, rcond=None)[0]
        self.acceleration[:] = x[:nv]
        self.forces[:] = 0.0
        for foot in self._standing:
            column = self._column(foot)
            self.forces[foot, parts] = x[column:column + size]
        return effort
