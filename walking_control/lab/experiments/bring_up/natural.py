# SPDX-License-Identifier: Apache-2.0
"""Gaits of a biped's own: searched, walked on beside other laws, and what walks on them bear."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
import math
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from walking_control.controllers import NaturalWalking, Stepping
from walking_control.exceptions import WalkingControlError
from walking_control.lab.adoption import GAIT_WIDTH, SHARED
from walking_control.lab.experiments import (
    family_members,
    FamilySearch,
    find_gaits,
    judge_walk,
    Member,
    middle_speed,
    noisy_walk,
    Outcome,
    pace,
    save_gaits,
    Site,
    try_margins,
)
from walking_control.loading import load_robot
from walking_control.models import RobotFile, with_section, World
from walking_control.runs import Run, summarize
from walking_control.search.parameters import SearchParameters
from walking_control.search.space_parameters import SpaceSearchParameters
from walking_control.simulation.simulate import simulate

GAITS = (0.1, 0.2, 0.3, 0.4, 0.5)  # over sqrt(g L): speeds that gaits are searched at
SLOPES = (math.radians(-8.0), 0.0, math.radians(8.0))  # and on floors that lean so
TRIED_ON_GAIT = 20.0  # s on the gait
NOISY, PUSHED = 8.0, 5.0  # s with noise that the walk kept lasts if any does, and is pushed after
SLOWER = 3  # speeds it is tried at, the easiest first
SLOPES_BEGIN = 120.0  # s of processor time after which no gait on a slope is begun
ITERATIONS = 200  # those that find a gait take 20 to 130; one that does not took 236 s
LEAD = 1.03  # times a level is asked of a gait: walks stay 1 to 2 % behind
BESIDE = 10.0  # s of stepping at the same speed
Trial = TypeVar('Trial')
Found = TypeVar('Found')
COST, WORK = 'cost_of_transport_electrical', 'cost_of_transport_positive'
# What is asked of gaits, as factors on what is usual: where there are none, shorter steps; legs
# that bend and land faster; all that motors give.
EASIER: tuple[dict[str, float], ...] = (
    {},
    {'gait_time': 0.8},
    {'least_bend': 1.75, 'fastest_landing': 1.5, 'landing_slip': 1.5},
    {'motor_share': 1.25, 'rate_share': 1.35, 'relied_friction': 1.4},
)


def natural_gait(site: Site) -> Outcome:
    """Search gaits of its own and walk on them; what it walks with does not change by it."""
    try:
        return _find_gaits(site)
    except WalkingControlError as error:
        return Outcome(True, f'none: {error}', share=0.0)


def gait_margins(site: Site) -> Outcome:
    """Walk on its gaits with turning, sideways, and with delay, a push and a lab's noise."""
    file = natural_file(site)
    if file is None or site.done['natural gait'].share == 0.0:
        return Outcome(True, 'not tried: it does not walk on gaits of its own', share=0.0)
    return try_margins(site, load_robot(file), NaturalWalking)


def natural_file(site: Site) -> str | None:
    """Return the robot file that walks on gaits of its own, if there is one."""
    files = site.done['natural gait'].files
    return next((file for file in files if file.endswith('_natural.yaml')), None)


def search_family(site: Site, robot_file: RobotFile) -> tuple[FamilySearch, str, str]:
    """Search gaits over speed and slope, asking less where there are none.

    Args:
        site: Where.
        robot_file: The `RobotFile`.

    Returns:
        The family, its members without holes; what had to be eased, in words; and why there is
        none as usual, or nothing.
    """
    known = robot_file.sections.get(Stepping.parameters.section, {})
    usual = SpaceSearchParameters.read(
        robot_file.sections.get(SpaceSearchParameters.section, {}), robot_file.scale
    )
    gap = float(known.get('narrowest', 0.0))  # soles must not touch
    task = {
        'least_gap': max(usual.least_gap, gap),
        'gait_width': max(usual.gait_width, GAIT_WIDTH * gap),
    }
    told, middle = robot_file.values(World).slope, middle_speed(robot_file)
    reasons: list[str] = []
    for way in EASIER:
        eased = {name: factor * getattr(usual, name) for name, factor in way.items()}
        asked = with_section(robot_file, SpaceSearchParameters.section, task | eased)
        first = find_gaits(asked, [middle], progress=site.progress)
        if first.members[0].reason is None:
            break
        reasons.append(first.members[0].reason)
    else:
        return replace(first, members=()), '', reasons[0]
    found = find_gaits(
        with_section(asked, SearchParameters.section, {'max_iterations': ITERATIONS}),
        [share * pace(robot_file) for share in GAITS],
        slopes=[told + slope for slope in SLOPES],
        start=first.members[0].result.gait,
        patience=SLOPES_BEGIN,
        progress=site.progress,
    )
    level = [member for member in found.members if member.result.slope == told]
    easiest = min(level, key=lambda member: abs(member.summary['speed'] - middle))
    speeds = {member.result.speed for member in without_holes(level, easiest)}
    members = tuple(member for member in found.members if member.result.speed in speeds)
    words = ', '.join(f'{name} x {factor:g}' for name, factor in way.items())
    return replace(found, members=members), words, reasons[0] if reasons else easiest.reason or ''


def _find_gaits(site: Site) -> Outcome:
    robot_file = site.load()
    found, eased, reason = search_family(site, robot_file)
    told = robot_file.values(World).slope
    kept = [member.summary for member in found.members if member.result.slope == told]
    if not kept:
        return Outcome(True, f'none: {reason}', share=0.0)
    family = save_gaits(found, site.folder)
    file = site.folder / f'{robot_file.robot.name}_natural.yaml'
    middle = middle_speed(robot_file)
    easy, *others = sorted(kept, key=lambda summary: abs(summary['speed'] - middle))
    tries = [easy, *(each for each in others if each['speed'] < easy['speed'])][:SLOWER]

    def attempt(
        trial: dict[str, Any],
    ) -> tuple[int, tuple[RobotFile, dict[str, Any], Run, Outcome]]:
        natural = _walk_on(site, family, trial['speed'], trial['step_width'], kept)
        natural.write(file)
        site.progress(f'{NaturalWalking.name} at {trial["speed"]:.2g} m/s')
        run = simulate(natural, duration=TRIED_ON_GAIT)
        outcome, bears = judge_walk(run, TRIED_ON_GAIT), False
        if outcome.ok:
            bears = noisy_walk(site, load_robot(file), NaturalWalking.name, NOISY, PUSHED).ok
        return outcome.ok + bears, (natural, trial, run, outcome)

    natural, easy, run, outcome = first_best(tries, attempt, 2)
    natural.write(file)
    steady = summarize(run)['steady'] or {}
    on_gait = float(run.telemetry['on_gait'].mean()) if len(run.time) else 0.0
    figures = {
        COST: steady.get(COST),
        WORK: steady.get(WORK),
        'predicted': easy[COST],
        'assumed': found.assumed,
        'on_gait': on_gait,
        'speed': easy['speed'],
        'slopes': len({member.result.slope for member in family_members(found)}),
        'eased': eased,
        'reason': reason,
    }
    files = [str(family), str(file)]
    easing = f' with {eased}, for as usual there is {reason}' if eased else ''
    easing += _without_slopes(found, told)
    if not outcome.ok:
        return Outcome(
            True,
            f'{len(kept)} gaits found{easing}, but natural_walking does not walk on them '
            f'at {easy["speed"]:.2g} m/s: {outcome.what}',
            figures=figures,
            files=files,
            share=0.0,
        )
    figures['stepping'] = _step_beside(site, easy['speed'])
    price = (
        'electrical cost of transport unknown, since no motor tells its resistance,'
        if steady.get(COST) is None
        else f'cost of transport {steady[COST]:.3g}, electrical,'
    )
    work = f'positive work {_cost(steady.get(WORK))}, of stepping {_cost(figures["stepping"])}'
    return Outcome(
        True,
        f'{price} at {easy["speed"]:.2g} m/s, {100.0 * on_gait:.0f} % of the time on the gait; '
        f'{work}{easing}',
        steady.get(COST),
        figures=figures,
        files=files,
    )


def _without_slopes(found: FamilySearch, told: float) -> str:
    """Return in words which slopes the family lacks, and why; nothing if it has all."""
    known = {member.result.slope for member in family_members(found)}
    why = {member.result.slope: member.reason for member in found.members if member.reason}
    late = f'not all speeds were begun within {SLOPES_BEGIN:g} s of a processor'
    return ''.join(
        f'; the family is without the slope of {math.degrees(told + slope):+.0f} degrees: '
        f'{why.get(told + slope, late)}'
        for slope in SLOPES
        if told + slope not in known
    )


def first_best(
    trials: Sequence[Trial], attempt: Callable[[Trial], tuple[int, Found]], most: int
) -> Found:
    """Return what came of the first trial that passed in all, else in the most of it.

    A slower walk that bears noise is worth more than a faster one that does not.

    Args:
        trials: The likely ones first.
        attempt: Returns of a trial how much of it passed, and what came of it.
        most: How much there is to pass: then no more is tried.
    """
    came: list[tuple[int, Found]] = []
    for trial in trials:
        came.append(attempt(trial))
        if came[-1][0] >= most:
            break
    return max(came, key=lambda each: each[0])[1]  # the first of equals


def _walk_on(
    site: Site, family: Path, speed: float, width: float, kept: Sequence[dict[str, Any]]
) -> RobotFile:
    """Return the robot file that walks on a family at a speed, its feet as far apart as there."""
    robot_file, law = site.load(), NaturalWalking.parameters.section
    known = robot_file.sections.get(Stepping.parameters.section, {})
    narrowest = known.get('narrowest') or robot_file.values(NaturalWalking.parameters).narrowest
    shared = {key: known[key] for key in SHARED if key in known} | {
        'step_width': max(narrowest, width),
        'speed': speed,  # no leap
        'speed_limit': LEAD * max(summary['speed'] for summary in kept),
        'gait': str(family.resolve()),
    }
    pairs = [(f'{law}.{key}', value) for key, value in shared.items()]
    return load_robot(site.current, [('controller', NaturalWalking.name), *pairs])


def _cost(cost: float | None) -> str:
    return 'unknown' if cost is None else f'{cost:.3g}'


def _step_beside(site: Site, speed: float) -> float | None:
    """Return the positive work per weight and distance of stepping at a speed, if it walks."""
    law = Stepping.name
    limit = max(speed, site.load().values(Stepping.parameters).speed)
    given = [('controller', law), (f'{law}.speed', speed), (f'{law}.speed_limit', limit)]
    outcome = judge_walk(simulate(load_robot(site.current, given), duration=BESIDE), BESIDE)
    return outcome.figures.get(WORK) if outcome.ok else None


def without_holes(members: Sequence[Member], easiest: Member) -> tuple[Member, ...]:
    """Return the gaits that were found, one after another in speed, about or next to one of them.

    A family with a hole in it cannot be walked through.

    Args:
        members: In ascending order of speed.
        easiest: The one that shall be among them.
    """
    runs = [
        tuple(run)
        for usable, run in groupby(members, key=lambda member: not member.reason)
        if usable
    ]
    here = easiest.summary['speed']

    def far(run: tuple[Member, ...]) -> float:
        return min((abs(member.summary['speed'] - here) for member in run), default=np.inf)

    return min(runs, key=lambda run: (far(run), -len(run)), default=())
