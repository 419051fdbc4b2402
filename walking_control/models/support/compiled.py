# SPDX-License-Identifier: Apache-2.0
"""Support terms for control laws: generated code where CasADi and numba are there, else Pinocchio.

Laws call ``terms(support, q, v, parameters, out)`` and do not know which of the two answers.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
import math
from typing import Any

import numpy as np

from walking_control.exceptions import import_optional, MissingDependency, require
from walking_control.models import Dynamics, SupportDynamics
from walking_control.models.array_functions import Function, OPTIONS, say_once, Terms

_CHOICE = """
def terms(support, q, v, p, out):
    if support == 0:
        terms_0(q, v, p, out)
    else:
        terms_1(q, v, p, out)
"""


def has_compiler() -> bool:
    """Return whether CasADi and numba are installed."""
    return find_spec('casadi') is not None and find_spec('numba') is not None


def _compiler() -> Callable[..., Any]:
    import_optional('numba', 'compiling')
    from walking_control.models.code_cache import compile_function

    return compile_function


@cache
def _compile(sources: tuple[str, ...]) -> Terms:
    compile_function = _compiler()
    scope = {'math': math, '__name__': __name__}
    for i, source in enumerate(sources):
        exec(source, scope)
        scope[f'terms_{i}'] = compile_function(scope[f'terms_{i}'])
    exec(_CHOICE, scope)
    terms: Terms = compile_function(scope['terms'])
    return terms


def compile_terms(dynamics: Dynamics) -> tuple[Terms, np.ndarray]:
    """Return the generated support terms of a robot, compiled, and their parameters.

    Args:
        dynamics: `Dynamics`; robots of equal structure share the compiled code.

    Raises:
        MissingDependency: CasADi or numba is missing.
    """
    symbolic = import_optional('walking_control.models.support.symbolic', 'compiling', 'casadi')
    functions, parameters = symbolic.support_terms(dynamics)
    sources = tuple(
        symbolic.write_python(function, f'terms_{i}') for i, function in enumerate(functions)
    )
    return _compile(sources), parameters


def make_terms(dynamics: Dynamics) -> tuple[Terms, np.ndarray | None]:
    """Return (function, parameters) of a robot's support terms for a control law.

    Compiled where that is possible; else by Pinocchio, which has no parameters: None.
    """
    if has_compiler():
        return compile_terms(dynamics)
    return SupportDynamics(dynamics).fill, None


def point_to_terms(terms: Terms) -> Any:
    """Return compiled support terms by their address: whom they are handed to is compiled once."""
    from numba import float64, int64

    from walking_control.models.code_cache import Pointer

    return Pointer(terms, (int64, *4 * (float64[::1],)))


def point_to(function: Function, *arguments: object) -> Any:
    """Return a shared function compiled and by its address.

    Args:
        arguments: It is called with such; arrays of a record come as plain arrays.
    """
    import numba

    from walking_control.models.code_cache import Pointer

    return Pointer(compile_law(function), tuple(map(numba.typeof, arguments)))


@cache
def compile_law(function: Function) -> Function:
    """Return a shared function compiled, with everything it calls."""
    compiled: Function = _compiler()(function, **OPTIONS)
    return compiled


def compile_where_possible(function: Function) -> Function:
    """Return a shared function compiled; as it is, a hundred times slower, where numba fails."""
    try:
        compiled: Function = compile_law(function)
    except MissingDependency:  # or one that does not start beside this numpy
        return function
    return compiled


def compile_ahead(function: Function, *examples: object, wanted: bool = True) -> Function:
    """Return a shared function compiled before its first use; as it is where that cannot be.

    It cannot without numba, and where numba fails. Without a folder that keeps compiled code every
    start would take half a minute: then the function stays as it is, too. One line says why.

    Args:
        function: The function.
        examples: Arguments like those that it will be called with; it is called with them.
        wanted: Whether it shall be compiled at all.
    """
    if not wanted:
        return function
    try:
        compiled: Function = compile_law(function)
        from walking_control.models.code_cache import keeps_code, VARIABLE

        require(
            keeps_code(),
            'compiled code',
            limit='has no folder to be kept in',
            remedy=f'name one by {VARIABLE}',
        )
        compiled(*examples)
    except Exception as error:  # whatever it is, the law is there without
        why = str(error).partition('\n')[0]
        say_once(f'the law is not compiled, and its ticks take longer: {why}')
        return function
    return compiled
