# SPDX-License-Identifier: Apache-2.0
"""Many walks over a grid of parameters or initial states: the work behind `sweep`."""

from walking_control.door import modules_of

__getattr__ = modules_of(__name__)
