# SPDX-License-Identifier: Apache-2.0
# The modules that `__init__.py` imports when they are first named.

from walking_control.lab.reports.plots import comparison as comparison
from walking_control.lab.reports.plots import design as design
from walking_control.lab.reports.plots import disturbance as disturbance
from walking_control.lab.reports.plots import footprints as footprints
from walking_control.lab.reports.plots import gait as gait
from walking_control.lab.reports.plots import posture as posture
from walking_control.lab.reports.plots import still as still
from walking_control.lab.reports.plots import style as style
from walking_control.lab.reports.plots import sweep as sweep
from walking_control.lab.reports.plots import walk as walk
