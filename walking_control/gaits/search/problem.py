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

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import time
from typing import Any, TYPE_CHECKING

import casadi as ca
import numpy as np

from walking_control.gaits.search.blocks import (
    Block,
    ends_block,
    nodes_block,
    Numbers,
    passive_block,
    Shape,
    unknowns,
)
from walking_control.gaits.search.parameters import SearchParameters

if TYPE_CHECKING:
    from walking_control.gaits.search.adaptation import Adaptation
    from walking_control.models.step_equations import StepEquations

SHORTEST, LONGEST = 0.05, 5.0   # s, of a phase


@dataclass(frozen=True)
class Program:
    """A built program."""

    solver: ca.Function   # CasADi solver
    lower: np.ndarray   # bounds of the constraints
    upper: np.ndarray   # likewise
    constraints: ca.Function   # (x, p) -> constraints
    costs: ca.Function   # (x, p) -> cost on the nodes
    build_time: float   # s
    names: tuple[str, ...]   # what each constraint is about, in words
    used: list[bool]   # not empty once a search has booked the build time


def parameters(shape: Shape, n: int, theta: np.ndarray, adaptation: Adaptation,
               weights: np.ndarray, task: SearchParameters, friction: float,
               masses: slice) -> np.ndarray:
    """Return the vector of the program's parameters.

    Args:
        n: Number of coordinates.
        theta: Numbers of the step equations.
        weights: Cost metric Q, ``(n, n)``.
        task: Of the search.
        friction: Coefficient of friction of the floor.
        masses: Where the bodies' masses stand in theta.
    """
    still = theta - adaptation.columns @ adaptation.base
    return np.concatenate([still, np.ravel(adaptation.columns, order='F'),
                           np.ravel(weights, order='F'),
                           [task.speed, task.clearance, task.landing_speed, friction,
                            task.min_normal_force, task.min_step_length,
                            float(np.sum(theta[masses]))]])


@lru_cache(maxsize=24)
def build_program(equations: StepEquations, shape: Shape, size_of_theta: int,
                  options: tuple[tuple[str, Any], ...] = ()) -> Program:
    """Return the `Program` of a robot's step equations and a shape.

    Args:
        size_of_theta: Length of theta.
        options: Pairs of IPOPT options.
    """
    begin = time.perf_counter()
    numbers = Numbers(equations, shape, size_of_theta)
    blocks = [ends_block(equations, shape, numbers)]
    for phase in range(len(shape.held)):
        blocks.append(nodes_block(equations, shape, phase, numbers))
        if shape.passive and len(shape.passive[phase]):
            blocks.append(passive_block(equations, shape, phase, numbers))
    return assemble(blocks, unknowns(shape, equations.n), numbers.symbol.shape[0], options, begin)


def assemble(blocks: list[Block], size: int, numbers: int, options: tuple[tuple[str, Any], ...],
             begin: float) -> Program:
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
    settings = {'ipopt': {'print_level': 0, 'sb': 'yes', **dict(options)}, 'print_time': False,
                'error_on_fail': False, **_derivatives(blocks, x, p, cost, g)}
    solver = ca.nlpsol('search', 'ipopt', {'x': x, 'p': p, 'f': cost, 'g': g}, settings)
    return Program(solver, np.concatenate([block.lower.ravel(order='F') for block in blocks]),
                   np.concatenate([block.upper.ravel(order='F') for block in blocks]),
                   ca.Function('g', [x, p], [g]), ca.Function('f', [x, p], [cost]),
                   time.perf_counter() - begin,
                   tuple(name for block in blocks for name in block.names * block.count), [])


def _mapped(function: ca.Function, count: int) -> ca.Function:
    return function.map('mapped', 'serial', count, [1], [])


def _columns(block: Block, x: ca.MX) -> ca.MX:
    return ca.reshape(block.G @ x, -1, block.count)


def _derivatives(blocks: list[Block], x: ca.MX, p: ca.MX, cost: ca.MX,
                 g: ca.MX) -> dict[str, ca.Function]:
    """Return gradient, Jacobian and Hessian of the program as solver options."""
    lam_f, lam_g = ca.MX.sym('lam_f'), ca.MX.sym('lam_g', g.shape[0])
    gradient, jacobian, hessian, place = 0.0, [], 0.0, 0
    for block in blocks:
        u, q = ca.SX.sym('u', block.function.size1_in(0)), ca.SX.sym('p', p.shape[0])
        extra = ca.SX.sym('extra', len(block.extra))
        costs, rows = block.function(u, q, extra)
        weight, multipliers = ca.SX.sym('weight'), ca.SX.sym('multipliers', rows.shape[0])
        first = ca.Function('first', [u, q, extra],
                            [ca.gradient(costs, u), ca.jacobian(rows, u)])
        curvature = ca.hessian(weight * costs + ca.dot(multipliers, rows), u)[0]
        second = ca.Function('second', [u, q, extra, weight, multipliers], [ca.cse(curvature)])
        U = _columns(block, x)
        slopes, bends = _mapped(first, block.count)(U, p, block.extra)
        gradient += block.G.T @ ca.vec(slopes)
        jacobian.append(ca.diagcat(*ca.horzsplit(bends, u.shape[0])) @ block.G)
        count = rows.shape[0] * block.count
        share = ca.reshape(lam_g[place:place + count], rows.shape[0], block.count)
        place += count
        curvatures = second.map('mapped', 'serial', block.count, [1, 3], [])(
            U, p, block.extra, lam_f, share)
        middle = ca.diagcat(*ca.horzsplit(curvatures, u.shape[0]))
        hessian += block.G.T @ (middle @ block.G)
    return {'grad_f': ca.Function('nlp_grad_f', [x, p], [cost, gradient]),
            'jac_g': ca.Function('nlp_jac_g', [x, p], [g, ca.vertcat(*jacobian)]),
            'hess_lag': ca.Function('nlp_hess_l', [x, p, lam_f, lam_g], [ca.triu(hessian)])}
