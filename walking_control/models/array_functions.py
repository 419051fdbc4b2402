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
_PARTS: list[Any] = []   # numba does not keep them alive


def array_function(function: Function) -> Function:
    """Mark a function for both ways; it stays the plain function it is."""
    SHARED.append(function)
    return function


def register(compile_part: Callable[[Callable[..., Any]], Any]) -> None:
    """Tell numba about all marked functions; needed once before compiling.

    Args:
        compile_part: Gives a function compiled, for compiled code to call.
    """
    from numba.core import types
    from numba.core.typing.templates import builtin_registry
    while SHARED:
        function = SHARED.pop()
        _PARTS.append(compile_part(function))
        builtin_registry.register_global(function, types.Dispatcher(_PARTS[-1]))
