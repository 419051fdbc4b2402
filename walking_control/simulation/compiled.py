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
from walking_control.models.dynamics import PlanarDynamics
from walking_control.models.support import SupportDynamics
from walking_control.simulation.rigid_model import as_record, make_state, make_workspace
from walking_control.simulation.rigid_motion import advance
from walking_control.simulation.rigid_plant import build_rigid_model, set_start
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


class CompiledWalker:
    """A rigid walker ready for fast strides; the arrays are views of what compiled code changes.

    Args:
        robot: The `Robot`.
        world: Validated values of `WORLD`.
        values: Validated values of `RIGID`.
        steps: Floor changes, see `rigid_plant.build_rigid_model`.

    Attributes:
        model: `RigidModel`.
        state: `RigidState`.
        terms: Compiled support terms.
        records: Model, state and workspace as compiled functions take them.
    """

    def __init__(self, robot, world, values, steps=()):
        support = SupportDynamics(PlanarDynamics(robot, world.gravity, world.slope))
        self.robot = robot
        self.terms, parameters = compile_terms(support.dynamics)
        model_record, self.model = as_record(
            build_rigid_model(support, world, values, parameters, steps))
        state_record, self.state = as_record(make_state(self.model))
        work_record, self.work = as_record(make_workspace(self.model, support.layout.size))
        self.records = model_record, state_record, work_record
        self._advance = compile_shared(advance)

    def start(self, support, q, v):
        """Stand on a foot just after touchdown."""
        set_start(self.model, self.state, support, q, v)

    def advance(self, duration, stop_at_step=False):
        """Move on; see `rigid_motion.advance`."""
        return self._advance(self.terms, *self.records, duration, stop_at_step)
