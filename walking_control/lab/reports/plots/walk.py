# SPDX-License-Identifier: Apache-2.0
"""Figures of a run, its estimate and a recording; a band of colour marks the time of stance."""

from collections.abc import Callable, Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np

from walking_control.lab.experiments.endurance import endure, heat_of_run
from walking_control.lab.reports.plots import Mark, mark, Panel, style, warm_views
from walking_control.models import Dynamics, heating, in_words, Robot
from walking_control.models.thermal import TOLD
from walking_control.runs import floor_tilt, kinematics, motors, Run, step_table, touchdowns

ESTIMATE_CAPTION = (
    'Estimate less truth of the base in the axes of the floor, and three standard deviations as '
    'the estimator gave them: an honest one holds 99.7 % of the errors.'
)
_ROWS = (
    ('turn about', 'degrees', np.degrees(1.0)),
    ('velocity along', 'm/s', 1.0),
    ('place along', 'm', 1.0),
)
_SIZES = (
    ('speed', 'speed', 'speed (m/s)'),
    ('length', 'step length', 'length (m)'),
    ('clearance', 'foot clearance', 'height (m)'),
)


def last_steps(run: Run, count: int = 6) -> slice:
    """Return the slice of rows of the last steps of a run, to its end after a fall."""
    rows = touchdowns(run)
    end = len(run.time) if run.broke_off or len(rows) < 2 else rows[-1] + 1
    return slice(rows[max(0, len(rows) - 1 - count)], end)


def over_time(
    run: Run,
    rows: slice,
    panels: Iterable[Panel],
    bands: Iterable[Mark],
    words: str,
    extra: tuple[str, str] | None = None,
    **options: Any,
) -> style.Figure:
    """Return a figure of panels over the time of a run, below the names of the feet's colours.

    Args:
        rows: Of the run that are drawn.
        panels: `Panel` each.
        bands: Drawn into all of them.
        words: Said of the colours of the feet.
        extra: Another name and its colour.
        options: Of `style.draw_panels`.
    """
    marks, ends = list(bands), run.time[rows][[0, -1]]
    panels = [panel._replace(marks=[*panel.marks, *marks]) for panel in panels]
    figure = style.draw_panels(panels, 'time (s)', sharex=True, **options)
    figure.axes[-1].set_xlim(ends[0], max(ends[1], ends[0] + 1e-3))  # one row gets a width
    style.add_foot_legend(figure, run.robot, words, extra)
    return figure


def stance(run: Run, rows: slice) -> list[Mark]:
    """Return what marks the time each foot stands by a band in its colour."""
    return [
        style.shade(run.time[rows], run.support[rows] == i, colour)
        for i, colour in zip(range(len(run.robot.feet)), style.FOOT_COLOURS)
    ]


def plot_joint_angles(run: Run) -> style.Figure:
    """Draw leg and joint angles over time, as Figs. 5.13 and 5.15 of [DS09].

    The first panel shows the first minimal coordinate as seen from each foot, thick while that
    foot stands; then a panel for every joint and its mirror partner.
    """
    rows, robot = last_steps(run), run.robot
    time, colours = run.time[rows], _joint_colours(robot)
    angles = run.q[rows, robot.base.nq - len(robot.base.angles) :]
    legs = [
        mark('plot', time, values, color=style.FOOT_COLOURS[i], linewidth=width)
        for i, foot in enumerate(robot.feet)
        for leg in [angles @ robot.supports[foot][0]]
        for values, width in ((leg, 1.0), (np.where(run.support[rows] == i, leg, np.nan), 2.6))
    ]
    title = f'{robot.coordinates[0]} of each leg from the floor normal, thick while it stands'
    panels = [Panel(title, 'angle (rad)', legs)]
    for joints in _mirror_groups(robot):
        curves = [(run.joints[rows, robot.joint_index(each)], colours[each]) for each in joints]
        marks = [mark('plot', time, curve, color=colour) for curve, colour in curves]
        panels.append(Panel(', '.join(map(in_words, joints)), 'angle (rad)', marks))
    return over_time(run, rows, panels, stance(run, rows), '(band: stance)', height=1.75)


def phase_planes(run: Run, marks_of: Callable[[int], Iterable[Mark]]) -> style.Figure:
    """Return a figure with a rate over a coordinate in each of its axes.

    Args:
        run: The `Run`; coordinates that hardly move in it get no axes.
        marks_of: Index of a coordinate -> what is drawn.
    """
    names = run.robot.coordinates
    moving = np.flatnonzero(np.ptp(run.coordinates, axis=0) > 1e-2)
    moving = moving if len(moving) else np.arange(1)
    figure = style.draw_panels(
        [
            Panel('', f'rate of {names[i]} (rad/s)', marks_of(i), f'{names[i]} (rad)')
            for i in moving.tolist()
        ],
        columns=2 if len(moving) == 4 else min(3, len(moving)),
        height=3.4,
    )
    figure.get_layout_engine().set(wspace=0.08)
    return figure


def plot_phase_portrait(run: Run) -> style.Figure:
    """Draw every minimal coordinate against its rate; the second half of the run is coloured."""
    begins = touchdowns(run)
    half = 0.5 * (run.time[0] + run.time[-1])

    def steps(i: int) -> Iterable[Mark]:
        for begin, end in zip(begins, [*begins[1:], len(run.time)], strict=True):
            late = run.time[begin] >= half
            colour = style.FOOT_COLOURS[run.support[begin]] if late else style.FAINT
            x, y, above = run.coordinates[begin:end, i], run.rates[begin:end, i], int(late)
            look = {'linewidth': 1.3 if late else 0.8, 'zorder': 2 + above}
            yield mark('plot', x, y, color=colour, **look)
            yield mark('plot', x[:1], y[:1], 'o', color=colour, markersize=4, zorder=2 + 2 * above)

    figure = phase_planes(run, steps)
    style.add_foot_legend(figure, run.robot, 'stands', extra=('first half of the run', style.FAINT))
    return figure


def plot_actuators(run: Run) -> style.Figure | None:
    """Draw current (effort without a motor), mechanical power and work; None without any."""
    robot, rows = run.robot, last_steps(run)
    if not robot.actuators:
        return None
    time, alone = run.time[rows], len(robot.actuators) == 1
    modelled = {column for column, _, _ in motors(robot)}
    power = np.diff(run.work[rows], axis=0) / np.diff(time)[:, None]
    currents, powers = list[Mark](), list[Mark]()
    colours = [style.NEUTRAL] if alone else cycle(style.FOOT_COLOURS)
    for i, ((joint, motor), colour) in enumerate(zip(robot.actuators.items(), colours)):
        effort, look = run.effort[rows, i], {'where': 'post', 'color': colour}
        drawn = motor.current(effort) if i in modelled else effort
        currents.append(mark('step', time, drawn, label=in_words(joint), **look))
        for bound in (-motor.current_limit, motor.current_limit) if i in modelled else ():
            currents.append(mark('axhline', bound, color='black', linestyle='--', linewidth=1.0))
        powers.append(mark('step', time, np.append(power[:, i], power[-1:, i]), **look))
    words = (
        ('motor current; dashed: limit of the amplifier', 'current (A)')
        if modelled
        else ('effort of the actuators', 'effort (N m)')
    )
    mean = np.ptp(time) and (run.work[rows][-1] - run.work[rows][0]).sum() / np.ptp(time)
    powers.append(mark('axhline', mean, color='black', linewidth=1.0, linestyle=':'))
    names = None if alone else {'loc': 'upper right', 'ncols': len(robot.actuators)}
    panels = (
        Panel(*words, currents, legend=names),
        Panel(f'mechanical power; dotted: mean, {mean:.3g} W', 'power (W)', powers),
    )
    return over_time(run, rows, panels, stance(run, rows), '(band: stance)', height=2.4)


def plot_steps(run: Run) -> style.Figure | None:
    """Draw speed, length and clearance of every step; None without a completed step."""
    table = step_table(run, Dynamics(run.robot))
    if not len(table['row']):
        return None
    number = np.arange(1, len(table['row']) + 1)
    panels = []
    for name, title, ylabel in _SIZES:
        column, marks = table[name], step_marks(number, table[name], table['support'])
        ends = min(0.0, np.nanmin(column) * 1.1), max(1e-3, np.nanmax(column) * 1.12)
        panels.append(Panel(title, ylabel, marks, 'step', more={'ylim': ends}))
    figure = style.draw_panels(panels, width=10.0, height=2.8, columns=3)
    for axis in figure.axes:
        axis.xaxis.get_major_locator().set_params(integer=True)
    figure.get_layout_engine().set(wspace=0.06)
    style.add_foot_legend(figure, run.robot, 'stands')
    return figure


def step_marks(x: np.ndarray, y: np.ndarray, support: np.ndarray) -> list[Mark]:
    """Return what draws a number of each step in the colour of the foot that stands.

    Args:
        x: Abscissa of the steps.
        y: Their number.
        support: Which foot stands.
    """
    colours = [style.FOOT_COLOURS[i] for i in support]
    return [
        mark('plot', x, y, color=style.FAINT, linewidth=1.0),
        mark('scatter', x, y, s=16, c=colours, zorder=3),
    ]


def plot_stick_figure(run: Run, steps: int = 2, poses: int = 7) -> style.Figure:
    """Draw the last steps as multiple exposures, one panel a step, early poses faint.

    Args:
        poses: Poses drawn of each.
    """
    rows, panels = last_steps(run, steps), list[Panel]()
    last = rows.stop - 1
    starts = [*(row for row in touchdowns(run) if rows.start <= row < last), last]
    skeleton = kinematics.Skeleton(Dynamics(run.robot))
    for begin, end in zip(starts[:-1], starts[1:], strict=True):
        points = np.array([skeleton.points(q)[:, ::2] for q in run.q[begin : end + 1]])
        points = kinematics.tilt(points - [points[0, skeleton.base, 0], 0.0], run.world.slope)
        foot = in_words(run.robot.feet[run.support[begin]])
        title = f'{foot} stands, {run.time[begin]:.2f} to {run.time[end]:.2f} s'
        stood = np.median(points[:, skeleton.feet[run.support[begin]]], axis=0)
        slope = run.world.slope + floor_tilt(run, run.steps[begin])
        marks = [
            *_poses(skeleton, points, poses),
            mark('axline', stood, slope=-np.tan(slope), color='black', linewidth=1.2),
            # limits give way, not the frame: the layout knows the room that frames need
            mark('set_aspect', 'equal', adjustable='datalim'),
        ]
        panels.append(Panel(title, '' if panels else 'up (m)', marks, 'forward (m)'))
    figure = style.draw_panels(panels, height=4.6, columns=len(panels), sharey=True)
    _fit_height(figure, figure.axes)
    style.add_foot_legend(figure, run.robot)
    return figure


def _fit_height(figure: style.Figure, axes: list[style.Axes]) -> None:
    """Make a figure a little lower than panels of equal scale beside each other would fill."""
    widest = max(np.ptp(axis.get_xlim()) for axis in axes)
    panel = (figure.get_figwidth() - 0.6) / len(axes) - 0.2
    shape = max(np.ptp(axis.get_ylim()) for axis in axes) / widest
    figure.set_figheight(1.1 + 0.92 * panel * shape)


def _poses(skeleton: kinematics.Skeleton, points: np.ndarray, poses: int) -> Iterable[Mark]:
    for point in (skeleton.base, *skeleton.feet):
        yield mark('plot', *points[:, point].T, color=style.NEUTRAL, linewidth=1.0, linestyle=':')
    chosen = np.linspace(0, len(points) - 1, poses).round().astype(int)
    for strength, row in zip(strengths(poses), chosen, strict=True):
        yield from bones(skeleton, points[row], alpha=strength, linewidth=2.6)


def strengths(poses: int) -> np.ndarray:
    """Return how strongly each of some poses is drawn, early ones faint."""
    return np.asarray(0.2 + 0.8 * (np.arange(poses) / max(1, poses - 1)) ** 1.3)


def bones(robot: Any, points: np.ndarray, **look: Any) -> list[Mark]:
    """Return what draws the segments of a robot, each in the colour of the foot of its leg.

    Args:
        robot: What has ``segments``: `Skeleton` or `Scene`.
        points: Its points in the picture, ``(n, 2)``, m.
        look: Of the lines, by matplotlib's keywords.
    """
    look = {'solid_capstyle': 'round', **look}
    return [
        mark('plot', *points[[each.start, each.end]].T, color=segment_colour(each), **look)
        for each in robot.segments
    ]


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


def plot_estimate(run: Run) -> style.Figure | None:
    """Draw the error of the estimate of the base within three sigmas; None without a covariance."""
    error = kinematics.estimate_error(run)
    sigma = None if error is None else error.sigma
    if error is None or sigma is None:
        return None
    lines = [[i for i in range(row, row + 3) if sigma[:, i].any()] for row in (0, 3, 6)]
    width, panels = max(map(len, lines)), list[Panel]()
    for line, (words, unit, factor) in zip(lines, _ROWS):
        for i in line:
            marks = _error(run.time, factor * error.all[:, i], 3.0 * factor * sigma[:, i])
            panels.append(Panel(f'{words} {"xyz"[i % 3]}', unit, marks))
        panels += [Panel('', '', [mark('set_axis_off')])] * (width - len(line))  # it cannot
    return style.draw_panels(panels, 'time (s)', width=11.0, height=1.9, columns=width, sharex=True)


def _error(time: np.ndarray, error: np.ndarray, band: np.ndarray) -> list[Mark]:
    """Return what draws an error within its band."""
    # the first moments, when little is known, would flatten the rest
    height = 1.3 * max(np.quantile(band, 0.95), np.quantile(np.abs(error), 0.995))
    return [
        mark('fill_between', time, -band, band, color=style.FAINT, alpha=0.45, linewidth=0.0),
        mark('plot', time, error, color=style.NEUTRAL, linewidth=1.1),
        mark('set_ylim', -height, height),
    ]


def plot_columns(columns: Any) -> style.Figure:
    """Draw every group of `recording.replay.Columns` over time, below one another."""
    return style.draw_panels(
        [
            Panel(
                '',
                f'{title}, {unit}' if title != unit else unit,
                [
                    mark('plot', columns.time, column, linewidth=1.0, label=in_words(name))
                    for name, column in zip(labels, values.T)
                ],
                legend={**style.BESIDE, 'fontsize': 7, 'ncols': 1 + len(labels) // 8},
            )
            for title, (unit, labels, values) in columns.groups.items()
        ],
        'time, s',
        sharex=True,
    )


def plot_heat(run: Run) -> style.Figure | None:
    """Return `plot_temperatures` of an hour of what a run does, or None without motors."""
    if not run.robot.actuators:
        return None
    found = endure(heating(run.robot), *heat_of_run(run), 3600.0, TOLD, TOLD)
    named = {'robot': run.robot.name, 'controller': 'as in this run', **found}
    return plot_temperatures(found['curves'], named, Dynamics(run.robot), run.q[-1])


def plot_temperatures(
    curves: Mapping[str, np.ndarray], result: Mapping[str, Any], dynamics: Dynamics, q: np.ndarray
) -> style.Figure:
    """Return how warm the windings get over time, the warmest named, and where they are.

    Args:
        curves: Of `lab.experiments.endurance.endure`.
        result: The rest of it, with the names of ``robot`` and ``controller``.
        dynamics: The robot's `Dynamics`.
        q: Where it is drawn, ``(nq,)``.
    """
    rows, minutes = list(result['temperatures'].items()), curves['time'] / 60.0
    warmest = np.argsort([row['winding'] for _, row in rows])[::-1]
    named = [
        (style.COLOURS[i], in_words(rows[k][0]))
        for i, k in enumerate(warmest[: len(style.COLOURS)])
    ]
    looks = named + [(style.FAINT, None)] * (len(rows) - len(named))
    marks = [
        mark('plot', minutes, np.minimum(winding, 2.0 * rows[i][1]['limit']), color=c, label=name)
        for i, (c, name) in zip(warmest, looks)
        for winding in [curves['winding'][:, i]]
    ]
    limits = {row['limit'] for _, row in rows}
    marks += [mark('axhline', limit, color=style.MARK, ls='--', lw=1) for limit in limits]
    words = f'{in_words(result["robot"])}, {result["controller"]}: air at {result["ambient"]:g} C'
    words += f', motors after {minutes[-1]:g} min: blue as the air, red at their limit'
    air = result['ambient']
    views = warm_views(
        dynamics,
        q,
        {joint: (row['winding'] - air) / (row['limit'] - air) for joint, row in rows},
    )
    panel = Panel('', 'winding (C)', marks, 'time (min)', {'fontsize': 8})
    return style.draw_panels([panel, *views], title=words, columns=3, size=12, height=4.2)
