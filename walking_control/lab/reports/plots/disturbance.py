# SPDX-License-Identifier: Apache-2.0
"""A walk around a disturbance: its steps, energies and efforts ([DS09] Figs. 5.8, 5.10, 5.11)."""

from collections.abc import Iterable, Sequence

import numpy as np

from walking_control.lab.reports.plots import style
from walking_control.lab.reports.plots.walk import draw_bones, shade_stance
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot import in_words
from walking_control.runs import quantities
from walking_control.runs.disturbance_response import observe_energies
from walking_control.runs.kinematics import foot_positions, Skeleton, tilt
from walking_control.runs.run import Run
from walking_control.simulation.disturbance import Disturbance

POSES = 6  # of each step; the one at touchdown is strong
LEVELS = 4  # of the texts of disturbances in a row
BLUE, ORANGE, GREEN, PURPLE = style.FOOT_COLOURS
# columns of parts of an effort: name, colour, dashes
PARTS = (
    (('nominal', BLUE, '-'), ('potential', ORANGE, '--')),
    (('asymptotic', BLUE, '-'), ('energy', ORANGE, '--')),
    (('applied', 'black', '-'), ('wanted', style.MARK, ':')),
)
LEAST = 1e-4  # J: below this undesired energy is as good as none


def describe(disturbance: Disturbance) -> str:
    """Return a `Disturbance` in words."""
    units = {'push': 'N s/kg', 'side_push': 'N s/kg', 'slope_change': 'rad'}
    unit = units.get(disturbance.kind, 'm')
    return f'{in_words(disturbance.kind)} {disturbance.size:g} {unit}'


def mark_time(axis: style.Axes, run: Run) -> None:
    """Mark the first disturbance by a line in a plot over time."""
    row = quantities.disturbed_row(run)
    if row is not None:
        axis.axvline(run.time[row], color=style.MARK, linewidth=1.2, linestyle='--', zorder=1.5)


def plot_disturbed_walk(run: Run) -> style.Figure | None:
    """Draw the steps around the first disturbance; None without one."""
    if not run.disturbances or len(quantities.touchdowns(run)) < 2:
        return None
    return plot_walks([('steps around the disturbance', run)])


def plot_walks(shown: Sequence[tuple[str, Run]]) -> style.Figure:
    """Draw the steps of walks around their first disturbance to one scale.

    Args:
        shown: Title and run of each.
    """
    rows = -(-len(shown) // 2)
    texts = min(LEVELS, max(len(run.disturbances) for _, run in shown))
    figure, axes = style.new_figure(
        rows, width=13.0, height=2.25 + 0.3 * texts, columns=min(2, len(shown))
    )
    for axis, (title, run) in zip(axes, shown, strict=False):
        draw_walk(axis, run)
        axis.set_title(title, loc='left', fontsize=11)
    _same_limits(axes[: len(shown)])
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    for axis in axes[max(0, len(shown) - 2) : len(shown)]:
        axis.set_xlabel('forward of the disturbance (m)')
    for axis in axes[::2]:
        axis.set_ylabel('up (m)')
    style.add_foot_legend(figure, shown[0][1].robot)
    return figure


def _same_limits(axes: Sequence[style.Axes]) -> None:
    x, y = (np.array([getattr(axis, f'get_{name}lim')() for axis in axes]) for name in 'xy')
    for axis in axes:
        axis.set(
            xlim=(x[:, 0].min(), x[:, 1].max()), ylim=(max(y[:, 0].min(), -1.5), y[:, 1].max())
        )


def draw_walk(axis: style.Axes, run: Run) -> None:
    """Draw stick figures and floor into axes, gravity down; the disturbance is at the origin."""
    rows = quantities.rows_around(run)
    dynamics = Dynamics(run.robot)
    skeleton = Skeleton(dynamics)
    places = quantities.footholds(run, foot_positions(dynamics, run.q))
    origin = _origin(run, places)
    begins = [row for row in quantities.touchdowns(run) if rows.start <= row < rows.stop]
    for begin, end in zip(begins, [*begins[1:], rows.stop], strict=True):
        for k, row in enumerate(np.linspace(begin, end - 1, POSES).round().astype(int)):
            points = tilt(skeleton.points(run.q[row])[:, ::2] - origin, run.world.slope)
            last = end == len(run.time) and k == POSES - 1
            _draw_pose(axis, skeleton, points, strong=k == 0 or last)
    floor = tilt(quantities.floor_profile(run, places) - origin, run.world.slope)
    axis.plot(*floor.T, color='black', linewidth=1.4)
    ends = run.base.position[[rows.start, rows.stop - 1], ::2]
    x = tilt(ends - origin, run.world.slope)[:, 0]
    axis.set(xlim=(x[0] - 0.6, x[1] + 0.6), aspect='equal')
    _mark_disturbances(axis, run, places, origin)


def _mark_disturbances(axis: style.Axes, run: Run, places: np.ndarray, origin: np.ndarray) -> None:
    """Write the disturbances below their places, with room for all of them."""
    low, high = axis.get_ylim()
    known = [disturbance for disturbance in run.disturbances if disturbance.step < len(places)]
    marks = [
        tilt(_place_of(run, places, disturbance) - origin, run.world.slope) for disturbance in known
    ]
    top = min((z for _, z in marks), default=0.0) - 0.25 * high
    # neighbours below each other, lest their texts overlap; the lowest first: the texts above
    # cover its arrow
    for i, disturbance in reversed(list(enumerate(known))):
        (x, z), text = marks[i], top - 0.2 * (i % LEVELS) * high
        low = min(low, text - 0.12 * high)
        axis.annotate(
            describe(disturbance),
            (x, z),
            (x, text),
            color=style.MARK,
            ha='center',
            fontsize=9.5,
            clip_on=True,
            annotation_clip=True,
            bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 0.5},
            arrowprops={'arrowstyle': '->', 'color': style.MARK},
        )
    axis.set_ylim(low, high)


def _place_of(run: Run, places: np.ndarray, disturbance: Disturbance) -> np.ndarray:
    """Return where a disturbance comes: at an edge of the floor, or at the foothold of a push."""
    if disturbance.kind == 'push':
        return places[disturbance.step, ::2]
    # three points a foothold after the first point
    return np.asarray(quantities.floor_profile(run, places)[3 * disturbance.step - 1])


def _origin(run: Run, places: np.ndarray) -> np.ndarray:
    """Return the place of the first disturbance, or where the run starts."""
    if quantities.disturbed_row(run) is None:
        return places[0, ::2]
    first = min(run.disturbances, key=lambda disturbance: disturbance.step)
    return _place_of(run, places, first) if first.step < len(places) else places[-1, ::2]


def _draw_pose(axis: style.Axes, skeleton: Skeleton, points: np.ndarray, strong: float) -> None:
    look = {'zorder': 3, 'linewidth': 2.2} if strong else {'zorder': 2, 'linewidth': 1.4}
    draw_bones(axis, skeleton, points, alpha=1.0 if strong else 0.22, **look)
    axis.plot(
        *points[skeleton.base],
        'o',
        color=style.NEUTRAL if strong else style.FAINT,
        markersize=4,
        zorder=4 if strong else 2,
    )


def plot_energies(run: Run) -> style.Figure | None:
    """Draw the energies of a run of curve tracking; None of another run."""
    if 'kinetic_energy_desired' not in run.telemetry:
        return None
    return plot_walk_energies([('energies', run, observe_energies(run))])


def plot_walk_energies(shown: Sequence[tuple[str, Run, dict[str, np.ndarray]]]) -> style.Figure:
    """Draw the energies of walks around their first disturbance, each from the touchdown before.

    Args:
        shown: Title, run and energies, see `observe_energies`, of each.
    """
    figure, axes = style.new_figure(
        len(shown), width=12.0, height=1.9, columns=2, width_ratios=(1.7, 1.0)
    )
    for i, (title, run, energies) in enumerate(shown):
        rows = quantities.rows_around(run, 2, 6)
        energy, across = axes[2 * i : 2 * i + 2]
        draw_energies(energy, run, rows, energies)
        draw_undesired(across, run, rows, energies)
        style.label(energy, title, ylabel='energy (J)')
    _frame_survivors(axes[: 2 * len(shown) : 2], [run for _, run, _ in shown])
    axes[1].set_title('kinetic, undesired', loc='left', fontsize=11)
    for axis in axes[-2:]:
        axis.set_xlabel('time (s)')
    lines = {
        line.get_label(): line
        for axis in axes[::2]
        for line in axis.get_lines()
        if not line.get_label().startswith('_')
    }
    figure.legend(
        lines.values(), lines.keys(), loc='outside lower center', ncols=len(lines), frameon=False
    )
    style.add_foot_legend(
        figure, shown[0][1].robot, '(band: stance)', extra=('disturbance (dashed)', style.MARK)
    )
    return figure


def _frame_survivors(axes: Sequence[style.Axes], runs: Sequence[Run]) -> None:
    """Give all energies the scale of the walks that survived; a fall leaves the frame."""
    limits = np.array(
        [axis.get_ylim() for axis, run in zip(axes, runs, strict=True) if not run.broke_off]
    )
    for axis in axes if len(limits) else ():
        axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def draw_energies(axis: style.Axes, run: Run, rows: slice, energies: dict[str, np.ndarray]) -> None:
    """Draw potential, kinetic and desired energy over time, and the tank where there is one.

    Args:
        axis: Axes.
        energies: What `observe_energies` gives of the run.
    """
    time, first = run.time[rows], rows.start
    rest = energies['potential_energy'][first]
    lines = [
        ('potential', energies['potential_energy'] - rest, ORANGE, '-'),
        ('kinetic, desired', energies['kinetic_energy_desired'], BLUE, '-'),
        ('kinetic, undesired', energies['kinetic_energy_undesired'], PURPLE, '-'),
        ('desired energy', energies['desired_energy'] - rest, style.NEUTRAL, '--'),
    ]
    tank = run.telemetry.get('tank_level')
    if tank is not None:
        lines.append(('tank', tank - tank[first], GREEN, '-'))
    for name, values, colour, dashes in lines:
        axis.plot(time, values[rows], dashes, color=colour, linewidth=1.6, label=name)
    _over_time(axis, run, rows)


def draw_undesired(
    axis: style.Axes, run: Run, rows: slice, energies: dict[str, np.ndarray]
) -> None:
    """Draw the undesired kinetic energy over time, by orders of magnitude."""
    time = run.time[rows]
    axis.semilogy(
        time,
        np.maximum(energies['kinetic_energy_undesired'][rows], LEAST),
        color=PURPLE,
        linewidth=1.6,
    )
    axis.set_ylim(LEAST, 50.0)
    _over_time(axis, run, rows)


def plot_effort_parts(run: Run) -> style.Figure | None:
    """Draw what the efforts of curve tracking consist of, a row each; None of another run."""
    if not all(f'nominal_{effort}' in run.telemetry for effort in run.robot.efforts):
        return None
    # the ankle first, as in the book
    efforts = sorted(run.robot.efforts, key=lambda effort: effort != 'ground_torque')
    figure, axes = style.new_figure(
        len(efforts), width=11.0, height=1.7, columns=len(PARTS), sharex=True
    )
    grid = np.array(axes, dtype=object).reshape(len(efforts), len(PARTS))
    for row, effort in zip(grid, efforts, strict=True):
        draw_effort_parts(row, run, effort)
        row[0].set_ylabel('ankle' if effort == 'ground_torque' else in_words(effort))
    for axis in grid[0]:  # above the axes, where no curve is
        axis.legend(
            loc='lower left',
            bbox_to_anchor=(0.0, 1.12),
            borderaxespad=0.0,
            borderpad=0.0,
            ncols=2,
            fontsize=10,
            frameon=False,
        )
    figure.supylabel('effort (N m)', fontsize=11)
    _finish(figure, grid[-1], run, quantities.rows_around(run, 1, 4))
    return figure


def draw_effort_parts(axes: Iterable[style.Axes], run: Run, effort: str) -> None:
    """Draw the parts of one effort into three axes.

    Args:
        axes: Three axes: large parts that cancel, corrections, total.
        run: The `Run` of curve tracking.
        effort: Name of the effort.
    """
    rows = quantities.rows_around(run, 1, 4)
    for axis, parts in zip(axes, PARTS, strict=True):
        for part, colour, dashes in parts:
            axis.plot(
                run.time[rows],
                run.telemetry[f'{part}_{effort}'][rows],
                dashes,
                color=colour,
                linewidth=1.5,
                label=part,
            )
        _frame(axis)
        _over_time(axis, run, rows)


def _frame(axis: style.Axes) -> None:
    """Let lone peaks leave the frame; say so above it."""
    sizes = np.abs(np.concatenate([line.get_ydata() for line in axis.get_lines()]))
    usual = 2.0 * np.quantile(sizes, 0.97)
    if sizes.max() > 2.0 * usual > 0.0:
        axis.set_ylim(-usual, usual)
        axis.set_title(f'peak {sizes.max():.3g}', loc='right', fontsize=9, pad=2.0)


def _over_time(axis: style.Axes, run: Run, rows: slice) -> None:
    """Mark stance and disturbance in axes that span the time of rows; one row gets a width."""
    time = run.time[rows]
    shade_stance(axis, run, rows)
    mark_time(axis, run)
    axis.set_xlim(time[0], max(time[-1], time[0] + 1e-3))


def _finish(figure: style.Figure, axes: list[style.Axes], run: Run, rows: slice) -> None:
    for axis in axes:
        axis.set_xlabel('time (s)')
    style.add_foot_legend(
        figure,
        run.robot,
        '(band: stance)',
        extra=('disturbance (dashed)', style.MARK) if run.disturbances else None,
    )
