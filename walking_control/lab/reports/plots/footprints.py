# SPDX-License-Identifier: Apache-2.0
"""Walks in space from above ([DS09] Figs. 5.18 to 5.22): feet, speeds, steps."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from walking_control.lab.reports.plots import Mark, mark, Panel, step_marks, style
from walking_control.models import Dynamics
from walking_control.runs import (
    mean_velocity,
    place_soles,
    pushes,
    Run,
    sole_corners,
    step_sizes,
    touchdowns,
)

PUSH_LENGTH = 0.6  # m drawn for a push of 1 N s/kg
ROUTE = 0.6  # m around a walk with segments, for their names
APART = 0.3  # m between the names of two segments
STOOD = 0.5  # part of a step after which its foot stands
PARTS = {  # of a velocity, and their units
    'ahead: mean of each stride; red: asked for': 'm/s',
    'to the left': 'm/s',
    'turning left': 'rad/s',
}
WIDEST = 12.0  # length over width of a walk from which on both have scales of their own


def footprint_outlines(run: Run) -> list[tuple[int, int, np.ndarray]]:
    """Return (row, foot, outline ``(n, 2)``, m) of every footprint, in order, floor frame."""
    dynamics = Dynamics(run.robot)
    corners = [sole_corners(run.robot.urdf, foot) for foot in run.robot.feet]
    dynamics.place(run.q[0])  # all feet stand at the start
    prints = [(0, foot, sole[:, :2]) for foot, sole in enumerate(place_soles(dynamics, corners))]
    for begin, end in pairwise((*touchdowns(run)[1:].tolist(), len(run.time) - 1)):
        dynamics.place(run.q[int(begin + STOOD * (end - begin))])
        foot = int(run.support[begin])
        prints.append((begin, foot, place_soles(dynamics, corners)[foot][:, :2]))
    return prints


def plot_footprints(run: Run) -> style.Figure | None:
    """Draw footprints, path of the base, pushes and the route from above; None of the plane.

    One scale holds for both directions, unless the walk is `WIDEST` times as long as wide and more.
    Dotted is the line on which the law wants the base, where it says so.

    Args:
        run: The `Run`.
    """
    if 1 not in run.robot.base.axes:
        return None
    prints, base = footprint_outlines(run), run.base.position[:, :2]
    arrows = [
        (base[push.row], base[push.row] - PUSH_LENGTH * push.size * push.way)
        for push in pushes(run)
    ]
    reach = np.vstack([base, *(outline for _, _, outline in prints), *map(np.array, arrows)])
    room = ROUTE if run.route is not None else 0.25
    low, high = reach.min(axis=0) - room, reach.max(axis=0) + room
    wide, tall = high - low
    marks = [
        mark('plot', *base.T, color=style.FAINT, linewidth=1.2),
        *(
            mark('fill', *outline.T, facecolor=style.FOOT_COLOURS[foot], alpha=0.75, linewidth=0)
            if len(outline) > 1
            else mark('plot', *outline.T, 'o', color=style.FOOT_COLOURS[foot], markersize=4)
            for _, foot, outline in prints
        ),
        *_route(run),
    ]
    if 'wanted_aside' in run.telemetry:
        heading = run.telemetry['heading']
        off = run.telemetry['wanted_aside'] - run.telemetry['aside']
        wanted = base + off[:, None] * np.column_stack((-np.sin(heading), np.cos(heading)))
        look = {'color': style.NEUTRAL, 'linewidth': 1.4, 'zorder': 1}
        marks.append(mark('plot', *wanted[1:].T, ':', **look))
    marks += [style.arrow(tail, tip, style.MARK, 2.2) for tip, tail in arrows]
    more = {
        'xlim': (low[0], high[0]),
        'ylim': (low[1], high[1]),
        'aspect': 'equal' if wide < WIDEST * tall else 'auto',
        'adjustable': 'box',
    }
    panel = Panel('from above: footprints, path of the base', 'y (m)', marks, 'x (m)', more=more)
    figure = style.draw_panels([panel], width=11.0, height=min(9.0, max(2.4, 11.0 * tall / wide)))
    style.add_foot_legend(figure, run.robot, '', ('push', style.MARK) if arrows else None)
    return figure


def _route(run: Run) -> Iterator[Mark]:
    """Yield what names the segments where they begin, those of one place together."""
    marks: list[tuple[int, list[str]]] = []  # (row, names)
    for segment in run.route.segments if run.route is not None else ():
        if segment.begin > run.time[-1]:
            break
        row = min(int(np.searchsorted(run.time, segment.begin - 1e-9)), len(run.time) - 1)
        places = run.base.position[:, :2]
        if marks and np.hypot(*(places[row] - places[marks[-1][0]])) < APART:
            marks[-1][1].append(segment.name)
        else:
            marks.append((row, [segment.name]))
    middle = run.base.position[:, :2].mean(axis=0)
    for row, names in marks:
        place, left = run.base.position[row, :2], run.base.rotation[row, :2, 1]
        out = left * (1.0 if left @ (place - middle) > 0.0 else -1.0)  # away from the walk
        line = place + np.multiply.outer([0.18, 0.32], out)
        yield mark('plot', *line.T, color=style.NEUTRAL, linewidth=0.8)
        side = 'center' if abs(out[0]) < 0.5 else 'right' if out[0] < 0.0 else 'left'
        upright = 'center' if side != 'center' else 'bottom' if out[1] > 0.0 else 'top'
        look = {'fontsize': 8.5, 'color': style.NEUTRAL, 'ha': side, 'va': upright}
        yield mark('text', *line[1], ', '.join(names), **look)


def plot_velocities(run: Run) -> style.Figure | None:
    """Draw what was asked for and what was walked, stride by stride; None of less than a stride."""
    rows = touchdowns(run)
    if len(rows) < 4:
        return None
    walked = np.array(
        [mean_velocity(run, first, last) for first, last in zip(rows[1:-2], rows[3:], strict=True)]
    )
    middle = run.time[rows[2:-1]]
    segments = run.route.segments if run.route is not None else ()
    red, grey = {'color': style.MARK, 'linewidth': 1.2}, {'color': style.NEUTRAL, 'linewidth': 1.0}
    hit = [mark('axvline', run.time[each.row], linestyle=':', **red) for each in pushes(run)]
    panels = []
    for part, (name, unit) in enumerate(PARTS.items()):
        marks = [
            each
            for segment in segments
            for ends in [[segment.begin, segment.end]]
            for each in (
                mark('plot', ends, 2 * [segment.velocity[part]], **red),
                mark('axvline', segment.begin, color=style.FAINT, linewidth=0.7),
            )
        ]
        curve = mark('plot', middle, walked[:, part], '.-', markersize=4, **grey)
        panels.append(Panel(name, unit, [*marks, curve, *hit]))
    return style.draw_panels(panels, 'time (s)', width=11.0, height=1.7, sharex=True)


def plot_step_sizes(run: Run) -> style.Figure | None:
    """Draw length, width and time of every step; None without a completed one."""
    sizes = step_sizes(run)
    if not len(sizes['time']):
        return None
    panels = [
        Panel(f'{name} of the step', unit, step_marks(sizes['time'], sizes[name], sizes['support']))
        for name, unit in (('length', 'm'), ('width', 'm'), ('duration', 's'))
    ]
    figure = style.draw_panels(panels, 'time (s)', width=11.0, height=1.6, sharex=True)
    style.add_foot_legend(figure, run.robot, 'stands')
    return figure


def plot_stoppable(run: Run) -> style.Figure | None:
    """Draw whether the walker could have been stopped at each tick; None if its law does not say.

    Args:
        run: The `Run`.
    """
    if 'stoppable_steps' not in run.telemetry:
        return None
    steps, margin = (run.telemetry[f'stoppable_{name}'] for name in ('steps', 'margin'))
    lost = style.shade(run.time, steps < 0, style.MARK, 0.25)
    count = mark('plot', run.time, np.where(steps < 0, np.nan, steps), drawstyle='steps-post')
    panels = [
        Panel('steps until it would stand; shaded: no step would stop it', 'steps', [count, lost]),
        Panel(
            'how much farther the fall might end',
            'margin (m)',
            [mark('plot', run.time, margin), lost],
            'time (s)',
        ),
    ]
    return style.draw_panels(panels, width=11.0, height=4.0)
