# SPDX-License-Identifier: Apache-2.0
"""First guesses for a gait search, made without a human: a posture with feet apart, swung through.

The posture with the feet a step apart closest to a given one is found by Newton's method; the
guess interpolates from it to its mirror image. A robot with locks is first searched as the simpler
robot it is with all of them engaged.
"""

from collections.abc import Collection

import casadi as ca
import numpy as np

from walking_control.gaits.gait import evaluation, Gait, Phase, points
from walking_control.models import StepEquations
from walking_control.search.blocks import Shape

STRIKE = 0.7  # share of the step at which locks are guessed to engage
BENDS = (0.4, 0.8, 1.2, 1.6)  # rad: of every joint, from which a leg that can shorten is sought
SLACK = 0.1  # rad: beyond its limits a joint of such a posture may be
UPRIGHT = 0.8  # of the height at zero angles: a walker lower than that does not walk


def stride_posture(
    equations: StepEquations, step: float, q: np.ndarray, held: Collection[int], height: float = 0.0
) -> np.ndarray:
    """Return the posture near q with the other foot a step behind on the floor, ``(n,)``.

    Args:
        step: Step length, m.
        q: Where to start from, ``(n,)``; held coordinates stay.
        held: Indices of held coordinates.
        height: Of the other foot over the floor, m.
    """
    symbol = ca.SX.sym('q', equations.n)
    jacobian = ca.Function('J', [symbol], [ca.jacobian(equations.foot(symbol), symbol)])
    free = [i for i in range(equations.n) if i not in held]
    q = np.array(q, dtype=float)
    for _ in range(30):
        foot = np.array(equations.foot(q)).ravel()
        # from feet together the height has no slope, so a step is found by way of a short one
        error = np.array([foot[0] + step, foot[-1] - height])
        rows = np.array(jacobian(q))[[0, -1]][:, free]
        change = np.linalg.lstsq(rows, -error, rcond=1e-6)[0]
        q[free] += change * min(1.0, 0.3 / max(1e-9, np.abs(change).max()))
        if np.abs(error).max() < 1e-9:
            break
    return q


def can_lift(
    equations: StepEquations,
    theta: np.ndarray,
    height: float,
    held: Collection[int],
    lower: np.ndarray,
    upper: np.ndarray,
) -> bool:
    """Return whether a foot passes the other one at a height while the walker stays upright.

    Straight legs scuff: to lift a foot beside the other they would have to lie down.

    Args:
        theta: Numbers of the step equations.
        height: m.
        held: Indices of held coordinates.
        lower: Limits of the coordinates, ``(n,)``.
        upper: Likewise.
    """
    zero, level = np.zeros(equations.n), theta.copy()
    level[:3] = 0.0, 0.0, -1.0
    tall = UPRIGHT * float(equations.energy(zero, zero, level)[1])
    for bend in BENDS:
        bent = np.clip(np.where(upper > -lower, bend, -bend), lower, upper)
        bent[[0, *held]] = 0.0
        q = stride_posture(equations, 0.0, bent, held, height)
        met = abs(float(np.array(equations.foot(q)).ravel()[-1]) - height) < 1e-6
        within = (q > lower - SLACK).all() and (q < upper + SLACK).all()
        if met and within and float(equations.energy(q, zero, level)[1]) > tall:
            return True
    return False


def guess_gait(
    equations: StepEquations, shape: Shape, step: float, period: float, posture: np.ndarray
) -> Gait:
    """Return a `Gait` of one phase that swings from feet apart to feet apart, locks engaged.

    Args:
        shape: `Shape` of the search.
        step: Step length, m.
        period: s.
        posture: Start of the posture's search, ``(n,)``.
    """
    first = stride_posture(equations, step, posture, shape.held[-1])
    last = np.array(equations.relabel) @ first
    values = first + points(shape.degree)[:, None] * (last - first)
    return Gait((Phase(period, values, shape.held[-1]),))


def expand_gait(gait: Gait, shape: Shape, bends: np.ndarray, bend: float) -> Gait:
    """Return a gait of a simpler robot, locks engaged throughout, as one of all joints.

    The idea of [DS09] Fig. 6.1: the simpler motion, with the joints the simpler robot does not
    have flexed in mid-swing, is where the search of the full robot starts.

    Args:
        gait: `Gait` of one phase.
        shape: `Shape` of the full search.
        bends: Sign of flexion by coordinate, ``(n,)``; zero where no lock acts.
        bend: Flexion in mid-swing, rad.
    """
    if len(shape.held) == 1:
        return gait
    phases, simple = [], gait.phases[0]
    for begin, end, held in ((0.0, STRIKE, shape.held[0]), (STRIKE, 1.0, shape.held[1])):
        s = points(shape.degree)
        values = evaluation(simple.degree, begin + (end - begin) * s) @ simple.values
        if begin == 0.0:
            free = np.array([i not in held for i in range(values.shape[1])])
            values = values + bend * np.sin(np.pi * s)[:, None] * bends * free
        phases.append(Phase((end - begin) * gait.period, values, held))
    return Gait(tuple(phases))


def pack(gait: Gait, degree: int, adapted: np.ndarray) -> np.ndarray:
    """Return the unknowns of a program of a degree that stand for a gait.

    Args:
        degree: Of the program; the gait's may be another.
        adapted: Values of the adapted parameters.
    """
    pieces = []
    for phase in gait.phases:
        values = evaluation(phase.degree, points(degree)) @ phase.values
        free = [i for i in range(values.shape[1]) if i not in phase.held]
        pieces += [values[:, free].ravel(order='F'), [phase.duration]]
    return np.concatenate([*pieces, adapted])


def unpack(x: np.ndarray, shape: Shape, n: int) -> tuple[Gait, np.ndarray]:
    """Return the `Gait` and the adapted parameters that unknowns stand for.

    Args:
        x: The unknowns.
        shape: `Shape` of the program.
        n: Number of coordinates.
    """
    phases, place = [], 0
    for held in shape.held:
        free = [i for i in range(n) if i not in held]
        size = (shape.degree + 1) * len(free)
        values = np.zeros((shape.degree + 1, n))
        values[:, free] = x[place : place + size].reshape(-1, len(free), order='F')
        phases.append(Phase(float(x[place + size]), values, held))
        place += size + 1
    return Gait(tuple(phases)), x[place:]
