# SPDX-License-Identifier: Apache-2.0
# The modules that `__init__.py` imports when they are first named.

from walking_control.lab.experiments.sweeps import sweep as sweep
from walking_control.lab.experiments.sweeps import table as table
from walking_control.lab.experiments.sweeps import task as task
from walking_control.lab.experiments.sweeps import walks as walks
