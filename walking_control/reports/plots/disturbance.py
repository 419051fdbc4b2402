# SPDX-License-Identifier: Apache-2.0
"""A walk over its floor, step by step around a disturbance, as Figs. 5.8a and 5.10a of [DS09]."""

import numpy as np

from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.reports.plots.style import (
    add_foot_legend,
    Axes,
    FAINT,
    Figure,
    label,
    MARK,
    NEUTRAL,
    new_figure,
)
from walking_control.reports.plots.walk import segment_colour
from walking_control.runs.floor import floor_profile
from walking_control.runs.kinematics import foot_positions, Skeleton, tilt
from walking_control.runs.quantities import disturbed_row, footholds, rows_around, touchdowns
from walking_control.runs.run import Run
from walking_control.simulation.disturbance import Disturbance

POSES = 6   # of each step; the one at touchdown is strong
LEVELS = 4  # of the texts of disturbances in a row


def describe(disturbance: Disturbance) -> str:
    """Return a `Disturbance` in words."""
    units = {'push': 'N s/kg', 'side_push': 'N s/kg', 'slope_change': 'rad'}
    unit = units.get(disturbance.kind, 'm')
    return f'{in_words(disturbance.kind)} {disturbance.size:g} {unit}'


def mark_time(axis: Axes, run: Run) -> None:
    """Mark the first disturbance by a line in a plot over time."""
    row = disturbed_row(run)
    if row is not None:
        axis.axvline(run.time[row], color=MARK, linewidth=1.2, linestyle='--', zorder=1.5)


def plot_disturbed_walk(run: Run) -> Figure | None:
    """Draw the steps around the first disturbance; None without one."""
    if not run.disturbances or len(touchdowns(run)) < 2:
        return None
    figure, (axis,) = new_figure(1, width=11.0, height=3.6)
    draw_walk(axis, run)
    label(axis, 'steps around the disturbance', 'up (m)')
    axis.set_xlabel('forward of the disturbance (m)')
    add_foot_legend(figure, run.robot)
    return figure


def draw_walk(axis: Axes, run: Run) -> None:
    """Draw stick figures and floor into axes, gravity down; the disturbance is at the origin."""
    rows = rows_around(run)
    dynamics = Dynamics(run.robot)
    skeleton = Skeleton(dynamics)
    places = footholds(run, foot_positions(dynamics, run.q))
    origin = _origin(run, places)
    begins = [row for row in touchdowns(run) if rows.start <= row < rows.stop]
    for begin, end in zip(begins, [*begins[1:], rows.stop], strict=True):
        for k, row in enumerate(np.linspace(begin, end - 1, POSES).round().astype(int)):
            points = tilt(skeleton.points(run.q[row])[:, ::2] - origin, run.world.slope)
            last = end == len(run.time) and k == POSES - 1
            _draw_pose(axis, skeleton, points, strong=k == 0 or last)
    floor = tilt(floor_profile(run, places) - origin, run.world.slope)
    axis.plot(*floor.T, color='black', linewidth=1.4)
    ends = run.base.position[[rows.start, rows.stop - 1], ::2]
    x = tilt(ends - origin, run.world.slope)[:, 0]
    axis.set_xlim(x[0] - 0.6, x[1] + 0.6)
    axis.set_aspect('equal')
    _mark_disturbances(axis, run, places, origin)


def _mark_disturbances(axis: Axes, run: Run, places: np.ndarray, origin: np.ndarray) -> None:
    """Write the disturbances below their places, with room for all of them."""
    low, high = axis.get_ylim()
    known = [disturbance for disturbance in run.disturbances if disturbance.step < len(places)]
    marks = [tilt(_place_of(run, places, disturbance) - origin, run.world.slope)
             for disturbance in known]
    top = min((z for _, z in marks), default=0.0) - 0.25 * high
    # neighbours below each other, lest their texts overlap; the lowest first: the texts above
    # cover its arrow
    for i, disturbance in reversed(list(enumerate(known))):
        (x, z), text = marks[i], top - 0.2 * (i % LEVELS) * high
        low = min(low, text - 0.12 * high)
        axis.annotate(describe(disturbance), (x, z), (x, text), color=MARK, ha='center',
                      fontsize=9.5, clip_on=True, annotation_clip=True,
                      bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.5},
                      arrowprops={'arrowstyle': '->', 'color': MARK})
    axis.set_ylim(low, high)


def _place_of(run: Run, places: np.ndarray, disturbance: Disturbance) -> np.ndarray:
    """Return where a disturbance comes: at an edge of the floor, or at the foothold of a push."""
    if disturbance.kind == 'push':
        return places[disturbance.step, ::2]
    # three points a foothold after the first point
    return np.asarray(floor_profile(run, places)[3 * disturbance.step - 1])


def _origin(run: Run, places: np.ndarray) -> np.ndarray:
    """Return the place of the first disturbance, or where the run starts."""
    if disturbed_row(run) is None:
        return places[0, ::2]
    first = min(run.disturbances, key=lambda disturbance: disturbance.step)
    return _place_of(run, places, first) if first.step < len(places) \
        else places[-1, ::2]


def _draw_pose(axis: Axes, skeleton: Skeleton, points: np.ndarray, strong: float) -> None:
    for segment in skeleton.segments:
        colour = segment_colour(segment)
        axis.plot(*points[[segment.start, segment.end]].T, color=colour,
                  alpha=1.0 if strong else 0.22, linewidth=2.2 if strong else 1.4,
                  solid_capstyle='round', zorder=3 if strong else 2)
    axis.plot(*points[skeleton.base], 'o', color=NEUTRAL if strong else FAINT, markersize=4,
              zorder=4 if strong else 2)
