# SPDX-License-Identifier: Apache-2.0
"""Energies and efforts of curve tracking around a disturbance, as Figs. 5.10b and 5.11 of [DS09].
"""

from collections.abc import Iterable

import numpy as np

from walking_control.models.robot import in_words, Robot
from walking_control.reports.plots.disturbance import mark_time
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
from walking_control.reports.plots.walk import shade_stance
from walking_control.runs.energies import observe_energies
from walking_control.runs.quantities import rows_around
from walking_control.runs.run import Run

BLUE, ORANGE, GREEN, PURPLE = FOOT_COLOURS
# columns of parts of an effort: name, colour, style
PARTS = ((('nominal', BLUE, '-'), ('potential', ORANGE, '--')),
         (('asymptotic', BLUE, '-'), ('energy', ORANGE, '--')),
         (('applied', 'black', '-'), ('wanted', MARK, ':')))
LEAST = 1e-4   # J: below this undesired energy is as good as none


def plot_energies(run: Run) -> Figure | None:
    """Draw the energies of a run of curve tracking; None of another run."""
    if 'kinetic_energy_desired' not in run.telemetry:
        return None
    figure, axes = new_figure(2, height=2.6, sharex=True, height_ratios=(1.7, 1.0))
    rows = rows_around(run, 2, 8)
    energies = observe_energies(run)
    draw_energies(axes[0], run, rows, energies)
    draw_undesired(axes[1], run, rows, energies)
    label(axes[0], 'energies; potential, desired and tank from their value at the first touchdown '
          'shown', 'energy (J)')
    axes[0].legend(ncols=5, loc='upper left', fontsize=9.5)
    axes[0].set_ylim(top=axes[0].get_ylim()[1] * 1.2)
    label(axes[1], 'kinetic energy across the desired direction', 'energy (J)')
    _finish(figure, axes[-1:], run, rows)
    return figure


def draw_energies(axis: Axes, run: Run, rows: slice,
                  energies: dict[str, np.ndarray]) -> None:
    """Draw potential, kinetic and desired energy over time, and the tank where there is one.

    Args:
        axis: Axes.
        energies: What `observe_energies` gives of the run.
    """
    time, first = run.time[rows], rows.start
    rest = energies['potential_energy'][first]
    lines = [('potential', energies['potential_energy'] - rest, ORANGE, '-'),
             ('kinetic, desired', energies['kinetic_energy_desired'], BLUE, '-'),
             ('kinetic, undesired', energies['kinetic_energy_undesired'], PURPLE, '-'),
             ('desired energy', energies['desired_energy'] - rest, NEUTRAL, '--')]
    tank = run.telemetry.get('tank_level')
    if tank is not None:
        lines.append(('tank', tank - tank[first], GREEN, '-'))
    for name, values, colour, style in lines:
        axis.plot(time, values[rows], style, color=colour, linewidth=1.6, label=name)
    shade_stance(axis, run, rows)
    mark_time(axis, run)
    _span(axis, time)


def draw_undesired(axis: Axes, run: Run, rows: slice,
                   energies: dict[str, np.ndarray]) -> None:
    """Draw the undesired kinetic energy over time, by orders of magnitude."""
    time = run.time[rows]
    axis.semilogy(time, np.maximum(energies['kinetic_energy_undesired'][rows], LEAST),
                  color=PURPLE, linewidth=1.6)
    axis.set_ylim(LEAST, 50.0)
    shade_stance(axis, run, rows)
    mark_time(axis, run)
    _span(axis, time)


def plot_effort_parts(run: Run) -> Figure | None:
    """Draw what the efforts of curve tracking consist of, a row each; None of another run."""
    if not has_parts(run):
        return None
    efforts = ordered_efforts(run.robot)
    figure, axes = new_figure(len(efforts), width=11.0, height=1.7, columns=len(PARTS),
                              sharex=True)
    grid = np.array(axes, dtype=object).reshape(len(efforts), len(PARTS))
    for row, effort in zip(grid, efforts, strict=True):
        draw_effort_parts(row, run, effort)
        row[0].set_ylabel('ankle' if effort == 'ground_torque' else in_words(effort))
    for axis in grid[0]:   # above the axes, where no curve is
        axis.legend(loc='lower left', bbox_to_anchor=(0.0, 1.12), borderaxespad=0.0,
                    borderpad=0.0, ncols=2, fontsize=10, frameon=False)
    figure.supylabel('effort (N m)', fontsize=11)
    _finish(figure, grid[-1], run, rows_around(run, 1, 4))
    return figure


def has_parts(run: Run) -> bool:
    """Return whether a run says what its efforts consist of."""
    return all(f'nominal_{effort}' in run.telemetry for effort in run.robot.efforts)


def ordered_efforts(robot: Robot) -> list[str]:
    """Return the names of the efforts, the ankle first as in the book."""
    return sorted(robot.efforts, key=lambda effort: effort != 'ground_torque')


def draw_effort_parts(axes: Iterable[Axes], run: Run, effort: str) -> None:
    """Draw the parts of one effort into three axes.

    Args:
        axes: Three axes: large parts that cancel, corrections, total.
        run: The `Run` of curve tracking.
        effort: Name of the effort.
    """
    rows = rows_around(run, 1, 4)
    for axis, parts in zip(axes, PARTS, strict=True):
        for part, colour, style in parts:
            axis.plot(run.time[rows], run.telemetry[f'{part}_{effort}'][rows], style,
                      color=colour, linewidth=1.5, label=part)
        _frame(axis)
        shade_stance(axis, run, rows)
        mark_time(axis, run)


def _frame(axis: Axes) -> None:
    """Let lone peaks leave the frame; say so above it."""
    sizes = np.abs(np.concatenate([line.get_ydata() for line in axis.get_lines()]))
    usual = 2.0 * np.quantile(sizes, 0.97)
    if sizes.max() > 2.0 * usual > 0.0:
        axis.set_ylim(-usual, usual)
        axis.set_title(f'peak {sizes.max():.3g}', loc='right', fontsize=9, pad=2.0)


def _span(axis: Axes, time: np.ndarray) -> None:
    """Let the axis span the time, s; a run of one tick is a point and gets a width."""
    axis.set_xlim(time[0], max(time[-1], time[0] + 1e-3))


def _finish(figure: Figure, axes: list[Axes], run: Run, rows: slice) -> None:
    for axis in axes:
        axis.set_xlabel('time (s)')
        _span(axis, run.time[rows])
    add_foot_legend(figure, run.robot, '(band: stance)', extra=('disturbance (dashed)', MARK)
                    if run.disturbances else None)
