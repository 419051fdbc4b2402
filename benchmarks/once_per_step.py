# SPDX-License-Identifier: Apache-2.0
"""Push-off against foot placement: which sideways impulses each stands, alone and together.

    python benchmarks/once_per_step.py [--speeds 1.0,1.8] [--seeds 5]

Prints per speed and law the median over the seeds of the largest impulses (standard deviation, one
at each step) survived for 100 steps, of the best of several weights of the regulator.

The experiment of [KC17] on the walker with all mass in the hip: a linear quadratic regulator looks
at the hip as it passes the foot and changes the next push-off, the next foothold or both; random
sideways impulses grow until the walker falls within 100 steps.
"""

import argparse
from collections.abc import Mapping, Sequence
import math
import statistics
from typing import Any

import numpy as np
from scipy.linalg import solve_discrete_are

from walking_control.controllers.foot_placement.law import look_up, PlacementData
from walking_control.exceptions import NotAchieved
from walking_control.loading import load_robot
from walking_control.models.pendulum import find_landing, leg_direction, leg_rates, step_over, swing
from walking_control.simulation.massless.walk import PointWalker
from walking_control.simulation.rigid.model import STEPPED

INPUTS = ('pitch', 'roll', 'push')  # rows of the feedback: pitch and roll of the foot, push-off
LONGEST, DIFFERENCE = 3.0, 1e-6  # s; of each entry
NO_LAW = {
    'lateral_gain': 0.0,
    'position_gain': 0.0,
    'velocity_gain': 0.0,
    'pitch_gain': 0.0,
    'push_off': 'nominal',
    'leap': 10.0,
}
LAWS = (('push',), ('roll',), ('pitch', 'roll'), ('push', 'roll'), ('push', 'pitch', 'roll'))
EFFORTS = (0.01, 1.0)


def make_laws_walker(
    robot: str, speed: float, feedback: np.ndarray, settings: Mapping[str, Any] = NO_LAW
) -> PointWalker:
    """Return a walker under a once-per-step law.

    Args:
        robot: Name or path of a robot file.
        speed: m/s.
        feedback: Of pitch, roll (rad) and push-off (m/s) on distance beside the foot (m), speed
            (m/s) and roll rate (rad/s) at mid-step, ``(3, 3)``.
        settings: Further parameters of `foot_placement`.
    """
    rows = dict(
        zip(('pitch_feedback', 'roll_feedback', 'push_feedback'), feedback.tolist(), strict=True)
    )
    values = {**settings, **rows, 'speed': speed}
    return PointWalker(
        load_robot(robot, [(f'foot_placement.{name}', value) for name, value in values.items()]),
        'foot_placement',
    )


def nominal_middle(data: PlacementData) -> tuple[np.ndarray, np.ndarray]:
    """Return the hip at mid-step of the nominal step and the inputs that keep it there.

    Returns:
        Distance beside the foot (m), speed (m/s), roll rate (rad/s); pitch and roll of the swing
        leg (rad), push-off (m/s).
    """
    steps, speed = data.steps, float(data.wish[0])
    beside, middle, pitch, push = (
        look_up(steps.speed, column, speed)
        for column in (steps.beside, steps.middle, steps.pitch, steps.push_off)
    )
    return np.array([beside, middle, 0.0]), np.array([pitch, data.roll, push])


def next_middle(data: PlacementData, middle: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Return the hip at the next mid-step, seen in a mirror; arguments as of `nominal_middle`.

    Raises:
        NotAchieved: The hip does not get there.
    """
    beside, speed, rate = middle
    length, gravity = data.length, data.gravity
    y, after, direction = np.zeros(6), np.zeros(6), np.zeros(3)
    y[1], y[2] = beside, math.sqrt(length**2 - beside**2)
    y[3], y[4] = speed, -rate * y[2]
    y[5] = -y[1] * y[4] / y[2]
    angles = np.array([-inputs[0], inputs[1]])
    if find_landing(y, gravity, length, True, angles, np.zeros(2), 0.0, LONGEST, after) < 0.0:
        raise NotAchieved('step of the pendulum', limit='the foot does not land')
    leg_direction(angles[0], angles[1], direction)
    step_over(after, direction, inputs[2])
    for _ in range(60):  # Newton's method on the time at which the hip passes the foot
        if after[3] <= 0.0:
            raise NotAchieved('step of the pendulum', limit='the hip falls back')
        if abs(after[0]) < 1e-13:
            break
        swing(after, gravity, length, True, -after[0] / after[3], after)
    return np.array([-after[1], after[3], after[4] / math.hypot(after[0], after[2])])


def linearise_step(data: PlacementData) -> tuple[np.ndarray, np.ndarray]:
    """Return A, ``(3, 3)``, and B, ``(3, 3)``, of the map from mid-step to mid-step."""
    middle, inputs = nominal_middle(data)
    columns: list[list[np.ndarray]] = [[], []]
    for i in range(3):
        change = DIFFERENCE * np.eye(3)[i]
        for side, shifts in ((0, (change, 0.0 * change)), (1, (0.0 * change, change))):
            ahead = next_middle(data, middle + shifts[0], inputs + shifts[1])
            behind = next_middle(data, middle - shifts[0], inputs - shifts[1])
            columns[side].append((ahead - behind) / (2.0 * DIFFERENCE))
    return np.array(columns[0]).T, np.array(columns[1]).T


def regulate(A: np.ndarray, B: np.ndarray, inputs: Sequence[str], effort: float) -> np.ndarray:
    """Return the feedback, ``(3, 3)``, of the linear quadratic regulator that uses some inputs.

    Args:
        A: Of `linearise_step`.
        B: Likewise.
        inputs: Those of `INPUTS` that may change.
        effort: Weight of the inputs against that of the state, both in SI units.
    """
    used = [INPUTS.index(name) for name in inputs]
    b, weight = B[:, used], effort * np.eye(len(used))
    P = solve_discrete_are(A, b, np.eye(3), weight)
    feedback = np.zeros((3, 3))
    feedback[used] = -np.linalg.solve(weight + b.T @ P @ b, b.T @ P @ A)
    return feedback


def survives(walker: PointWalker, size: float, seed: int, steps: int = 100) -> bool:
    """Return whether a walker survives a random sideways impulse at the begin of each step.

    Args:
        walker: The `PointWalker`; it starts on the cycle of its nominal steps.
        size: Standard deviation of the impulses, N s per kg of robot.
        seed: Of the impulses; they grow with size and do not change otherwise.
        steps: How many.
    """
    luck = np.random.default_rng(seed).standard_normal(steps)
    start_nominal(walker)
    for impulse in luck:
        walker.push(size * walker.model.mass * float(impulse), 0.5 * math.pi)
        if walker.walk(LONGEST, True) != STEPPED or _strays(walker):
            return False
    return True


def start_nominal(walker: PointWalker) -> None:
    """Put a walker on the cycle of its nominal steps, just after touchdown."""
    data: PlacementData = walker.knowledge
    middle, inputs = nominal_middle(data)
    y, rates = np.zeros(6), np.zeros(2)
    y[1], y[2], y[3] = middle[0], math.sqrt(data.length**2 - middle[0] ** 2), middle[1]
    half = look_up(data.steps.speed, data.steps.duration, float(data.wish[0])) / 2.0
    swing(y, data.gravity, data.length, True, -half, y)
    leg_rates(y, rates)
    n = len(walker.robot.coordinates)
    q, v = np.zeros(n), np.zeros(n)
    q[:4] = -inputs[0], -inputs[1], inputs[0], inputs[1]
    v[:2] = rates
    walker.start(0, q, v)


def _strays(walker: PointWalker) -> bool:
    """Return whether a walk has become another: aside faster than forward, or backward."""
    ahead, aside = walker.state.y[3], walker.state.y[4]
    return bool(ahead <= 0.0 or abs(aside) > ahead)


def find_tolerance(
    walker: PointWalker, seed: int, growth: float = 1.15, first: float = 0.01
) -> float:
    """Return the largest size of impulses survived before the first that fells the walker.

    Args:
        walker: The `PointWalker`.
        seed: Of the impulses.
        growth: From one size to the next.
        first: The first size, N s/kg.
    """
    size, survived = first, 0.0
    while size < 10.0 and survives(walker, size, seed):
        survived, size = size, size * growth
    return survived


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robot', default='walker3d_point')
    parser.add_argument('--speeds', default='1.0,1.8', help='m/s')
    parser.add_argument('--seeds', type=int, default=5)
    options = parser.parse_args()
    for speed in map(float, options.speeds.split(',')):
        uncontrolled = make_laws_walker(options.robot, speed, np.zeros((3, 3)))
        A, B = linearise_step(uncontrolled.knowledge)
        sizes = ', '.join(f'{abs(value):.3g}' for value in np.linalg.eigvals(A))
        print(f'{speed:g} m/s: eigenvalues without feedback {sizes}', flush=True)
        for law in LAWS:
            best = (-1.0, [], 0.0, None)
            for effort in EFFORTS:
                feedback = regulate(A, B, law, effort)
                walker = make_laws_walker(options.robot, speed, feedback)
                found = [find_tolerance(walker, seed) for seed in range(options.seeds)]
                best = max(
                    best,
                    (statistics.median(found), found, effort, feedback),
                    key=lambda item: item[0],
                )
            median, found, effort, feedback = best
            left = max(abs(np.linalg.eigvals(A + B @ feedback)))
            print(
                f'  {" + ".join(law):22} {median:.3f} N s/kg ({min(found):.3f} to '
                f'{max(found):.3f}), weight {effort:g}, largest eigenvalue {left:.2f}',
                flush=True,
            )


if __name__ == '__main__':
    main()
