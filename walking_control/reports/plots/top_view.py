# SPDX-License-Identifier: Apache-2.0
"""Walks in space seen from above and from the side, as Figs. 5.18 to 5.22 of [DS09]."""


import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.reports.plots.style import (
    add_foot_legend,
    Axes,
    Figure,
    FOOT_COLOURS,
    label,
    MARK,
    NEUTRAL,
    new_figure,
)
from walking_control.runs.kinematics import foot_positions
from walking_control.runs.quantities import disturbed_row, footholds, touchdowns
from walking_control.runs.run import Run

WIDEST = 3.0   # the height of a panel is at most its width over this


def plot_top_view(run: Run) -> Figure | None:
    """Draw the path of the hip, footprints and the line to be followed; None in the plane."""
    if run.robot.is_planar or not run.robot.coordinates or len(run.time) < 2:
        return None
    places = footholds(run, foot_positions(Dynamics(run.robot), run.q))
    figure, axes = new_figure(2, width=11.0, height=3.2, height_ratios=(1.6, 1.0))
    top, side = axes
    base = run.base.position
    for path, axis in ((base[:, :2], top), (base[:, ::2], side)):
        _draw_steps(axis, run, path)
    for place, foot in zip(places, run.support[touchdowns(run)], strict=True):
        top.plot(*place[:2], 'o', color=FOOT_COLOURS[foot], markersize=4.5)
        side.plot(*place[::2], 'o', color=FOOT_COLOURS[foot], markersize=3.5)
    _draw_line(top, run)
    row = disturbed_row(run)
    for axis, path in ((top, base[:, :2]), (side, base[:, ::2])) if row is not None else ():
        axis.plot(*path[row], '*', color=MARK, markersize=12, zorder=5)
    label(top, 'from above: path of the hip, footprints' + _names(run, row), 'to the left (m)')
    label(side, 'from the side', 'up (m)')
    _frame(top, np.vstack((base[:, :2], places[:, :2])))
    side.set_ylim(min(0.0, places[:, 2].min()) - 0.05, 1.08 * base[:, 2].max())
    for axis in axes:
        axis.set_xlabel('forward (m)')
    add_foot_legend(figure, run.robot, 'stands')
    return figure


def _names(run: Run, row: int | None) -> str:
    dotted = '; dotted: wanted' if 'wanted_aside' in run.telemetry else ''
    return dotted + ('' if row is None else '; star: disturbance')


def _draw_steps(axis: Axes, run: Run, path: np.ndarray) -> None:
    """Draw a path in the colours of the feet that stand."""
    begins = touchdowns(run)
    for begin, end in zip(begins, [*begins[1:], len(run.time) - 1], strict=True):
        axis.plot(*path[begin:end + 1].T, color=FOOT_COLOURS[run.support[begin]], linewidth=1.5)


def _draw_line(axis: Axes, run: Run) -> None:
    """Draw where the law wants the hip to be beside its line, as it says itself."""
    if 'wanted_aside' not in run.telemetry:
        return
    heading = run.telemetry['heading']
    off = run.telemetry['wanted_aside'] - run.telemetry['aside']
    left = np.column_stack((-np.sin(heading), np.cos(heading)))
    wanted = run.base.position[:, :2] + off[:, None] * left
    axis.plot(*wanted[1:].T, ':', color=NEUTRAL, linewidth=1.4, zorder=1)


def _frame(axis: Axes, points: np.ndarray) -> None:
    """Give axes one scale where the walk is about as wide as long, else a frame of its own."""
    low, high = points.min(axis=0) - 0.15, points.max(axis=0) + 0.15
    if high[0] - low[0] < 1.5 * WIDEST * (high[1] - low[1]):
        axis.set_aspect('equal', adjustable='datalim')
        return
    axis.set_xlim(low[0], high[0])
    axis.set_ylim(low[1], high[1])
