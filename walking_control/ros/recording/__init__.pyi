# SPDX-License-Identifier: Apache-2.0
# The modules that `__init__.py` imports when they are first named.

from walking_control.ros.recording import bag as bag
from walking_control.ros.recording import log_estimate as log_estimate
from walking_control.ros.recording import mcap as mcap
from walking_control.ros.recording import measured as measured
from walking_control.ros.recording import recorder as recorder
from walking_control.ros.recording import replay as replay
from walking_control.ros.recording import ticks as ticks
