# SPDX-License-Identifier: Apache-2.0
"""First failing pushes and floors, and walks or laws under one disturbance side by side."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from walking_control.lab.experiments import PRICE, Walk
from walking_control.lab.reports.plots import plot_walk_energies, plot_walks, style
from walking_control.models import in_words
from walking_control.runs import Run


def plot_all_walks(walks: Sequence[Walk]) -> style.Figure | None:
    """Draw the steps of every walk around the disturbance to one scale; None without a walk.

    Args:
        walks: `Walk` list of `comparison.compare`.
    """
    shown = [
        (_title(walk.run, walk), walk.run)
        for walk in walks
        if walk.run is not None and len(walk.run.time) > 1
    ]
    return plot_walks(shown) if shown else None


def plot_all_energies(walks: Sequence[Walk]) -> style.Figure | None:
    """Draw the energies of every walk that has them; None without any.

    Args:
        walks: `Walk` list.
    """
    shown = [
        (_title(walk.run, walk), walk.run, walk.energies)
        for walk in walks
        if walk.run is not None and walk.energies is not None and len(walk.run.time) > 1
    ]
    return plot_walk_energies(shown) if shown else None


def _title(run: Run, walk: Walk) -> str:
    ending = 'fell' if run.fell else 'stopped by a fault'
    return walk.variant.name + (f' – {ending}' if run.broke_off else '')


def plot_envelope(result: dict[str, Any]) -> style.Figure:
    """Draw what `find_envelope` found: around the robot, ahead at the top, or along a step.

    Args:
        result: Its summary, of an interrupted search too.
    """
    return (
        _plot_pushes(result)
        if result['cells'][0]['direction_deg'] is not None
        else _plot_places(result)
    )


def _plot_pushes(result: dict[str, Any]) -> style.Figure:
    cells = result['cells']
    figure, (axis,) = style.new_figure(1, width=7.4, height=6.0, polar=[0])
    phases = sorted({cell['phase'] for cell in cells})
    colours = style.import_matplotlib().colormaps['viridis'](np.linspace(0.1, 0.9, len(phases)))
    for phase, colour in zip(phases, colours, strict=True):
        chosen = sorted(
            (cell for cell in cells if cell['phase'] == phase),
            key=lambda cell: cell['direction_deg'],
        )
        angles = np.radians([cell['direction_deg'] for cell in chosen])
        _draw_around(
            axis,
            angles,
            [_size(cell, result) for cell in chosen],
            color=colour,
            linewidth=1.2,
            marker='o',
            markersize=3.5,
            label=f'{phase:g}',
        )
        beyond = [i for i, cell in enumerate(chosen) if cell['first_failure'] is None]
        axis.plot(
            angles[beyond],
            [_size(chosen[i], result) for i in beyond],
            'o',
            color=colour,
            markerfacecolor='white',
            markersize=5.0,
            linestyle='none',
        )
    _draw_least(axis, result, color=style.MARK, linewidth=2.6, label='the least')
    _look_down(axis, result['largest'])
    axis.set_title(_envelope_title(result), fontsize=11)
    figure.legend(loc='outside lower center', ncols=5, title='part of the step', frameon=False)
    return figure


def _draw_least(axis: style.Axes, result: dict[str, Any], **look: Any) -> None:
    """Draw the least first failing size of every direction."""
    cells = result['cells']
    directions = sorted({cell['direction_deg'] for cell in cells})
    least = [
        min(_size(cell, result) for cell in cells if cell['direction_deg'] == direction)
        for direction in directions
    ]
    _draw_around(axis, np.radians(directions), least, **look)


def _look_down(axis: style.Axes, largest: float) -> None:
    """Turn polar axes so that ahead is up and left is left."""
    axis.set_theta_zero_location('N')
    axis.set_ylim(0.0, 1.05 * abs(largest))
    axis.set_thetagrids(
        range(0, 360, 30),
        [
            {0: 'ahead', 90: 'left', 180: 'back', 270: 'right'}.get(angle, f'{angle}°')
            for angle in range(0, 360, 30)
        ],
    )
    axis.set_rlabel_position(15.0)


def plot_gaits(walks: Sequence[Walk]) -> style.Figure:
    """Draw speeds, their cost and, where there are any, envelopes of several laws.

    Args:
        walks: `Walk` list of `comparison.compare`, in space.
    """
    pushes = [walk.measures.get('robustness', {}).get('push') for walk in walks]
    pushed = any(push is not None and 'cells' in push for push in pushes)
    figure, axes = style.new_figure(
        1,
        width=13.0 if pushed else 9.0,
        height=4.4,
        columns=3 if pushed else 2,
        polar=[2] if pushed else [],
    )
    if pushed:
        _look_down(axes[2], max(push['largest'] for push in pushes if push and 'cells' in push))
        axes[2].set_title('least first failing push (N s/kg)', fontsize=11, pad=14)
    for walk, push, colour in zip(walks, pushes, cycle(style.FOOT_COLOURS)):
        _draw_gaits(axes, walk, colour)
        if push is not None and 'cells' in push:
            _draw_least(axes[2], push, color=colour, linewidth=2.2)
    commanded = [gait['commanded'] for gait in walks[0].measures['gaits']]
    axes[0].plot(commanded, commanded, color=style.FAINT, linewidth=1.0, zorder=1)
    style.label(axes[0], 'speed', 'm/s')
    style.label(axes[1], 'cost of transport, electrical', '')
    for axis in axes[:2]:
        axis.set_xlabel('commanded speed (m/s)')
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc='outside lower center',
        frameon=False,
        ncols=len(walks),
    )
    return figure


def _draw_gaits(axes: list[style.Axes], walk: Walk, colour: str) -> None:
    gaits = walk.measures['gaits']
    commanded = [gait['commanded'] for gait in gaits]
    for axis, key in zip(axes, ('speed', 'cost_of_transport_electrical'), strict=False):
        values = [np.nan if gait[key] is None else gait[key] for gait in gaits]
        axis.plot(commanded, values, 'o-', color=colour, label=walk.variant.name)


def _draw_around(
    axis: style.Axes, angles: Sequence[float] | np.ndarray, sizes: Sequence[float], **look: Any
) -> None:
    """Draw a line around the robot, closed where there is anything to close."""
    close = [0] if len(sizes) > 2 else []
    axis.plot([*angles, *(angles[i] for i in close)], [*sizes, *(sizes[i] for i in close)], **look)


def _size(cell: dict[str, Any], result: dict[str, Any]) -> float:
    """Return the first failing size, or the last that was tried where there is none."""
    first = cell['first_failure']
    if first is None:
        first = result['largest'] if cell['known'] else cell['largest_survived']
    return abs(float(first))


def _envelope_title(result: dict[str, Any]) -> str:
    noise, price = ', sensors with errors' if result['noise'] else '', result.get(PRICE)
    cost = '' if price is None else f' for an electrical cost of transport of {price:.3f}'
    return (
        f'{result["robot"]} under {result["controller"]}, {result["nominal_speed"]:.2f} m/s'
        f'{cost}{noise}:\nfirst failing {in_words(result["disturbance"])} ({result["unit"]}), '
        f'{result["after"]:g} s afterwards'
    )


def _plot_places(result: dict[str, Any]) -> style.Figure:
    figure, (axis,) = style.new_figure(1, height=2.6)
    places = [cell['phase'] for cell in result['cells']]
    sizes = [_size(cell, result) for cell in result['cells']]
    failed = [cell['first_failure'] is not None for cell in result['cells']]
    axis.bar(
        places,
        sizes,
        width=0.6 / len(places),
        color=[style.MARK if fails else style.FAINT for fails in failed],
    )
    style.label(
        axis,
        _envelope_title(result),
        f'size ({result["unit"]})',
        'place of the edge (steps); grey: survived to the last size',
    )
    return figure
