# SPDX-License-Identifier: Apache-2.0
"""Single ticks of curve tracking on walkers without locks."""

import numpy as np

from walking_control.controllers.curve_tracking import tick as tracker

NO_LOCKS = np.zeros(0, bool)


def sensed(q, v, dt=0.002, support=0, grounded=True, fresh=False):
    """Return what a law is told at a tick."""
    return tracker.Sensed(support, NO_LOCKS, grounded, fresh, q, v, dt)
