# SPDX-License-Identifier: Apache-2.0
"""The verb `gait search` of bipeds on soles: find gaits of several speeds, judge and keep them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from walking_control import __version__
from walking_control.exceptions import InvalidInput, writing_to
from walking_control.experiments.gait_search import adapt
from walking_control.gaits.gait_family import family_document
from walking_control.gaits.gait_file import write_gait
from walking_control.gaits.search.parameters import SearchParameters
from walking_control.gaits.search.space import SpaceResult, SpaceSearch
from walking_control.gaits.search.space_judgement import asymmetry, judge_step, StepJudgement
from walking_control.gaits.search.space_parameters import SpaceSearchParameters
from walking_control.models.robot_file import RobotFile, World

MIDDLE = 0.28      # of sqrt(g l): the speed nearest to it is searched first, from nothing
UNEQUAL = 0.02     # the same of a robot whose left and right differ, as those of drawings do
ALIKE = 1e-9       # of the mass matrix: less than that is rounding
RESIDUAL = 1e-6    # of power, in weights times m/s, and of rates and angles after touchdown


@dataclass(frozen=True)
class Member:
    """The gait of one speed."""

    result: SpaceResult
    judgement: StepJudgement   # on a fine grid
    reason: str | None   # why it is unusable, or None
    summary: dict[str, Any]   # JSON keys


@dataclass(frozen=True)
class FamilySearch:
    """Gaits of one robot at several speeds."""

    robot_file: RobotFile   # adapted
    values: SpaceSearchParameters
    members: tuple[Member, ...]   # speeds rising
    parameters: dict[str, float]   # adapted numbers by their name in the robot file
    optimise: tuple[str, ...]   # what might adapt


def middle_speed(robot_file: RobotFile) -> float:
    """Return a speed that legs of this length walk with ease, m/s."""
    return float(MIDDLE * np.sqrt(robot_file.scale.gravity * robot_file.scale.length))


def find_gaits(robot_file: RobotFile, speeds: Sequence[float],
               general: Mapping[str, Any] | None = None, task: Mapping[str, Any] | None = None,
               optimise: Sequence[str] = (), progress: Callable[[str], None] | None = None
               ) -> FamilySearch:
    """Search gaits of a biped on soles, each from its neighbour's, and judge them.

    Args:
        speeds: m/s.
        general: Values of `SearchParameters` that differ from the robot file's, name -> value.
        task: Likewise of `SpaceSearchParameters`.
        optimise: Of ``'spring'``, ``'damper'``, ``'mass'``, of a single speed.
        progress: Called with a line of text now and then.

    Returns:
        `FamilySearch`.

    Raises:
        InvalidInput: The robot or the task is unusable.
        MissingDependency: CasADi is not installed.
    """
    speeds = sorted(speeds)
    if optimise and len(speeds) > 1:
        raise InvalidInput('--optimise', value=','.join(optimise), limit='gives each speed '
                           'mechanics of its own, and a family is of one robot',
                           remedy='give one --speed, then search the family with what was found')
    values = SpaceSearchParameters.read({**robot_file.sections.get('space_search', {}),
                                         **(task or {})}, robot_file.scale)
    case = SpaceSearch(replace(robot_file, sections={
        **robot_file.sections, SearchParameters.section: {
            **robot_file.sections.get(SearchParameters.section, {}), **(general or {})}}),
        optimise, progress)
    first = int(np.argmin(np.abs(np.array(speeds) - middle_speed(robot_file))))
    found = {first: case.find(values, speeds[first])}
    for way in (range(first - 1, -1, -1), range(first + 1, len(speeds))):
        start = found[first]
        for i in way:
            found[i] = case.find(values, speeds[i], start.gait if start.attempt.converged else None)
            start = found[i]
    adapted = adapt(robot_file, found[first].parameters)
    gravity = adapted.values(World).gravity
    most = RESIDUAL if asymmetry(adapted.robot) < ALIKE else UNEQUAL
    members = (_member(found[i], judge_step(adapted.robot, found[i].gait, gravity), case.weight,
                       most) for i in range(len(speeds)))
    return FamilySearch(adapted, values, tuple(members), found[first].parameters, tuple(optimise))


def _member(result: SpaceResult, judgement: StepJudgement, weight: float,
            most: float) -> Member:
    """Return the `Member` of one search."""
    attempt, off = result.attempt, max(*judgement.periodicity,
                                       abs(judgement.power_mismatch) / weight)
    reason = None
    if not attempt.converged:
        reason = (f'no gait at {result.speed:.3g} m/s: {attempt.status}: the best iterate misses '
                  f'"{attempt.worst}" by {attempt.violation:.3g}')
    elif off > most:
        reason = (f'no gait at {result.speed:.3g} m/s: Pinocchio finds it off by {off:.2g}, more '
                  f'than {most:g}')
    summary = {
        'speed': result.speed, 'converged': attempt.converged, 'reason': reason,
        'cost_of_transport_electrical': judgement.cost_of_transport_electrical,
        'cost_of_transport_each_joint': judgement.cost_of_transport_each_joint,
        'cost_on_nodes': attempt.cost, 'copper_share': judgement.copper_share,
        'period': result.gait.period, 'step_length': float(judgement.step[0]),
        'step_width': float(-judgement.step[1]), 'mechanical_power': judgement.mechanical_power,
        'impact_loss_power': judgement.impact_loss_power,
        'power_mismatch': judgement.power_mismatch, 'periodicity': list(judgement.periodicity),
        'peak_effort': float(np.abs(judgement.effort).max()),
        'max_friction_ratio': judgement.friction_ratio, 'iterations': attempt.iterations,
        'solve_time': result.solve_time, 'build_time': result.build_time}
    return Member(result, judgement, reason, summary)


def save_gaits(found: FamilySearch, directory: Path | str) -> Path:
    """Write the members without a reason against them as one family and return its path.

    Raises:
        InvalidInput: The directory cannot be written.
    """
    path = Path(directory) / f'{found.robot_file.robot.name}_family.yaml'
    kept = [member for member in found.members if member.reason is None]
    figures = ('cost_of_transport_electrical', 'cost_of_transport_each_joint', 'step_length',
               'step_width', 'mechanical_power', 'impact_loss_power', 'max_friction_ratio')
    document = family_document(
        found.robot_file, [member.result.gait for member in kept],
        [{name: float(member.summary[name]) for name in ('speed', *figures)} for member in kept],
        {'walking_control': __version__, 'overrides': found.parameters,
         'task': dict(vars(found.values)), 'optimise': list(found.optimise)})
    with writing_to(path.parent):
        write_gait(document, path)
    return path
