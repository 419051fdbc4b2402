# SPDX-License-Identifier: Apache-2.0
"""Figures of many walks: maps of a sweep ([DS09] Fig. 5.12), costs of margins, stability."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.lab.reports.plots import style
from walking_control.models.robot import in_words

MAPS = {
    'speed': 'speed (m/s)',
    'foot_clearance': 'foot clearance (m)',
    'cost_of_transport': 'cost of transport, mechanical (1)',
}
_RETURNED, _LOST = style.FOOT_COLOURS[0], style.MARK


def sweep_figures(task: SweepTask, table: Any, result: dict[str, Any]) -> dict[str, style.Figure]:
    """Return name -> figure of a sweep.

    Args:
        table: Its `pyarrow.Table`.
        result: What `run_sweep` says of it.
    """
    columns = {
        name: np.array(table[name].to_pylist(), dtype=float)
        for name in (*(axis.name for axis in task.axes), 'stable', *MAPS)
    }
    axes = [axis for axis in task.axes if axis.high != axis.low]
    if not axes:
        return {}
    if task.samples or len(axes) == 1:
        return {'maps': _plot_points(axes, columns, result)}
    return {'maps': _plot_maps(axes, columns, result)}


def _plot_points(axes: Sequence[Axis], columns: Any, result: dict[str, Any]) -> style.Figure:
    """Draw every row as a point over its first axis, or its first two."""
    figure, panels = style.new_figure(2, columns=2, height=2.6)
    stable = columns['stable'] > 0.5
    over = columns[axes[0].name]
    for panel, (name, text) in zip(panels, {'stable': 'lasts', **MAPS}.items(), strict=True):
        if len(axes) > 1:
            colour = columns[name] if name != 'stable' else columns['stable']
            dots = panel.scatter(over, columns[axes[1].name], c=colour, s=12, cmap='viridis')
            figure.colorbar(dots, ax=panel)
            style.label(panel, text, in_words(axes[1].name))
        else:
            panel.plot(over[stable], columns[name][stable], '.', color=style.FOOT_COLOURS[0])
            panel.plot(over[~stable], np.zeros(np.sum(~stable)), 'x', color=style.MARK)
            style.label(panel, '', text)
    for panel in panels[2:]:
        panel.set_xlabel(in_words(axes[0].name))
    figure.suptitle(_title(result), x=0.01, ha='left', fontsize=11)
    return figure


def _plot_maps(axes: Sequence[Axis], columns: Any, result: dict[str, Any]) -> style.Figure:
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
    figure, panels = style.new_figure(2, columns=2, height=2.9, sharex=True, sharey=True)
    at = f' at {", ".join(texts)}' if texts else ''
    over = f' over {", ".join(in_words(axis.name) for axis in others)}' if others else ''
    lasts = _cells(x, y, columns, columns['stable'], slice(None))
    _draw(panels[0], lasts, f'(a) share that lasts{over}', (0.0, 1.0))
    if others:
        # where walks last at the other axes' chosen values
        xs, ys, shares = _cells(x, y, columns, columns['stable'], here)
        if np.nanmin(shares) < 0.5 < np.nanmax(shares) and min(shares.shape) > 1:
            panels[0].contour(xs, ys, shares, [0.5], colors=style.MARK, linewidths=1.5)
    for panel, letter, (name, text) in zip(panels[1:], 'bcd', MAPS.items(), strict=True):
        walks = here & (columns['stable'] > 0.5)
        cells = _cells(x, y, columns, columns[name], walks)
        _draw(panel, cells, f'({letter}) {text}{at}')
    for panel in panels:
        panel.grid(False)
        if chosen:
            panel.plot(
                chosen[x.name], chosen[y.name], 'o', color='black', markersize=5, clip_on=False
            )
    for panel in panels[2:]:
        panel.set_xlabel(in_words(x.name))
    for panel in panels[::2]:
        panel.set_ylabel(in_words(y.name))
    figure.suptitle(_title(result), x=0.01, ha='left', fontsize=11)
    return figure


def _draw(
    panel: style.Axes,
    cells: tuple[np.ndarray, np.ndarray, np.ndarray],
    title: str,
    ends: tuple[float | None, float | None] = (None, None),
) -> None:
    """Draw what `_cells` returned, the colours between two ends where they are given."""
    low, high = ends
    mesh = panel.pcolormesh(*cells, shading='nearest', cmap='viridis', vmin=low, vmax=high)
    panel.figure.colorbar(mesh, ax=panel)
    panel.set_title(title, loc='left', fontsize=9.5)


def _cells(
    x: Axis, y: Axis, columns: Any, values: Any, rows: slice | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of two axes and the mean of others in their cells, NaN where none is."""
    xs, i = np.unique(columns[x.name][rows], return_inverse=True)
    ys, j = np.unique(columns[y.name][rows], return_inverse=True)
    known = np.isfinite(values[rows])
    count, total = np.zeros((len(ys), len(xs))), np.zeros((len(ys), len(xs)))
    np.add.at(count, (j[known], i[known]), 1.0)
    np.add.at(total, (j[known], i[known]), values[rows][known])
    return xs, ys, np.where(count > 0.0, total / np.maximum(count, 1.0), np.nan)


def _title(result: dict[str, Any]) -> str:
    text = (
        f'{result["robot"]}, {in_words(result["controller"])}, plant {result["plant"]}: '
        f'{result["stable"]} of {result["runs"]} walks last'
    )
    if result['margin'] is not None:
        text += f'; margin of the point {result["margin"]:.3g} widths of the axes'
    return text


def plot_pareto(result: dict[str, Any]) -> style.Figure:
    """Draw cost over the worst share of a margin kept, of all points that walk.

    Args:
        result: What `experiments.tuning.tune` found.
    """
    figure, (axis,) = style.new_figure(1, height=3.8)
    worst, cost = np.array(result['points'], dtype=float).T
    axis.plot(worst, cost, '.', color=style.FAINT, label='tried')
    front = [(share, price) for share, price, _ in result['pareto']]
    axis.step(
        *zip(*front, strict=True),
        where='pre',
        color=style.FOOT_COLOURS[0],
        marker='o',
        markersize=4,
        label='none beats these in both',
    )
    axis.axvline(1.0, color=style.MARK, linewidth=1.2, label='margins asked for')
    if result['cost_before'] is not None:
        axis.plot(worst[0], result['cost_before'], 's', color=style.FOOT_COLOURS[1], label='before')
    chosen = min(
        (entry for entry in result['points'] if entry[0] >= 1.0 - 1e-9), key=lambda entry: entry[1]
    )
    axis.plot(*chosen, '*', color='black', markersize=13, label='chosen')
    style.label(
        axis,
        f'{result["robot"]}, {in_words(result["controller"])}, plant {result["plant"]}: '
        f'{result["trials"]} points tried',
        in_words(result['cost_name']),
        'least of: margin kept / margin asked for',
    )
    axis.legend(fontsize=9)
    return figure


def stability_figures(result: dict[str, Any]) -> dict[str, style.Figure]:
    """Return name -> figure of what `find_metrics` found."""
    figures = {}
    if 'responses' in result:
        figures['sensitivity'] = plot_responses(result)
    if 'attraction_samples' in result:
        figures['attraction'] = plot_attraction(result)
    return figures


def plot_responses(result: dict[str, Any]) -> style.Figure:
    """Draw how gait indicators stray from the cycle after one small disturbance."""
    figure, axes = style.new_figure(2, columns=2, height=2.2, sharex=True)
    words = {'floor': 'a foothold lower by 1 m', 'push': 'a push of 1 N s/kg'}
    units = {'step_time': 's', 'step_length': 'm'}
    cells = [(kind, name) for kind in result['responses'] for name in units]
    for axis, (kind, name) in zip(axes, cells, strict=True):
        values = np.array(result['responses'][kind][name])
        axis.bar(np.arange(1, len(values) + 1), values, color=style.FOOT_COLOURS[0])
        axis.axhline(0.0, color=style.FAINT, linewidth=1.0)
        style.label(
            axis,
            f'{words[kind]}: norm {result["sensitivity"][kind][name]:.3g} {units[name]}',
            f'{in_words(name)} (change, {units[name]})',
        )
    for axis in axes[2:]:
        axis.set_xlabel('step')
    figure.suptitle(
        f'{_name(result)}: gait sensitivity norm {result["gait_sensitivity_norm"]:.4g} '
        '(step time over floor height, without units)',
        x=0.01,
        ha='left',
        fontsize=11,
    )
    return figure


def plot_attraction(result: dict[str, Any]) -> style.Figure:
    """Draw slices of the region of attraction: the states near each plane of two coordinates."""
    rows = np.array(result['attraction_samples'], dtype=float)
    states, back = rows[:, :3], rows[:, 4] > 0.5
    centre = states.mean(axis=0)
    half = 0.25 * np.abs(states - centre).max(axis=0)  # of a slice
    names = ['stance angle (rad)', 'its rate (rad/s)', 'rate of the hip (rad/s)']
    figure, axes = style.new_figure(1, columns=3, height=3.4)
    for axis, (i, j, k) in zip(axes, ((0, 1, 2), (0, 2, 1), (1, 2, 0)), strict=True):
        near = np.abs(states[:, k] - centre[k]) < half[k]
        for chosen, colour, text in ((back, _RETURNED, 'returns'), (~back, _LOST, 'does not')):
            axis.plot(
                states[near & chosen, i],
                states[near & chosen, j],
                '.',
                color=colour,
                markersize=4,
                label=text,
            )
        style.label(
            axis, f'{names[k].partition(" (")[0]} within ±{half[k]:.2g}', names[j], names[i]
        )
    axes[0].legend(loc='best', fontsize=9)
    low, high = result['attraction_share_interval']
    figure.suptitle(
        f'{_name(result)}: {100 * result["attraction_share"]:.3g} % '
        f'({100 * low:.3g} to {100 * high:.3g}) of the ball of radius '
        f'{result["attraction_radius"]:g} returns',
        x=0.01,
        ha='left',
        fontsize=11,
    )
    return figure


def _name(result: dict[str, Any]) -> str:
    return f'{result["robot"]}, {in_words(result["controller"])}'
