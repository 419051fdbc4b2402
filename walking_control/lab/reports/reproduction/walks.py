# SPDX-License-Identifier: Apache-2.0
"""Published results of walking: impacts, cycles, stability, control, gears."""

from collections.abc import Callable
from functools import cache
import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from walking_control.design import backward_efficiency
from walking_control.lab.experiments import cycles, impact, robustness, variants
from walking_control.lab.experiments.sweeps import Axis, SweepTask, walk_rows
from walking_control.loading import load_robot
from walking_control.models import Dynamics, World
from walking_control.search import find_simplest_cycle, polish
from walking_control.search import judge as judge_cycle
from walking_control.simulation import make_walker
from walking_control.simulation.simulate import simulate

TINY = 1e-9  # rad: a slope on which expansions in the slope show their first terms


GUESSES = {'long': (0.299, -1.07, 0.709), 'short': (0.2796, -1.1654, 0.5702)}


def share(place: int) -> float:
    """Return the largest (0) or least (1) share of energy that an impact at q4 = 0.5 takes."""
    values = impact.analyse_impact(load_robot('compass'), [-0.25, 0.5])['singular_values']
    return float((max(values), min(values))[place])


def shares_meet() -> str:
    """Return whether both shares are one at q4 = pi / 2, and without a mass at the hip."""
    for angle, hip in ((math.pi / 2.0, 5.0), (0.5, 1e-6)):
        found = impact.analyse_impact(
            load_robot('compass', [('hip_mass', hip)]), [-0.5 * angle, angle]
        )
        if np.ptp(found['singular_values']) > 1e-5:
            return 'differ'
    return 'the same at q4 = pi / 2 or without a hip'


def follows(name: str) -> float:
    """Return a number that follows from others that are printed."""
    mass = float(Dynamics(load_robot('dribbel').robot).mass)
    powers = 11.2 + 3.74 * (2.0 + 2.0 * 0.6)  # W: standby, two stance knees, two swing knees
    return {
        'mass': mass,
        'energy': 1.78 / share(1),
        'electronics': powers,
        'drop': 7.0 * 9.81 * 2.0 * math.sin(0.25) * math.sin(math.radians(3.0)),
        'mechanical': 30.0 - powers,
        'cost': 6.8 / (mass * 9.81 * 0.32),
        'least': 0.90 / (8.0 * 9.81 * 0.5),
        'largest': 1.82 / (8.0 * 9.81 * 0.5),
    }[name]


def kinetic_error(efficiency: float) -> float:
    """Return the bound on the error of the symmetric inertia of [SR20], %."""
    return 100.0 * (1.0 - math.sqrt(efficiency)) ** 2 / (1.0 + efficiency)


@cache
def _cycle(guess: tuple[float, ...], *settings: tuple[str, float]) -> Any:
    """Return a cycle of the compass near a guess."""
    robot_file = load_robot('compass', settings)
    here = cycles.Section(make_walker(robot_file, 'none'), robot_file.values(World).gravity)
    x = polish(here.stride, np.array(guess))
    assert x is not None, 'the guesses of this file lead to cycles'
    return judge_cycle(here.stride, x)


def cycle(gait: str, name: str) -> float | str:
    """Return the speed of a passive gait on 3 degrees, or words on its eigenvalue."""
    found = _cycle(GUESSES[gait])
    return (
        float(found.speed)
        if name == 'speed'
        else f'unstable, eigenvalue {found.eigenvalues[0].real:.2f}'
    )


def simplest(name: str) -> float:
    """Return a number of the fixed point of the simplest walker on a slope of 0.009."""
    return float(getattr(find_simplest_cycle(0.009), name))


# of a walker, its cycle on a slope, counted as the source does
CYCLES: dict[str, Callable[[float], Any]] = {
    'simplest': find_simplest_cycle,
    'goswami': lambda degrees: _cycle(
        (0.3, -1.07, 0.72), ('leg_mass', 5.0), ('hip_mass', 10.0), ('slope', math.radians(degrees))
    ),
}


def doubling(walker: str, low: float, high: float) -> float:
    """Return the slope on which an eigenvalue falls through -1."""

    def beyond(slope: float) -> float:
        return float(CYCLES[walker](slope).eigenvalues[0].real) + 1.0

    return float(brentq(beyond, low, high, xtol=1e-6))


@cache
def _level() -> dict[str, Any]:
    return simulate(load_robot('dribbel'), duration=60.0).summary()


def level(name: str) -> float:
    """Return a number of Dribbel's walk on level floor."""
    return float({**_level(), **_level()['steady']}[name])


def trends() -> str:
    """Return how cost, speed and clearance change with both gains about the chosen ones."""
    costs = {}
    for kp, kd in ((10.0, 0.0), (8.0, 0.0), (10.0, 0.2)):
        task = SweepTask(
            'dribbel',
            (Axis('proportional_gain', kp, kp), Axis('derivative_gain', kd, kd)),
            plant='rigid',
            duration=10.0,
        )
        row = walk_rows(task, [0])[0]
        costs[kp, kd] = [row[name] for name in ('cost_of_transport', 'speed', 'foot_clearance')]
    rises = all(a > b for a, b in zip(costs[10.0, 0.0], costs[8.0, 0.0], strict=True))
    falls = all(a > b for a, b in zip(costs[10.0, 0.0], costs[10.0, 0.2], strict=True))
    return 'rise with Kp, fall with Kd' if rises and falls else 'do not'


def gear_edge() -> float:
    """Return the forward efficiency at which nothing comes back through 20:1."""
    return float(brentq(lambda share: backward_efficiency(share, 0.05) - 1e-9, 0.1, 1.0))


def last_step_down(name: str) -> float:
    """Return the last size before the first failing step down, m."""
    if name == 'none':
        found = robustness.find_first_failure(load_robot('compass'), 'step_down', largest=0.03)
    else:
        shipped = variants.read_variants(variants.variants_path('compass'))
        variant = next(each for each in shipped if each.name == name)
        found = robustness.find_first_failure(
            variants.load_variant('compass', variant),
            'step_down',
            largest=0.13,
        )
    first = found.first_failure
    return (found.largest_tried if first is None else first) - (0.001 if first else 0.0)


def first_term(long: bool, what: str) -> float:
    """Return the first term of an expansion in the slope."""
    cycle = find_simplest_cycle(TINY, long)
    return float(
        {
            'angle': cycle.angle / TINY ** (1.0 / 3.0),
            'rate': cycle.rate / cycle.angle,
            'time': cycle.period,
        }[what]
    )


def second_term() -> float:
    """Return that of angle = a slope^(1/3) + b slope, from two slopes."""
    third = 1.0 / 3.0
    (x, a), (y, b) = (
        (slope ** (2.0 * third), find_simplest_cycle(slope).angle / slope**third)
        for slope in (1e-4, 2e-4)
    )
    return float((b - a) / (y - x))
