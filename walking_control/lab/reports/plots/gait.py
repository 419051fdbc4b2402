# SPDX-License-Identifier: Apache-2.0
"""Figures of gaits: of a search, losses at impact, energy over steps, survived disturbances."""

from collections.abc import Sequence
from itertools import cycle
import math
from typing import Any

import numpy as np

from walking_control.lab.experiments.gait_search import GaitSearch
from walking_control.lab.experiments.impact import losses_over_angle
from walking_control.lab.reports.plots import style
from walking_control.lab.reports.plots.walk import draw_bones, phase_planes, strengths
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words, Robot
from walking_control.models.robot_file import RobotFile, World
from walking_control.models.step_equations import REFLECTION
from walking_control.runs.kinematics import Skeleton, tilt
from walking_control.runs.quantities import touchdowns
from walking_control.runs.run import Run

# axis across the picture, title, label
_VIEWS = ((0, 'from the side', 'forward (m)'), (1, 'from behind', 'to the left (m)'))


def plot_snapshots(found: GaitSearch, poses: int = 9) -> style.Figure:
    """Draw one step of a gait as multiple exposures, early poses faint (Figs. 4.7, 4.14, 4.18)."""
    robot, gait = found.robot_file.robot, found.result.gait
    q, v, _ = gait.motion(np.linspace(0.0, gait.period, poses))
    views = _VIEWS[: len(robot.base.axes) - 1]
    figure, axes = style.new_figure(1, height=4.6, columns=len(views), sharey=True)
    skeleton, shapes = _pose(robot, q)
    slope = found.robot_file.values(World).slope
    for strength, points in zip(strengths(poses), shapes, strict=True):
        for axis, (across, _, _) in zip(axes, views, strict=True):
            seen = tilt(points[:, ::2], slope) if across == 0 else points[:, 1:]
            draw_bones(axis, skeleton, seen, alpha=strength, linewidth=2.4)
    step = found.result.judgement.step
    for axis, (across, title, xlabel) in zip(axes, views, strict=True):
        lean = 0.0 if across else -np.tan(slope)
        axis.axline((0.0, 0.0), slope=lean, color='black', linewidth=1.2)
        if axis is axes[0]:
            title += f': step {100 * step[0]:.0f} cm in {gait.period:.2f} s'
        ylabel = 'up (m)' if axis is axes[0] else ''
        style.label(axis, title, ylabel, xlabel, aspect='equal')
    style.add_foot_legend(figure, robot)
    return figure


def _pose(robot: Robot, coordinates: np.ndarray) -> tuple[Skeleton, np.ndarray]:
    """Return the `Skeleton` and its points in every pose, stance foot at the origin, m."""
    dynamics = Dynamics(robot)
    skeleton, still = Skeleton(dynamics), np.zeros(len(robot.coordinates))
    poses = [dynamics.base_from_coordinates(robot.feet[0], q, still)[0] for q in coordinates]
    return skeleton, np.array([skeleton.points(q) for q in poses])


def plot_motion(found: GaitSearch) -> style.Figure:
    """Draw coordinates, rates, torques, the swing foot's height and the floor's force."""
    result, robot = found.result, found.robot_file.robot
    gait, judgement = result.gait, result.judgement
    time = np.linspace(0.0, gait.period, 300)
    q, v, _ = gait.motion(time)
    swing, stance = ({'color': colour} for colour in style.FOOT_COLOURS[1::-1])

    def by_coordinate(values: np.ndarray, named: bool = False) -> list[tuple[Any, dict[str, Any]]]:
        return [
            (values[:, i], {'color': colour, **({'label': name} if named else {})})
            for i, (name, colour) in enumerate(zip(robot.coordinates, cycle(style.COLOURS)))
        ]

    figure, axes = style.draw_panels(
        time,
        [
            style.Panel('minimal coordinates', 'rad', by_coordinate(q, True)),
            style.Panel('rates', 'rad/s', by_coordinate(v)),
            style.Panel(f'torques; cost {judgement.cost:.3g} N²m²s', 'N m', ()),
            style.Panel('height of the swing foot', 'm', ()),
            style.Panel('force of the floor: normal, dashed forward', 'N', ()),
        ],
        height=1.75,
    )
    for values, look in by_coordinate(judgement.effort):
        axes[2].plot(judgement.time, values, **look)
    axes[3].plot(judgement.time, judgement.foot[:, -1], **swing)
    axes[4].plot(judgement.time, judgement.force[:, -1], **stance)
    axes[4].plot(judgement.time, judgement.force[:, 0], linestyle='--', **stance)
    widest = 6 + max(len(name) for name in robot.coordinates)  # letters and the line before them
    figure.legend(
        ncols=max(1, 110 // widest), loc='outside upper right', fontsize=10, frameon=False
    )
    for axis in axes:
        for end in np.cumsum([phase.duration for phase in gait.phases])[:-1]:
            axis.axvline(end, color=style.FAINT, linewidth=1.0)
    return figure


def plot_top_view(found: GaitSearch, steps: int = 6) -> style.Figure:
    """Draw the paths of feet, hip and head of a spatial walker from above (Fig. 4.17)."""
    robot, gait = found.robot_file.robot, found.result.gait
    skeleton, points = _pose(robot, gait.motion(np.linspace(0.0, gait.period, 80))[0])
    hip, swing = points[:, skeleton.base], points[:, skeleton.feet[1]]
    limbs = points[:, skeleton.feet[-1] + 1 :]
    figure, axes = style.new_figure(1, height=3.2)
    stance, mirror = np.zeros(3), np.eye(3)
    for step in range(steps):
        axes[0].plot(*(stance + swing @ mirror)[:, :2].T, color=style.FOOT_COLOURS[(step + 1) % 2])
        axes[0].plot(*stance[:2], 'o', color=style.FOOT_COLOURS[step % 2])
        axes[0].plot(*(stance + hip @ mirror)[:, :2].T, color=style.NEUTRAL)
        for k in range(limbs.shape[1]):
            axes[0].plot(*(stance + limbs[:, k] @ mirror)[:, :2].T, color=style.COLOURS[2])
        stance, mirror = stance + mirror @ swing[-1], mirror @ REFLECTION
    style.label(
        axes[0],
        f'paths of the feet, the hip (grey) and the head (green), {steps} steps',
        'to the left (m)',
        'forward (m)',
        aspect='equal',
    )
    style.add_foot_legend(figure, robot)
    return figure


def plot_cost_over_speed(curves: Any) -> style.Figure:
    """Draw optimal cost, and adapted parameters, over walking speed (Fig. 5.2).

    Args:
        curves: name -> list of rows with ``speed``, ``cost`` and ``parameters``, as of
            `gait_search.sweep_speed`.
    """
    names = sorted({name for rows in curves.values() for row in rows for name in row['parameters']})
    figure, axes = style.new_figure(1 + len(names), height=2.4, sharex=True)
    for (title, rows), colour in zip(curves.items(), cycle(style.COLOURS)):
        speeds = [row['speed'] for row in rows]
        costs = [row['cost'] if row['reason'] is None else np.nan for row in rows]
        axes[0].semilogy(speeds, costs, 'o-', color=colour, label=title)
        for axis, name in zip(axes[1:], names, strict=True):
            values = [row['parameters'].get(name, np.nan) for row in rows]
            axis.plot(speeds, values, 'o-', color=colour)
            style.label(axis, name, 'value (SI)')
    axes[0].legend()
    style.label(axes[0], 'optimal cost on a fine grid', 'cost (N²m²s)')
    axes[-1].set_xlabel('speed (m/s)')
    return figure


def plot_atlas(result: Any) -> style.Figure:
    """Draw steps, speed and eigenvalues of the branches of `find_atlas` over the parameter."""
    figure, axes = style.new_figure(4, height=2.2, sharex=True)
    axes[3].axhline(1.0, color=style.NEUTRAL, linewidth=1.0)
    style.label(axes[3], '', '', result['parameter'], ylim=(0.0, 3.0))
    looks = {'unstable': {'color': style.NEUTRAL, 'linestyle': ':'}}
    for branch in result['branches']:
        cycles, strides = branch['cycles'], branch['strides']
        colour = {'color': style.COLOURS[int(math.log2(strides))]}
        looks[f'cycles of {strides} stride' + 's' * (strides > 1)] = colour
        columns = {
            'step length (m)': [cycle['step_lengths'] for cycle in cycles],
            'step time (s)': [cycle['step_times'] for cycle in cycles],
            'speed (m/s)': [cycle['speed'] for cycle in cycles],
            'largest eigenvalue': [abs(cycle['eigenvalues'][0]) for cycle in cycles],
        }
        values = np.array([cycle['value'] for cycle in cycles])
        # events belong to both sides
        stable = np.where(np.less(columns['largest eigenvalue'], 1.0 + 1e-6), values, np.nan)
        for axis, (name, rows) in zip(axes, columns.items(), strict=True):
            axis.plot(values, rows, ':', linewidth=1.2, **colour)
            axis.plot(stable, rows, **colour)
            axis.set_ylabel(name)
            for i, found in enumerate(cycles):
                if event := found['event']:
                    looks[event] = {
                        'color': style.MARK,
                        'linestyle': '',
                        'marker': {'fold': 'o', 'period doubling': '^', 'torus': 's'}[event],
                    }
                    axis.plot(values[i], rows[i : i + 1], **looks[event])
    style.add_legend(figure, looks)
    return figure


def search_figures(found: GaitSearch) -> dict[str, style.Figure]:
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
    figure, axes, moving = phase_planes(run)
    begins = [*touchdowns(run), len(run.time)]
    after = slice(begins[1], begins[min(5, len(begins) - 1)])
    one, closing = slice(0, begins[1]), [begins[1] - 1, 0]
    blue = {'color': style.FOOT_COLOURS[0]}
    lines: list[tuple[Any, str, dict[str, Any]]] = [
        (after, '.', {'color': style.FAINT, 'markersize': 3, 'label': 'the steps after it'}),
        (one, '-', {**blue, 'label': 'one step'}),
        (
            closing,
            '--',
            {
                'color': style.MARK,
                'linewidth': 1.3,
                'label': 'touchdown: feet change roles, the impact takes speed',
            },
        ),
        (slice(1), 'o', {**blue, 'markersize': 5, 'label': 'just after it'}),
    ]
    for axis, i in zip(axes, moving, strict=False):
        for rows, form, look in lines:
            axis.plot(run.coordinates[rows, i], run.rates[rows, i], form, **look)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc='outside lower center',
        ncols=4,
        frameon=False,
        fontsize=9.5,
    )
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
    shares = losses_over_angle(robot_file, angles)
    figure, (axis,) = style.new_figure(1, height=4.0)
    axis.fill_between(angles, shares[:, 0], shares[:, -1], color=style.FAINT, alpha=0.4)
    for column, colour, name in (
        (0, style.FOOT_COLOURS[0], 'most'),
        (-1, style.FOOT_COLOURS[1], 'least'),
    ):
        axis.plot(angles, shares[:, column], color=colour, label=f'{name} lossy direction')
    if angle is not None:
        axis.axvline(angle, color=style.NEUTRAL, linewidth=1.0)
    style.label(
        axis,
        f'Share of kinetic energy lost at touchdown, {robot_file.robot.name}',
        'share',
        'hip angle at touchdown (rad)',
    )
    axis.legend()
    return figure


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
    angles = np.linspace(0.02, np.pi / 2, 80)
    figure, (axis,) = style.new_figure(1, height=4.0)
    for i, ratio in enumerate(ratios):
        robot_file = load_robot(name, (*overrides, ('leg_mass', 1.0), ('hip_mass', ratio)))
        shares = losses_over_angle(robot_file, angles)
        shade = 0.25 + 0.75 * i / max(1, len(ratios) - 1)
        axis.plot(
            angles,
            shares[:, -1],
            color=style.FOOT_COLOURS[0],
            alpha=shade,
            label=f'hip {ratio:g} : leg 1',
        )
    style.label(
        axis,
        'Smallest share of kinetic energy lost at touchdown',
        'share',
        'hip angle at touchdown (rad)',
    )
    axis.legend()
    return figure


def plot_robustness(result: dict[str, Any]) -> style.Figure:
    """Draw which sizes of a disturbance or lasting error were survived.

    Args:
        result: Summary of a `FirstFailure` of `find_first_failure` or `find_margin`.
    """
    figure, (axis,) = style.new_figure(1, height=1.6)
    for survived, colour, name in (
        (True, style.FOOT_COLOURS[0], 'survived'),
        (False, style.FOOT_COLOURS[1], 'failed'),
    ):
        sizes = [size for size, lives, _ in result['samples'] if lives is survived]
        axis.plot(
            sizes,
            np.full(len(sizes), float(survived)),
            '|',
            markersize=14,
            color=colour,
            label=name,
        )
    axis.set_yticks([0.0, 1.0], ['failed', 'survived'])
    what = result.get('disturbance') or result['margin']
    lasted = (
        f'{result["further_steps"]} further steps'
        if 'further_steps' in result
        else f'{result["duration"]:g} s, seeds: {result["seeds"]}'
    )
    style.label(
        axis,
        f'{result["robot"]} under {result["controller"]}, {lasted}',
        '',
        f'{what.replace("_", " ")} ({result["unit"]})',
        ylim=(-0.6, 1.6),
    )
    return figure
