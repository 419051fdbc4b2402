# SPDX-License-Identifier: Apache-2.0
"""Functions that run as plain Python and, unchanged, inside numba-compiled loops."""

OPTIONS = {'error_model': 'numpy'}   # a division by zero gives what numpy gives
SHARED = []


def array_function(function):
    """Mark a function for both ways; it stays the plain function it is."""
    SHARED.append(function)
    return function


def register():
    """Tell numba about all marked functions; needed once before compiling."""
    from numba.extending import register_jitable
    while SHARED:
        register_jitable(**OPTIONS)(SHARED.pop())
