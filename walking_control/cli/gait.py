# SPDX-License-Identifier: Apache-2.0
"""Verbs that find and judge gaits: gait search, gait cycle, gait atlas, gait impact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from pathlib import Path
from typing import Any

from walking_control.cli import common, output
from walking_control.cli.output import Answer
from walking_control.cli.verb import axis, count, number_range, numbers, option, verb, words
from walking_control.exceptions import require
from walking_control.gaits.gait import on_slope
from walking_control.lab import experiments
from walking_control.lab.experiments.sweeps.task import Axis
from walking_control.lab.reports import plots
from walking_control.models import RobotFile, with_section
from walking_control.search.parameters import SearchParameters
from walking_control.search.space_parameters import SpaceSearchParameters

PLANE = ('speed', 'clearance', 'landing_speed', 'starts', 'quadrature')
SPACE = ('width', 'step_time', 'slopes_deg')
SPACE_NAMES = {'width': 'gait_width', 'step_time': 'gait_time', 'clearance': 'sole_clearance'}


class _Search(common.Seeded, common.OnFloor):
    speed: float | None = option('walking speed in m/s', 'V', apart='pace')
    speeds: Sequence[float] | None = option(
        'search at N speeds instead, each from its neighbour, and write a family of gaits in one '
        'file and the cost over speed',
        'LO:HI:N',
        number_range,
        apart='pace',
    )
    clearances: Sequence[float] | None = option(
        'with --speeds: at each of N clearances in m', 'LO:HI:N', number_range
    )
    slopes_deg: Sequence[float] | None = option(
        'of bipeds on soles, with --speeds: on each of N slopes in degrees, downhill positive',
        'LO:HI:N',
        number_range,
    )
    degree: int | None = option('degree of the polynomials', 'K')
    nodes: int | None = option('intervals of the quadrature', 'N')
    quadrature: str | None = option('lobatto or riemann', 'NAME')
    clearance: float | None = option(
        'height of the swing foot in mid-step in m; below 0: none', 'M'
    )
    width: float | None = option(
        'of bipeds on soles: distance of the soles sideways in m; 0 leaves it free', 'M'
    )
    step_time: float | None = option(
        'of bipeds on soles: time of a step in s; 0 leaves it free', 'S'
    )
    landing_speed: float | None = option(
        'least downward speed of the foot at touchdown in m/s', 'V'
    )
    starts: int | None = option('first guesses to try', 'N')
    optimise: tuple[str, ...] = option(
        'mechanics that may change with the gait', 'spring,damper,mass', words, default=()
    )
    quiet: bool = option('no progress on stderr')


@verb(
    'walking_control gait search compass --speed 0.8 --out out/gait',
    'walking_control gait search walker3d --speeds 0.4:1.2:5 --out out/gaits',
    'walking_control gait search walker3d --speeds 0.4,0.6,0.8 --slopes-deg=-8:8:5 --out out/gaits',
)
def search(options: _Search) -> Answer:
    """Find the gait that takes the least torque."""
    robot_file = common.requested_robot(options)
    show = None if options.quiet else output.say
    space = robot_file.robot.is_free
    names = ('degree', 'nodes', *(() if space else PLANE))
    task = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    for name in PLANE[2:] if space else SPACE:
        require(
            getattr(options, name) is None,
            f'option --{name.replace("_", "-")}',
            value=getattr(options, name),
            limit='has no effect on '
            + ('bipeds on soles' if space else 'robots other than bipeds on soles'),
        )
    if space:
        return _search_space(
            options, with_section(robot_file, SearchParameters.section, task), show
        )
    require(
        options.clearances is None or (options.speeds is not None and not options.optimise),
        'option --clearances',
        limit='needs --speeds, and no --optimise',
    )
    if options.speeds is not None:
        return _search_speeds(options, options.speeds, robot_file, task, show)
    gaits = experiments.gait_search
    found = gaits.find_gait(robot_file, task, options.optimise, options.seed, progress=show)
    files = [] if options.out is None else [str(gaits.save_gait(found, options.out))]
    reason, name = found.summary['reason'], robot_file.robot.name
    return Answer(
        found.summary,
        output.without('attempts'),
        [] if reason is None else [f'no gait of {name}: {reason}{_all_the_same(found)}'],
        files=files,
        write=output.save_figures(lambda: plots.gait.search_figures(found)),
    )


def _search_space(
    options: _Search,
    robot_file: RobotFile,
    show: Callable[[str], None] | None,
) -> Answer:
    """Search gaits of a biped on soles, of one speed or several, into one file."""
    gaits = experiments.gait_search
    space = {
        SPACE_NAMES[name]: getattr(options, name)
        for name in SPACE_NAMES
        if getattr(options, name) is not None
    }
    speeds = options.speeds or [
        gaits.middle_speed(robot_file) if options.speed is None else options.speed
    ]
    require(
        options.slopes_deg is None or options.speeds is not None,
        'option --slopes-deg',
        limit='needs --speeds',
    )
    slopes = None if options.slopes_deg is None else [math.radians(d) for d in options.slopes_deg]
    asked = with_section(robot_file, SpaceSearchParameters.section, space)
    found = gaits.find_gaits(asked, speeds, options.optimise, slopes, progress=show)
    reasons = [row.reason for row in found.members if row.reason is not None]
    file = None
    if options.out is not None and len(reasons) < len(found.members):
        file = str(gaits.save_gaits(found, options.out))
    result = {
        'robot': robot_file.robot.name,
        'members': [row.summary for row in found.members],
        'parameters': found.parameters,
        'assumed': found.assumed,
        'file': file,
    }
    return Answer(
        result,
        output.text('gaits_in_space.txt', on_slope=on_slope),
        reasons,
        files=[file] if file else [],
    )


def _all_the_same(found: experiments.gait_search.GaitSearch) -> str:
    """Say of a gait that solves its equations, but that the plant left, who can follow it."""
    if not found.result.converged or found.summary['file'] is None:
        return ''
    return (
        '; the gait itself solves the equations of motion, and a controller with feedback may '
        f'follow it all the same: --controller curve_tracking --gait {found.summary["file"]}'
    )


def _search_speeds(
    options: _Search,
    speeds: Sequence[float],
    robot_file: RobotFile,
    task: dict[str, Any],
    show: Callable[[str], None] | None,
) -> Answer:
    """Search at several speeds, fixed mechanics beside adapted ones; draw Fig. 5.2."""
    gaits = experiments.gait_search
    found = gaits.sweep_speed(
        robot_file, speeds, task, (), options.seed, show, options.clearances or (None,)
    )
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        name = f'clearance {row.values.clearance:g} m' if options.clearances else 'fixed mechanics'
        curves.setdefault(name, []).append(row.summary)
    if options.optimise:
        adapted = gaits.sweep_speed(robot_file, speeds, task, options.optimise, options.seed, show)
        curves[', '.join(options.optimise)] = [row.summary for row in adapted]
    reasons = [row['reason'] for rows in curves.values() for row in rows]
    return Answer(
        {'curves': curves},
        output.text('gaits_over_speed.txt'),
        [reason for reason in reasons if reason is not None],
        files=[] if options.out is None else [str(gaits.save_family(found, options.out))],
        write=output.save_figures(
            lambda: {'cost_over_speed': plots.gait.plot_cost_over_speed(curves)}
        ),
    )


class _Cycle(common.Seeded, common.Following, common.Timed):
    pass


@verb('walking_control gait cycle compass --slope-deg 3 --out out/cycle')
def cycle(options: _Cycle) -> Answer:
    """Find limit cycles on the return map of the rigid plant."""
    cycles = experiments.cycles
    common.require_rigid(options)
    robot_file = common.requested_robot(options)
    output.suggest_compiler()
    result = cycles.find_robot_cycles(
        robot_file, options.controller, options.seed, progress=output.show_share('searched')
    ).summary()
    files = []
    if options.out is not None:
        files = experiments.cycle_gait.save_cycles(robot_file, result, options.out)

    def draw() -> dict[str, Any]:
        figures: dict[str, Any] = {}
        for i, found in enumerate(result['cycles']):
            run = cycles.walk_cycle(robot_file, found, options.controller)
            figures |= {
                f'cycle_{i}_phase_portrait': plots.gait.plot_cycle(run, found),
                f'cycle_{i}_stick_figure': plots.walk.plot_stick_figure(run),
            }
        return figures

    return Answer(result, output.text('cycles.txt'), files=files, write=output.save_figures(draw))


class _Atlas(common.Seeded, common.Following):
    over: Axis = option(
        'parameter and the ends of its range; speed, of a family of gaits given by --gait',
        'NAME=LO:HI',
        axis,
        required=True,
        default=None,
    )
    strides: int = option('follow cycles of up to N strides (default: 4)', 'N', count, default=4)


@verb('walking_control gait atlas compass --over slope=0.02:0.1 --out out/atlas')
def atlas(options: _Atlas) -> Answer:
    """Follow limit cycles over a parameter, through folds and period doublings."""
    common.require_rigid(options)
    over, given, gait = options.over, options.set, options.gait

    def robot_at(value: float) -> RobotFile:
        if over.name == 'speed' and gait is not None:
            options.gait = Path(f'{gait}@{value}')
        else:
            options.set = [*given, (over.name, value)]
        return common.requested_robot(options)

    output.suggest_compiler()
    result = experiments.atlas.find_atlas(
        robot_at,
        over.name,
        (over.low, over.high),
        options.controller,
        options.seed,
        options.strides,
        output.show_share('surveyed'),
    )
    return Answer(
        result,
        output.text('atlas.txt'),
        write=output.save_figures(lambda: {'atlas': plots.gait.plot_atlas(result)}),
        document='atlas.json',
    )


class _Impact(common.Timed):
    q: Sequence[float] = option(
        'coordinates at touchdown in rad', 'A,B[,C]', numbers, required=True
    )
    v: Sequence[float] | None = option(
        'rates before touchdown in rad/s (default: the least lossy direction)', 'A,B', numbers
    )


@verb('walking_control gait impact compass --q -0.25,0.5')
def impact(options: _Impact) -> Answer:
    """Analyse the impact map and energy loss at touchdown."""
    robot_file = common.requested_robot(options)
    result = experiments.impact.analyse_impact(robot_file, options.q, options.v)

    def draw() -> dict[str, Any]:
        figures = {'impact_losses': plots.gait.plot_impact_losses(robot_file, result['q'][-1])}
        if robot_file.robot.name == 'compass':
            figures['mass_ratio'] = plots.gait.plot_losses_over_mass_ratio(
                options.robot, options.set
            )
        return figures

    return Answer(result, output.text('impact.txt'), write=output.save_figures(draw))
