# SPDX-License-Identifier: Apache-2.0
"""The verb `gait search`: find a gait, put it to the test, keep it; of bipeds on soles a family."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
import tempfile
import time
from typing import Any

import numpy as np

from walking_control import __version__
from walking_control.exceptions import NotAchieved, require
from walking_control.gaits import (
    asymmetry,
    family_document,
    Gait,
    gait_document,
    judge_step,
    on_slope,
    plane_family,
    STEEPEST,
    StepJudgement,
    write_gait,
)
from walking_control.lab.experiments.resimulation import resimulate, Resimulation
from walking_control.loading import load_robot
from walking_control.models import Robot, RobotFile, World
from walking_control.search import (
    HEAT,
    Judgement,
    search,
    SearchParameters,
    SearchResult,
    SpaceResult,
    SpaceSearch,
    SpaceSearchParameters,
    wind,
)
from walking_control.simulation import RigidParameters

LOW = 0.02  # of the robot's length: a swing foot below that trips on uneven floors
SCUFF_ROOM = 0.1  # of a step, ahead of where the foot of a gait comes out of the floor
MIDDLE = 0.28  # of sqrt(g l): the speed nearest to it is searched first, from nothing
UNEQUAL = 0.5  # the same where left and right differ: an impact shakes light joints
ALIKE = 1e-9  # of the mass matrix: less than that is rounding
LONGER, STRAIGHTER = 0.2, 0.5  # shares by which steps and knees change where margin is 0
STRONGER = 10.0  # times: motors of which no gait asks all
KEPT = (  # of a search's summary, in the file of its gait
    'converged',
    'reason',
    'cost',
    'period',
    'step_length',
    'step_width',
    'speed',
    'mechanical_power',
    'impact_loss_power',
    'max_friction_ratio',
    'min_normal_force',
)
RESIDUAL = 1e-6  # of power, in weights times m/s, and of rates and angles after touchdown


@dataclass
class GaitSearch:
    """What a search of a gait found.

    Attributes:
        result: The `SearchResult`, its ``gait`` the best of all attempts.
        resimulation: The `Resimulation` of that gait on the plant.
        robot_file: The `RobotFile`, adapted parameters in it.
        values: The `SearchParameters` of the search.
        seed: Of the first guesses.
        optimise: What was optimised beside the motion.
        summary: The JSON keys of ``gait search``; its ``reason`` says why nothing usable was
            found, or is None.
    """

    result: SearchResult
    resimulation: Resimulation
    robot_file: RobotFile
    values: SearchParameters
    seed: int
    optimise: tuple[str, ...]  # what was optimised beside the motion
    # the JSON keys of ``gait search``; its ``reason`` says why nothing usable was found, or is None
    summary: dict[str, Any] = field(default_factory=dict)


def find_gait(
    robot_file: RobotFile,
    task: Mapping[str, Any] | None = None,
    optimise: Sequence[str] = (),
    seed: int = 0,
    start: Gait | None = None,
    progress: Callable[[str], None] | None = None,
    alone: bool = False,
) -> GaitSearch:
    """Search the cheapest gait of a robot and re-simulate it.

    Args:
        robot_file: The `RobotFile`.
        task: Values of `SearchParameters` that differ from the robot file's, name -> value.
        optimise: Of ``'spring'``, ``'damper'``, ``'mass'``.
        seed: Of the random first guesses.
        start: `Gait` to start from beside the guesses; `alone`: instead of them.
        progress: Called with a line of text now and then.

    Returns:
        The `GaitSearch`.

    Raises:
        InvalidInput: The task contradicts itself or the robot.
        MissingDependency: CasADi is not installed.
    """
    section = {**robot_file.sections.get('search', {}), **(task or {})}
    values = SearchParameters.read(section, robot_file.scale)
    result = search(robot_file, values, optimise, seed, start, progress, alone)
    adapted = adapt(robot_file, result.parameters)
    lowest, low = result.judgement.clearance, LOW * robot_file.scale.length
    if progress and result.converged and values.clearance >= 0.0 and 0.0 <= lowest < low:
        progress(
            f'warning: the foot passes {1e3 * lowest:.2g} mm above the floor; on uneven ones '
            f'{1e3 * low:.2g} mm and more walk further: --clearance'
        )
    check = resimulate(adapted, result.gait)
    found = GaitSearch(result, check, adapted, values, seed, tuple(optimise))
    found.summary = summarize_search(found)
    return found


def adapt(robot_file: RobotFile, parameters: Mapping[str, Any]) -> RobotFile:
    """Return the robot file with adapted parameters, name -> value, applied."""
    if not parameters:
        return robot_file
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / 'adapted.yaml'
        robot_file.write(path)
        return load_robot(path, list(parameters.items()))


def summarize_search(found: GaitSearch) -> dict[str, Any]:
    """Return the JSON keys of `gait search`."""
    result, check, judgement = found.result, found.resimulation, found.result.judgement
    gait = result.gait
    q, v = gait.start
    free = [i for i in range(len(q)) if i not in gait.phases[0].held]
    reason = None
    if not result.converged:
        reason = (
            f'{result.status}: the best iterate misses "{result.attempt.worst}" '
            f'by {result.attempt.violation:.3g}'
        )
    elif not check.follows:
        reason = f'the plant does not follow the gait: {check.reason}'
        if (length := scuff_length(found)) is not None:
            depth = -1e3 * float(judgement.foot[:, 1].min())
            reason += (
                f'; legs that cannot shorten pass {depth:.2g} mm under the floor: set '
                f'rigid.scuff_length to {length:.2g} m to forgive that'
            )
    step = judgement.step
    return {
        'robot': found.robot_file.robot.name,
        'converged': result.converged,
        'reason': reason,
        'cost': judgement.cost,
        'cost_on_nodes': result.attempt.cost,
        'period': gait.period,
        'phase_durations': [phase.duration for phase in gait.phases],
        'step_length': step[0],
        'step_width': abs(step[1]) if len(step) == 3 else 0.0,
        'speed': result.speed,
        'q': q[free],
        'v': v[free],
        'mechanical_power': judgement.mechanical_power,
        'impact_loss_power': judgement.impact_loss_power,
        'gravity_power': judgement.gravity_power,
        'damping_power': judgement.damping_power,
        'power_mismatch': judgement.power_mismatch,
        'clearance': judgement.clearance if found.values.clearance >= 0.0 else None,
        'min_normal_force': judgement.min_normal_force,
        'max_friction_ratio': judgement.max_friction_ratio,
        'foot_height_ahead': judgement.foot_height_ahead,
        'pressure_reach': pressure_reach(found.robot_file.robot, judgement),
        'peak_effort': judgement.peak_effort[free],
        'parameters': result.parameters,
        'degree': found.values.degree,
        'nodes': result.nodes,
        'quadrature': found.values.quadrature,
        'seed': found.seed,
        'attempts': [
            {
                'converged': a.converged,
                'status': a.status,
                'cost': a.cost,
                'iterations': a.iterations,
            }
            for a in result.attempts
        ],
        'resimulation': vars(check),
        'solve_time': result.solve_time,
        'build_time': result.build_time,
        'file': None,
    }


def pressure_reach(robot: Robot, judgement: Judgement) -> float:
    """Return how far from the ankle of a planar robot the floor has to push, m."""
    if not robot.is_planar:
        return 0.0
    ankle = judgement.effort @ robot.supports[robot.feet[0]][:, 0]
    return float(np.max(np.abs(ankle) / np.maximum(judgement.force[:, -1], 1e-9)))


def scuff_length(found: GaitSearch) -> float | None:
    """Return the ``rigid.scuff_length`` that forgives a gait's foot under the floor, m.

    Returns:
        None where there is nothing to forgive, or it is forgiven already.
    """
    robot_file = found.robot_file
    if not robot_file.robot.is_planar:
        return None
    rigid, foot = robot_file.values(RigidParameters), found.result.judgement.foot
    scuffs = foot[foot[:, 1] < -rigid.scuff_depth, 0]
    ahead = float(scuffs.max(initial=-np.inf))
    if ahead <= max(rigid.scuff_length, 0.0) and (scuffs.size == 0 or rigid.scuff_length > 0.0):
        return None
    return max(0.0, ahead) + SCUFF_ROOM * float(found.result.judgement.step[0])


def save_gait(found: GaitSearch, directory: Path | str) -> Path:
    """Write the gait file and return its path.

    A gait that did not converge is kept as well, as is one that converged but that the plant does
    not follow; the name says which.

    Raises:
        InvalidInput: The directory cannot be written.
    """
    stem = (
        'not_converged'
        if not found.result.converged
        else 'gait'
        if found.resimulation.follows
        else 'not_followed'
    )
    path = Path(directory) / f'{found.summary["robot"]}_{stem}.yaml'
    write_gait(document_of(found), path)
    found.summary['file'] = str(path)
    return path


def sweep_speed(
    robot_file: RobotFile,
    speeds: Iterable[float],
    task: Mapping[str, Any] | None = None,
    optimise: Sequence[str] = (),
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    clearances: Sequence[float | None] = (None,),
) -> list[GaitSearch]:
    """Return a search at each speed and clearance, None being the task's, on one branch.

    Each starts from the gait found at the neighbouring speed, else clearance, and from that alone
    unless mechanics may change: what one of them finds, the next follows.
    """
    rows: list[GaitSearch] = []
    beside: dict[float, Gait] = {}  # found last at each speed
    for clearance in clearances:
        start = None
        for speed in map(float, speeds):
            wanted = {**(task or {}), 'speed': speed}
            if clearance is not None:
                wanted['clearance'] = clearance
            found = find_gait(
                robot_file,
                wanted,
                optimise,
                seed,
                start or beside.get(speed),
                progress,
                not optimise,
            )
            rows.append(found)
            if found.result.converged:
                start = beside[speed] = found.result.gait
    return rows


def save_family(rows: Sequence[GaitSearch], directory: Path | str) -> Path:
    """Write the usable gaits of `sweep_speed`, `NotAchieved` if none, as one family; return it."""
    kept = [row for row in rows if row.summary['reason'] is None]
    if not kept:
        require_gait(rows[0])
    documents = [document_of(row) for row in kept]
    for row, document in zip(kept, documents, strict=True):
        document['found'].update(speed=row.values.speed, required_clearance=row.values.clearance)
    holes = [
        {
            'speed': row.values.speed,
            'required_clearance': row.values.clearance,
            'reason': row.summary['reason'],
        }
        for row in rows
        if row.summary['reason']
    ]
    path = Path(directory) / f'{kept[0].summary["robot"]}_family.yaml'
    return write_gait(plane_family(documents, holes), path)


def document_of(found: GaitSearch) -> dict[str, Any]:
    """Return the gait document of a search."""
    figures = {key: found.summary[key] for key in KEPT}
    task = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in vars(found.values).items()
    }
    return gait_document(
        found.robot_file,
        found.result.gait,
        {
            key: value.item() if isinstance(value, np.generic) else value
            for key, value in figures.items()
        },
        {
            'overrides': dict(found.result.parameters),
            'task': task,
            'seed': found.seed,
            'optimise': list(found.optimise),
        },
    )


def require_gait(found: GaitSearch) -> None:
    """Raise `NotAchieved` with the reason unless a usable gait was found."""
    require(
        found.summary['reason'] is None,
        f'gait of {found.summary["robot"]}',
        limit=found.summary['reason'],
        remedy='try another speed, slope or seed, a higher degree, more starts',
        error=NotAchieved,
    )


@dataclass(frozen=True)
class Member:
    """The gait of one speed on one slope.

    Attributes:
        result: `SpaceResult`.
        judgement: `StepJudgement` on a fine grid.
        reason: Why it is unusable, or None.
        summary: JSON keys.
    """

    result: SpaceResult
    judgement: StepJudgement
    reason: str | None
    summary: dict[str, Any]


@dataclass(frozen=True)
class FamilySearch:
    """Gaits of one robot at several speeds, on several slopes.

    Attributes:
        robot_file: The `RobotFile`, adapted.
        values: `SpaceSearchParameters`.
        members: Tuple of `Member`, slopes rising, and speeds on each.
        parameters: Adapted numbers by their name in the robot file.
        optimise: What might adapt.
    """

    robot_file: RobotFile
    values: SpaceSearchParameters
    members: tuple[Member, ...]
    parameters: dict[str, float]
    optimise: tuple[str, ...]

    @property
    def assumed(self) -> str | None:
        """What of the costs is assumed; None where motors tell all."""
        if any(motor.resistance for motor in self.robot_file.robot.actuators.values()):
            return None
        return (
            'no motor tells its resistance: every cost counts a heat that is assumed, '
            f'{HEAT:g} m g sqrt(g L) of a motor at its effort limit'
        )


def middle_speed(robot_file: RobotFile) -> float:
    """Return a speed that legs of this length walk with ease, m/s."""
    return float(MIDDLE * np.sqrt(robot_file.scale.gravity * robot_file.scale.length))


def find_gaits(
    robot_file: RobotFile,
    speeds: Sequence[float],
    optimise: Sequence[str] = (),
    slopes: Sequence[float] | None = None,
    start: Gait | None = None,
    patience: float = np.inf,
    progress: Callable[[str], None] | None = None,
) -> FamilySearch:
    """Search gaits of a biped on soles, each from its neighbour's, and judge them.

    On the slope nearest to level each speed begins with its neighbour's gait, on the others with
    that of the same speed on the slope before. A slope is given up at the first speed that has no
    gait there, for a family has each of its speeds on each of its slopes.

    Args:
        robot_file: The `RobotFile`; its `SearchParameters` and `SpaceSearchParameters` count.
        speeds: Along the floor, m/s.
        optimise: Of ``'spring'``, ``'damper'``, ``'mass'``: what of the mechanics may change; of a
            single gait alone.
        slopes: Of the floor, rad, downhill positive; None is that of the robot file's world.
        start: `Gait` that the first search begins with; None takes a guess.
        patience: Processor time after which no gait on another slope is begun, s.
        progress: Called with a line of text now and then.

    Returns:
        `FamilySearch`.

    Raises:
        InvalidInput: The robot or the task is unusable.
        MissingDependency: CasADi is not installed.
    """
    world = robot_file.values(World)
    speeds, slopes = sorted(speeds), sorted([world.slope] if slopes is None else slopes)
    wrong = next((speed for speed in speeds if not 0.0 < abs(speed) < np.inf), None)
    require(
        wrong is None,
        'speed of a gait in space',
        value=wrong,
        limit='must be a number other than 0 m/s',
        remedy='below 0 it goes backwards; a family has what lies between',
    )
    require(
        max(map(abs, slopes)) <= STEEPEST,
        'slope of a gait in space',
        value=max(slopes, key=abs),
        limit=f'must be within {STEEPEST:g} rad',
        remedy='give degrees to --slope-deg and --slopes-deg',
    )
    require(
        not optimise or len(speeds) * len(slopes) <= 1,
        '--optimise',
        value=','.join(optimise),
        limit='gives each speed and slope mechanics of its own, and a family is of one robot',
        remedy='give one --speed, then search the family with what was found',
    )
    values = robot_file.values(SpaceSearchParameters)
    values = replace(
        values,
        gait_time=values.gait_time * (1.0 + LONGER * (1.0 - values.margin)),
        least_bend=values.least_bend * (1.0 - STRAIGHTER * (1.0 - values.margin)),
    )
    case = SpaceSearch(robot_file, optimise, progress)
    first = int(np.argmin(np.abs(np.array(speeds) - middle_speed(robot_file))))
    level, begun = int(np.argmin(np.abs(slopes))), time.process_time()
    found = {(level, first): case.find(values, speeds[first], start, slopes[level])}
    wanting = (
        ''
        if found[level, first].attempt.converged
        else find_wanting(case, values, speeds[first], slopes[level])
    )
    for i, before in [
        *((i, i + 1) for i in range(first - 1, -1, -1)),
        *((i, i - 1) for i in range(first + 1, len(speeds))),
    ]:
        beside = found[level, before]
        start = beside.gait if beside.attempt.converged else None
        found[level, i] = case.find(values, speeds[i], start, slopes[level])
    easiest_first = sorted(
        (i for i in range(len(speeds)) if found[level, i].attempt.converged),
        key=lambda i: abs(i - first),
    )
    for k, before in [
        *((k, k + 1) for k in range(level - 1, -1, -1)),
        *((k, k - 1) for k in range(level + 1, len(slopes))),
    ]:
        for i in easiest_first:
            if (before, i) not in found or time.process_time() - begun > patience:
                break
            found[k, i] = case.find(values, speeds[i], found[before, i].gait, slopes[k])
            if not found[k, i].attempt.converged:
                break
    parameters = found[level, first].parameters
    adapted = adapt(robot_file, parameters)
    most = RESIDUAL if asymmetry(adapted.robot) < ALIKE else UNEQUAL
    wound = wind(adapted.robot, robot_file.scale)
    members = (
        _member(
            result,
            judge_step(wound, result.gait, world.gravity, result.slope),
            case.weight,
            most,
            wanting if place == (level, first) else '',
        )
        for place, result in sorted(found.items(), key=lambda pair: pair[0])
    )
    return FamilySearch(adapted, values, tuple(members), parameters, tuple(optimise))


def find_wanting(
    case: SpaceSearch, values: SpaceSearchParameters, speed: float, slope: float
) -> str:
    """Return in words which joint is too weak or too slow for a gait that was not found.

    The same search with motors `STRONGER` times as strong and as fast tells what it would take.

    Args:
        case: What is searched with.
        values: What is asked of the gait.
        speed: m/s.
        slope: Of the floor, rad, downhill positive.

    Returns:
        Words; empty where no motor would help.
    """
    result = case.find(values, speed, None, slope, STRONGER)
    if not result.attempt.converged:
        return '; nor with stronger motors: its legs do not reach so, or its soles are too small'
    judged = judge_step(wind(case.robot, case.scale), result.gait, case.gravity, slope)
    rates = result.gait.phases[0].motion(judged.s)[1]
    wanting = ''
    for unit, found, most in zip(
        ('N m', 'rad/s'), (judged.effort, rates), case.limits(values), strict=True
    ):
        peaks = np.abs(found).max(axis=0)
        joint = int(np.argmax(peaks / most))
        if peaks[joint] > most[joint]:
            wanting += (
                f'; {case.robot.joints[joint]} would need {peaks[joint]:.3g} {unit}, '
                f'{most[joint]:.3g} may be asked of it'
            )
    return wanting


def _member(
    result: SpaceResult, judgement: StepJudgement, weight: float, most: float, wanting: str
) -> Member:
    """Return the `Member` of one search."""
    attempt, off = (
        result.attempt,
        max(*judgement.periodicity, abs(judgement.power_mismatch) / weight),
    )
    reason, place = None, f'{result.speed:.3g} m/s{on_slope(result.slope)}'
    if not attempt.converged:
        reason = (
            f'no gait at {place}: {attempt.status}: the best iterate misses '
            f'"{attempt.worst}" by {attempt.violation:.3g}{wanting}'
        )
    elif off > most:
        reason = f'no gait at {place}: Pinocchio finds it off by {off:.2g}, more than {most:g}'
    summary = {
        'speed': result.speed,
        'slope': result.slope,
        'converged': attempt.converged,
        'reason': reason,
        'cost_of_transport_electrical': judgement.cost_of_transport_electrical,
        'cost_of_transport_each_joint': judgement.cost_of_transport_each_joint,
        'cost_on_nodes': attempt.cost,
        'copper_share': judgement.copper_share,
        'period': result.gait.period,
        'step_length': float(judgement.step[0]),
        'step_width': float(-judgement.step[1]),
        'mechanical_power': judgement.mechanical_power,
        'impact_loss_power': judgement.impact_loss_power,
        'power_mismatch': judgement.power_mismatch,
        'periodicity': list(judgement.periodicity),
        'peak_effort': float(np.abs(judgement.effort).max()),
        'max_friction_ratio': judgement.friction_ratio,
        'iterations': attempt.iterations,
        'solve_time': result.solve_time,
        'build_time': result.build_time,
    }
    return Member(result, judgement, reason, summary)


def family_members(found: FamilySearch) -> list[Member]:
    """Return the members that make a family.

    A family goes over speed on each of its slopes alike: a speed that is missing on the slope
    nearest to level is left out, and then a slope on which one of the others is missing.

    Args:
        found: What was searched.
    """
    level = min((member.result.slope for member in found.members), key=abs)
    usable = [member for member in found.members if member.reason is None]
    speeds: dict[float, set[float]] = {level: set()}
    for member in usable:
        speeds.setdefault(member.result.slope, set()).add(member.result.speed)
    return [
        member
        for member in usable
        if member.result.speed in speeds[level] <= speeds[member.result.slope]
    ]


def save_gaits(found: FamilySearch, directory: Path | str) -> Path:
    """Write the `family_members` as one family and return its path.

    Raises:
        InvalidInput: The directory cannot be written.
    """
    path = Path(directory) / f'{found.robot_file.robot.name}_family.yaml'
    kept = family_members(found)
    require(
        kept,
        f'a family of gaits of {found.robot_file.robot.name}',
        limit='no slope has a gait at each of its speeds',
        remedy='ask for fewer speeds or flatter slopes',
        error=NotAchieved,
    )
    figures = (
        'cost_of_transport_electrical',
        'cost_of_transport_each_joint',
        'step_length',
        'step_width',
        'mechanical_power',
        'impact_loss_power',
        'max_friction_ratio',
    )
    document = family_document(
        found.robot_file,
        [member.result.gait for member in kept],
        [{name: float(member.summary[name]) for name in ('speed', *figures)} for member in kept],
        [member.result.slope for member in kept],
        {
            'walking_control': __version__,
            'overrides': found.parameters,
            'task': dict(vars(found.values)),
            'optimise': list(found.optimise),
        },
    )
    return write_gait(document, path)
