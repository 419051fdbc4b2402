# SPDX-License-Identifier: Apache-2.0
"""Figures of a gait search; every function returns a matplotlib Figure."""

from typing import Any

import numpy as np

from walking_control.experiments.gait_search import GaitSearch
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import Robot
from walking_control.models.robot_file import World
from walking_control.models.step_equations import REFLECTION
from walking_control.reports.plots.style import (
    add_foot_legend,
    COLOURS,
    FAINT,
    Figure,
    FOOT_COLOURS,
    label,
    NEUTRAL,
    new_figure,
)
from walking_control.reports.plots.walk import segment_colour
from walking_control.runs.kinematics import Skeleton, tilt

# axis across the picture, title, label
_VIEWS = ((0, 'from the side', 'forward (m)'), (1, 'from behind', 'to the left (m)'))


def plot_snapshots(found: GaitSearch, poses: int = 9) -> Figure:
    """Draw one step of a gait as multiple exposures, early poses faint (Figs. 4.7, 4.14, 4.18)."""
    robot, gait = found.robot_file.robot, found.result.gait
    q, v, _ = gait.motion(np.linspace(0.0, gait.period, poses))
    views = _VIEWS[:len(robot.base.axes) - 1]
    figure, axes = new_figure(1, height=4.6, columns=len(views), sharey=True)
    skeleton, shapes = _pose(robot, q)
    slope = found.robot_file.values(World).slope
    for k, points in enumerate(shapes):
        strength = 0.2 + 0.8 * (k / max(1, poses - 1)) ** 1.3
        for axis, (across, _, _) in zip(axes, views, strict=True):
            seen = tilt(points[:, ::2], slope) if across == 0 else points[:, 1:]
            for segment in skeleton.segments:
                axis.plot(*seen[[segment.start, segment.end]].T, color=segment_colour(segment),
                          alpha=strength, linewidth=2.4)
    step = found.result.judgement.step
    for axis, (across, title, xlabel) in zip(axes, views, strict=True):
        axis.set_aspect('equal')
        axis.axline((0.0, 0.0), slope=0.0 if across else -np.tan(slope), color='black',
                    linewidth=1.2)
        axis.set_title(f'{title}: step {100 * step[0]:.0f} cm in {gait.period:.2f} s'
                       if axis is axes[0] else title, loc='left', fontsize=11)
        axis.set_xlabel(xlabel)
    axes[0].set_ylabel('up (m)')
    add_foot_legend(figure, robot)
    return figure


def _pose(robot: Robot, coordinates: np.ndarray) -> tuple[Skeleton, np.ndarray]:
    """Return the `Skeleton` and its points in every pose, stance foot at the origin, m."""
    dynamics = Dynamics(robot)
    skeleton, still = Skeleton(dynamics), np.zeros(len(robot.coordinates))
    poses = [dynamics.base_from_coordinates(robot.feet[0], q, still)[0] for q in coordinates]
    return skeleton, np.array([skeleton.points(q) for q in poses])


def plot_motion(found: GaitSearch) -> Figure:
    """Draw coordinates, rates, torques, the swing foot's height and the floor's force."""
    result, robot = found.result, found.robot_file.robot
    gait, judgement = result.gait, result.judgement
    time = np.linspace(0.0, gait.period, 300)
    q, v, _ = gait.motion(time)
    figure, axes = new_figure(5, height=1.75, sharex=True)
    for i, name in enumerate(robot.coordinates):
        colour = COLOURS[i % len(COLOURS)]
        axes[0].plot(time, q[:, i], color=colour, label=name)
        axes[1].plot(time, v[:, i], color=colour)
        axes[2].plot(judgement.time, judgement.effort[:, i], color=colour)
    widest = 6 + max(len(name) for name in robot.coordinates)   # letters and the line before them
    figure.legend(ncols=max(1, 110 // widest), loc='outside upper right', fontsize=10,
                  frameon=False)
    axes[3].plot(judgement.time, judgement.foot[:, -1], color=FOOT_COLOURS[1])
    axes[4].plot(judgement.time, judgement.force[:, -1], color=FOOT_COLOURS[0])
    axes[4].plot(judgement.time, judgement.force[:, 0], color=FOOT_COLOURS[0], linestyle='--')
    label(axes[0], 'minimal coordinates', 'rad')
    label(axes[1], 'rates', 'rad/s')
    label(axes[2], f'torques; cost {judgement.cost:.3g} N²m²s', 'N m')
    label(axes[3], 'height of the swing foot', 'm')
    label(axes[4], 'force of the floor: normal, dashed forward', 'N')
    for axis in axes:
        for end in np.cumsum([phase.duration for phase in gait.phases])[:-1]:
            axis.axvline(end, color=FAINT, linewidth=1.0)
    axes[-1].set_xlabel('time (s)')
    return figure


def plot_top_view(found: GaitSearch, steps: int = 6) -> Figure:
    """Draw the paths of feet, hip and head of a spatial walker from above (Fig. 4.17)."""
    robot, gait = found.robot_file.robot, found.result.gait
    skeleton, points = _pose(robot, gait.motion(np.linspace(0.0, gait.period, 80))[0])
    hip, swing = points[:, skeleton.base], points[:, skeleton.feet[1]]
    limbs = points[:, skeleton.feet[-1] + 1:]
    figure, axes = new_figure(1, height=3.2)
    stance, mirror = np.zeros(3), np.eye(3)
    for step in range(steps):
        axes[0].plot(*(stance + swing @ mirror)[:, :2].T, color=FOOT_COLOURS[(step + 1) % 2])
        axes[0].plot(*stance[:2], 'o', color=FOOT_COLOURS[step % 2])
        axes[0].plot(*(stance + hip @ mirror)[:, :2].T, color=NEUTRAL)
        for k in range(limbs.shape[1]):
            axes[0].plot(*(stance + limbs[:, k] @ mirror)[:, :2].T, color=COLOURS[2])
        stance, mirror = stance + mirror @ swing[-1], mirror @ REFLECTION
    axes[0].set_aspect('equal')
    label(axes[0], f'paths of the feet, the hip (grey) and the head (green), {steps} steps',
          'to the left (m)')
    axes[0].set_xlabel('forward (m)')
    add_foot_legend(figure, robot)
    return figure


def plot_cost_over_speed(curves: Any) -> Figure:
    """Draw optimal cost, and adapted parameters, over walking speed (Fig. 5.2).

    Args:
        curves: name -> list of rows with ``speed``, ``cost`` and ``parameters``, as of
            `gait_search.sweep_speed`.
    """
    names = sorted({name for rows in curves.values() for row in rows
                    for name in row['parameters']})
    figure, axes = new_figure(1 + len(names), height=2.4, sharex=True)
    for k, (title, rows) in enumerate(curves.items()):
        speeds = [row['speed'] for row in rows]
        colour = COLOURS[k % len(COLOURS)]
        costs = [row['cost'] if row['reason'] is None else np.nan for row in rows]
        axes[0].semilogy(speeds, costs, 'o-', color=colour, label=title)
        for axis, name in zip(axes[1:], names, strict=True):
            values = [row['parameters'].get(name, np.nan) for row in rows]
            axis.plot(speeds, values, 'o-', color=colour)
    axes[0].legend()
    label(axes[0], 'optimal cost on a fine grid', 'cost (N²m²s)')
    for axis, name in zip(axes[1:], names, strict=True):
        label(axis, name, 'value (SI)')
    axes[-1].set_xlabel('speed (m/s)')
    return figure


def search_figures(found: GaitSearch) -> dict[str, Figure]:
    """Return name -> figure of everything there is to see of a search."""
    figures = {'gait_snapshots': plot_snapshots(found), 'gait_motion': plot_motion(found)}
    if 1 in found.robot_file.robot.base.axes:
        figures['gait_top_view'] = plot_top_view(found)
    return figures
