# SPDX-License-Identifier: Apache-2.0
"""Figure of a recording: one panel a group, over time."""

from typing import Any

from walking_control.models.robot import in_words
from walking_control.reports.plots.style import Figure, new_figure


def plot_columns(columns: Any) -> Figure:
    """Draw every group of `recording.columns.Columns` over time, below one another."""
    figure, axes = new_figure(len(columns.groups), sharex=True)
    for axis, (title, (unit, labels, values)) in zip(axes, columns.groups.items()):
        for name, column in zip(labels, values.T):
            axis.plot(columns.time, column, linewidth=1.0, label=in_words(name))
        axis.set_ylabel(f'{title}, {unit}' if title != unit else unit)
        axis.legend(loc='center left', bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7,
                    ncols=1 + len(labels) // 8)
    axes[-1].set_xlabel('time, s')
    return figure
