# SPDX-License-Identifier: Apache-2.0
"""Figures of a run, its estimate and a recording; a band of colour marks the time of stance."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from walking_control.lab.reports.plots import style
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words, Robot
from walking_control.runs import kinematics
from walking_control.runs.metrics import step_table
from walking_control.runs.quantities import floor_tilt, motors, touchdowns
from walking_control.runs.run import Run

# Contact peaks above this many weights leave the frame of the plot of forces.
ESTIMATE_CAPTION = (
    'Estimate less truth of the base in the axes of the floor, and three standard deviations as '
    'the estimator gave them: an honest one holds 99.7 % of the errors.'
)
_ROWS = (
    ('turn about', 'degrees', np.degrees(1.0)),
    ('velocity along', 'm/s', 1.0),
    ('place along', 'm', 1.0),
)


def last_steps(run: Run, count: int = 6) -> slice:
    """Return the slice of rows of the last steps of a run, to its end after a fall."""
    rows = touchdowns(run)
    end = len(run.time) if run.broke_off or len(rows) < 2 else rows[-1] + 1
    return slice(rows[max(0, len(rows) - 1 - count)], end)


def plot_joint_angles(run: Run) -> style.Figure:
    """Draw leg and joint angles over time, as Figs. 5.13 and 5.15 of [DS09].

    The first panel shows the first minimal coordinate as seen from each foot, thick while that
    foot stands; then a panel for every joint and its mirror partner.
    """
    rows = last_steps(run)
    robot, time = run.robot, run.time[rows]
    angles = run.q[rows, robot.base.nq - len(robot.base.angles) :]
    groups = _mirror_groups(robot)
    figure, axes = style.new_figure(1 + len(groups), height=1.75, sharex=True)
    for i, foot in enumerate(robot.feet):
        leg = angles @ robot.supports[foot][0]
        stands = run.support[rows] == i
        axes[0].plot(time, leg, color=style.FOOT_COLOURS[i], linewidth=1.0)
        axes[0].plot(
            time, np.where(stands, leg, np.nan), color=style.FOOT_COLOURS[i], linewidth=2.6
        )
    style.label(
        axes[0],
        f'{robot.coordinates[0]} of each leg from the floor normal, thick while it stands',
        'angle (rad)',
    )
    colours = _joint_colours(robot)
    for axis, joints in zip(axes[1:], groups, strict=True):
        for joint in joints:
            axis.plot(time, run.joints[rows, robot.joint_index(joint)], color=colours[joint])
        style.label(axis, ', '.join(in_words(joint) for joint in joints), 'angle (rad)')
    _finish(figure, axes, run, rows)
    return figure


def phase_planes(run: Run) -> tuple[style.Figure, list[style.Axes], np.ndarray]:
    """Return a figure, axes with a rate over a coordinate each, and the indices of these.

    Args:
        run: The `Run`; coordinates that hardly move in it get no axes.
    """
    names = run.robot.coordinates
    moving = np.flatnonzero(np.ptp(run.coordinates, axis=0) > 1e-2)
    moving = moving if len(moving) else np.arange(1)
    columns = 2 if len(moving) == 4 else min(3, len(moving))
    figure, axes = style.new_figure(-(-len(moving) // columns), height=3.4, columns=columns)
    for axis, i in zip(axes, moving, strict=False):
        style.label(axis, '', f'rate of {names[i]} (rad/s)', f'{names[i]} (rad)')
    for axis in axes[len(moving) :]:
        axis.set_visible(False)
    figure.get_layout_engine().set(wspace=0.08)
    return figure, axes, moving


def plot_phase_portrait(run: Run) -> style.Figure:
    """Draw every minimal coordinate against its rate; the second half of the run is coloured."""
    table = touchdowns(run)
    figure, axes, moving = phase_planes(run)
    half = 0.5 * (run.time[0] + run.time[-1])
    for axis, i in zip(axes, moving, strict=False):
        for begin, end in zip(table, [*table[1:], len(run.time)], strict=True):
            late = run.time[begin] >= half
            colour = style.FOOT_COLOURS[run.support[begin]] if late else style.FAINT
            x, y = run.coordinates[begin:end, i], run.rates[begin:end, i]
            axis.plot(x, y, color=colour, linewidth=1.3 if late else 0.8, zorder=3 if late else 2)
            axis.plot(x[:1], y[:1], 'o', color=colour, markersize=4, zorder=4 if late else 2)
    style.add_foot_legend(figure, run.robot, 'stands', extra=('first half of the run', style.FAINT))
    return figure


def plot_actuators(run: Run) -> style.Figure | None:
    """Draw current (effort without a motor), mechanical power and work; None without any."""
    robot = run.robot
    if not robot.actuators:
        return None
    rows = last_steps(run)
    figure, axes = style.new_figure(2, height=2.4, sharex=True)
    time = run.time[rows]
    modelled = {column for column, _, _ in motors(robot)}
    for i, (joint, motor) in enumerate(robot.actuators.items()):
        drawn, limit = run.effort[rows, i], motor.effort_limit
        if i in modelled:
            drawn, limit = motor.current(drawn), motor.current_limit
        colour = (
            style.NEUTRAL
            if len(robot.actuators) == 1
            else style.FOOT_COLOURS[i % len(style.FOOT_COLOURS)]
        )
        axes[0].step(time, drawn, where='post', color=colour, label=in_words(joint))
        for bound in (-limit, limit) if i in modelled else ():
            axes[0].axhline(bound, color='black', linestyle='--', linewidth=1.0)
        power = np.diff(run.work[rows, i]) / np.diff(time)
        axes[1].step(time, np.append(power, power[-1:]), where='post', color=colour)
    words = (
        ('motor current; dashed: limit of the amplifier', 'current (A)')
        if modelled
        else ('effort of the actuators', 'effort (N m)')
    )
    style.label(axes[0], *words)
    mean = np.ptp(time) and (run.work[rows][-1] - run.work[rows][0]).sum() / np.ptp(time)
    axes[1].axhline(mean, color='black', linewidth=1.0, linestyle=':')
    style.label(axes[1], f'mechanical power; dotted: mean, {mean:.3g} W', 'power (W)')
    if len(robot.actuators) > 1:
        axes[0].legend(loc='upper right', ncols=len(robot.actuators))
    _finish(figure, axes, run, rows)
    return figure


def plot_steps(run: Run) -> style.Figure | None:
    """Draw speed, length and clearance of every step; None without a completed step."""
    table = step_table(run, Dynamics(run.robot))
    if not len(table['row']):
        return None
    figure, axes = style.new_figure(1, width=10.0, height=2.8, columns=3)
    number = np.arange(1, len(table['row']) + 1)
    panels = (
        ('speed', 'speed', 'speed (m/s)'),
        ('length', 'step length', 'length (m)'),
        ('clearance', 'foot clearance', 'height (m)'),
    )
    for axis, (name, title, ylabel) in zip(axes, panels, strict=True):
        draw_steps(axis, number, table[name], table['support'])
        low = min(0.0, np.nanmin(table[name]) * 1.1)
        high = max(1e-3, np.nanmax(table[name]) * 1.12)
        style.label(axis, title, ylabel, 'step', ylim=(low, high))
        axis.xaxis.get_major_locator().set_params(integer=True)
    figure.get_layout_engine().set(wspace=0.06)
    style.add_foot_legend(figure, run.robot, 'stands')
    return figure


def draw_steps(axis: style.Axes, x: np.ndarray, y: np.ndarray, support: np.ndarray) -> None:
    """Draw a number of each step in the colour of the foot that stands.

    Args:
        axis: Axes.
        x: Abscissa of the steps.
        y: Their number.
        support: Which foot stands.
    """
    axis.plot(x, y, color=style.FAINT, linewidth=1.0)
    axis.scatter(x, y, s=16, c=[style.FOOT_COLOURS[i] for i in support], zorder=3)


def plot_stick_figure(run: Run, steps: int = 2, poses: int = 7) -> style.Figure:
    """Draw the last steps as multiple exposures, one panel a step, early poses faint.

    Args:
        poses: Poses drawn of each.
    """
    rows = last_steps(run, steps)
    last = rows.stop - 1
    starts = [*(row for row in touchdowns(run) if rows.start <= row < last), last]
    skeleton = kinematics.Skeleton(Dynamics(run.robot))
    figure, axes = style.new_figure(1, height=4.6, columns=len(starts) - 1, sharey=True)
    for axis, begin, end in zip(axes, starts[:-1], starts[1:], strict=True):
        points = np.array([skeleton.points(q)[:, ::2] for q in run.q[begin : end + 1]])
        points = kinematics.tilt(points - [points[0, skeleton.base, 0], 0.0], run.world.slope)
        _draw_poses(axis, skeleton, points, poses)
        foot = in_words(run.robot.feet[run.support[begin]])
        title = f'{foot} stands, {run.time[begin]:.2f} to {run.time[end]:.2f} s'
        style.label(axis, title, 'up (m)' if axis is axes[0] else '', 'forward (m)')
        stance = np.median(points[:, skeleton.feet[run.support[begin]]], axis=0)
        slope = run.world.slope + floor_tilt(run, run.steps[begin])
        axis.axline(stance, slope=-np.tan(slope), color='black', linewidth=1.2)
        # limits give way, not the frame: the layout knows the room that frames need
        axis.set_aspect('equal', adjustable='datalim')
    _fit_height(figure, axes)
    style.add_foot_legend(figure, run.robot)
    return figure


def _fit_height(figure: style.Figure, axes: list[style.Axes]) -> None:
    """Make a figure a little lower than panels of equal scale beside each other would fill."""
    widest = max(np.ptp(axis.get_xlim()) for axis in axes)
    panel = (figure.get_figwidth() - 0.6) / len(axes) - 0.2
    shape = max(np.ptp(axis.get_ylim()) for axis in axes) / widest
    figure.set_figheight(1.1 + 0.92 * panel * shape)


def _draw_poses(
    axis: style.Axes, skeleton: kinematics.Skeleton, points: np.ndarray, poses: int
) -> None:
    for point in (skeleton.base, *skeleton.feet):
        axis.plot(*points[:, point].T, color=style.NEUTRAL, linewidth=1.0, linestyle=':')
    chosen = np.linspace(0, len(points) - 1, poses).round().astype(int)
    for strength, row in zip(strengths(poses), chosen, strict=True):
        draw_bones(axis, skeleton, points[row], alpha=strength, linewidth=2.6)


def strengths(poses: int) -> np.ndarray:
    """Return how strongly each of some poses is drawn, early ones faint."""
    return np.asarray(0.2 + 0.8 * (np.arange(poses) / max(1, poses - 1)) ** 1.3)


def draw_bones(
    axis: style.Axes, skeleton: kinematics.Skeleton, points: np.ndarray, **look: Any
) -> None:
    """Draw the segments of a robot, each in the colour of the foot of its leg.

    Args:
        axis: Axes.
        skeleton: The `Skeleton`.
        points: Its points in the picture, ``(n, 2)``, m.
        look: Of the lines, by matplotlib's keywords.
    """
    for segment in skeleton.segments:
        ends = points[[segment.start, segment.end]]
        axis.plot(*ends.T, color=segment_colour(segment), solid_capstyle='round', **look)


def _mirror_groups(robot: Robot) -> list[tuple[str, ...]]:
    """Return the joints in groups of mirror partners."""
    pairs = ({joint, robot.mirror[joint][0]} for joint in robot.joints)
    return [*dict.fromkeys(tuple(sorted(pair, key=robot.joint_index)) for pair in pairs)]


def _joint_colours(robot: Robot) -> dict[str, str]:
    """Return joint -> colour of the leg it moves; neutral when paired with nobody."""
    return {
        joint: style.NEUTRAL
        if leg is None or robot.mirror[joint][0] == joint
        else style.FOOT_COLOURS[leg]
        for joint, leg in kinematics.leg_of_each_joint(robot).items()
    }


def segment_colour(segment: kinematics.Bone) -> str:
    """Return the colour of a segment: that of the foot of its leg."""
    return style.NEUTRAL if segment.foot is None else style.FOOT_COLOURS[segment.foot]


def shade_stance(axis: style.Axes, run: Run, rows: slice) -> None:
    """Mark the time each foot stands by a band in its colour."""
    for i, colour in zip(range(len(run.robot.feet)), style.FOOT_COLOURS):
        style.shade(axis, run.time[rows], run.support[rows] == i, colour)


def _finish(figure: style.Figure, axes: list[style.Axes], run: Run, rows: slice) -> None:
    """Shade the stance feet, label time, name the colours."""
    time = run.time[rows]
    for axis in axes:
        shade_stance(axis, run, rows)
    style.label(axes[-1], '', '', 'time (s)', xlim=(time[0], time[-1]))
    style.add_foot_legend(figure, run.robot, '(band: stance)')


def plot_estimate(run: Run) -> style.Figure | None:
    """Draw the error of the estimate of the base within three sigmas; None without a covariance."""
    error = kinematics.estimate_error(run)
    sigma = None if error is None else error.sigma
    if error is None or sigma is None:
        return None
    errors = error.all
    lines = [[i for i in range(row, row + 3) if sigma[:, i].any()] for row in (0, 3, 6)]
    width = max(map(len, lines))
    figure, axes = style.new_figure(3, width=11.0, height=1.9, columns=width, sharex=True)
    for line, (words, unit, factor) in enumerate(_ROWS):
        for k, axis in enumerate(axes[width * line : width * (line + 1)]):
            if k >= len(lines[line]):  # the robot cannot
                axis.set_axis_off()
                continue
            i = lines[line][k]
            _draw_error(axis, run.time, factor * errors[:, i], 3.0 * factor * sigma[:, i])
            style.label(axis, f'{words} {"xyz"[i % 3]}', unit)
    for axis in axes[-width:]:
        axis.set_xlabel('time (s)')
    return figure


def _draw_error(axis: style.Axes, time: np.ndarray, error: np.ndarray, band: np.ndarray) -> None:
    """Draw an error within its band."""
    axis.fill_between(time, -band, band, color=style.FAINT, alpha=0.45, linewidth=0.0)
    axis.plot(time, error, color=style.NEUTRAL, linewidth=1.1)
    # the first moments, when little is known, would flatten the rest
    height = 1.3 * max(np.quantile(band, 0.95), np.quantile(np.abs(error), 0.995))
    axis.set_ylim(-height, height)


def plot_columns(columns: Any) -> style.Figure:
    """Draw every group of `recording.replay.Columns` over time, below one another."""
    figure, axes = style.new_figure(len(columns.groups), sharex=True)
    for axis, (title, (unit, labels, values)) in zip(axes, columns.groups.items()):
        for name, column in zip(labels, values.T):
            axis.plot(columns.time, column, linewidth=1.0, label=in_words(name))
        axis.set_ylabel(f'{title}, {unit}' if title != unit else unit)
        style.legend_beside(axis, fontsize=7, ncols=1 + len(labels) // 8)
    axes[-1].set_xlabel('time, s')
    return figure


def plot_temperatures(curves: Mapping[str, np.ndarray], result: Mapping[str, Any]) -> style.Figure:
    """Return how warm the windings get over time, the warmest named.

    Args:
        curves: Of `lab.experiments.endurance.endure`.
        result: The rest of it, with the names of ``robot`` and ``controller``.
    """
    figure, (axis,) = style.new_figure(1, height=4.2)
    minutes, windings = curves['time'] / 60.0, curves['winding']
    rows = list(result['temperatures'].items())
    warmest = np.argsort([row['winding'] for _, row in rows])[::-1]
    for rank, i in enumerate(warmest):
        named = rank < len(style.COLOURS)
        axis.plot(
            minutes,
            np.minimum(windings[:, i], 2.0 * rows[i][1]['limit']),
            color=style.COLOURS[rank] if named else style.FAINT,
            label=in_words(rows[i][0]) if named else None,
        )
    for limit in {row['limit'] for _, row in rows}:
        axis.axhline(limit, color=style.MARK, ls='--', lw=1)
    axis.set(xlabel='time (min)', ylabel='winding (C)')
    axis.legend(fontsize=8)
    figure.suptitle(
        f'{in_words(result["robot"])}, {result["controller"]}: air at {result["ambient"]:g} C',
        x=0.01,
        ha='left',
        fontsize=12,
    )
    return figure
