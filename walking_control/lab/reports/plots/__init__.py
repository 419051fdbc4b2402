# SPDX-License-Identifier: Apache-2.0
"""Figures; every function returns a matplotlib Figure."""

from walking_control.door import modules_of

__getattr__ = modules_of(__name__)
