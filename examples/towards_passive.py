# SPDX-License-Identifier: Apache-2.0
"""Follow gaits of one speed towards the one that needs no motor, and price them along the way.

Downhill the way down pays for the touchdowns, so a gait gets cheaper until the slope gives more
than they take. Each gait is searched from the one before. Two walkers:

- the compass arrives: on 3 degrees its efforts are gone, and the state it starts a step from is
  that of the limit cycle without motors, which is found apart from all searches;
- walker3d does not. Time and width of its steps are free, and its knees may straighten to 0.05 rad.
  From its cheapest slope the most that any motor may give is lowered until no gait is left. What
  the best iterate misses there says why the family ends. Without motors it would go on to 0 N m.

Run: python examples/towards_passive.py [compass | walker3d [NAME=VALUE ...]]
Such as the springs of doc/gait_search_in_space.md.
"""

from collections.abc import Sequence
from dataclasses import replace
import math
import sys
from typing import Any, NamedTuple

import numpy as np

import walking_control as wc
from walking_control.exceptions import NotAchieved, require
from walking_control.gaits import COARSE, Gait, judge_step
from walking_control.search import SpaceSearch, SpaceSearchParameters

PASSIVE = 0.7537  # m/s: of the compass without motors on 3 degrees
COMPASS = 0.0, 1.0, 2.0, 2.5, 3.0  # degrees
WALKER3D, SPEED = (0.0, 4.0, 8.0, 12.0), 0.8  # degrees; m/s
WEAKER = 0.7  # from one bound on efforts to the next
WEAKEST = 0.01  # share of the motors' efforts, the least that a search takes
WALKS = 0.05  # rad: straighter than this no knee is asked to be


class Place(NamedTuple):
    """A gait on the way.

    Attributes:
        slope: rad, downhill positive.
        bound: On the efforts of all motors, N m.
        price: Energy that the motors take, each alone, per weight and distance.
        height: What the slope gives, in the same unit.
        effort: Largest root mean square of a joint, N m.
        joint: Its name.
        reason: Why there is no gait, or None.
        gait: The `Gait`, or None.
    """

    slope: float
    bound: float
    price: float
    height: float
    effort: float
    joint: str
    reason: str | None = None
    gait: Gait | None = None


class Family:
    """Gaits of a biped on soles of one speed, each searched from the last.

    Args:
        robot_file: The `RobotFile`.
        speed: Along the floor, m/s.
        free: Leave time and width of the steps, and the bend of the knees, to the search.
    """

    def __init__(self, robot_file: wc.RobotFile, speed: float, free: bool = True) -> None:
        self.case, self.speed = SpaceSearch(robot_file), speed
        self.values = robot_file.values(SpaceSearchParameters)
        if free:
            self.values = replace(self.values, gait_time=0.0, gait_width=0.0, least_bend=WALKS)
        self.most = float(self.case.robot.effort_limits.max())

    def at(self, slope: float, bound: float, start: Gait | None) -> Place:
        """Return the `Place` of a slope and a bound on efforts, searched from a gait."""
        values = replace(self.values, motor_share=bound / self.most)
        found = self.case.find(values, self.speed, start, slope)
        if not found.attempt.converged:
            reason = f'{found.attempt.worst} is missed by {found.attempt.violation:.2g}'
            return Place(slope, bound, math.nan, math.sin(slope), math.nan, '', reason)
        judged = judge_step(self.case.robot, found.gait, self.case.gravity, slope, COARSE)
        hottest = int(judged.rms_effort.argmax())
        return Place(
            slope,
            bound,
            judged.cost_of_transport_each_joint,
            math.sin(slope),
            float(judged.rms_effort[hottest]),
            self.case.robot.joints[hottest],
            gait=found.gait,
        )

    def downhill(self, degrees: Sequence[float]) -> list[Place]:
        """Return the places on rising slopes, up to the first without a gait."""
        places: list[Place] = []
        for each in degrees:
            start = places[-1].gait if places else None
            places.append(self.at(math.radians(each), self.values.motor_share * self.most, start))
            tell(places[-1])
            if places[-1].reason:
                break
        return places

    def weaker(self, place: Place) -> list[Place]:
        """Return places of ever weaker motors on the slope of one; the last has no gait."""
        assert place.gait is not None
        effort = judge_step(
            self.case.robot, place.gait, self.case.gravity, place.slope, COARSE
        ).effort
        bound, places = float(np.abs(effort).max()), [place]
        while places[-1].reason is None:
            bound *= WEAKER
            if bound < WEAKEST * self.most:
                print(f'it goes on: no search is asked for less than {WEAKEST * self.most:.2g} N m')
                break
            places.append(self.at(place.slope, bound, places[-1].gait))
            tell(places[-1])
        return places[1:]


def tell(place: Place) -> None:
    """Print a place."""
    where = f'{math.degrees(place.slope):5.1f} degrees, at most {place.bound:6.2f} N m: '
    print(
        where
        + (
            f'no gait: {place.reason}'
            if place.reason
            else f'price {place.price:.4f}, the slope gives {place.height:.4f}; '
            f'{place.joint} {place.effort:.3f} N m rms'
        ),
        flush=True,
    )


def compass(degrees: Sequence[float] = COMPASS) -> tuple[list[dict[str, Any]], float]:
    """Follow the compass to its passive gait; return the searches and how far from it they end.

    Args:
        degrees: Slopes, the last one that on which it walks without motors.

    Returns:
        Summaries of the searches; the largest difference of angles (rad) and rates (rad/s) between
        the last gait's start and the limit cycle's.
    """
    places, start, robot_file = [], None, None
    for each in degrees:
        robot_file = wc.load_robot('compass', [('slope', math.radians(each))])
        task = {'speed': PASSIVE, 'landing_speed': 0.5}  # or the foot scrapes along the floor
        found = wc.search_gait(robot_file, task, start=start, alone=start is not None)
        place, start = found.summary, found.result.gait
        places.append(place)
        print(
            f'{each:5.1f} degrees: cost {place["cost"]:.2g} (N m)^2 s a step, motors '
            f'{place["mechanical_power"]:.3f} W, the slope {place["gravity_power"]:.3f} W; at most '
            f'{max(place["peak_effort"]):.3f} N m',
            flush=True,
        )
    assert robot_file is not None
    cycles = wc.find_cycles(robot_file, 'none', starts=60).cycles
    end = np.concatenate([places[-1]['q'], places[-1]['v']])
    away = min(float(np.abs(end - [*cycle.q, *cycle.v]).max()) for cycle in cycles)
    print(f'from the limit cycle without motors: {away:.2g} rad, rad/s')
    return places, away


def walker3d(settings: Sequence[tuple[str, float]] = ()) -> list[Place]:
    """Follow walker3d downhill and then to weaker motors; return all places."""
    shipped, free = (
        Family(wc.load_robot('walker3d', settings), SPEED, free) for free in (False, True)
    )
    print('steps as shipped:')
    places = [shipped.at(0.0, shipped.values.motor_share * shipped.most, None)]
    tell(places[0])
    print('steps and knees free:')
    downhill = free.downhill(WALKER3D)
    gaits = [each for each in downhill if not each.reason]
    require(
        gaits,
        f'gait of walker3d at {SPEED:g} m/s',
        limit=f'there is none to begin with: {downhill[0].reason}',
        remedy='other settings',
        error=NotAchieved,
    )
    cheapest = min(gaits, key=lambda each: each.price)
    print('weaker motors:')
    return places + downhill + free.weaker(cheapest)


def main(arguments: Sequence[str]) -> None:
    """Follow one walker, or both."""
    name, *settings = arguments or ('both',)
    if name != 'walker3d':
        compass()
    if name != 'compass':
        walker3d([(key, float(value)) for key, value in (each.split('=') for each in settings)])


if __name__ == '__main__':
    main(sys.argv[1:])
