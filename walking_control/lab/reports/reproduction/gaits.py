# SPDX-License-Identifier: Apache-2.0
"""Published results of gait searches: Tables 4.2, 5.1 and 5.2 of [DS09] and costs in its text."""

from collections.abc import Sequence
from functools import cache
import math
from typing import Any

from walking_control.lab.experiments.gait_search import find_gait
from walking_control.loading import load_robot

BOOK = {'quadrature': 'riemann', 'landing_speed': 0.5, 'starts': 1}
TOTAL = 7.0  # kg of the compass of chapter 5


@cache
def _found(
    robot: str,
    settings: tuple[tuple[str, float], ...],
    task: tuple[tuple[str, Any], ...],
    optimise: tuple[str, ...] = (),
) -> dict[str, Any]:
    return find_gait(load_robot(robot, settings), dict(task), optimise).summary


def compass(
    speed: float,
    optimise: Sequence[str],
    name: str,
    mass: float = 1.0,
    stiffness: float = 0.0,
    damping: float = 0.0,
) -> float:
    """Return the cost, or a parameter, of the gait of Section 5.1 at a speed in m/s.

    Args:
        optimise: What is searched with the gait.
        mass: Of each leg, kg, the hip has the rest of the 7 kg; `stiffness`, `damping`: of the hip,
            N m/rad and N m s/rad.
    """
    settings = (
        ('gravity', 9.8),
        ('leg_mass', mass),
        ('hip_mass', round(TOTAL - 2.0 * mass, 9)),
        ('robot.springs.hip.stiffness', stiffness),
        ('robot.springs.hip.damping', damping),
    )
    found = _found('compass', settings, tuple({**BOOK, 'speed': speed}.items()), tuple(optimise))
    if name == 'cost':
        return float(found['cost_on_nodes'])
    return float(next(value for key, value in found['parameters'].items() if key.endswith(name)))


def table_4_2(hip_mass: float, name: str, times: float = 1.0) -> float:
    """Return a multiple of a number of the gait of Section 4.4 with a mass in kg at the hip."""
    found = _found(
        'walker3d_point', (('hip_mass', hip_mass), ('head_mass', 6.0 - hip_mass)), (('starts', 1),)
    )
    return times * abs(float(found[name]))


def passive(**task: float) -> float:
    """Return the cost of the passive gait on 3 degrees, as the task says."""
    return float(_found('compass', (), (('starts', 3), *task.items()))['cost'])


def clearances() -> str:
    """Return between which clearances of Dribbel's gait on 3 degrees the printed cost lies."""
    slope = (('rotor_inertia', 0.0), ('slope', math.radians(3.0)))
    costs = [
        float(_found('dribbel', slope, (('clearance', height), ('starts', 3)))['cost'])
        for height in (0.015, 0.016)
    ]
    return f'{costs[0]:.4f} at 15 mm, {costs[1]:.4f} at 16 mm of clearance'
