# SPDX-License-Identifier: Apache-2.0
"""First failing pushes around the robot, and first failing floors along a step."""

import numpy as np

from walking_control.models.robot import in_words
from walking_control.reports.plots.style import FAINT, import_matplotlib, label, MARK, new_figure


def plot_envelope(result):
    """Draw what `find_envelope` found: around the robot, ahead at the top, or along a step.

    Args:
        result: Its dictionary, of an interrupted search too.
    """
    return _plot_pushes(result) if result['cells'][0]['direction_deg'] is not None \
        else _plot_places(result)


def _plot_pushes(result):
    cells = result['cells']
    figure, (axis,) = new_figure(1, width=7.4, height=6.0, subplot_kw={'projection': 'polar'})
    axis.set_theta_zero_location('N')   # ahead is up, left is left
    phases = sorted({cell['phase'] for cell in cells})
    colours = import_matplotlib().colormaps['viridis'](np.linspace(0.1, 0.9, len(phases)))
    for phase, colour in zip(phases, colours, strict=True):
        chosen = sorted((cell for cell in cells if cell['phase'] == phase),
                        key=lambda cell: cell['direction_deg'])
        angles = np.radians([cell['direction_deg'] for cell in chosen])
        _draw_around(axis, angles, [_size(cell, result) for cell in chosen], color=colour,
                     linewidth=1.2, marker='o', markersize=3.5, label=f'{phase:g}')
        beyond = [i for i, cell in enumerate(chosen) if cell['first_failure'] is None]
        axis.plot(angles[beyond], [_size(chosen[i], result) for i in beyond], 'o', color=colour,
                  markerfacecolor='white', markersize=5.0, linestyle='none')
    directions = sorted({cell['direction_deg'] for cell in cells})
    least = [min(_size(cell, result) for cell in cells if cell['direction_deg'] == direction)
             for direction in directions]
    _draw_around(axis, np.radians(directions), least, color=MARK, linewidth=2.6, label='the least')
    axis.set_ylim(0.0, 1.05 * abs(result['largest']))
    axis.set_thetagrids(range(0, 360, 30), [_side(angle) for angle in range(0, 360, 30)])
    axis.set_rlabel_position(15.0)
    axis.set_title(_title(result), fontsize=11)
    figure.legend(loc='outside lower center', ncols=5, title='part of the step', frameon=False)
    return figure


def _draw_around(axis, angles, sizes, **style):
    """Draw a line around the robot, closed where there is anything to close."""
    close = [0] if len(sizes) > 2 else []
    axis.plot([*angles, *(angles[i] for i in close)], [*sizes, *(sizes[i] for i in close)], **style)


def _side(angle):
    return {0: 'ahead', 90: 'left', 180: 'back', 270: 'right'}.get(angle, f'{angle}°')


def _size(cell, result):
    """Return the first failing size, or the last that was tried where there is none."""
    first = cell['first_failure']
    if first is None:
        return abs(result['largest']) if cell['known'] else abs(cell['largest_survived'])
    return abs(first)


def _title(result):
    noise = ', sensors with errors' if result['noise'] else ''
    return f'{result["robot"]} under {result["controller"]}, {result["nominal_speed"]:.2f} m/s' \
        f'{noise}:\nfirst failing {in_words(result["disturbance"])} ({result["unit"]}), ' \
        f'{result["after"]:g} s afterwards'


def _plot_places(result):
    figure, (axis,) = new_figure(1, height=2.6)
    places = [cell['phase'] for cell in result['cells']]
    sizes = [_size(cell, result) for cell in result['cells']]
    failed = [cell['first_failure'] is not None for cell in result['cells']]
    axis.bar(places, sizes, width=0.6 / len(places),
             color=[MARK if fails else FAINT for fails in failed])
    label(axis, _title(result), f'size ({result["unit"]})')
    axis.set_xlabel('place of the edge (steps); grey: survived to the last size')
    return figure
