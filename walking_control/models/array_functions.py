# SPDX-License-Identifier: Apache-2.0
"""Functions that run as plain Python and, unchanged, inside numba-compiled loops."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

# fills the support terms: (support, q, v, parameters, out)
Terms = Callable[[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray], object]
Function = TypeVar('Function', bound=Callable[..., Any])

OPTIONS = {'error_model': 'numpy'}   # a division by zero gives what numpy gives
SHARED: list[Callable[..., Any]] = []


def array_function(function: Function) -> Function:
    """Mark a function for both ways; it stays the plain function it is."""
    SHARED.append(function)
    return function


def register() -> None:
    """Tell numba about all marked functions; needed once before compiling."""
    from numba.extending import register_jitable
    while SHARED:
        register_jitable(**OPTIONS)(SHARED.pop())
