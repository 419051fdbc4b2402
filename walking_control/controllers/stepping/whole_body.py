# SPDX-License-Identifier: Apache-2.0
"""Torques for wanted accelerations, as far as floor and motors allow.

One quadratic program in the generalised accelerations and the forces on the feet that stand. The
equations of motion of the base and feet at rest on the floor are equalities; friction, the edges
of the soles and the motors' torques are limits; everything wanted is a weighted least square. As
long as no limit is met each wish is met exactly, whatever its weight.
"""

from collections.abc import Sequence
from functools import partial
import math
from typing import NamedTuple

import numpy as np

from walking_control.controllers.stepping.body import Body
from walking_control.models import array_function, compile_ahead, GearedMotor, ROOT
from walking_control.statics import Contact, FRICTION, solvers, wrench_limits
from walking_control.statics.solvers import Problem

FACES = 8  # of the pyramid of friction; its edges lie on the cone, four along the axes
EDGE = 1e-3  # of its length: width of a blade
HURRIED = 0.7  # of a joint's speed limit: above it the joint is braked, ever more
BRAKE = 2.0  # weight of that at the limit, over the square of the leg's length
BRAKE_RATE = 50.0  # 1/s: how fast
TOP = 0.95  # of a joint's speed limit: fastest that a leg in the air may move it
REST_RATE = 20.0  # 1/s: how fast a foot that stands and still moves is brought to rest
STOP_TIME = 0.015  # s: how fast a joint of a swinging leg is held back from its stop,
STOP_GAP = 0.05  # rad: before it; behind a straight knee a leg would only lock itself,
STOP_BRAKE = 1000.0  # rad/s^2: at most
REGULAR, REGULAR_FORCE = 1e-7, 1e-6  # weights of the squared accelerations and forces
WISHES = 32  # rows that can be wished in a tick, and one for each joint


class FootContact:
    """What the floor can do to a foot: limits of its force and moment.

    `length` and `width`: of the sole, m; both zero for a point, the width alone for a blade, which
    rolls sideways over its line. `friction`: coefficient of friction. `torsion`: radius at which
    friction resists the turning of a point about the floor normal, m; that of soles follows from
    their size. `smallest`: smallest normal force, N. Attributes: `size`: number of forces and
    moments: x, y, z and, of soles, about x, y, z; of points about z alone, if there is torsion; of
    blades all but about x. `blade`: whether it is one; then its own axes count, not the floor's.
    `rows`: limits: ``rows @ force >= bound``. `friction`: the coefficient that is relied on.
    `spin`: of the foot that stands about the floor's normal, smoothly, rad/s.
    """

    def __init__(
        self, length: float, width: float, friction: float, torsion: float, smallest: float
    ) -> None:
        self._made = partial(FootContact, length, width, torsion=torsion, smallest=smallest)
        self.friction, self.spin, self.blade = friction, 0.0, length > 0.0 >= width
        sole = Contact('foot', length, EDGE * length if self.blade else width, friction)
        limits, names = wrench_limits(sole)
        limits = limits[[name != FRICTION for name in names]]
        faces = np.arange(FACES) * 2.0 * math.pi / FACES + math.pi / FACES
        rows = np.zeros((1 + FACES + len(limits), 6))
        rows[0, 2] = 1.0
        rows[1 : 1 + FACES, 0], rows[1 : 1 + FACES, 1] = np.cos(faces), np.sin(faces)
        rows[1 : 1 + FACES, 2] = friction * math.cos(math.pi / FACES)
        rows[1 + FACES :, : sole.size] = limits
        self.parts = np.arange(sole.size)
        if sole.is_point and torsion > 0.0:
            self.parts = np.array([0, 1, 2, 5])
            radius = friction * torsion
            rows = np.vstack([rows, [0, 0, radius, 0, 0, 1], [0, 0, radius, 0, 0, -1]])
        if self.blade:
            self.parts = np.array([0, 1, 2, 4, 5])
        self.size = len(self.parts)
        self.rows = np.ascontiguousarray(rows[:, self.parts])
        self.bound = np.zeros(len(rows))
        self.bound[0] = smallest

    def rely_on(self, friction: float) -> None:
        """Change the coefficient of friction.

        Args:
            friction: The coefficient.
        """
        if friction != self.friction:
            self.rows[:], self.friction = self._made(friction=friction).rows, friction


class MotorLimits(NamedTuple):
    """What motors can give, see `torque_range`; in any order of the joints."""

    motors: Sequence[GearedMotor]
    efforts: np.ndarray  # largest torque of each, N m, ``(n,)``
    speeds: np.ndarray  # largest speed of each, rad/s, ``(n,)``


class Bounds(NamedTuple):
    """What joints, motors and the floor can do, as `fill_program` takes it; of joints ``(n,)``."""

    rows: np.ndarray  # of the floor, see `FootContact`, ``(m, size)``
    parts: np.ndarray  # likewise, ``(size,)``
    blade: bool  # likewise
    lower: np.ndarray  # angle at which a leg in the air is held back, rad
    upper: np.ndarray  # likewise
    speeds: np.ndarray  # largest, rad/s
    brake: float  # weight of braking a joint at its speed limit
    efforts: np.ndarray  # largest torques, N m
    stall: np.ndarray  # that the supply causes at rest, N m; infinite without a supply voltage
    drag: np.ndarray  # lost of them with speed, N m s/rad


class Wishes(NamedTuple):
    """What is wanted: in each span of rows, rows @ (unknowns from the first column) = values."""

    rows: np.ndarray  # ``(rows, n)``
    values: np.ndarray  # ``(rows,)``
    spans: np.ndarray  # first and last row, first and last column, ``(rows, 4)``
    weights: np.ndarray  # ``(rows,)``


class Instant(NamedTuple):
    """What the robot is, as `fill_program` takes it: arrays of its `Body`."""

    mass_matrix: np.ndarray  # ``(nv, nv)``
    bias: np.ndarray  # ``(nv,)``
    angles: np.ndarray  # of the joints, rad, ``(nv - 6,)``
    velocity: np.ndarray  # ``(nv,)``
    rotations: np.ndarray  # of all feet, ``(n, 3, 3)``
    velocities: np.ndarray  # likewise, ``(n, 6)``
    drifts: np.ndarray  # likewise, ``(n, 6)``
    jacobians: np.ndarray  # likewise, ``(n, 6, nv)``


class Program(NamedTuple):
    """The quadratic program of a support, as `fill_program` writes it.

    Its rows: base, feet at rest, smallest torques, largest, the floor's limits, room for the
    joints'. What is zero or of the floor is there from the beginning.
    """

    hessian: np.ndarray  # ``(n, n)``
    gradient: np.ndarray  # ``(n,)``
    rows: np.ndarray  # ``(m, n)``
    bound: np.ndarray  # ``(m,)``
    feet: np.ndarray  # indices of those that stand
    standing: np.ndarray  # which joints are of a leg that stands or of none, ``(nv - 6,)``
    low: np.ndarray  # smallest torques that the motors can give, N m, ``(nv - 6,)``
    high: np.ndarray  # largest, likewise


@array_function
def torque_range(
    efforts: np.ndarray, stall: np.ndarray, drag: np.ndarray, velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and largest torques that motors can give, N m, ``(n,)``.

    What brakes a joint by itself counts as none.

    Args:
        efforts: Their largest, N m, ``(n,)``.
        stall: Largest that the supply causes at rest, N m, ``(n,)``.
        drag: What of it is lost with speed, N m s/rad, ``(n,)``.
        velocity: Of the joints, rad/s, ``(n,)``.
    """
    brake = drag * velocity
    back = np.minimum(np.maximum(stall + brake, 0.0), efforts)
    return -back, np.minimum(np.maximum(stall - brake, 0.0), efforts)


@array_function
def turn_about_normal(rotation: np.ndarray) -> np.ndarray:
    """Return what turns floor axes into those of a foot about the normal, ``(6, 6)``."""
    c, s = rotation[0, 0], rotation[1, 0]
    norm = np.hypot(c, s)
    turn = np.eye(6)
    for i in (0, 3):
        turn[i, i] = turn[i + 1, i + 1] = c / norm
        turn[i, i + 1], turn[i + 1, i] = s / norm, -s / norm
    return turn


@array_function
def add_wishes(wishes: Wishes, count: int, hessian: np.ndarray, gradient: np.ndarray) -> None:
    """Add so many wishes as weighted least squares.

    Args:
        wishes: Rows, what they shall be, and weights.
        count: How many of them count.
        hessian: Changed in place, ``(nv, nv)``.
        gradient: Changed in place, ``(nv,)``.
    """
    for i in range(count):
        row, end, first, last = wishes.spans[i]
        rows = np.ascontiguousarray(wishes.rows[row:end, first:last])
        weighted = wishes.weights[i] * rows.T
        hessian[first:last, first:last] += weighted @ rows
        gradient[first:last] -= weighted @ wishes.values[row:end]


@array_function
def hold_back(
    bounds: Bounds,
    angles: np.ndarray,
    velocity: np.ndarray,
    standing: np.ndarray,
    rows: np.ndarray,
    bound: np.ndarray,
) -> int:
    """Fill limits of accelerations that keep joints from stops and top speeds; return how many.

    What is left to the stop, h, ends as h'' = -2 h' / T - h / T^2 at the fastest, what is left
    of the speed, u, as u' = -r u. Legs that stand are left out, all but their knees: the floor
    might not allow it. So are arms, which rest where they begin, at a stop maybe.

    Args:
        bounds: With the joints' stops, rad, and speed limits, rad/s.
        angles: rad, ``(n,)``.
        velocity: rad/s, ``(n,)``.
        standing: Which joints are of legs that stand, ``(n,)``.
        rows: Filled, ``(m, nv)``.
        bound: Filled, rad/s^2, ``(m,)``.
    """
    count = 0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for j in range(len(angles)):
            if standing[j]:
                continue
            left = angles[j] - bounds.lower[j] if side == 0 else bounds.upper[j] - angles[j]
            pace, top = sign * velocity[j], TOP * bounds.speeds[j]
            least = -2.0 * pace / STOP_TIME - left / STOP_TIME**2
            if pace < -HURRIED * top:
                least = max(least, -BRAKE_RATE * (top + pace))
            if least > -STOP_BRAKE:
                rows[count, :] = 0.0
                rows[count, ROOT + j], bound[count] = sign, min(least, STOP_BRAKE)
                count += 1
    return count


@array_function
def slow_down(
    bounds: Bounds, velocity: np.ndarray, hessian: np.ndarray, gradient: np.ndarray
) -> None:
    """Wish joints that come near their speed limits to go slower, the nearer the more.

    Args:
        bounds: With the joints' speed limits, rad/s.
        velocity: rad/s, ``(n,)``.
        hessian: Changed in place, ``(nv, nv)``.
        gradient: Changed in place, ``(nv,)``.
    """
    for j in range(len(velocity)):
        share = abs(velocity[j]) / bounds.speeds[j]
        excess = (share - HURRIED) / (1.0 - HURRIED)
        if excess > 0.0:
            weight = bounds.brake * (excess * excess)
            wanted = -BRAKE_RATE * np.sign(velocity[j]) * (share - HURRIED) * bounds.speeds[j]
            hessian[ROOT + j, ROOT + j] += weight
            gradient[ROOT + j] -= weight * wanted


@array_function
def fill_program(bounds: Bounds, wishes: Wishes, count: int, now: Instant, program: Program) -> int:
    """Write the program of a tick.

    Args:
        bounds: What joints, motors and the floor can do.
        wishes: What is wanted.
        count: How many of the wishes are of this tick.
        now: What the robot is.
        program: Filled.

    Returns:
        How many rows the program has.
    """
    hessian, gradient, rows, bound, feet, standing, low, high = program
    bias, velocity = now.bias, now.velocity
    nv, size, floor = len(bias), len(bounds.parts), len(bounds.rows)
    free = nv - ROOT
    equalities = ROOT + size * len(feet)
    rows[:ROOT, :nv], bound[:ROOT] = now.mass_matrix[:ROOT], -bias[:ROOT]
    torque = rows[equalities : equalities + free]
    torque[:, :nv] = now.mass_matrix[ROOT:]
    first, limit = ROOT, equalities + 2 * free
    for i in range(len(feet)):
        foot, column = feet[i], nv + size * i
        turn, jacobian = turn_about_normal(now.rotations[foot]), now.jacobians[foot]
        # acceleration that would let it go on and not come to rest
        motion = now.drifts[foot] + REST_RATE * now.velocities[foot]
        if bounds.blade:
            jacobian, motion = turn @ jacobian, turn @ motion
        held = jacobian[bounds.parts]
        rows[:ROOT, column : column + size] = -held.T[:ROOT]
        torque[:, column : column + size] = -held.T[ROOT:]
        rows[first : first + size, :nv] = held
        bound[first : first + size] = -motion[bounds.parts]
        block = np.ascontiguousarray(turn[bounds.parts][:, bounds.parts])
        rows[limit : limit + floor, column : column + size] = (
            bounds.rows if bounds.blade else bounds.rows @ block
        )
        first, limit = first + size, limit + floor
    rows[equalities + free : equalities + 2 * free] = -torque
    low[:], high[:] = torque_range(bounds.efforts, bounds.stall, bounds.drag, velocity[ROOT:])
    bound[equalities : equalities + free] = low - bias[ROOT:]
    bound[equalities + free : equalities + 2 * free] = bias[ROOT:] - high
    limit += hold_back(bounds, now.angles, velocity[ROOT:], standing, rows[limit:], bound[limit:])
    hessian[:] = 0.0
    gradient[:] = 0.0
    for i in range(len(gradient)):
        hessian[i, i] = REGULAR if i < nv else REGULAR_FORCE
    add_wishes(wishes, count, hessian, gradient)
    slow_down(bounds, velocity[ROOT:], hessian, gradient)
    return limit


class WholeBody:
    """The program, for a biped whose every joint has a motor.

    `contact`: what the floor can do to each foot. `motors`: what the motors can do, in Pinocchio's
    order. `stops`: smallest and largest joint angles, likewise, rad, ``(2, n)``. `compiled`:
    whether the program is written by compiled code. `rest`: angles of the robot's joints where
    nothing else is wanted, rad, ``(n,)``; None: zero. Attributes, after `solve`: `acceleration`:
    what the torques do, ``(nv,)``. `forces`: on each foot, ``(n, 6)``. `feasible`: whether torques
    keep the limits of floor and motors. `solver`: of the program.
    """

    def __init__(
        self,
        body: Body,
        contact: FootContact,
        motors: MotorLimits,
        stops: np.ndarray,
        compiled: bool = False,
        rest: np.ndarray | None = None,
    ) -> None:
        self.body, self.contact, feet = body, contact, body.all_feet
        self.rest = np.zeros(body.nv - ROOT) if rest is None else rest
        self._bounds = Bounds(
            contact.rows,
            contact.parts,
            contact.blade,
            stops[0] + STOP_GAP,
            stops[1] - STOP_GAP,
            motors.speeds,
            BRAKE * body.leg_length**2,
            motors.efforts,
            np.array([motor.stall_effort for motor in motors.motors]),
            np.array([motor.speed_drag for motor in motors.motors]),
        )
        self._now = Instant(
            body.mass_matrix,
            body.bias,
            body.angles,
            body.velocity,
            feet.rotation,
            feet.velocity,
            feet.drift,
            feet.jacobian,
        )
        self.solver = solvers.load()
        self._kept: dict[tuple[int, ...], Program] = {}  # see `_program`
        most, wishes = body.nv + contact.size * len(body.feet), WISHES + body.nv - ROOT
        self._wishes = Wishes(
            np.zeros((wishes, most)),
            np.zeros(wishes),
            np.zeros((wishes, 4), dtype=np.int64),
            np.zeros(wishes),
        )
        self.acceleration = np.zeros(body.nv)
        self.forces = np.zeros((len(body.feet), 6))
        self.feasible = True
        self.begin(())
        self._fill = fill_program
        if compiled:
            self._fill = compile_ahead(
                fill_program,
                self._bounds,
                self._wishes,
                0,
                self._now,
                self._program(),
            )

    def begin(self, standing: Sequence[int]) -> None:
        """Begin a new program for a support: the indices of the feet that stand."""
        self.standing = tuple(standing)
        self.unknowns = self.body.nv + self.contact.size * len(self.standing)
        self._wished = self._wanted = 0  # wishes, and rows in them

    def want(
        self,
        rows: np.ndarray,
        values: np.ndarray | Sequence[float],
        weight: float,
        first: int = 0,
    ) -> None:
        """Add a wish: rows @ (accelerations from the first) = values.

        Args:
            rows: ``(k, m)``.
            values: ``(k,)``.
            weight: Of the squared error.
            first: Column of the program the rows begin at.
        """
        wishes, i, row = self._wishes, self._wished, self._wanted
        end, last = row + len(rows), first + rows.shape[1]
        wishes.rows[row:end, first:last], wishes.values[row:end] = rows, values
        wishes.spans[i], wishes.weights[i] = (row, end, first, last), weight
        self._wished, self._wanted = i + 1, end

    def column(self, foot: int) -> int:
        """Return the first column of the forces on a foot that stands.

        Args:
            foot: Its index.
        """
        return int(self.body.nv + self.contact.size * self.standing.index(foot))

    def _program(self) -> Program:
        """Return the `Program` of the support: kept, since much of it never changes."""
        body, joints, floor = self.body, self.body.nv - ROOT, self.contact.bound
        if self.standing not in self._kept:
            feet, n = len(self.standing), self.unknowns
            bound = np.concatenate(
                [np.zeros(n + joints), np.tile(floor, feet), np.zeros(2 * joints)]
            )
            legs = np.zeros(joints, dtype=bool)
            for foot in self.standing:
                legs |= body.legs[foot]
            legs[[body.joint(knee)[2] - ROOT for knee in body.knees]] = False
            legs[[body.joint(joint)[2] - ROOT for joint in body.apart]] = True
            self._kept[self.standing] = Program(
                np.zeros((n, n)),
                np.zeros(n),
                np.zeros((len(bound), n)),
                bound,
                np.array(self.standing, dtype=np.int64),
                legs,
                *np.zeros((2, joints)),
            )
        return self._kept[self.standing]

    def solve(self) -> np.ndarray:
        """Return the joint torques in Pinocchio's order, ``(nv - 6,)``, N m.

        Where no torque keeps all limits, those of the joints' angles and speeds are left out, or
        else all of them; `feasible` is false then.
        """
        body, size, parts = self.body, self.contact.size, self.contact.parts
        nv, program = body.nv, self._program()
        hessian, gradient, rows, bound, feet, _, low, high = program
        equalities = ROOT + size * len(feet)
        torque, bias = rows[equalities : equalities + nv - ROOT], body.bias[ROOT:]
        count = self._fill(self._bounds, self._wishes, self._wished, self._now, program)
        firm = len(bound) - 2 * (nv - ROOT)  # what is left without the limits of joints
        rows, bound = rows[:count], bound[:count]
        for kept in sorted({count, firm, equalities}, reverse=True):
            x = self.solver(Problem(hessian, gradient, rows[:kept], bound[:kept], equalities)).x
            if x is not None:
                break
        self.feasible = kept >= firm and x is not None
        if x is None:
            x = np.zeros(self.unknowns)
        effort: np.ndarray = np.minimum(np.maximum(torque @ x + bias, low), high)
        if not self.feasible:  # what the clipped torques do, not what was wished
            motion = np.vstack([rows[:ROOT], torque, rows[ROOT:equalities]])
            driven = np.concatenate([bound[:ROOT], effort - bias, bound[ROOT:equalities]])
            x = np.linalg.lstsq(motion, driven, rcond=None)[0]
        self.acceleration[:] = x[:nv]
        self.forces[:] = 0.0
        for foot in self.standing:
            column = self.column(foot)
            self.forces[foot, parts] = x[column : column + size]
        return effort
