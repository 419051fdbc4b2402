# SPDX-License-Identifier: Apache-2.0
"""What margins cost: the Pareto picture of a tuning."""

from typing import Any

import numpy as np

from walking_control.models.robot import in_words
from walking_control.reports.plots.style import FAINT, Figure, FOOT_COLOURS, label, MARK, new_figure


def plot_pareto(result: dict[str, Any]) -> Figure:
    """Draw cost over the worst share of a margin kept, of all points that walk.

    Args:
        result: What `experiments.tuning.tune` found.
    """
    figure, (axis,) = new_figure(1, height=3.8)
    worst, cost = np.array(result['points'], dtype=float).T
    axis.plot(worst, cost, '.', color=FAINT, label='tried')
    front = [(share, price) for share, price, _ in result['pareto']]
    axis.step(*zip(*front, strict=True), where='pre', color=FOOT_COLOURS[0], marker='o',
              markersize=4, label='none beats these in both')
    axis.axvline(1.0, color=MARK, linewidth=1.2, label='margins asked for')
    if result['cost_before'] is not None:
        axis.plot(worst[0], result['cost_before'], 's', color=FOOT_COLOURS[1], label='before')
    chosen = min((entry for entry in result['points'] if entry[0] >= 1.0 - 1e-9),
                 key=lambda entry: entry[1])
    axis.plot(*chosen, '*', color='black', markersize=13, label='chosen')
    axis.set_xlabel('least of: margin kept / margin asked for')
    label(axis, f'{result["robot"]}, {in_words(result["controller"])}, plant {result["plant"]}: '
          f'{result["trials"]} points tried', in_words(result['cost_name']))
    axis.legend(fontsize=9)
    return figure
