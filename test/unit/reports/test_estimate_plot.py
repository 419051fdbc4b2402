# SPDX-License-Identifier: Apache-2.0
"""The figure of the estimate's error."""

import numpy as np
from synthetic_run import synthetic_run

from walking_control.lab.reports.plots.walk import plot_estimate


def test_a_planar_robot_has_five_panels_and_perfect_sensors_none():
    """Empty panels of what a robot cannot do, or a figure of nothing, would puzzle its reader."""
    run = synthetic_run()
    assert plot_estimate(run) is None
    rows = len(run.time)
    run.columns['estimate'] = np.zeros((rows, 13))
    run.columns['estimate'][:, 6] = 1.0
    assert plot_estimate(run) is None, 'an estimate without a covariance'
    variances = np.zeros(9)
    variances[[1, 3, 5, 6, 8]] = 0.01
    run.columns['covariance'] = np.tile(np.diag(variances), (rows, 1, 1))
    titles = [axis.get_title(loc='left') for axis in plot_estimate(run).axes if axis.axison]
    assert titles == [
        'turn about y',
        'velocity along x',
        'velocity along z',
        'place along x',
        'place along z',
    ]
