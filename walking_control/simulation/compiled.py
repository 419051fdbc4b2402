# SPDX-License-Identifier: Apache-2.0
"""The rigid walker compiled: generated support terms and the shared functions under numba.

The same model and the same integration as `rigid_plant`, some hundred times faster; equal to it to
rounding. The first use in a process compiles for some seconds.
"""

from functools import cache
import math

import numpy as np

from walking_control.exceptions import MissingDependency
from walking_control.models import symbolic
from walking_control.simulation.shared import register


def import_numba():
    """Return numba.

    Raises:
        MissingDependency: It is not installed.
    """
    try:
        import numba
    except ImportError as error:
        raise MissingDependency('numba', limit='is needed for the compiled plant',
                                remedy='pip install casadi numba') from error
    return numba


def compile_terms(dynamics):
    """Return the generated support terms of a robot, compiled, and their parameters.

    Args:
        dynamics: `PlanarDynamics`.

    Returns:
        ``(terms, parameters)``; robots of equal structure share the compiled code.
    """
    functions, parameters = symbolic.support_terms(dynamics)
    sources = tuple(symbolic.write_python(function, f'terms_{i}')
                    for i, function in enumerate(functions))
    return _compile(sources), parameters


_CHOICE = '''
def terms(support, q, v, p, out):
    if support == 0:
        terms_0(q, v, p, out)
    else:
        terms_1(q, v, p, out)
'''


@cache
def _compile(sources):
    numba = import_numba()
    scope = {'math': math}
    for i, source in enumerate(sources):
        exec(source, scope)
        scope[f'terms_{i}'] = numba.njit(scope[f'terms_{i}'])
    exec(_CHOICE, scope)
    return numba.njit(scope['terms'])


@cache
def compile_shared(function):
    """Return a shared function compiled, with everything it calls."""
    numba = import_numba()
    register()
    return numba.njit(function, error_model='numpy')


def generated_terms(dynamics):
    """Return the generated support terms as plain Python, and their parameters."""
    functions, parameters = symbolic.support_terms(dynamics)
    scope = {'math': math, 'np': np}
    for i, function in enumerate(functions):
        exec(symbolic.write_python(function, f'terms_{i}'), scope)
    exec(_CHOICE, scope)
    return scope['terms'], parameters
