# SPDX-License-Identifier: Apache-2.0
"""Which physical limit makes a posture impossible, and by how much.

No solver's flag is trusted. A relaxed program, in which every limit may be overstepped at a price,
always has a solution; the posture is possible if that solution oversteps nothing. If it does,
limits are lifted one kind after the other (load caps, motors, friction, torsion, sole edges, the
floor's inability to pull); the kind whose lifting leaves a solution is the reason, and what it
must give at least is the amount.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from walking_control.models.base import ROOT
from walking_control.statics.contacts import (
    CENTRE_OF_PRESSURE,
    FRICTION,
    LIMITS,
    MAX_FORCE,
    Shortfall,
    TORQUE,
    TORSION,
    UNILATERAL,
)
from walking_control.statics.solvers import Problem
from walking_control.statics.solvers.problem import Solver

if TYPE_CHECKING:
    from walking_control.statics.program import StaticProgram

_PRICE = 1.0e3      # of a limit that should hold, against 1 of the kind being lifted
_SMALL = 1.0e-6     # curvature of the relaxed program
_SINGLE_ORDER = (UNILATERAL, CENTRE_OF_PRESSURE, FRICTION, TORSION, TORQUE, MAX_FORCE)
# Lifted one after the other; the corners' friction limits force and twist together.
_STAGES = ((MAX_FORCE,), (TORQUE,), (FRICTION, TORSION), (CENTRE_OF_PRESSURE,), (UNILATERAL,))
NO_BALANCE = 'base_equilibrium'


def violations(program: StaticProgram, wrench: np.ndarray,
               torque: np.ndarray) -> tuple[Shortfall, ...]:
    """Return the broken limits of a single support, where wrench and torque are known.

    Args:
        program: The `StaticProgram`.
        wrench: ``(6,)``, N and N m.
        torque: ``(n_joints,)``, N m.

    Returns:
        Tuple of `Shortfall`, the one to name first in front.
    """
    rows, bound = program.contact_limits
    slack, over = rows @ wrench - bound, abs(torque) - program.effort_limits
    found = _worst(program.labels, slack, program, {program.support[0]: wrench})
    found += [Shortfall(TORQUE, program.dynamics.joints[i], float(over[i]))
              for i in np.argsort(-over) if over[i] > program.tolerance]
    if any(s.limit == UNILATERAL for s in found) and wrench[2] <= 0.0:
        found = [s for s in found if s.limit in (UNILATERAL, TORQUE)]
    return tuple(sorted(found, key=lambda s: _SINGLE_ORDER.index(s.limit)))


def explain(program: StaticProgram, solve: Solver,
            diagnose: bool = True) -> tuple[np.ndarray | None, tuple[Shortfall, ...]]:
    """Return ``(forces, shortfalls)`` of an assembled program for which a solver gave no answer.

    Args:
        program: The `StaticProgram`, assembled.
        solve: Solver function.
        diagnose: False stops at the verdict.

    Returns:
        A point that meets every limit and ``()``, or None and the tuple of `Shortfall`.
    """
    labels = program.labels
    forces = _relaxed(program, solve, np.ones(len(labels)))
    if forces is None:
        return None, (Shortfall(NO_BALANCE, ', '.join(program.support), 0.0),)
    if program.judge(forces)[1] is not None:
        return forces, ()
    if not diagnose:
        return None, tuple(_shortfalls(program, forces, LIMITS))
    lifted: set[str] = set()
    for stage in _STAGES:
        prices = np.array([0.0 if kind in lifted else 1.0 if kind in stage else _PRICE
                           for kind, _ in labels])
        lifted.update(stage)
        forces = _relaxed(program, solve, prices)
        if forces is None:
            continue
        slack = _slack(program, forces)
        if slack[prices == _PRICE].min(initial=0.0) >= -10.0 * program.tolerance:
            found = _shortfalls(program, forces, stage)
            if found:
                return None, tuple(found)
    return None, (Shortfall(NO_BALANCE, ', '.join(program.support), 0.0),)


def _relaxed(program: StaticProgram, solve: Solver, prices: np.ndarray) -> np.ndarray | None:
    """Return the forces that overstep the limits at the least price; 0 lifts a limit for free.

    Forces are counted in weights, so that one curvature suits every robot.
    """
    problem, weight = program.problem, program.dynamics.weight
    kept = np.flatnonzero(prices)
    n, k = problem.rows.shape[1], len(kept)
    rows = np.zeros((ROOT + 2 * k, n + k))
    rows[:ROOT, :n] = problem.rows[:ROOT]
    rows[ROOT:ROOT + k, :n] = problem.rows[ROOT + kept]
    rows[ROOT:ROOT + k, n:] = rows[ROOT + k:, n:] = np.eye(k)
    bound = np.zeros(ROOT + 2 * k)
    bound[:ROOT] = problem.bound[:ROOT] / weight
    bound[ROOT:ROOT + k] = problem.bound[ROOT + kept] / weight
    gradient = np.concatenate((np.zeros(n), prices[kept]))
    found = solve(Problem(_SMALL * np.eye(n + k), gradient, rows, bound, ROOT))
    return None if found.x is None else found.x[:n] * weight


def _slack(program: StaticProgram, forces: np.ndarray) -> np.ndarray:
    return program.problem.rows[ROOT:] @ forces - program.problem.bound[ROOT:]


def _shortfalls(program: StaticProgram, forces: np.ndarray,
                limits: Sequence[str]) -> list[Shortfall]:
    slack = _slack(program, forces)
    found = _worst(program.labels, slack, program, program.wrenches(forces))
    return sorted((s for s in found if s.limit in limits),
                  key=lambda s: (limits.index(s.limit), -s.amount))


def _worst(labels: Sequence[tuple[str, str]], slack: np.ndarray, program: StaticProgram,
           wrenches: Mapping[str, np.ndarray]) -> list[Shortfall]:
    """Return one `Shortfall` for each overstepped limit of each contact or joint."""
    worst: dict[tuple[str, str], float] = {}
    for label, value in zip(labels, slack):
        if value < -program.tolerance:
            worst[label] = max(worst.get(label, 0.0), -float(value))
    found = []
    for (limit, where), amount in worst.items():
        if limit == CENTRE_OF_PRESSURE:  # a moment: over the normal force it is a distance
            amount /= max(wrenches[where][2], 1e-3 * program.dynamics.weight)
        found.append(Shortfall(limit, where, amount))
    return found
