# SPDX-License-Identifier: Apache-2.0
"""Figures of the measures of stability."""

from typing import Any

import numpy as np

from walking_control.models.robot import in_words
from walking_control.reports.plots.style import FAINT, Figure, FOOT_COLOURS, label, MARK, new_figure

_RETURNED, _LOST = FOOT_COLOURS[0], MARK


def stability_figures(result: dict[str, Any]) -> dict[str, Figure]:
    """Return name -> figure of what `find_metrics` found."""
    figures = {}
    if 'responses' in result:
        figures['sensitivity'] = plot_responses(result)
    if 'attraction_samples' in result:
        figures['attraction'] = plot_attraction(result)
    return figures


def plot_responses(result: dict[str, Any]) -> Figure:
    """Draw how gait indicators stray from the cycle after one small disturbance."""
    figure, axes = new_figure(2, columns=2, height=2.2, sharex=True)
    words = {'floor': 'a foothold lower by 1 m', 'push': 'a push of 1 N s/kg'}
    units = {'step_time': 's', 'step_length': 'm'}
    cells = [(kind, name) for kind in result['responses'] for name in units]
    for axis, (kind, name) in zip(axes, cells, strict=True):
        values = np.array(result['responses'][kind][name])
        axis.bar(np.arange(1, len(values) + 1), values, color=FOOT_COLOURS[0])
        axis.axhline(0.0, color=FAINT, linewidth=1.0)
        label(axis, f'{words[kind]}: norm {result["sensitivity"][kind][name]:.3g} {units[name]}',
              f'{in_words(name)} (change, {units[name]})')
    for axis in axes[2:]:
        axis.set_xlabel('step')
    figure.suptitle(f'{_name(result)}: gait sensitivity norm {result["gait_sensitivity_norm"]:.4g} '
                    '(step time over floor height, without units)', x=0.01, ha='left', fontsize=11)
    return figure


def plot_attraction(result: dict[str, Any]) -> Figure:
    """Draw slices of the region of attraction: the states near each plane of two coordinates."""
    rows = np.array(result['attraction_samples'], dtype=float)
    states, back = rows[:, :3], rows[:, 4] > 0.5
    centre = states.mean(axis=0)
    half = 0.25 * np.abs(states - centre).max(axis=0)   # of a slice
    names = ['stance angle (rad)', 'its rate (rad/s)', 'rate of the hip (rad/s)']
    figure, axes = new_figure(1, columns=3, height=3.4)
    for axis, (i, j, k) in zip(axes, ((0, 1, 2), (0, 2, 1), (1, 2, 0)), strict=True):
        near = np.abs(states[:, k] - centre[k]) < half[k]
        for chosen, colour, text in ((back, _RETURNED, 'returns'), (~back, _LOST, 'does not')):
            axis.plot(states[near & chosen, i], states[near & chosen, j], '.', color=colour,
                      markersize=4, label=text)
        axis.set_xlabel(names[i])
        label(axis, f'{names[k].partition(" (")[0]} within ±{half[k]:.2g}', names[j])
    axes[0].legend(loc='best', fontsize=9)
    low, high = result['attraction_share_interval']
    figure.suptitle(f'{_name(result)}: {100 * result["attraction_share"]:.3g} % '
                    f'({100 * low:.3g} to {100 * high:.3g}) of the ball of radius '
                    f'{result["attraction_radius"]:g} returns', x=0.01, ha='left', fontsize=11)
    return figure


def _name(result: dict[str, Any]) -> str:
    return f'{result["robot"]}, {in_words(result["controller"])}'
