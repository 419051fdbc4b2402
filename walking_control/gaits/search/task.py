# SPDX-License-Identifier: Apache-2.0
"""The task of a gait search: its parameters, and what a robot file says of it."""

from collections.abc import Collection, Sequence

import numpy as np

from walking_control.exceptions import InvalidInput
from walking_control.gaits.search.parameters import SearchParameters
from walking_control.models.robot import Robot
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.step_equations import step_equations, step_parameters, StepEquations
from walking_control.models.symmetry import require_equal_legs

STOP_MARGIN, STOP_SHARE = 0.02, 0.05   # rad, of the range: how far a gait stays from joint stops

# combinations of forces by phase, each ``(n,)``
Rows = tuple[tuple[tuple[float, ...], ...], ...]


def check_task(robot_file: RobotFile, values: SearchParameters) -> None:
    """Refuse a task that has no sensible answer.

    Raises:
        InvalidInput: Level floor without a speed; fewer nodes than the degree needs; bad weights.
    """
    world, n = robot_file.values(World), len(robot_file.robot.coordinates)
    if world.slope <= 0.0 and values.speed == 0.0:
        raise InvalidInput('search.speed', value=0.0, limit='off a downhill slope the cheapest '
                           'motion is to stand', remedy='give --speed')
    if 2 * values.nodes < values.degree + 2:
        raise InvalidInput('search.nodes', value=values.nodes,
                           limit=f'too few for polynomials of degree {values.degree}',
                           remedy=f'use at least {values.degree}')
    if len(values.effort_cost) not in (0, n):
        raise InvalidInput('search.effort_cost', value=list(values.effort_cost),
                           limit=f'must hold {n} numbers, one a coordinate, or none')
    require_equal_legs(robot_file.robot, f'gait search of {robot_file.robot.name}')
    if values.min_step_length >= 2.0 * leg_length_of(robot_file.robot):
        raise InvalidInput('search.min_step_length', value=values.min_step_length,
                           limit='is longer than the legs reach')


def leg_length(equations: StepEquations, theta: np.ndarray) -> float:
    """Return the height of the centre of mass at zero angles, m: the scale of a step."""
    zero, gravity = np.zeros(equations.n), np.linalg.norm(theta[:3])
    level = theta.copy()
    level[:3] = 0.0, 0.0, -gravity
    weight = float(np.array(equations.force(zero, zero, zero, level)).ravel()[-1])
    return float(equations.energy(zero, zero, level)[1]) / weight


def leg_length_of(robot: Robot) -> float:
    """Return `leg_length` of a robot."""
    return leg_length(step_equations(robot), step_parameters(robot, 9.81, 0.0))


def coordinate_limits(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper limits of the coordinates, each ``(n,)``.

    A coordinate that is one joint's angle has that joint's limits; others have half a turn.
    """
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
        if len(places) != 1 or lock.angle != 0.0:
            raise InvalidInput(f'lock of joint {lock.joint}', value=lock.angle,
                               limit='must hold a coordinate of its own at zero for gait search')
        every.append(int(places[0]))
        if lock.foot == robot.feet[0]:
            stance.append(int(places[0]))
        limit = robot.limits[lock.joint]
        bends[places[0]] = row[places[0]] * (1.0 if limit.upper > -limit.lower else -1.0)
    if not every:
        return ((),), bends
    return (tuple(sorted(stance)), tuple(sorted(every))), bends


def passive_forces(robot: Robot, held: Sequence[Sequence[int]]) -> Rows:
    """Return the combinations of generalised forces no motor and no lock gives, by phase.

    Returns:
        Nested tuples, each phase ``(n_combinations, n)``, rows orthonormal.
    """
    lift = robot.joint_lifts[robot.feet[0]]
    motors = lift[[robot.joint_index(joint) for joint in robot.actuators]]
    phases = []
    for indices in held:
        given = np.vstack([motors, np.eye(len(robot.coordinates))[list(indices)]])
        _, sizes, rows = np.linalg.svd(given)
        rank = int(np.sum(sizes > 1e-9))
        phases.append(tuple(map(tuple, rows[rank:])))
    return tuple(phases)


def cost_metric(robot: Robot, values: SearchParameters, passive: Rows) -> np.ndarray:
    """Return Q of [DS09] (4.3), ``(n, n)``."""
    n = len(robot.coordinates)
    Q = np.diag(values.effort_cost) if values.effort_cost else np.eye(n)
    if values.actuation == 'costly':
        rows = np.array(passive[0]).reshape(-1, n)
        Q = Q + values.passive_cost * rows.T @ rows
    return Q
