# SPDX-License-Identifier: Apache-2.0
"""The gait search of [DS09] Definition 4.2 as a nonlinear program.

Unknowns are the free coordinates at the Chebyshev points of each phase, the durations and, where
the mechanics may adapt ([DS09] section 5.1), some of the numbers theta of the step equations. All
numbers of the robot, the floor and the task are parameters of the program, so that one program,
built once in a process, serves all robots with the same skeleton.

Everything but the torques is linear in the unknowns, so the program is a set of small functions of
``U = G x``, one for the nodes of a phase, one for its ends; first and second derivatives are those
of the small functions between G and its transpose, which is what makes a search take well under a
second.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
import time
from typing import Any

import casadi as ca
import numpy as np

from walking_control.exceptions import require
from walking_control.models import (
    NEARLY,
    require_equal_legs,
    Robot,
    RobotFile,
    step_parameters,
    StepEquations,
    World,
)
from walking_control.models.step_equations import step_equations
from walking_control.search import (
    Adaptation,
    Block,
    ends_block,
    nodes_block,
    Numbers,
    passive_block,
    SearchParameters,
    Shape,
    TASK,
    unknowns,
)

SHORTEST, LONGEST = 0.05, 5.0  # s, of a phase


@dataclass(frozen=True)
class Program:
    """A built program.

    Attributes:
        solver: CasADi solver.
        lower: Bounds of the constraints.
        upper: Likewise.
        constraints: (x, p) -> constraints.
        costs: (x, p) -> cost on the nodes.
        build_time: s.
        names: What each constraint is about, in words.
        used: Not empty once a search has booked the build time.
    """

    solver: ca.Function
    lower: np.ndarray
    upper: np.ndarray
    constraints: ca.Function
    costs: ca.Function
    build_time: float
    names: tuple[str, ...]
    used: list[bool]


def parameters(
    theta: np.ndarray,
    adaptation: Adaptation,
    weights: np.ndarray,
    task: SearchParameters,
    friction: float,
    masses: slice,
) -> np.ndarray:
    """Return the vector of the program's parameters.

    Args:
        theta: Numbers of the step equations.
        weights: Cost metric Q, ``(n, n)``.
        task: Of the search.
        friction: Coefficient of friction of the floor.
        masses: Where the bodies' masses stand in theta.
    """
    still = theta - adaptation.columns @ adaptation.base
    return np.concatenate(
        [
            still,
            np.ravel(adaptation.columns, order='F'),
            np.ravel(weights, order='F'),
            [
                task.speed,
                task.clearance,
                task.landing_speed,
                friction,
                task.min_normal_force,
                task.min_step_length,
                float(np.sum(theta[masses])),
            ],
        ]
    )


@lru_cache(maxsize=24)
def build_program(
    equations: StepEquations,
    shape: Shape,
    size_of_theta: int,
    options: tuple[tuple[str, Any], ...] = (),
) -> Program:
    """Return the `Program` of a robot's step equations and a shape.

    Args:
        size_of_theta: Length of theta.
        options: Pairs of IPOPT options.
    """
    begin = time.perf_counter()
    parts = {'weights': equations.n**2}
    numbers = Numbers(size_of_theta, shape.adapted, parts, TASK)
    blocks = [ends_block(equations, shape, numbers)]
    for phase in range(len(shape.held)):
        blocks.append(nodes_block(equations, shape, phase, numbers))
        if shape.passive and len(shape.passive[phase]):
            blocks.append(passive_block(equations, shape, phase, numbers))
    return assemble(blocks, unknowns(shape, equations.n), numbers.symbol.shape[0], options, begin)


def assemble(
    blocks: list[Block], size: int, numbers: int, options: tuple[tuple[str, Any], ...], begin: float
) -> Program:
    """Return the `Program` of blocks.

    Args:
        size: Number of unknowns.
        numbers: Number of parameters.
        options: Pairs of IPOPT options.
        begin: When building began, by `time.perf_counter`.
    """
    x = ca.MX.sym('x', size)
    p = ca.MX.sym('p', numbers)
    cost, g = 0.0, []
    for block in blocks:
        costs, rows = _mapped(block.function, block.count)(_columns(block, x), p, block.extra)
        cost += ca.sum2(costs)
        g.append(ca.vec(rows))
    g = ca.vertcat(*g)
    settings = {
        'ipopt': {'print_level': 0, 'sb': 'yes', **dict(options)},
        'print_time': False,
        'error_on_fail': False,
        **_derivatives(blocks, x, p, cost, g),
    }
    solver = ca.nlpsol('search', 'ipopt', {'x': x, 'p': p, 'f': cost, 'g': g}, settings)
    return Program(
        solver,
        np.concatenate([block.lower.ravel(order='F') for block in blocks]),
        np.concatenate([block.upper.ravel(order='F') for block in blocks]),
        ca.Function('g', [x, p], [g]),
        ca.Function('f', [x, p], [cost]),
        time.perf_counter() - begin,
        tuple(name for block in blocks for name in block.names * block.count),
        [],
    )


def _mapped(function: ca.Function, count: int) -> ca.Function:
    return function.map('mapped', 'serial', count, [1], [])


def _columns(block: Block, x: ca.MX) -> ca.MX:
    return ca.reshape(block.G @ x, -1, block.count)


def _derivatives(
    blocks: list[Block], x: ca.MX, p: ca.MX, cost: ca.MX, g: ca.MX
) -> dict[str, ca.Function]:
    """Return gradient, Jacobian and Hessian of the program as solver options."""
    lam_f, lam_g = ca.MX.sym('lam_f'), ca.MX.sym('lam_g', g.shape[0])
    gradient, jacobian, hessian, place = 0.0, [], 0.0, 0
    for block in blocks:
        u, q = ca.SX.sym('u', block.function.size1_in(0)), ca.SX.sym('p', p.shape[0])
        extra = ca.SX.sym('extra', len(block.extra))
        costs, rows = block.function(u, q, extra)
        weight, multipliers = ca.SX.sym('weight'), ca.SX.sym('multipliers', rows.shape[0])
        first = ca.Function('first', [u, q, extra], [ca.gradient(costs, u), ca.jacobian(rows, u)])
        curvature = ca.hessian(weight * costs + ca.dot(multipliers, rows), u)[0]
        second = ca.Function('second', [u, q, extra, weight, multipliers], [ca.cse(curvature)])
        U = _columns(block, x)
        slopes, bends = _mapped(first, block.count)(U, p, block.extra)
        gradient += block.G.T @ ca.vec(slopes)
        jacobian.append(ca.diagcat(*ca.horzsplit(bends, u.shape[0])) @ block.G)
        count = rows.shape[0] * block.count
        share = ca.reshape(lam_g[place : place + count], rows.shape[0], block.count)
        place += count
        curvatures = second.map('mapped', 'serial', block.count, [1, 3], [])(
            U, p, block.extra, lam_f, share
        )
        middle = ca.diagcat(*ca.horzsplit(curvatures, u.shape[0]))
        hessian += block.G.T @ (middle @ block.G)
    return {
        'grad_f': ca.Function('nlp_grad_f', [x, p], [cost, gradient]),
        'jac_g': ca.Function('nlp_jac_g', [x, p], [g, ca.vertcat(*jacobian)]),
        'hess_lag': ca.Function('nlp_hess_l', [x, p, lam_f, lam_g], [ca.triu(hessian)]),
    }


STOP_MARGIN, STOP_SHARE = 0.02, 0.05  # rad, of the range: how far a gait stays from joint stops

# combinations of forces by phase, each ``(n,)``
Combinations = tuple[tuple[float, ...], ...]  # of generalised forces, in one phase


def check_task(robot_file: RobotFile, values: SearchParameters) -> None:
    """Refuse a task that has no sensible answer.

    Args:
        robot_file: The `RobotFile`.
        values: `SearchParameters`.

    Raises:
        InvalidInput: Level floor without a speed; fewer nodes than the degree needs; bad weights.
    """
    world, n = robot_file.values(World), len(robot_file.robot.coordinates)
    require(
        world.slope > 0.0 or values.speed != 0.0,
        'search.speed',
        value=0.0,
        limit='off a downhill slope the cheapest motion is to stand',
        remedy='give --speed',
    )
    require(
        2 * values.nodes >= values.degree + 2,
        'search.nodes',
        value=values.nodes,
        limit=f'too few for polynomials of degree {values.degree}',
        remedy=f'use at least {values.degree}',
    )
    require(
        len(values.effort_cost) in (0, n),
        'search.effort_cost',
        value=list(values.effort_cost),
        limit=f'must hold {n} numbers, one a coordinate, or none',
    )
    require_equal_legs(robot_file.robot, f'gait search of {robot_file.robot.name}', NEARLY)
    equations = step_equations(robot_file.robot)
    require(
        values.min_step_length
        < 2.0 * leg_length(equations, step_parameters(robot_file.robot, 9.81, 0.0)),
        'search.min_step_length',
        value=values.min_step_length,
        limit='is longer than the legs reach',
    )


def leg_length(equations: StepEquations, theta: np.ndarray) -> float:
    """Return the height of the centre of mass at zero angles, m: the scale of a step.

    Args:
        equations: `StepEquations` of the robot.
        theta: Their parameters.
    """
    zero, gravity = np.zeros(equations.n), np.linalg.norm(theta[:3])
    level = theta.copy()
    level[:3] = 0.0, 0.0, -gravity
    weight = float(np.array(equations.force(zero, zero, zero, level)).ravel()[-1])
    return float(equations.energy(zero, zero, level)[1]) / weight


def coordinate_limits(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of coordinates, ``(n,)`` each: of their one joint, else half a turn."""
    n = len(robot.coordinates)
    lower, upper = np.full(n, -np.pi), np.full(n, np.pi)
    lift = robot.joint_lifts[robot.feet[0]]
    for joint, row in zip(robot.joints, lift, strict=True):
        places = np.flatnonzero(np.abs(row) > 1e-9)
        if len(places) == 1:
            i, factor = places[0], row[places[0]]
            ends = sorted((robot.limits[joint].lower / factor, robot.limits[joint].upper / factor))
            lower[i], upper[i] = max(lower[i], ends[0]), min(upper[i], ends[1])
    return lower, upper


def search_limits(robot: Robot, held: Collection[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the coordinates in a search, each ``(n,)``, a little inside the stops.

    Limits hold at Chebyshev points alone; between them a motion overshoots, and a controller needs
    room. Coordinates that locks hold go all the way: that is where they are caught.

    Args:
        held: Indices of the coordinates that locks hold at some time.
    """
    lower, upper = coordinate_limits(robot)
    margin = np.minimum(STOP_MARGIN, STOP_SHARE * (upper - lower))
    margin[list(held)] = 0.0
    return lower + margin, upper - margin


def held_coordinates(robot: Robot) -> tuple[tuple[tuple[int, ...], ...], np.ndarray]:
    """Return held coordinates by phase and the sign in which locked joints flex.

    A step of a robot with locks has two phases: the swing leg's locks are open until they strike,
    then all are engaged ([DS09] Fig. 4.12).

    Raises:
        InvalidInput: A lock's joint is no coordinate of its own, or is not held at zero.
    """
    lift = robot.joint_lifts[robot.feet[0]]
    stance, every, bends = [], [], np.zeros(len(robot.coordinates))
    for lock in robot.locks:
        row = lift[robot.joint_index(lock.joint)]
        places = np.flatnonzero(np.abs(row) > 1e-9)
        require(
            len(places) == 1 and lock.angle == 0.0,
            f'lock of joint {lock.joint}',
            value=lock.angle,
            limit='must hold a coordinate of its own at zero for gait search',
        )
        every.append(int(places[0]))
        if lock.foot == robot.feet[0]:
            stance.append(int(places[0]))
        limit = robot.limits[lock.joint]
        bends[places[0]] = row[places[0]] * (1.0 if limit.upper > -limit.lower else -1.0)
    if not every:
        return ((),), bends
    return (tuple(sorted(stance)), tuple(sorted(every))), bends


def passive_forces(robot: Robot, held: Sequence[Sequence[int]]) -> Iterator[Combinations]:
    """Yield the combinations of generalised forces no motor and no lock gives, by phase.

    Args:
        robot: The `Robot`.
        held: Coordinates that locks hold, by phase.

    Yields:
        Nested tuples ``(n_combinations, n)``, rows orthonormal.
    """
    lift = robot.joint_lifts[robot.feet[0]]
    motors = lift[[robot.joint_index(joint) for joint in robot.actuators]]
    for indices in held:
        given = np.vstack([motors, np.eye(len(robot.coordinates))[list(indices)]])
        _, sizes, rows = np.linalg.svd(given)
        rank = int(np.sum(sizes > 1e-9))
        yield tuple(map(tuple, rows[rank:]))


def cost_metric(
    robot: Robot, values: SearchParameters, passive: tuple[Combinations, ...]
) -> np.ndarray:
    """Return Q of [DS09] (4.3), ``(n, n)``."""
    n = len(robot.coordinates)
    Q = np.diag(values.effort_cost) if values.effort_cost else np.eye(n)
    if values.actuation == 'costly':
        rows = np.array(passive[0]).reshape(-1, n)
        Q = Q + values.passive_cost * rows.T @ rows
    return Q
