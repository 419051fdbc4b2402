# SPDX-License-Identifier: Apache-2.0
"""The estimate of the base against the truth, and against what its covariance said."""

import numpy as np

from walking_control.reports.plots.style import Axes, FAINT, Figure, label, NEUTRAL, new_figure
from walking_control.runs.estimation import estimate_error
from walking_control.runs.run import Run

CAPTION = ('Estimate less truth of the base in the axes of the floor, and three standard '
           'deviations as the estimator gave them: an honest one holds 99.7 % of the errors.')
_ROWS = (('turn about', 'degrees', np.degrees(1.0)), ('velocity along', 'm/s', 1.0),
         ('place along', 'm', 1.0))


def plot_estimate(run: Run) -> Figure | None:
    """Draw the error of the estimate of the base within three sigmas; None without a covariance."""
    error = estimate_error(run)
    sigma = None if error is None else error.sigma
    if error is None or sigma is None:
        return None
    errors = error.all
    lines = [[i for i in range(row, row + 3) if sigma[:, i].any()] for row in (0, 3, 6)]
    width = max(map(len, lines))
    figure, axes = new_figure(3, width=11.0, height=1.9, columns=width, sharex=True)
    for line, (words, unit, factor) in enumerate(_ROWS):
        for k, axis in enumerate(axes[width * line:width * (line + 1)]):
            if k >= len(lines[line]):   # the robot cannot
                axis.set_axis_off()
                continue
            i = lines[line][k]
            _draw_error(axis, run.time, factor * errors[:, i], 3.0 * factor * sigma[:, i])
            label(axis, f'{words} {"xyz"[i % 3]}', unit)
    for axis in axes[-width:]:
        axis.set_xlabel('time (s)')
    return figure


def _draw_error(axis: Axes, time: np.ndarray, error: np.ndarray, band: np.ndarray) -> None:
    """Draw an error within its band."""
    axis.fill_between(time, -band, band, color=FAINT, alpha=0.45, linewidth=0.0)
    axis.plot(time, error, color=NEUTRAL, linewidth=1.1)
    # the first moments, when little is known, would flatten the rest
    height = 1.3 * max(np.quantile(band, 0.95), np.quantile(np.abs(error), 0.995))
    axis.set_ylim(-height, height)
