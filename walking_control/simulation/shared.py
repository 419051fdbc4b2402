# SPDX-License-Identifier: Apache-2.0
"""The mark of functions that also run compiled, as simulation code knows it."""

from walking_control.models.shared import register, SHARED, shared

__all__ = ['SHARED', 'register', 'shared']
