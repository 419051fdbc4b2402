# SPDX-License-Identifier: Apache-2.0
"""A walk around a disturbance: its steps, energies and efforts ([DS09] Figs. 5.8, 5.10, 5.11)."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from walking_control.lab.reports.plots import bones, Mark, mark, Panel, stance, style
from walking_control.models import Dynamics, in_words
from walking_control.runs import foot_positions, observe_energies, quantities, Run, Skeleton, tilt
from walking_control.simulation import Disturbance

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
    texts = min(LEVELS, max(len(run.disturbances) for _, run in shown))
    last = len(shown) - 2
    figure = style.draw_panels(
        [
            Panel(
                title,
                '' if i % 2 else 'up (m)',
                [partial(draw_walk, run=run)],
                'forward of the disturbance (m)' if i >= last else '',
            )
            for i, (title, run) in enumerate(shown)
        ],
        columns=min(2, len(shown)),
        width=13.0,
        height=2.25 + 0.3 * texts,
    )
    _same_limits(figure.axes[: len(shown)])
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
            strong = k == 0 or (end == len(run.time) and k == POSES - 1)
            look = {'linewidth': 2.2 if strong else 1.4, 'alpha': 1.0 if strong else 0.22}
            middle = {'color': style.NEUTRAL if strong else style.FAINT, 'markersize': 4}
            for each in bones(skeleton, points, zorder=3 if strong else 2, **look):
                each(axis)
            axis.plot(*points[skeleton.base], 'o', zorder=4 if strong else 2, **middle)
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
    panels = []
    for i, (title, run, energies) in enumerate(shown):
        rows, last = quantities.rows_around(run, 2, 6), i == len(shown) - 1
        x, words = 'time (s)' if last else '', '' if i else 'kinetic, undesired'
        panels.append(Panel(title, 'energy (J)', energy_marks(run, rows, energies), x))
        panels.append(Panel(words, '', undesired_marks(run, rows, energies), x))
    figure = style.draw_panels(panels, columns=2, width=12.0, height=1.9, width_ratios=(1.7, 1.0))
    _frame_survivors(figure.axes[::2], [run for _, run, _ in shown])
    handles, names = zip(*(axis.get_legend_handles_labels() for axis in figure.axes[::2]))
    lines = dict(zip(chain(*names), chain(*handles)))
    look = {'loc': 'outside lower center', 'ncols': len(lines), 'frameon': False}
    figure.legend(lines.values(), lines.keys(), **look)
    disturbed = 'disturbance (dashed)', style.MARK
    style.add_foot_legend(figure, shown[0][1].robot, '(band: stance)', disturbed)
    return figure


def _frame_survivors(axes: Sequence[style.Axes], runs: Sequence[Run]) -> None:
    """Give all energies the scale of the walks that survived; a fall leaves the frame."""
    limits = np.array(
        [axis.get_ylim() for axis, run in zip(axes, runs, strict=True) if not run.broke_off]
    )
    for axis in axes if len(limits) else ():
        axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def energy_marks(run: Run, rows: slice, energies: dict[str, np.ndarray]) -> list[Mark]:
    """Return potential, kinetic and desired energy over time, and the tank where there is one.

    Args:
        run: The `Run`.
        rows: Of it that are drawn.
        energies: What `observe_energies` gives of it.
    """
    first, tank = rows.start, run.telemetry.get('tank_level')
    rest = energies['potential_energy'][first]
    lines = [
        ('potential', energies['potential_energy'] - rest, ORANGE, '-'),
        ('kinetic, desired', energies['kinetic_energy_desired'], BLUE, '-'),
        ('kinetic, undesired', energies['kinetic_energy_undesired'], PURPLE, '-'),
        ('desired energy', energies['desired_energy'] - rest, style.NEUTRAL, '--'),
        *([] if tank is None else [('tank', tank - tank[first], GREEN, '-')]),
    ]
    return [*_curves(run, rows, lines, 1.6), *_over_time(run, rows)]


def _curves(run: Run, rows: slice, lines: Iterable[Any], width: float) -> Iterator[Mark]:
    """Yield what draws lines: name, values, colour, dashes."""
    for name, values, colour, dashes in lines:
        look = {'color': colour, 'linewidth': width, 'label': name}
        yield mark('plot', run.time[rows], values[rows], dashes, **look)


def undesired_marks(run: Run, rows: slice, energies: dict[str, np.ndarray]) -> list[Mark]:
    """Return the undesired kinetic energy over time, by orders of magnitude."""
    energy = np.maximum(energies['kinetic_energy_undesired'][rows], LEAST)
    return [
        mark('semilogy', run.time[rows], energy, color=PURPLE, linewidth=1.6),
        mark('set_ylim', LEAST, 50.0),
        *_over_time(run, rows),
    ]


def plot_effort_parts(run: Run) -> style.Figure | None:
    """Draw what the efforts of curve tracking consist of, a row each; None of another run."""
    if not all(f'nominal_{effort}' in run.telemetry for effort in run.robot.efforts):
        return None
    # the ankle first, as in the book
    efforts = sorted(run.robot.efforts, key=lambda effort: effort != 'ground_torque')
    rows, panels = quantities.rows_around(run, 1, 4), []
    look = {'borderaxespad': 0.0, 'borderpad': 0.0, 'ncols': 2, 'fontsize': 10, 'frameon': False}
    above = {'loc': 'lower left', 'bbox_to_anchor': (0.0, 1.12), **look}  # where no curve is
    for effort in efforts:
        name = 'ankle' if effort == 'ground_torque' else in_words(effort)
        for i, parts in enumerate(PARTS):
            lines = [
                (part, run.telemetry[f'{part}_{effort}'], colour, dashes)
                for part, colour, dashes in parts
            ]
            marks = [*_curves(run, rows, lines, 1.5), _frame, *_over_time(run, rows)]
            legend = above if effort == efforts[0] else None
            panels.append(Panel('', '' if i else name, marks, legend=legend))
    figure = style.draw_panels(
        panels, 'time (s)', columns=len(PARTS), width=11.0, height=1.7, sharex=True
    )
    figure.supylabel('effort (N m)', fontsize=11)
    disturbed = ('disturbance (dashed)', style.MARK) if run.disturbances else None
    style.add_foot_legend(figure, run.robot, '(band: stance)', disturbed)
    return figure


def _frame(axis: style.Axes) -> None:
    """Let lone peaks leave the frame; say so above it."""
    sizes = np.abs(np.concatenate([line.get_ydata() for line in axis.get_lines()]))
    usual = 2.0 * np.quantile(sizes, 0.97)
    if sizes.max() > 2.0 * usual > 0.0:
        axis.set_ylim(-usual, usual)
        axis.set_title(f'peak {sizes.max():.3g}', loc='right', fontsize=9, pad=2.0)


def _over_time(run: Run, rows: slice) -> list[Mark]:
    """Return what marks stance and disturbance over the time of rows; one row gets a width."""
    row, (begin, end) = quantities.disturbed_row(run), run.time[rows][[0, -1]]
    look = {'color': style.MARK, 'linewidth': 1.2, 'linestyle': '--', 'zorder': 1.5}
    return [
        *stance(run, rows),
        *([] if row is None else [mark('axvline', run.time[row], **look)]),
        mark('set_xlim', begin, max(end, begin + 1e-3)),
    ]
