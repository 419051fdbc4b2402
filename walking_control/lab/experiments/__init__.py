# SPDX-License-Identifier: Apache-2.0
"""What takes many walks: margins, sweeps, tuning, comparisons, cycles, bringing a robot up."""

from walking_control.door import modules_of

__getattr__ = modules_of(__name__)
