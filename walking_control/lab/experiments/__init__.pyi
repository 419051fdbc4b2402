# SPDX-License-Identifier: Apache-2.0
# The modules that `__init__.py` imports when they are first named.

from walking_control.lab.experiments import atlas as atlas
from walking_control.lab.experiments import branches as branches
from walking_control.lab.experiments import bring_up as bring_up
from walking_control.lab.experiments import check as check
from walking_control.lab.experiments import comparison as comparison
from walking_control.lab.experiments import cycle_gait as cycle_gait
from walking_control.lab.experiments import cycles as cycles
from walking_control.lab.experiments import endurance as endurance
from walking_control.lab.experiments import envelope as envelope
from walking_control.lab.experiments import gait_search as gait_search
from walking_control.lab.experiments import identification as identification
from walking_control.lab.experiments import impact as impact
from walking_control.lab.experiments import margins as margins
from walking_control.lab.experiments import obstacles as obstacles
from walking_control.lab.experiments import policy_check as policy_check
from walking_control.lab.experiments import resimulation as resimulation
from walking_control.lab.experiments import robustness as robustness
from walking_control.lab.experiments import stability as stability
from walking_control.lab.experiments import statics as statics
from walking_control.lab.experiments import stops as stops
from walking_control.lab.experiments import sweeps as sweeps
from walking_control.lab.experiments import tuning as tuning
from walking_control.lab.experiments import variants as variants
