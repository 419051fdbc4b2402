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
EDGE = 1e-3        # of its length: width of a blade
HURRIED = 0.7      # of a joint's speed limit: above it the joint is braked, ever more
BRAKE = 2.0        # weight of that at the limit, over the square of the leg's length
BRAKE_RATE = 50.0  # 1/s: how fast
TOP = 0.95         # of a joint's speed limit: fastest that a leg in the air may move it
REST_RATE = 20.0   # 1/s: how fast a foot that stands and still moves is brought to rest
STOP_TIME = 0.015     # s: how fast a joint of a swinging leg is held back from its stop,
STOP_GAP = 0.05       # rad: before it; behind a straight knee a leg would only lock itself,
STOP_BRAKE = 1000.0   # rad/s^2: at most


class FootContact:
    """What the floor can do to a foot: limits of its force and moment.

    Args:
        length, width: Of the sole, m; both zero for a point, the width alone for a blade, which
            rolls sideways over its line.
        friction: Coefficient of friction.
        torsion: Radius at which friction resists the turning of a point about the floor normal, m;
            that of soles follows from their size.
        smallest: Smallest normal force, N.

    Attributes:
        size: Number of forces and moments: x, y, z and, of soles, about x, y, z; of points about
            z alone, if there is torsion; of blades all but about x.
        blade: Whether it is one; then its own axes count, not the floor's.
        rows: Limits: ``rows @ force >= bound``.
    """

    def __init__(self, length: float, width: float, friction: float, torsion: float,
                 smallest: float) -> None:
        self.blade = length > 0.0 >= width
        sole = Contact('foot', length, EDGE * length if self.blade else width, friction)
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
        if self.blade:
            self.parts = np.array([0, 1, 2, 4, 5])
        self.size = len(self.parts)
        self._block = np.ix_(self.parts, self.parts)
        self.rows = rows[:, self.parts]
        self.bound = np.zeros(len(rows))
        self.bound[0] = smallest

    def turned(self, foot: Foot) -> np.ndarray:
        """Return the rows for forces in floor axes on a foot that is turned about the normal."""
        if self.blade:
            return self.rows
        turn = self._turn(foot)
        return np.asarray(self.rows @ turn[self._block])

    def held(self, foot: Foot, motion: np.ndarray) -> np.ndarray:
        """Return the parts the floor holds of motions in floor axes, ``(size, ...)``."""
        return np.asarray((self._turn(foot) @ motion if self.blade else motion)[self.parts])

    @staticmethod
    def _turn(foot: Foot) -> np.ndarray:
        """Return what turns floor axes into those of the foot about the normal, ``(6, 6)``."""
        c, s = foot.rotation[0, 0], foot.rotation[1, 0]
        norm = np.hypot(c, s)
        turn = np.eye(6)
        turn[:2, :2] = turn[3:5, 3:5] = np.array([[c, s], [-s, c]]) / norm
        return turn


class MotorLimits:
    """Torques the motors can give, by their speed; what brakes a joint by itself counts as none.

    Args:
        motors: Of each joint, in any order.
        effort_limits: Largest torque of each, N m.
        speed_limits: Largest speed of each, rad/s.
    """

    def __init__(self, motors: Sequence[GearedMotor], effort_limits: np.ndarray,
                 speed_limits: np.ndarray) -> None:
        self._limits, self.speeds = effort_limits, speed_limits
        self._stall = np.array([motor.stall_effort for motor in motors])
        self._drag = np.array([motor.speed_drag for motor in motors])
        self._limited = bool(np.isfinite(self._stall).any())

    def range(self, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return smallest and largest torques at joint velocities, N m."""
        if not self._limited:
            return -self._limits, self._limits
        brake = self._drag * velocity
        return -np.minimum(np.maximum(self._stall + brake, 0.0), self._limits), \
            np.minimum(np.maximum(self._stall - brake, 0.0), self._limits)


class WholeBody:
    """The program, for a biped whose every joint has a motor.

    Args:
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
        self._kept: dict[int, tuple[np.ndarray, np.ndarray]] = {}   # see `_arrays`
        self.acceleration = np.zeros(body.nv)
        self.forces = np.zeros((len(body.feet), 6))
        self.feasible = True
        self.begin(())

    def begin(self, standing: Sequence[int]) -> None:
        """Begin a new program for a support: the indices of the feet that stand."""
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
        if self._contact.blade:
            ahead = self._body.feet[foot].rotation[:2, 0]
            rows = np.array([[0.0, 0.0, float(ahead @ place), 1.0, 0.0]])
            self.want(rows, np.zeros(1), weight, self._column(foot))
        if self._contact.size < 6:
            return
        rows = np.array([[0.0, 0.0, -place[1], 1.0, 0.0, 0.0],
                         [0.0, 0.0, place[0], 0.0, 1.0, 0.0]])
        self.want(rows, np.zeros(2), weight, self._column(foot))

    def want_torsion(self, foot: int, moment: float, weight: float) -> None:
        """Add a wish: the moment, N m, about the floor's normal on a foot that is a point."""
        self.want(np.eye(1), np.array([moment]), weight, self._column(foot) + 3)

    def want_com(self, acceleration: np.ndarray, weight: float) -> None:
        """Add a wish: the acceleration of the centre of mass along the floor, m/s^2, ``(2,)``.

        By Newton it is that of the sum of the feet's forces.
        """
        rows = np.zeros((2, self._n - self._body.nv))
        for foot in self._standing:
            column = self._column(foot) - self._body.nv
            rows[:2, column:column + 2] = np.eye(2) / self._body.mass
            if self._contact.blade:
                rows[:2, column:column + 2] = self._body.feet[foot].rotation[:2, :2] \
                    / self._body.mass
        self.want(rows, acceleration, weight, self._body.nv)

    def _column(self, foot: int) -> int:
        return int(self._body.nv + self._contact.size * self._standing.index(foot))

    def _hold_back(self, rows: np.ndarray, bounds: np.ndarray) -> int:
        """Fill limits of accelerations that keep joints from stops and top speeds; return how many.

        What is left to the stop, h, ends as h'' = -2 h' / T - h / T^2 at the fastest, what is left
        of the speed, u, as u' = -r u. Legs that stand are left out: the floor might not allow it.
        """
        body, (low, high) = self._body, self._stops
        velocity = body.velocity[ROOT:]
        left = np.array([body.angles - low, high - body.angles])
        pace = np.array([velocity, -velocity])
        top = TOP * self._motors.speeds
        bound = np.maximum(-2.0 * pace / STOP_TIME - left / STOP_TIME ** 2, np.where(
            pace < -HURRIED * top, -BRAKE_RATE * (top + pace), -math.inf))
        for foot in self._standing:
            bound[:, body.feet[foot].jacobian[:, ROOT:].any(axis=0)] = -math.inf
        side, joint = np.nonzero(bound > -STOP_BRAKE)
        count = len(side)
        rows[:] = 0.0
        rows[np.arange(count), ROOT + joint] = 1.0 - 2.0 * side
        bounds[:count] = np.minimum(bound[side, joint], STOP_BRAKE)
        return count

    def _brake(self) -> None:
        """Wish joints that come near their speed limits to go slower, the nearer the more."""
        velocity, limits = self._body.velocity[ROOT:], self._motors.speeds
        share = np.abs(velocity) / limits
        if share.max() <= HURRIED:
            return
        excess = np.maximum(0.0, share - HURRIED) / (1.0 - HURRIED)
        weight = BRAKE * self._body.leg_length ** 2 * excess ** 2
        wanted = -BRAKE_RATE * np.sign(velocity) * (share - HURRIED) * np.where(
            excess > 0.0, limits, 0.0)
        joints = slice(ROOT, self._body.nv)
        self._hessian[joints, joints] += np.diag(weight)
        self._gradient[joints] -= weight * wanted

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and bounds for so many feet that stand, kept: what is zero stays zero.

        Base, feet at rest, smallest torques, largest, the floor's limits, room for the joints'.
        """
        feet, floor = len(self._standing), self._contact.bound
        if feet not in self._kept:
            before = self._n + self._body.nv - ROOT
            count = before + len(floor) * feet + 2 * (self._body.nv - ROOT)
            self._kept[feet] = np.zeros((count, self._n)), np.zeros(count)
            self._kept[feet][1][before:before + len(floor) * feet] = np.tile(floor, feet)
        return self._kept[feet]

    def solve(self) -> np.ndarray:
        """Return the joint torques in Pinocchio's order, ``(nv - 6,)``, N m.

        Where no torque keeps all limits, those of the feet are left out; `feasible` tells.
        """
        body, size, parts = self._body, self._contact.size, self._contact.parts
        nv, (rows, bound) = body.nv, self._arrays()
        joints, floor = nv - ROOT, len(self._contact.bound)
        equalities = ROOT + size * len(self._standing)
        torque, pull = rows[equalities:][:joints], rows[equalities + joints:][:joints]
        rows[:ROOT, :nv], bound[:ROOT] = body.mass_matrix[:ROOT], -body.bias[:ROOT]
        torque[:, :nv] = body.mass_matrix[ROOT:]
        first, limit = ROOT, equalities + 2 * joints
        for foot in self._standing:
            column, state = self._column(foot), body.feet[foot]
            jacobian = self._contact.held(state, state.jacobian)
            rows[:ROOT, column:column + size] = -jacobian.T[:ROOT]
            torque[:, column:column + size] = -jacobian.T[ROOT:]
            rows[first:first + size, :nv] = jacobian
            bound[first:first + size] = -self._contact.held(
                state, state.drift + REST_RATE * state.velocity)
            rows[limit:limit + floor, column:column + size] = self._contact.turned(state)
            first, limit = first + size, limit + floor
        np.negative(torque, out=pull)
        bias = body.bias[ROOT:]
        low, high = self._motors.range(body.velocity[ROOT:])
        bound[equalities:][:joints], bound[equalities + joints:][:joints] = low - bias, bias - high
        limit += self._hold_back(rows[limit:], bound[limit:])
        rows, bound = rows[:limit], bound[:limit]
        self._brake()
        x = self._solve(Problem(self._hessian, self._gradient, rows, bound, equalities)).x
        self.feasible = x is not None
        if x is None:   # the floor's limits are left out, then the motors'
            x = self._solve(Problem(self._hessian, self._gradient, rows[:equalities],
                                    bound[:equalities], equalities)).x
        if x is None:
            x = np.zeros(self._n)
        effort: np.ndarray = np.clip(torque @ x + bias, low, high)
        if not self.feasible:   # what the clipped torques do, not what was wished
            motion = np.vstack([rows[:ROOT], torque, rows[ROOT:equalities]])
            driven = np.concatenate([bound[:ROOT], effort - bias, bound[ROOT:equalities]])
            x = np.linalg.lstsq(motion, driven, rcond=None)[0]
        self.acceleration[:] = x[:nv]
        self.forces[:] = 0.0
        for foot in self._standing:
            column = self._column(foot)
            self.forces[foot, parts] = x[column:column + size]
        return effort
