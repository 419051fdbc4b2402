# SPDX-License-Identifier: Apache-2.0
"""Maps of a sweep, as Fig. 5.12 of [DS09]: where the robot walks, and how."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from walking_control.experiments.sweeps.task import Axis, SweepTask
from walking_control.models.robot import in_words
from walking_control.reports.plots.style import Axes, Figure, FOOT_COLOURS, label, MARK, new_figure

MAPS = {'speed': 'speed (m/s)', 'foot_clearance': 'foot clearance (m)',
        'cost_of_transport': 'cost of transport, mechanical (1)'}


def sweep_figures(task: SweepTask, table: Any, result: dict[str, Any]) -> dict[str, Figure]:
    """Return name -> figure of a sweep.

    Args:
        table: Its `pyarrow.Table`.
        result: What `run_sweep` says of it.
    """
    columns = {name: np.array(table[name].to_pylist(), dtype=float)
               for name in (*(axis.name for axis in task.axes), 'stable', *MAPS)}
    axes = [axis for axis in task.axes if axis.high != axis.low]
    if not axes:
        return {}
    if task.samples or len(axes) == 1:
        return {'maps': _plot_points(axes, columns, result)}
    return {'maps': _plot_maps(axes, columns, result)}


def _plot_points(axes: Sequence[Axis], columns: Any, result: dict[str, Any]) -> Figure:
    """Draw every row as a point over its first axis, or its first two."""
    figure, panels = new_figure(2, columns=2, height=2.6)
    stable = columns['stable'] > 0.5
    over = columns[axes[0].name]
    for panel, (name, text) in zip(panels, {'stable': 'lasts', **MAPS}.items(), strict=True):
        if len(axes) > 1:
            colour = columns[name] if name != 'stable' else columns['stable']
            dots = panel.scatter(over, columns[axes[1].name], c=colour, s=12, cmap='viridis')
            figure.colorbar(dots, ax=panel)
            label(panel, text, in_words(axes[1].name))
        else:
            panel.plot(over[stable], columns[name][stable], '.', color=FOOT_COLOURS[0])
            panel.plot(over[~stable], np.zeros(np.sum(~stable)), 'x', color=MARK)
            label(panel, '', text)
    for panel in panels[2:]:
        panel.set_xlabel(in_words(axes[0].name))
    figure.suptitle(_title(result), x=0.01, ha='left', fontsize=11)
    return figure


def _plot_maps(axes: Sequence[Axis], columns: Any, result: dict[str, Any]) -> Figure:
    """Draw the four maps over the last two axes, others at the point chosen."""
    *others, y, x = axes
    chosen = result['chosen']
    here, texts = np.ones(len(columns['stable']), bool), []
    for axis in others:
        wanted = chosen[axis.name] if chosen else 0.5 * (axis.low + axis.high)
        values = np.unique(columns[axis.name])
        nearest = values[np.argmin(np.abs(values - wanted))]
        here &= columns[axis.name] == nearest
        texts.append(f'{in_words(axis.name)} {nearest:.4g}')
    figure, panels = new_figure(2, columns=2, height=2.9, sharex=True, sharey=True)
    at = f' at {", ".join(texts)}' if texts else ''
    _draw(figure, panels[0], x, y, columns, 'stable', slice(None),
          '(a) share that lasts' + (f' over {", ".join(in_words(a.name) for a in others)}'
                                    if others else ''))
    if others:
        _outline(panels[0], x, y, columns, here)
    for panel, letter, (name, text) in zip(panels[1:], 'bcd', MAPS.items(), strict=True):
        walks = here & (columns['stable'] > 0.5)
        _draw(figure, panel, x, y, columns, name, walks, f'({letter}) {text}{at}')
    for panel in panels:
        panel.grid(False)
        if chosen:
            panel.plot(chosen[x.name], chosen[y.name], 'o', color='black', markersize=5,
                       clip_on=False)
    for panel in panels[2:]:
        panel.set_xlabel(in_words(x.name))
    for panel in panels[::2]:
        panel.set_ylabel(in_words(y.name))
    figure.suptitle(_title(result), x=0.01, ha='left', fontsize=11)
    return figure


def _draw(figure: Figure, panel: Axes, x: Axis, y: Axis, columns: Any, name: str,
          rows: slice | np.ndarray, title: str) -> None:
    """Draw the mean of a column in each cell of two axes."""
    xs, ys, cells = _cells(x, y, columns, columns[name], rows)
    mesh = panel.pcolormesh(xs, ys, cells, shading='nearest', cmap='viridis',
                            **({'vmin': 0.0, 'vmax': 1.0} if name == 'stable' else {}))
    figure.colorbar(mesh, ax=panel)
    panel.set_title(title, loc='left', fontsize=9.5)


def _outline(panel: Axes, x: Axis, y: Axis, columns: Any, rows: slice | np.ndarray) -> None:
    """Draw where walks last at the other axes' chosen values."""
    xs, ys, cells = _cells(x, y, columns, columns['stable'], rows)
    if np.nanmin(cells) < 0.5 < np.nanmax(cells) and min(cells.shape) > 1:
        panel.contour(xs, ys, cells, [0.5], colors=MARK, linewidths=1.5)


def _cells(x: Axis, y: Axis, columns: Any, values: Any,
           rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of two axes and the mean of others in their cells, NaN where none is."""
    xs, i = np.unique(columns[x.name][rows], return_inverse=True)
    ys, j = np.unique(columns[y.name][rows], return_inverse=True)
    known = np.isfinite(values[rows])
    count, total = np.zeros((len(ys), len(xs))), np.zeros((len(ys), len(xs)))
    np.add.at(count, (j[known], i[known]), 1.0)
    np.add.at(total, (j[known], i[known]), values[rows][known])
    return xs, ys, np.where(count > 0.0, total / np.maximum(count, 1.0), np.nan)


def _title(result: dict[str, Any]) -> str:
    text = (f'{result["robot"]}, {in_words(result["controller"])}, plant {result["plant"]}: '
            f'{result["stable"]} of {result["runs"]} walks last')
    if result['margin'] is not None:
        text += f'; margin of the point {result["margin"]:.3g} widths of the axes'
    return text
