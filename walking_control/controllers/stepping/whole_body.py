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

from walking_control.controllers.stepping.body import Body, Instant
from walking_control.models import array_function, compile_ahead, GearedMotor, ROOT
from walking_control.models.array_functions import as_block, taken_by
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
# kinds of wishes; what their numbers are, `rows_of` says
GIVEN, TRUNK, FOOT = range(3)
FIRST, LAST, WHICH, PART, OWN = range(12, 17)  # numbers of the latter two


class Gains(NamedTuple):
    """How strongly a task pulls, and how much it counts when not all can be met."""

    stiffness: float  # 1/s^2
    damping: float  # 1/s
    weight: float  # of the squared error


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
    blade: int  # likewise
    lower: np.ndarray  # angle at which a leg in the air is held back, rad
    upper: np.ndarray  # likewise
    speeds: np.ndarray  # largest, rad/s
    brake: float  # weight of braking a joint at its speed limit
    efforts: np.ndarray  # largest torques, N m
    stall: np.ndarray  # that the supply causes at rest, N m; infinite without a supply voltage
    drag: np.ndarray  # lost of them with speed, N m s/rad


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
def rows_of(kind: int, own: np.ndarray, now: Instant) -> tuple[np.ndarray, np.ndarray, int]:
    """Return what a wish says: rows and values, rows @ (unknowns from a column) = values.

    Its numbers are, after its weight: GIVEN: the column, how many unknowns, how many rows, their
    values, the rows. The others pull: stiffness and damping; velocity and acceleration that are
    wanted and what is missing, of three axes each; FIRST, the first axis that counts, and LAST, the
    one after them; TRUNK no more; FOOT: WHICH foot, PART: 0 or 3: whether it moves or turns, and
    OWN: whether the axes are its own, not the floor's.

    Args:
        kind: Of the wish.
        own: Its numbers, ``(n,)``.
        now: How the robot moves.

    Returns:
        ``(k, m)``, ``(k,)`` and the first column.
    """
    if kind == GIVEN:
        values, rows = own[4 : 4 + int(own[3])], own[4 + int(own[3]) :].copy()
        return rows.reshape(int(own[3]), int(own[2])), values, int(own[1])
    stiffness, damping = own[1], own[2]
    wanted, asked, error = own[3:6], own[6:9], own[9:FIRST]
    first, last, axes = int(own[FIRST]), int(own[LAST]), np.eye(3)
    if kind == TRUNK:
        asked = asked + stiffness * error + damping * (wanted - now.velocity[3:ROOT])
        return axes[first:last], asked[first:last], 3
    feet, foot, i = now.feet, int(own[WHICH]), int(own[PART])
    velocity, drift = feet.velocity[foot][i : i + 3], feet.drift[foot][i : i + 3]
    asked = asked + stiffness * error + damping * (wanted - velocity) - drift
    if own[OWN]:
        axes[:] = feet.rotation[foot].T
    return (axes @ feet.jacobian[foot][i : i + 3])[first:last], (axes @ asked)[first:last], 0


@array_function
def add_wishes(wishes: np.ndarray, now: Instant, hessian: np.ndarray, gradient: np.ndarray) -> None:
    """Add wishes as weighted least squares.

    Args:
        wishes: Wish by wish: its kind, how many numbers follow, its weight, and as `rows_of`
            says, ``(n,)``.
        now: How the robot moves.
        hessian: Changed in place, ``(n, n)``.
        gradient: Changed in place, ``(n,)``.
    """
    begin = 0
    while begin < len(wishes):
        own = wishes[begin + 2 : begin + 2 + int(wishes[begin + 1])]
        some, values, first = rows_of(int(wishes[begin]), own, now)
        rows, last = np.ascontiguousarray(some), first + some.shape[1]
        weighted = own[0] * rows.T
        hessian[first:last, first:last] += weighted @ rows
        gradient[first:last] -= weighted @ np.ascontiguousarray(values)
        begin += 2 + len(own)


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
def fill_program(
    bound_to: Sequence[Bounds],
    wishes: np.ndarray,
    instant: Sequence[Instant],
    mass_matrix: np.ndarray,
    bias: np.ndarray,
    program: Program,
) -> int:
    """Write the program of a tick.

    Args:
        bound_to: One `Bounds`, see `as_block`: what joints, motors and the floor can do.
        wishes: What is wanted, see `add_wishes`.
        instant: One `Instant`: how the robot moves.
        mass_matrix: ``(nv, nv)``.
        bias: ``(nv,)``.
        program: Filled.

    Returns:
        How many rows the program has.
    """
    bounds, now, velocity = bound_to[0], instant[0], instant[0].velocity
    hessian, gradient, rows, bound, feet, standing, low, high = program
    nv, size, floor = len(bias), len(bounds.parts), len(bounds.rows)
    free = nv - ROOT
    equalities = ROOT + size * len(feet)
    rows[:ROOT, :nv], bound[:ROOT] = mass_matrix[:ROOT], -bias[:ROOT]
    torque = rows[equalities : equalities + free]
    torque[:, :nv] = mass_matrix[ROOT:]
    first, limit = ROOT, equalities + 2 * free
    for i in range(len(feet)):
        foot, column = feet[i], nv + size * i
        turn, jacobian = turn_about_normal(now.feet.rotation[foot]), now.feet.jacobian[foot]
        # acceleration that would let it go on and not come to rest
        motion = now.feet.drift[foot] + REST_RATE * now.feet.velocity[foot]
        held, block = jacobian[bounds.parts], turn[bounds.parts][:, bounds.parts]
        faces = rows[limit : limit + floor, column : column + size]
        if bounds.blade:
            held, motion = (turn @ jacobian)[bounds.parts], turn @ motion
            faces[:] = bounds.rows
        else:
            faces[:] = bounds.rows @ np.ascontiguousarray(block)
        rows[:ROOT, column : column + size] = -held.T[:ROOT]
        torque[:, column : column + size] = -held.T[ROOT:]
        rows[first : first + size, :nv] = held
        bound[first : first + size] = -motion[bounds.parts]
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
    add_wishes(wishes, now, hessian, gradient)
    slow_down(bounds, velocity[ROOT:], hessian, gradient)
    return limit


class WholeBody:
    """The program, for a biped whose every joint has a motor.

    `contact`: what the floor can do to each foot; it belongs to this program from then on. What
    else is given is read once. `motors`: what the motors can do, in Pinocchio's order. `stops`:
    smallest and largest joint angles, likewise, rad, ``(2, n)``. `compiled`: whether the program
    is written by compiled code. `rest`: angles of the robot's joints where
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
        self.body, self.contact = body, contact
        self.rest = np.zeros(body.nv - ROOT) if rest is None else rest
        block, self._bounds = as_block(
            Bounds(
                contact.rows,
                contact.parts,
                int(contact.blade),
                stops[0] + STOP_GAP,
                stops[1] - STOP_GAP,
                motors.speeds,
                BRAKE * body.leg_length**2,
                motors.efforts,
                np.array([motor.stall_effort for motor in motors.motors]),
                np.array([motor.speed_drag for motor in motors.motors]),
            )
        )
        contact.rows = self._bounds.rows
        self.solver = solvers.load()
        self._kept: dict[tuple[int, ...], Program] = {}  # see `_program`
        self.acceleration = np.zeros(body.nv)
        self.feasible = True
        self.begin(())
        matrices = body.mass_matrix, body.bias, self._program()
        self._fill = compile_ahead(
            fill_program, block, np.zeros(0), body.block, *matrices, wanted=compiled
        )
        self._bound_to = taken_by(self._fill, block, self._bounds)
        self._now = taken_by(self._fill, body.block, body.now)

    def begin(self, standing: Sequence[int]) -> None:
        """Begin a new program for a support: the indices of the feet that stand."""
        self.standing = tuple(standing)
        self.unknowns = self.body.nv + self.contact.size * len(self.standing)
        self._wished: list[float] = []  # their numbers, see `add_wishes`

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
            values: ``(k,)``, or one for all.
            weight: Of the squared error.
            first: Column of the program the rows begin at.
        """
        size, width = rows.shape
        told = np.broadcast_to(values, size).tolist()
        self.ask(GIVEN, weight, first, width, size, *told, *rows.ravel().tolist())

    def ask(self, kind: int, weight: float, *numbers: float) -> None:
        """Add a wish.

        Args:
            kind: GIVEN, TRUNK or FOOT.
            weight: Of the squared error.
            numbers: That `rows_of` reads of this kind, behind the weight.
        """
        self._wished += (kind, 1 + len(numbers), weight, *numbers)

    def pull(
        self,
        kind: int,
        gains: Gains,
        velocity: np.ndarray,
        acceleration: np.ndarray,
        error: np.ndarray,
        *place: int,
    ) -> None:
        """Add a wish that pulls: acceleration + stiffness * error + damping * (velocity - its own).

        Args:
            kind: FOOT or TRUNK.
            gains: How strongly.
            velocity: That is wanted, ``(3,)``.
            acceleration: Likewise.
            error: What is missing, ``(3,)``.
            place: The rest of its numbers, see `rows_of`.
        """
        stiffness, damping, weight = gains
        motion = *velocity.tolist(), *acceleration.tolist(), *error.tolist()
        self.ask(kind, weight, stiffness, damping, *motion, *place)

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
        body, size = self.body, self.contact.size
        nv, program = body.nv, self._program()
        hessian, gradient, rows, bound, feet, _, low, high = program
        equalities = ROOT + size * len(feet)
        torque, bias = rows[equalities : equalities + nv - ROOT], body.bias[ROOT:]
        wishes = np.array(self._wished, dtype=float)
        count = self._fill(self._bound_to, wishes, self._now, body.mass_matrix, body.bias, program)
        firm = len(bound) - 2 * (nv - ROOT)  # what is left without the limits of joints
        for kept in dict.fromkeys((count, firm, equalities)):
            x = self.solver(Problem(hessian, gradient, rows[:kept], bound[:kept], equalities)).x
            if x is not None:
                break
        else:
            kept, x = 0, np.zeros(self.unknowns)
        self.feasible = kept >= firm
        effort: np.ndarray = np.minimum(np.maximum(torque @ x + bias, low), high)
        if not self.feasible:  # what the clipped torques do, not what was wished
            motion = np.vstack([rows[:ROOT], torque, rows[ROOT:equalities]])
            driven = np.concatenate([bound[:ROOT], effort - bias, bound[ROOT:equalities]])
            x = np.linalg.lstsq(motion, driven, rcond=None)[0]
        self.acceleration[:] = x[:nv]
        self._pressing = x[nv:]
        return effort

    @property
    def forces(self) -> np.ndarray:
        """Return the forces and moments on each foot, as solved last, ``(n_feet, 6)``."""
        forces, feet = np.zeros((len(self.body.feet), 6)), np.array(self.standing)
        forces[feet[:, None], self.contact.parts] = self._pressing.reshape(len(feet), -1)
        return forces
