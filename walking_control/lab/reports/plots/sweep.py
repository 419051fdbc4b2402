# SPDX-License-Identifier: Apache-2.0
"""Figures of many walks: maps of a sweep ([DS09] Fig. 5.12), costs of margins, stability."""

from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from walking_control.lab.experiments.sweeps.task import Axis, SweepTask
from walking_control.lab.reports.plots import Mark, mark, Panel, style
from walking_control.models import in_words

MAPS = {
    'speed': 'speed (m/s)',
    'foot_clearance': 'foot clearance (m)',
    'cost_of_transport': 'cost of transport, mechanical (1)',
}


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
    of_points = task.samples or len(axes) == 1
    panels = _point_panels(axes, columns) if of_points else _map_panels(axes, columns, result)
    look = {'height': 2.6} if of_points else {'height': 2.9, 'sharex': True, 'sharey': True}
    over = in_words(axes[0 if of_points else -1].name)
    return {'maps': style.draw_panels(panels, over, _title(result), columns=2, **look)}


def _point_panels(axes: Sequence[Axis], columns: Any) -> Iterator[Panel]:
    """Yield a panel for each number, every row a point over its first axis, or its first two."""
    stable, over = columns['stable'] > 0.5, columns[axes[0].name]
    lost = mark('plot', over[~stable], np.zeros(np.sum(~stable)), 'x', color=style.MARK)
    for name, text in {'stable': 'lasts', **MAPS}.items():
        if len(axes) > 1:
            dots = partial(_scatter, x=over, y=columns[axes[1].name], c=columns[name])
            yield Panel(text, in_words(axes[1].name), [dots])
        else:
            kept = columns[name][stable]
            blue = mark('plot', over[stable], kept, '.', color=style.FOOT_COLOURS[0])
            yield Panel('', text, [blue, lost])


def _scatter(panel: style.Axes, **dots: Any) -> None:
    panel.figure.colorbar(panel.scatter(s=12, cmap='viridis', **dots), ax=panel)


def _map_panels(axes: Sequence[Axis], columns: Any, result: dict[str, Any]) -> Iterator[Panel]:
    """Yield the four maps over the last two axes, others at the point chosen."""
    *others, y, x = axes
    chosen, stable = result['chosen'], columns['stable']
    here, texts = np.ones(len(stable), bool), []
    for axis in others:
        wanted = chosen[axis.name] if chosen else 0.5 * (axis.low + axis.high)
        values = np.unique(columns[axis.name])
        nearest = values[np.argmin(np.abs(values - wanted))]
        here &= columns[axis.name] == nearest
        texts.append(f'{in_words(axis.name)} {nearest:.4g}')
    at = f' at {", ".join(texts)}' if texts else ''
    over = f' over {", ".join(in_words(axis.name) for axis in others)}' if others else ''
    point = [mark('grid', False)]
    if chosen:
        look = {'color': 'black', 'markersize': 5, 'clip_on': False}
        point.append(mark('plot', chosen[x.name], chosen[y.name], 'o', **look))
    lasts: list[Mark] = [
        partial(_mesh, cells=_cells(x, y, columns, stable, slice(None)), ends=(0.0, 1.0))
    ]
    xs, ys, shares = _cells(x, y, columns, stable, here)
    # where walks last at the other axes' chosen values
    if others and np.nanmin(shares) < 0.5 < np.nanmax(shares) and min(shares.shape) > 1:
        lasts.append(mark('contour', xs, ys, shares, [0.5], colors=style.MARK, linewidths=1.5))
    maps = [(f'share that lasts{over}', lasts)]
    for name, text in MAPS.items():
        cells = _cells(x, y, columns, columns[name], here & (stable > 0.5))
        maps.append((text + at, [partial(_mesh, cells=cells)]))
    for i, (text, marks) in enumerate(maps):
        up = '' if i % 2 else in_words(y.name)
        yield Panel(f'({"abcd"[i]}) {text}', up, [*marks, *point], more={'size': 9.5})


def _mesh(
    panel: style.Axes,
    cells: tuple[np.ndarray, np.ndarray, np.ndarray],
    ends: tuple[float | None, float | None] = (None, None),
) -> None:
    """Draw what `_cells` returned, the colours between two ends where they are given."""
    low, high = ends
    mesh = panel.pcolormesh(*cells, shading='nearest', cmap='viridis', vmin=low, vmax=high)
    panel.figure.colorbar(mesh, ax=panel)


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
    lasting = f'{result["stable"]} of {result["runs"]} walks last'
    text = f'{_name(result)}, plant {result["plant"]}: {lasting}'
    if result['margin'] is not None:
        text += f'; margin of the point {result["margin"]:.3g} widths of the axes'
    return text


def plot_pareto(result: dict[str, Any]) -> style.Figure:
    """Draw cost over the worst share of a margin kept, of all points that walk.

    Args:
        result: What `experiments.tuning.tune` found.
    """
    worst, cost = np.array(result['points'], dtype=float).T
    front = [(share, price) for share, price, _ in result['pareto']]
    blue = {'color': style.FOOT_COLOURS[0], 'marker': 'o', 'markersize': 4}
    before = {'color': style.FOOT_COLOURS[1], 'label': 'before'}
    kept = [entry for entry in result['points'] if entry[0] >= 1.0 - 1e-9]
    chosen, price = min(kept, key=itemgetter(1)), result['cost_before']
    marks = [
        mark('plot', worst, cost, '.', color=style.FAINT, label='tried'),
        mark('step', *zip(*front), where='pre', label='none beats these in both', **blue),
        mark('axvline', 1.0, color=style.MARK, linewidth=1.2, label='margins asked for'),
        *([] if price is None else [mark('plot', worst[0], price, 's', **before)]),
        mark('plot', *chosen, '*', color='black', markersize=13, label='chosen'),
    ]
    title = f'{_name(result)}, plant {result["plant"]}: {result["trials"]} points tried'
    xlabel = 'least of: margin kept / margin asked for'
    panel = Panel(title, in_words(result['cost_name']), marks, xlabel, {'fontsize': 9})
    return style.draw_panels([panel], height=3.8)


def stability_figures(result: dict[str, Any]) -> dict[str, style.Figure]:
    """Return name -> figure of what `find_metrics` found."""
    kinds = {
        'sensitivity': ('responses', plot_responses),
        'attraction': ('attraction_samples', plot_attraction),
    }
    return {name: plot(result) for name, (key, plot) in kinds.items() if key in result}


def plot_responses(result: dict[str, Any]) -> style.Figure:
    """Draw how gait indicators stray from the cycle after one small disturbance."""
    words = {'floor': 'a foothold lower by 1 m', 'push': 'a push of 1 N s/kg'}
    panels = []
    for kind, responses in result['responses'].items():
        for name, unit in (('step_time', 's'), ('step_length', 'm')):
            steps, norm = np.arange(1, len(responses[name]) + 1), result['sensitivity'][kind][name]
            marks = [
                mark('bar', steps, np.array(responses[name]), color=style.FOOT_COLOURS[0]),
                mark('axhline', 0.0, color=style.FAINT, linewidth=1.0),
            ]
            title = f'{words[kind]}: norm {norm:.3g} {unit}'
            panels.append(Panel(title, f'{in_words(name)} (change, {unit})', marks))
    title = (
        f'{_name(result)}: gait sensitivity norm {result["gait_sensitivity_norm"]:.4g} '
        '(step time over floor height, without units)'
    )
    return style.draw_panels(panels, 'step', title, columns=2, height=2.2, sharex=True)


def plot_attraction(result: dict[str, Any]) -> style.Figure:
    """Draw slices of the region of attraction: the states near each plane of two coordinates."""
    rows = np.array(result['attraction_samples'], dtype=float)
    states, back = rows[:, :3], rows[:, 4] > 0.5
    centre = states.mean(axis=0)
    half = 0.25 * np.abs(states - centre).max(axis=0)  # of a slice
    names = ['stance angle (rad)', 'its rate (rad/s)', 'rate of the hip (rad/s)']
    panels = list[Panel]()
    for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        near = np.abs(states[:, k] - centre[k]) < half[k]
        marks = [
            mark('plot', *states[near & chosen][:, [i, j]].T, '.', markersize=4, **look)
            for chosen, look in (
                (back, {'color': style.FOOT_COLOURS[0], 'label': 'returns'}),
                (~back, {'color': style.MARK, 'label': 'does not'}),
            )
        ]
        title = f'{names[k].partition(" (")[0]} within ±{half[k]:.2g}'
        legend = None if panels else {'loc': 'best', 'fontsize': 9}
        panels.append(Panel(title, names[j], marks, names[i], legend))
    low, high = result['attraction_share_interval']
    title = (
        f'{_name(result)}: {100 * result["attraction_share"]:.3g} % '
        f'({100 * low:.3g} to {100 * high:.3g}) of the ball of radius '
        f'{result["attraction_radius"]:g} returns'
    )
    return style.draw_panels(panels, title=title, columns=3, height=3.4)


def _name(result: dict[str, Any]) -> str:
    return f'{result["robot"]}, {in_words(result["controller"])}'
