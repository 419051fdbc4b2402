# SPDX-License-Identifier: Apache-2.0
"""Figures of a kept posture; a band of colour marks a foot that stands alone, grey a flight."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from walking_control.lab.reports.plots import style
from walking_control.lab.reports.scene import Pose, Scene, telling_rows
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words, Robot
from walking_control.runs.kinematics import base_lean, leg_of_each_joint
from walking_control.runs.posture import friction_ratios, is_held, joint_motion
from walking_control.runs.quantities import LOADED
from walking_control.runs.run import Run

_DASHES = ('-', '--', ':')  # beyond seven joints in a panel
_FORCE_FRAME = 2.5  # weights; landing peaks leave the frame
_SIDES = ('left_', 'right_')


def plot_efforts(run: Run) -> style.Figure | None:
    """Draw every effort as a share of its limit, one panel a leg; None without actuators."""
    robot = run.robot
    if not robot.actuators:
        return None
    limits = robot.effort_limits
    share = run.effort / np.where(limits > 0.0, limits, np.inf)
    columns = {joint: share[:, i] for i, joint in enumerate(robot.actuators)}
    return _plot_joints(run, columns, 'effort of the {}, share of its limit', 'share (1)', 0.05)


def plot_joint_motion(run: Run) -> style.Figure | None:
    """Draw the distance of every joint from the start posture, one panel a leg."""
    motion = joint_motion(run)
    columns = {joint: motion[:, i] for i, joint in enumerate(run.robot.joints)}
    title = (
        'drift of the {} from the held posture'
        if is_held(run)
        else 'motion of the {} from the start posture'
    )
    return _plot_joints(run, columns, title, 'angle (rad)', 0.002)


def _plot_joints(run: Run, columns: Any, title: str, ylabel: str, least: float) -> style.Figure:
    """Draw a line for each joint, in panels of the leg they belong to, all to one scale."""
    groups = {
        name: joints
        for name, joints in _limbs(run.robot).items()
        if any(joint in columns for joint in joints)
    }
    figure, axes = style.new_figure(len(groups), width=10.0, height=2.3, sharex=True)
    reach = 1.08 * max(least, *(np.abs(column).max() for column in columns.values()))
    for axis, (name, joints) in zip(axes, groups.items(), strict=True):
        for i, joint in enumerate(joint for joint in joints if joint in columns):
            lap, hue = divmod(i, len(style.COLOURS))
            axis.plot(
                run.time,
                columns[joint],
                _DASHES[lap % len(_DASHES)],
                linewidth=1.5,
                color=style.COLOURS[hue],
                label=_short(joint, joints),
            )
        axis.set_ylim(-reach, reach)
        style.legend_beside(axis)
        style.label(axis, title.format(name), ylabel)
    _finish(figure, axes, run)
    return figure


def _limbs(robot: Robot) -> dict[str, list[str]]:
    """Return words for a limb -> its joints: one for each foot, one for the rest of the body."""
    limbs: dict[str, list[str]] = {}
    for joint, foot in leg_of_each_joint(robot).items():
        name = 'upper body' if foot is None else _leg(robot.feet[foot])
        limbs.setdefault(name, []).append(joint)
    return limbs


def _leg(foot: str) -> str:
    sides = (f'{side[:-1]} leg' for side in _SIDES if foot.startswith(side))
    return next(sides, f'leg of the {in_words(foot)}')


def _short(joint: str, joints: Sequence[str]) -> str:
    """Return a joint in words, without the side that all joints of its limb share."""
    shared = (side for side in _SIDES if all(other.startswith(side) for other in joints))
    return in_words(joint.removeprefix(next(shared, '')))


def plot_foot_forces(run: Run, rows: slice = slice(None)) -> style.Figure:
    """Draw normal force, force along the floor and friction used of each foot."""
    weight, friction = Dynamics(run.robot).mass * run.world.gravity, run.world.friction
    normal = run.foot_force[rows, :, 2]
    along = np.hypot(run.foot_force[rows, :, 0], run.foot_force[rows, :, 1])
    peak, frame = normal.max(), _FORCE_FRAME * weight
    beyond = f'; sampled peaks reach {peak:.0f} N' if peak > frame else ''
    # equal feet both stay visible
    looks = [
        {'color': style.FOOT_COLOURS[i], 'linewidth': 2.0 if i == 0 else 1.2}
        for i in range(len(run.robot.feet))
    ]
    figure, axes = style.draw_panels(
        run.time[rows],
        [
            style.Panel(
                f'normal force; dotted: weight, {weight:.0f} N{beyond}',
                'force (N)',
                zip(normal.T, looks),
                (weight, ':'),
                {'ylim': (0.0, min(frame, 1.08 * max(weight, peak)))},
            ),
            style.Panel(
                'force along the floor, size',
                'force (N)',
                zip(along.T, looks),
                more={'ylim': (0.0, min(frame, 1.08 * max(0.02 * weight, along.max())))},
            ),
            style.Panel(
                f'friction used by feet with {100 * LOADED:.0f} % of the weight; dashed: '
                'coefficient of friction',
                'ratio (1)',
                zip(friction_ratios(run, weight)[rows].T, looks),
                (friction, '--'),
                {'ylim': (0.0, 1.1 * friction)},
            ),
        ],
        width=10.0,
        height=2.2,
    )
    _finish(figure, axes, run, rows)
    return figure


def plot_base(run: Run) -> style.Figure:
    """Draw lean, height and place of the base over time."""
    tilt, forward, left = base_lean(run)
    figure, axes = style.new_figure(3, width=10.0, height=2.0, sharex=True)
    place = run.base.position - run.base.position[0]
    _plot_lines(
        axes[0],
        run,
        (
            ('size', tilt, style.FAINT),
            ('forward', forward, style.COLOURS[2]),
            ('to the left', left, style.COLOURS[3]),
        ),
        2e-3,
    )
    style.label(axes[0], 'lean of the base from the vertical', 'angle (rad)')
    _plot_lines(axes[1], run, (('', 1e3 * place[:, 2], 'black'),), 1.0)
    style.label(
        axes[1],
        f'height of the base above {run.base.position[0, 2]:.3f} m, that of the start',
        'height (mm)',
    )
    _plot_lines(
        axes[2],
        run,
        (
            ('forward', 1e3 * place[:, 0], style.COLOURS[2]),
            ('to the left', 1e3 * place[:, 1], style.COLOURS[3]),
        ),
        1.0,
    )
    style.label(axes[2], 'place of the base along the floor, from the start', 'distance (mm)')
    _finish(figure, axes, run)
    return figure


def _plot_lines(axis: style.Axes, run: Run, lines: Any, least: float) -> None:
    """Draw named lines; the scale never shows less than `least` either way."""
    for name, values, colour in lines:
        axis.plot(run.time, values, color=colour, linewidth=1.5, label=name)
    low = min(-least, *(values.min() for _, values, _ in lines), 0.0)
    high = max(least, *(values.max() for _, values, _ in lines), 0.0)
    axis.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    if len(lines) > 1:
        style.legend_beside(axis)


def _finish(
    figure: style.Figure, axes: list[style.Axes], run: Run, rows: slice = slice(None)
) -> None:
    """Shade what the robot stands on, label time, name the colours."""
    time, standing = run.time, run.contact.sum(axis=1)
    for axis in axes:
        style.shade(axis, time, standing == 0, style.FAINT, 0.35)
        for contact, colour in zip(run.contact.T, style.FOOT_COLOURS):
            style.shade(axis, time, contact & (standing == 1), colour)
    flies = None if standing.all() else ('no foot on the floor', style.FAINT)
    axes[-1].set(xlabel='time (s)', xlim=tuple(time[rows][[0, -1]]))
    style.add_foot_legend(figure, run.robot, '(band: stands alone)', flies)


def plot_poses(run: Run) -> style.Figure:
    """Draw the robot with the forces on its feet, from the front and from the right."""
    rows, scene = telling_rows(run), Scene(run)
    columns = max(2, len(rows))
    lines = 1 if len(rows) == 1 else 2
    figure, axes = style.new_figure(
        lines, width=3.6 * columns, height=4.4, columns=columns, sharey=True
    )
    for i, (row, words) in enumerate(rows):
        pose = scene.pose(row)
        front, side = (axes[0], axes[1]) if lines == 1 else (axes[i], axes[columns + i])
        for axis, across in ((front, 1), (side, 0)):
            _draw_pose(axis, scene, pose, across)
        style.label(front, f'{words}, {run.time[row]:.2f} s', xlabel='from the front: left (m)')
        side.set_xlabel('from the right: forward (m)')
        _name_forces(front, scene, pose, run.foot_force[row])
    for axis in axes[::columns]:
        axis.set_ylabel('up (m)')
    style.add_foot_legend(figure, run.robot, 'and the force on it')
    return figure


def _draw_pose(axis: style.Axes, scene: Scene, pose: Pose, across: int) -> None:
    from matplotlib.patheffects import withStroke

    axis.axhline(0.0, color='black', linewidth=1.0, zorder=1)
    for segment in scene.segments:
        ends = pose.points[[segment.start, segment.end]]
        axis.plot(
            ends[:, across],
            ends[:, 2],
            linewidth=4.5,
            solid_capstyle='round',
            color=style.NEUTRAL if segment.foot is None else style.FOOT_COLOURS[segment.foot],
            alpha=0.45,
        )
    for i, sole in enumerate(pose.soles):
        axis.plot(sole[:, across], sole[:, 2], color=style.FOOT_COLOURS[i], linewidth=4.0)
    halo = [withStroke(linewidth=3.2, foreground='white')]
    for i, (foot, tip) in pose.arrows.items():
        axis.annotate(
            '',
            (tip[across], tip[2]),
            (foot[across], foot[2]),
            zorder=6,
            arrowprops={
                'arrowstyle': '-|>',
                'color': style.FOOT_COLOURS[i],
                'linewidth': 2.0,
                'mutation_scale': 15,
                'shrinkA': 0,
                'shrinkB': 0,
                'path_effects': halo,
            },
        )
    axis.plot(
        [pose.com[across], pose.plumb[across]],
        [pose.com[2], pose.plumb[2]],
        color='black',
        linewidth=1.0,
        linestyle='--',
        zorder=5,
    )
    axis.plot(pose.com[across], pose.com[2], marker='X', markersize=9, color='black', zorder=6)
    middle = np.mean([sole.mean(axis=0) for sole in pose.soles], axis=0)[across]
    reach = 0.42 * scene.height
    low, high = pose.points[:, across].min() - 0.06, pose.points[:, across].max() + 0.06
    axis.set(
        xlim=(min(middle - reach, low), max(middle + reach, high)),
        ylim=(-0.07 * scene.height, 1.1 * scene.height),
        aspect='equal',
        adjustable='box',
    )


def _name_forces(axis: style.Axes, scene: Scene, pose: Pose, forces: Any) -> None:
    """Write the normal force beside each foot, outside the legs."""
    middle = np.mean([sole.mean(axis=0)[1] for sole in pose.soles])
    for i, sole in enumerate(pose.soles):
        outside = sole[:, 1].mean() > middle
        edge = (sole[:, 1].max() if outside else sole[:, 1].min(), 0.06 * scene.height)
        axis.annotate(
            f'{forces[i, 2]:.0f} N',
            edge,
            color=style.FOOT_COLOURS[i],
            fontsize=10,
            ha='left' if outside else 'right',
            xytext=(5 if outside else -5, 0),
            textcoords='offset points',
        )
