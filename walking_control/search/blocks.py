# SPDX-License-Identifier: Apache-2.0
"""The small functions a gait search is made of: what holds on nodes and at the ends of a phase.

Each is a CasADi function of a few numbers that are linear in the unknowns; `problem` puts them
together.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.polynomial import legendre

from walking_control.gaits.gait import evaluation, QUADRATURES
from walking_control.models import StepEquations
from walking_control.search.judgement import WINDOW


@dataclass(frozen=True)
class Shape:
    """What decides which unknowns and constraints there are; everything else is a number.

    Attributes:
        degree: Of the polynomials.
        intervals: Of the quadrature in each phase.
        quadrature: Key of `QUADRATURES`.
        held: Indices of held coordinates, by phase.
        adapted: Number of mechanical parameters that are unknowns.
        speed: Whether the speed is prescribed.
        clearance: Whether the swing foot has to stay clear of the floor.
        contact: Whether the floor has to push and hold by friction.
        passive: Combinations of generalised forces that must vanish, by phase, as nested tuples
            ``(n_combinations, n)``.
        keeps_mass: Whether adapted masses leave the total mass as it is.
    """

    degree: int
    intervals: int
    quadrature: str
    held: tuple[tuple[int, ...], ...]
    adapted: int = 0
    speed: bool = True
    clearance: bool = False
    contact: bool = True  # whether the floor has to push and hold by friction
    # combinations of generalised forces that must vanish, by phase, as nested tuples
    # ``(n_combinations, n)``
    passive: tuple[tuple[tuple[float, ...], ...], ...] = ()
    keeps_mass: bool = False


def free_coordinates(n: int, held: Collection[int]) -> list[int]:
    """Return the indices that are not held.

    Args:
        n: Number of coordinates.
        held: Indices of those that locks hold.
    """
    return [i for i in range(n) if i not in held]


def unknowns(shape: Shape, n: int) -> int:
    """Return the number of unknowns.

    Args:
        shape: `Shape` of the program.
        n: Number of coordinates.
    """
    return sum((shape.degree + 1) * (n - len(held)) + 1 for held in shape.held) + shape.adapted


@dataclass(frozen=True)
class Block:
    """A small function on many columns of ``U = G x``.

    Attributes:
        function: (u, p, extra) -> (cost, constraints), CasADi SX.
        G: From the unknowns to all columns u, stacked, ``(n_u count, n_x)``.
        extra: Constants by column, ``(n_extra, count)``.
        lower: Bounds of the constraints by column, ``(n_g, count)``.
        upper: Likewise.
        names: Of the constraints, n_g.
    """

    function: ca.Function
    G: ca.DM
    extra: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of columns."""
        return int(self.extra.shape[1])


class Rows:
    """Constraints of one block under construction."""

    def __init__(self) -> None:
        self.rows: list[ca.SX] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.names: list[str] = []

    def add(self, name: str, expression: ca.SX, lower: float = 0.0, upper: float = 0.0) -> None:
        """Add what of an expression lies between bounds, by default none of it."""
        expression = ca.densify(ca.vec(expression))
        size = expression.shape[0]
        self.rows.append(expression)
        self.lower += [lower] * size
        self.upper += [upper] * size
        self.names += [name] * size


TASK = (
    'speed',
    'clearance',
    'landing_speed',
    'friction',
    'min_normal_force',
    'min_step_length',
    'mass',
)


class Numbers:
    """The parameters of a program as symbols, and the theta that unknowns adapt.

    Args:
        size: Of theta, the numbers of the robot.
        adapted: How many unknowns adapt it.
        parts: Name -> size of what else depends on the robot.
        task: Names of the numbers of the task.

    Attributes:
        symbol: All of them, in this order.
        part: Name -> symbol of what else depends on the robot.
        task: Name -> symbol of a number of the task.
    """

    def __init__(
        self, size: int, adapted: int, parts: Mapping[str, int], task: Sequence[str]
    ) -> None:
        sizes = [size, size * adapted, *parts.values(), len(task)]
        self.symbol = ca.SX.sym('p', sum(sizes))
        self._theta, columns, *others, asked = ca.vertsplit(
            self.symbol, [0, *np.cumsum(sizes).tolist()]
        )
        self._columns = ca.reshape(columns, size, adapted)
        self.part = dict(zip(parts, others, strict=True))
        self.task = dict(zip(task, ca.vertsplit(asked), strict=True))

    def theta(self, adapted: ca.SX) -> ca.SX:
        """Return the numbers of the robot at adapted values."""
        return self._theta + self._columns @ adapted if adapted.shape[0] else self._theta


def selection(
    shape: Shape, n: int, phase: int, s: np.ndarray | Sequence[float], orders: Sequence[int]
) -> np.ndarray:
    """Return G for columns ``[derivatives..., duration, adapted]`` at each s of a phase."""
    total = unknowns(shape, n)
    free = free_coordinates(n, shape.held[phase])
    sizes = [(shape.degree + 1) * (n - len(held)) for held in shape.held]
    start = sum(sizes[:phase]) + phase  # behind the values and the duration of each phase before
    duration = start + sizes[phase]
    width = len(orders) * len(free) + 1 + shape.adapted
    G = np.zeros((len(s), width, total))
    for k, order in enumerate(orders):
        basis = evaluation(shape.degree, s, order)
        for j in range(len(free)):
            first = start + j * (shape.degree + 1)
            G[:, k * len(free) + j, first : first + shape.degree + 1] = basis
    G[:, width - 1 - shape.adapted, duration] = 1.0
    for i in range(shape.adapted):
        G[:, width - shape.adapted + i, total - shape.adapted + i] = 1.0
    return G


class Column:
    """A column u of a phase: derivatives of the free coordinates, duration, adapted parameters.

    Held coordinates are plain zeros, so that what depends on them vanishes from the functions.
    """

    def __init__(self, shape: Shape, n: int, phase: int, derivatives: int, name: str = 'u') -> None:
        self.n, self.free = n, free_coordinates(n, shape.held[phase])
        self.symbol = ca.SX.sym(name, derivatives * len(self.free) + 1 + shape.adapted)
        self.duration = self.symbol[derivatives * len(self.free)]
        self.adapted = self.symbol[derivatives * len(self.free) + 1 :]

    def part(self, k: int, order: int) -> ca.SX:
        """Return the k-th group of the column as a derivative by time of some order."""
        full = ca.SX.zeros(self.n)
        size = len(self.free)
        full[self.free] = self.symbol[k * size : (k + 1) * size] / self.duration**order
        return full

    def motion(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return q, v, a."""
        return self.part(0, 0), self.part(1, 1), self.part(2, 2)


def make_block(
    inputs: Sequence[ca.SX],
    cost: ca.SX,
    rows: Rows,
    G: np.ndarray,
    constants: np.ndarray,
    lower: np.ndarray | None = None,
) -> Block:
    """Return the `Block` of a cost and rows of constraints.

    Args:
        inputs: Symbols: of a column, of the program's parameters, and of what else differs from
            column to column.
        cost: In these symbols.
        rows: `Rows`, likewise.
        G: From the unknowns to each column, ``(count, n_u, n_x)``.
        constants: Values of extra, ``(n_extra, count)``.
        lower: Bounds of the rows, ``(n_g, count)``; None takes theirs for every column.
    """
    function = ca.Function('block', [*inputs], [cost, ca.cse(ca.vertcat(*rows.rows))])
    count = constants.shape[1]
    lower = np.tile(np.array(rows.lower)[:, None], count) if lower is None else lower
    sparse = ca.sparsify(ca.DM(G.reshape(-1, G.shape[-1])))
    return Block(
        function,
        sparse,
        constants,
        lower,
        np.tile(np.array(rows.upper)[:, None], count),
        tuple(rows.names),
    )


def nodes_block(equations: StepEquations, shape: Shape, phase: int, numbers: Numbers) -> Block:
    """Return what holds on the nodes of a phase: cost, floor, clearance."""
    n, last, task = equations.n, len(shape.held) - 1, numbers.task
    weighing = ca.reshape(numbers.part['weights'], n, n)
    nodes, weights = QUADRATURES[shape.quadrature](shape.intervals)
    column, extra = Column(shape, n, phase, 3), ca.SX.sym('extra', 2)
    q, v, a = column.motion()
    theta = numbers.theta(column.adapted)
    effort = equations.effort(q, v, a, theta)
    effort[list(shape.held[phase])] = 0.0
    cost = column.duration * extra[0] * ca.dot(effort, weighing @ effort)
    rows = Rows()
    if shape.contact:
        force = equations.force(q, v, a, theta)
        rows.add('normal force', force[-1] - task['min_normal_force'], 0.0, np.inf)
        _add_friction(rows, force, task['friction'])
    if shape.clearance:
        rows.add('clearance', equations.foot(q)[-1] - extra[1] * task['clearance'], 0.0, np.inf)
    if not rows.rows:
        rows.add('none', ca.SX(1, 1), -np.inf, np.inf)
    clear = ((phase > 0) | (nodes >= WINDOW)) & ((phase < last) | (nodes <= 1.0 - WINDOW))
    lower = np.tile(np.array(rows.lower)[:, None], len(nodes))
    if shape.clearance:
        # the foot leaves and meets the floor at the ends of the step
        lower[-1, (nodes == 0.0) & (phase == 0)] = -1.0
        lower[-1, (nodes == 1.0) & (phase == last)] = -1.0
    return make_block(
        (column.symbol, numbers.symbol, extra),
        cost,
        rows,
        selection(shape, n, phase, nodes, range(3)),
        np.array([weights, clear.astype(float)]),
        lower,
    )


def passive_block(equations: StepEquations, shape: Shape, phase: int, numbers: Numbers) -> Block:
    """Return what holds where no motor is: no torque, at as many points as polynomials allow."""
    n = equations.n
    inner = 0.5 * (1.0 + legendre.leggauss(shape.degree - 1)[0])
    column, extra = Column(shape, n, phase, 3), ca.SX.sym('extra', 1)
    effort = equations.effort(*column.motion(), numbers.theta(column.adapted))
    rows = Rows()
    rows.add('torque of joints without a motor', ca.DM(np.array(shape.passive[phase])) @ effort)
    return make_block(
        (column.symbol, numbers.symbol, extra),
        ca.SX(1, 1),
        rows,
        selection(shape, n, phase, inner, range(3)),
        np.zeros((1, len(inner))),
    )


def _add_friction(rows: Rows, force: ca.SX, friction: ca.SX) -> None:
    if force.shape[0] == 2:
        for sign in (1.0, -1.0):
            rows.add('friction', friction * force[1] + sign * force[0], 0.0, np.inf)
    else:
        rows.add(
            'friction', (friction * force[2]) ** 2 - force[0] ** 2 - force[1] ** 2, 0.0, np.inf
        )


def ends_block(equations: StepEquations, shape: Shape, numbers: Numbers) -> Block:
    """Return what ties the phases together: jumps, touchdown, speed, step length."""
    n, phases, task = equations.n, len(shape.held), numbers.task
    # of each phase: q, dq/ds at its beginning, likewise at its end, duration, adapted
    columns = [Column(shape, n, phase, 4, f'u{phase}') for phase in range(phases)]
    pieces = []
    for phase, column in enumerate(columns):
        G = selection(shape, n, phase, [0.0, 1.0], range(2))
        pieces.append(np.concatenate([G[0, : 2 * len(column.free)], G[1]]))
    starts = [(column.part(0, 0), column.part(1, 1)) for column in columns]
    ends = [(column.part(2, 0), column.part(3, 1)) for column in columns]
    theta = numbers.theta(columns[0].adapted)
    rows = Rows()
    for phase in range(phases - 1):
        _add_strike(
            rows,
            equations,
            shape.held[phase],
            shape.held[phase + 1],
            ends[phase],
            starts[phase + 1],
            theta,
        )
    _add_touchdown(rows, equations, shape, ends[-1], starts[0], theta, numbers)
    foot = equations.foot(ends[-1][0])
    if shape.speed:
        rows.add('speed', foot[0] - task['speed'] * sum(column.duration for column in columns))
    rows.add('step length', foot[0] - task['min_step_length'], 0.0, np.inf)
    if shape.keeps_mass:
        rows.add('total mass', ca.sum1(theta[equations.masses]) - task['mass'])
    return make_block(
        (ca.vertcat(*(column.symbol for column in columns)), numbers.symbol, ca.SX.sym('extra', 1)),
        ca.SX(1, 1),
        rows,
        np.concatenate(pieces)[None],
        np.zeros((1, 1)),
    )


def _add_strike(
    rows: Rows,
    equations: StepEquations,
    held: Collection[int],
    held_new: Collection[int],
    before: tuple[ca.SX, ca.SX],
    after: tuple[ca.SX, ca.SX],
    theta: ca.SX,
) -> None:
    """Add the jump as locks stop their joints: momentum along what stays free goes on (4.27)."""
    n, (q, v), (q_new, v_new) = equations.n, before, after
    rows.add('posture at the knee strike', (q - q_new)[free_coordinates(n, held)])
    jump = equations.momentum(q, v_new, theta) - equations.momentum(q, v, theta)
    rows.add('momentum at the knee strike', jump[free_coordinates(n, held_new)])


def _add_touchdown(
    rows: Rows,
    equations: StepEquations,
    shape: Shape,
    before: tuple[ca.SX, ca.SX],
    after: tuple[ca.SX, ca.SX],
    theta: ca.SX,
    numbers: Numbers,
) -> None:
    """Add the jump at touchdown ([DS09] (4.12)) with left and right exchanged (4.10)."""
    n, (q, v), (q_new, v_new) = equations.n, before, after
    task = numbers.task
    start, free = free_coordinates(n, shape.held[0]), free_coordinates(n, shape.held[-1])
    relabelled = ca.DM(np.array(equations.relabel)) @ q
    rows.add('posture after touchdown', (relabelled - q_new)[start])
    mismatch, impulse, lift = equations.impact(q, v, v_new, theta)
    rows.add('momentum at touchdown', mismatch[free])
    rows.add('released joint starts at rest', v_new[[i for i in start if i not in free]])
    rows.add('touchdown on the floor', equations.foot(q)[-1])
    rows.add(
        'landing speed', -equations.foot_velocity(q, v)[-1] - task['landing_speed'], 0.0, np.inf
    )
    if shape.contact:
        rows.add('impulse of touchdown', impulse[-1], 0.0, np.inf)
        _add_friction(rows, impulse, task['friction'])
        rows.add('the foot left behind lifts off', lift[-1], 0.0, np.inf)
