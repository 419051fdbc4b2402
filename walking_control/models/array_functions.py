# SPDX-License-Identifier: Apache-2.0
"""Functions that run as plain Python and, unchanged, inside numba-compiled loops.

Dense algebra of a few rows, which most of them need, is here.
"""

from collections.abc import Callable
from functools import cache
import sys
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

# fills the support terms: (support, q, v, parameters, out)
Terms = Callable[[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray], object]
Function = TypeVar('Function', bound=Callable[..., Any])
Fields = TypeVar('Fields', bound=NamedTuple)

OPTIONS = {'error_model': 'numpy'}  # a division by zero gives what numpy gives
SHARED: list[Callable[..., Any]] = []
_PARTS: list[Any] = []  # numba does not keep them alive


def array_function(function: Function) -> Function:
    """Mark a function that runs plain and, within compiled walks, compiled; return it unchanged.

    Args:
        function: Of arrays and numbers, without objects, that fills arrays it is given.
    """
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


def as_block(fields: Fields) -> tuple[Any, Fields]:
    """Return (block, views): the same data in one piece of memory, an array of one record.

    What compiled code takes costs time for every array; the block is one. The views, a tuple of
    the same kind as `fields`, let plain code see and change it; those of single numbers do not.

    Args:
        fields: Of arrays without booleans, of numbers, and of tuples of that kind.
    """
    block = np.zeros(1, _layout(fields))
    return block, _fill(block, fields)


def taken_by(function: Callable[..., Any], block: Any, views: Any) -> Any:
    """Return what a shared function takes of `as_block`: compiled the block, plain the views.

    Args:
        function: Compiled, or as it is.
        block: One record.
        views: Of it.
    """
    return (views,) if isinstance(function, FunctionType) else block


def _layout(fields: Any) -> np.dtype:
    """Return the type of a record that holds these fields."""
    if hasattr(fields, '_fields'):
        return np.dtype(list(zip(fields._fields, map(_layout, fields), strict=True)), align=True)
    return np.dtype((np.asarray(fields).dtype, np.shape(fields)))


def _fill(block: np.ndarray, fields: Any) -> Any:
    """Fill an array of one record; return views of what is in it."""
    if hasattr(fields, '_fields'):
        return type(fields)(*(_fill(block[name], part) for name, part in fields._asdict().items()))
    block[0] = fields
    return block[0]


@cache
def say_once(words: str) -> None:
    """Tell the user a sentence, and never again."""
    print(words, file=sys.stderr)


@array_function
def multiply(A: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out = A x``.

    Args:
        A: ``(m, n)``.
        x: ``(n,)``.
        out: Filled, ``(m,)``.
    """
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        out[i] = total


@array_function
def inner(a: np.ndarray, b: np.ndarray) -> float:
    """Return ``a . b``.

    Args:
        a: ``(n,)``.
        b: ``(n,)``.
    """
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@array_function
def form(a: np.ndarray, B: np.ndarray, c: np.ndarray) -> float:
    """Return ``a . B c``.

    Args:
        a: Vector, ``(n,)``.
        B: Matrix, ``(n, m)``.
        c: Vector, ``(m,)``.
    """
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(c.shape[0]):
            total += a[i] * B[i, j] * c[j]
    return total


@array_function
def factorise_spd(A: np.ndarray, L: np.ndarray) -> None:
    """Fill the Cholesky factor of a symmetric positive definite matrix.

    Args:
        A: Symmetric, positive definite, ``(n, n)``.
        L: Filled below and on its diagonal, ``(n, n)``.
    """
    for i in range(A.shape[0]):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = max(total, 1e-300) ** 0.5
            else:
                L[i, j] = total / L[j, j]


@array_function
def solve_spd(L: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out = (L L^T)^-1 b``.

    Args:
        L: Cholesky factor, ``(n, n)``.
        b: ``(n,)``.
        out: Filled, ``(n,)``; it may be b.
    """
    n = L.shape[0]
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * out[k]
        out[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, n):
            total -= L[k, i] * out[k]
        out[i] = total / L[i, i]
