# SPDX-License-Identifier: Apache-2.0
"""Figures of gaits: of a search, losses at impact, energy over steps, survived disturbances."""

from collections.abc import Callable, Sequence
from itertools import cycle
import math
from operator import itemgetter
from typing import Any

import numpy as np

from walking_control.lab.experiments import gait_search, impact
from walking_control.lab.reports.plots import (
    bones,
    Mark,
    mark,
    Panel,
    phase_planes,
    strengths,
    style,
)
from walking_control.loading import load_robot
from walking_control.models import Dynamics, in_words, REFLECTION, Robot, RobotFile, World
from walking_control.runs import Run, Skeleton, tilt, touchdowns

# axis across the picture, title, label
_VIEWS = ((0, 'from the side', 'forward (m)'), (1, 'from behind', 'to the left (m)'))
_ATLAS: dict[str, Callable[[dict[str, Any]], Any]] = {  # of a cycle
    'step length (m)': itemgetter('step_lengths'),
    'step time (s)': itemgetter('step_times'),
    'speed (m/s)': itemgetter('speed'),
    'largest eigenvalue': lambda cycle: abs(cycle['eigenvalues'][0]),
}
_EVENTS = {'fold': 'o', 'period doubling': '^', 'torus': 's'}
_JUMP = 'touchdown: feet change roles, the impact takes speed'
_HIP = 'hip angle at touchdown (rad)'


def plot_snapshots(found: gait_search.GaitSearch, poses: int = 9) -> style.Figure:
    """Draw one step of a gait as multiple exposures, early poses faint (Figs. 4.7, 4.14, 4.18)."""
    robot, gait = found.robot_file.robot, found.result.gait
    q, v, _ = gait.motion(np.linspace(0.0, gait.period, poses))
    views = _VIEWS[: len(robot.base.axes) - 1]
    skeleton, shapes = _pose(robot, q)
    slope, step = found.robot_file.values(World).slope, found.result.judgement.step
    said, panels = f': step {100 * step[0]:.0f} cm in {gait.period:.2f} s', list[Panel]()
    for across, title, xlabel in views:
        seen = shapes[:, :, 1:] if across else [tilt(each[:, ::2], slope) for each in shapes]
        marks = [
            each
            for strength, points in zip(strengths(poses), seen, strict=True)
            for each in bones(skeleton, points, alpha=strength, linewidth=2.4)
        ]
        lean = 0.0 if across else -np.tan(slope)
        marks.append(mark('axline', (0.0, 0.0), slope=lean, color='black', linewidth=1.2))
        words, up = (title, '') if panels else (title + said, 'up (m)')
        panels.append(Panel(words, up, marks, xlabel, more={'aspect': 'equal'}))
    figure = style.draw_panels(panels, columns=len(views), height=4.6, sharey=True)
    style.add_foot_legend(figure, robot)
    return figure


def _pose(robot: Robot, coordinates: np.ndarray) -> tuple[Skeleton, np.ndarray]:
    """Return the `Skeleton` and its points in every pose, stance foot at the origin, m."""
    dynamics = Dynamics(robot)
    skeleton, still = Skeleton(dynamics), np.zeros(len(robot.coordinates))
    poses = [dynamics.base_from_coordinates(robot.feet[0], q, still)[0] for q in coordinates]
    return skeleton, np.array([skeleton.points(q) for q in poses])


def plot_motion(found: gait_search.GaitSearch) -> style.Figure:
    """Draw coordinates, rates, torques, the swing foot's height and the floor's force."""
    result, robot = found.result, found.robot_file.robot
    gait, judgement = result.gait, result.judgement
    time = np.linspace(0.0, gait.period, 300)
    q, v, _ = gait.motion(time)
    swing, stance = ({'color': colour} for colour in style.FOOT_COLOURS[1::-1])
    ends = np.cumsum([phase.duration for phase in gait.phases])[:-1]
    phases = [mark('axvline', end, color=style.FAINT, linewidth=1.0) for end in ends]

    def by_coordinate(x: np.ndarray, values: np.ndarray, named: bool = False) -> list[Mark]:
        return [
            mark('plot', x, values[:, i], color=colour, label=name if named else None)
            for i, (name, colour) in enumerate(zip(robot.coordinates, cycle(style.COLOURS)))
        ]

    def over(values: np.ndarray, **look: Any) -> Mark:
        return mark('plot', judgement.time, values, **look)

    ahead = over(judgement.force[:, 0], linestyle='--', **stance)
    panels = [
        ('minimal coordinates', 'rad', by_coordinate(time, q, True)),
        ('rates', 'rad/s', by_coordinate(time, v)),
        (
            f'torques; cost {judgement.cost:.3g} N²m²s',
            'N m',
            by_coordinate(judgement.time, judgement.effort),
        ),
        ('height of the swing foot', 'm', [over(judgement.foot[:, -1], **swing)]),
        (
            'force of the floor: normal, dashed forward',
            'N',
            [over(judgement.force[:, -1], **stance), ahead],
        ),
    ]
    figure = style.draw_panels(
        [Panel(title, unit, [*marks, *phases]) for title, unit, marks in panels],
        'time (s)',
        height=1.75,
        sharex=True,
    )
    widest = 6 + max(len(name) for name in robot.coordinates)  # letters and the line before them
    look = {'loc': 'outside upper right', 'fontsize': 10, 'frameon': False}
    figure.legend(ncols=max(1, 110 // widest), **look)
    return figure


def plot_top_view(found: gait_search.GaitSearch, steps: int = 6) -> style.Figure:
    """Draw the paths of feet, hip and head of a spatial walker from above (Fig. 4.17)."""
    robot, gait = found.robot_file.robot, found.result.gait
    skeleton, points = _pose(robot, gait.motion(np.linspace(0.0, gait.period, 80))[0])
    hip, swing = points[:, skeleton.base], points[:, skeleton.feet[1]]
    limbs = points[:, skeleton.feet[-1] + 1 :]
    stance, mirror, marks = np.zeros(3), np.eye(3), list[Mark]()
    for step in range(steps):
        paths = [(swing, style.FOOT_COLOURS[(step + 1) % 2]), (hip, style.NEUTRAL)]
        paths += [(limbs[:, k], style.COLOURS[2]) for k in range(limbs.shape[1])]
        for path, colour in paths:
            marks.append(mark('plot', *(stance + path @ mirror)[:, :2].T, color=colour))
        marks.insert(-1, mark('plot', *stance[:2], 'o', color=style.FOOT_COLOURS[step % 2]))
        stance, mirror = stance + mirror @ swing[-1], mirror @ REFLECTION
    title = f'paths of the feet, the hip (grey) and the head (green), {steps} steps'
    panel = Panel(title, 'to the left (m)', marks, 'forward (m)', more={'aspect': 'equal'})
    figure = style.draw_panels([panel], height=3.2)
    style.add_foot_legend(figure, robot)
    return figure


def plot_cost_over_speed(curves: Any) -> style.Figure:
    """Draw optimal cost, and adapted parameters, over walking speed (Fig. 5.2).

    Args:
        curves: name -> list of rows with ``speed``, ``cost`` and ``parameters``, as of
            `gait_search.sweep_speed`.
    """
    names = sorted({name for rows in curves.values() for row in rows for name in row['parameters']})
    costs, adapted = list[Mark](), {name: list[Mark]() for name in names}
    for (title, rows), colour in zip(curves.items(), cycle(style.COLOURS)):
        speeds = [row['speed'] for row in rows]
        cost = [row['cost'] if row['reason'] is None else np.nan for row in rows]
        costs.append(mark('semilogy', speeds, cost, 'o-', color=colour, label=title))
        for name, marks in adapted.items():
            values = [row['parameters'].get(name, np.nan) for row in rows]
            marks.append(mark('plot', speeds, values, 'o-', color=colour))
    panels = [
        Panel('optimal cost on a fine grid', 'cost (N²m²s)', costs, legend={}),
        *(Panel(name, 'value (SI)', marks) for name, marks in adapted.items()),
    ]
    return style.draw_panels(panels, 'speed (m/s)', height=2.4, sharex=True)


def plot_atlas(result: Any) -> style.Figure:
    """Draw steps, speed and eigenvalues of the branches of `find_atlas` over the parameter."""
    looks = {'unstable': {'color': style.NEUTRAL, 'linestyle': ':'}}
    drawn: dict[str, list[Mark]] = {name: [] for name in _ATLAS}
    drawn['largest eigenvalue'].append(mark('axhline', 1.0, color=style.NEUTRAL, linewidth=1.0))
    for branch in result['branches']:
        cycles, strides = branch['cycles'], branch['strides']
        colour = {'color': style.COLOURS[int(math.log2(strides))]}
        looks[f'cycles of {strides} stride' + 's' * (strides > 1)] = colour
        values = np.array([each['value'] for each in cycles])
        sizes = np.array([abs(each['eigenvalues'][0]) for each in cycles])
        stable = np.where(sizes < 1.0 + 1e-6, values, np.nan)  # events belong to both sides
        for name, of in _ATLAS.items():
            rows = [of(each) for each in cycles]
            drawn[name].append(mark('plot', values, rows, ':', linewidth=1.2, **colour))
            drawn[name].append(mark('plot', stable, rows, **colour))
            for value, row, event in zip(values, rows, [each['event'] for each in cycles]):
                if event:
                    looks[event] = {'color': style.MARK, 'linestyle': '', 'marker': _EVENTS[event]}
                    drawn[name].append(mark('plot', value, [row], **looks[event]))
    drawn['largest eigenvalue'].append(mark('set_ylim', 0.0, 3.0))
    panels = [Panel('', name, marks) for name, marks in drawn.items()]
    figure = style.draw_panels(panels, result['parameter'], height=2.2, sharex=True)
    style.add_legend(figure, looks)
    return figure


def search_figures(found: gait_search.GaitSearch) -> dict[str, style.Figure]:
    """Return name -> figure of everything there is to see of a search."""
    figures = {'gait_snapshots': plot_snapshots(found), 'gait_motion': plot_motion(found)}
    if 1 in found.robot_file.robot.base.axes:
        figures['gait_top_view'] = plot_top_view(found)
    return figures


def plot_cycle(run: Run, cycle: dict[str, Any]) -> style.Figure:
    """Draw a limit cycle in the phase planes, its touchdown as the jump that closes it.

    Args:
        run: The `Run` that starts on the cycle.
        cycle: Its description by `cycles.find_robot_cycles`.
    """
    begins = [*touchdowns(run), len(run.time)]
    after = slice(begins[1], begins[min(5, len(begins) - 1)])
    one, closing = slice(0, begins[1]), [begins[1] - 1, 0]
    faint, jump = {'color': style.FAINT}, {'color': style.MARK, 'linewidth': 1.3}
    blue = {'color': style.FOOT_COLOURS[0]}
    lines: list[tuple[Any, str, dict[str, Any]]] = [
        (after, '.', {**faint, 'markersize': 3, 'label': 'the steps after it'}),
        (one, '-', {**blue, 'label': 'one step'}),
        (closing, '--', {**jump, 'label': _JUMP}),
        (slice(1), 'o', {**blue, 'markersize': 5, 'label': 'just after it'}),
    ]
    figure = phase_planes(
        run,
        lambda i: [
            mark('plot', run.coordinates[rows, i], run.rates[rows, i], form, **look)
            for rows, form, look in lines
        ],
    )
    look = {'loc': 'outside lower center', 'ncols': 4, 'frameon': False, 'fontsize': 9.5}
    figure.legend(*figure.axes[0].get_legend_handles_labels(), **look)
    figure.suptitle(_cycle_title(run, cycle), x=0.01, ha='left', fontsize=11)
    return figure


def _cycle_title(run: Run, cycle: dict[str, Any]) -> str:
    slope = math.degrees(run.world.slope)
    floor = f'{abs(slope):.3g}° {"downhill" if slope > 0.0 else "uphill"}' if slope else 'level'
    values = [complex(value) for value in cycle['eigenvalues']]
    texts = [
        f'{value.real:.3g}' if value.imag == 0.0 else f'{value.real:.3g} ± {value.imag:.3g}i'
        for value in values
        if value.imag >= 0.0
    ]
    stable = 'stable' if cycle['stable'] else 'unstable'
    return (
        f'{run.robot.name}, {in_words(run.controller)}, {floor}: {stable} cycle, period '
        f'{cycle["period"]:.4g} s, step {cycle["step_length"]:.3g} m, '
        f'{cycle["speed"]:.3g} m/s\neigenvalues of the return map {", ".join(texts)}; the '
        f'largest is {max(map(abs, values)):.3g} in size'
    )


def plot_impact_losses(robot_file: RobotFile, angle: float | None = None) -> style.Figure:
    """Draw the shares of energy lost over the hip angle at touchdown, as Fig. 4.6 of [DS09].

    Args:
        angle: Hip angle to mark, rad.
    """
    angles = np.linspace(0.02, np.pi / 2, 120)
    shares = impact.losses_over_angle(robot_file, angles)
    marks = [
        mark('fill_between', angles, shares[:, 0], shares[:, -1], color=style.FAINT, alpha=0.4),
        *(
            mark('plot', angles, share, color=colour, label=f'{name} lossy direction')
            for name, share, colour in zip(('most', 'least'), shares.T[[0, -1]], style.FOOT_COLOURS)
        ),
    ]
    if angle is not None:
        marks.append(mark('axvline', angle, color=style.NEUTRAL, linewidth=1.0))
    title = f'Share of kinetic energy lost at touchdown, {robot_file.robot.name}'
    return style.draw_panels([Panel(title, 'share', marks, _HIP, {})], height=4.0)


def plot_losses_over_mass_ratio(
    name: str,
    overrides: Sequence[tuple[str, Any]] = (),
    ratios: Sequence[float] = (0.2, 0.5, 1.0, 2.0, 5.0, 20.0),
) -> style.Figure:
    """Draw the least share lost for several hip to leg mass ratios, as Fig. 4.5 of [DS09].

    Args:
        name: Robot with parameters leg_mass and hip_mass.
        overrides: Further overrides of its robot file.
        ratios: Hip mass over leg mass.
    """
    angles, marks = np.linspace(0.02, np.pi / 2, 80), []
    for i, ratio in enumerate(ratios):
        robot_file = load_robot(name, (*overrides, ('leg_mass', 1.0), ('hip_mass', ratio)))
        shares = impact.losses_over_angle(robot_file, angles)
        shade = {'alpha': 0.25 + 0.75 * i / max(1, len(ratios) - 1), 'color': style.FOOT_COLOURS[0]}
        marks.append(mark('plot', angles, shares[:, -1], label=f'hip {ratio:g} : leg 1', **shade))
    title = 'Smallest share of kinetic energy lost at touchdown'
    return style.draw_panels([Panel(title, 'share', marks, _HIP, {})], height=4.0)


def plot_robustness(result: dict[str, Any]) -> style.Figure:
    """Draw which sizes of a disturbance or lasting error were survived.

    Args:
        result: Summary of a `FirstFailure` of `find_first_failure` or `find_margin`.
    """
    marks = [
        mark('plot', sizes, np.full(len(sizes), height), '|', markersize=14, color=colour)
        for height, colour in zip((1.0, 0.0), style.FOOT_COLOURS)
        for sizes in [[size for size, lives, _ in result['samples'] if lives == bool(height)]]
    ]
    marks.append(mark('set_yticks', [0.0, 1.0], ['failed', 'survived']))
    what = in_words(result.get('disturbance') or result['margin'])
    lasted = (
        f'{result["further_steps"]} further steps'
        if 'further_steps' in result
        else f'{result["duration"]:g} s, seeds: {result["seeds"]}'
    )
    title = f'{result["robot"]} under {result["controller"]}, {lasted}'
    xlabel, more = f'{what} ({result["unit"]})', {'ylim': (-0.6, 1.6)}
    return style.draw_panels([Panel(title, '', marks, xlabel, more=more)], height=1.6)
