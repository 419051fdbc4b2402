# SPDX-License-Identifier: Apache-2.0
"""Figures that set walks under one disturbance side by side."""

from collections.abc import Sequence

import numpy as np

from walking_control.experiments.comparison import Walk
from walking_control.reports.plots.disturbance import draw_walk, LEVELS
from walking_control.reports.plots.energy import draw_energies, draw_undesired
from walking_control.reports.plots.style import add_foot_legend, Axes, Figure, MARK, new_figure
from walking_control.runs.quantities import rows_around
from walking_control.runs.run import Run


def plot_all_walks(walks: Sequence[Walk]) -> Figure | None:
    """Draw the steps of every walk around the disturbance to one scale; None without a walk."""
    shown = [(walk.run, walk) for walk in walks
             if walk.run is not None and len(walk.run.time) > 1]
    if not shown:
        return None
    rows = -(-len(shown) // 2)
    texts = min(LEVELS, max(len(run.disturbances) for run, _ in shown))
    figure, axes = new_figure(rows, width=13.0, height=2.25 + 0.3 * texts,
                              columns=min(2, len(shown)))
    for axis, (run, walk) in zip(axes, shown, strict=False):
        draw_walk(axis, run)
        axis.set_title(_title(run, walk), loc='left', fontsize=11)
    _same_limits(axes[:len(shown)])
    for axis in axes[len(shown):]:
        axis.set_visible(False)
    for axis in axes[max(0, len(shown) - 2):len(shown)]:
        axis.set_xlabel('forward of the disturbance (m)')
    for axis in axes[::2]:
        axis.set_ylabel('up (m)')
    add_foot_legend(figure, shown[0][0].robot)
    return figure


def _same_limits(axes: Sequence[Axes]) -> None:
    x, y = (np.array([getattr(axis, f'get_{name}lim')() for axis in axes]) for name in 'xy')
    for axis in axes:
        axis.set_xlim(x[:, 0].min(), x[:, 1].max())
        axis.set_ylim(max(y[:, 0].min(), -1.5), y[:, 1].max())


def plot_all_energies(walks: Sequence[Walk]) -> Figure | None:
    """Draw the energies of every walk that has them; None without any."""
    shown = [(walk.run, walk, walk.energies) for walk in walks if walk.run is not None
             and walk.energies is not None and len(walk.run.time) > 1]
    if not shown:
        return None
    figure, axes = new_figure(len(shown), width=12.0, height=1.9, columns=2,
                              width_ratios=(1.7, 1.0))
    for i, (run, walk, energies) in enumerate(shown):
        rows = rows_around(run, 2, 6)
        energy, across = axes[2 * i:2 * i + 2]
        draw_energies(energy, run, rows, energies)
        draw_undesired(across, run, rows, energies)
        energy.set_title(_title(run, walk), loc='left', fontsize=11)
        energy.set_ylabel('energy (J)')
    _frame_survivors(axes[:2 * len(shown):2], [run for run, *_ in shown])
    axes[1].set_title('kinetic, undesired', loc='left', fontsize=11)
    for axis in axes[-2:]:
        axis.set_xlabel('time (s)')
    lines = {line.get_label(): line for axis in axes[::2] for line in axis.get_lines()
             if not line.get_label().startswith('_')}
    figure.legend(lines.values(), lines.keys(), loc='outside lower center', ncols=len(lines),
                  frameon=False)
    add_foot_legend(figure, shown[0][0].robot, '(band: stance)',
                    extra=('disturbance (dashed)', MARK))
    return figure


def _frame_survivors(axes: Sequence[Axes], runs: Sequence[Run]) -> None:
    """Give all energies the scale of the walks that survived; a fall leaves the frame."""
    limits = np.array([axis.get_ylim() for axis, run in zip(axes, runs, strict=True)
                       if not run.broke_off])
    for axis in axes if len(limits) else ():
        axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def _title(run: Run, walk: Walk) -> str:
    ending = 'fell' if run.fell else 'stopped by a fault'
    return walk.variant.name + (f' – {ending}' if run.broke_off else '')
