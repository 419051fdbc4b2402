# SPDX-License-Identifier: Apache-2.0
"""Solvers of quadratic programs: thin adapters behind one Problem and one Solution.

| name     | method           | licence    | left in equalities / limits (N)           |
|----------|------------------|------------|-------------------------------------------|
| daqp     | dual active set  | MIT        | 2e-13 / 0                                 |
| quadprog | dual active set  | GPL-2      | 1e-13 / 0                                 |
| osqp     | splitting        | Apache-2.0 | 3e-6 / 3e-3 raw, 1e-13 / 0 when polished  |

Any of them may be absent; one is enough.
"""

from functools import cache
from importlib import import_module
from types import ModuleType

from walking_control.exceptions import (
    given,
    MissingDependency,
    ParameterError,
    require,
    require_known,
)
from walking_control.statics.solvers.problem import (
    Decider,
    NO_BOUND,
    polish,
    primal_residuals,
    Problem,
    Residuals,
    residuals,
    Solution,
    Solver,
)

__all__ = [
    'Decider',
    'NAMES',
    'NO_BOUND',
    'Problem',
    'Residuals',
    'Solution',
    'available',
    'load',
    'load_decider',
    'polish',
    'primal_residuals',
    'residuals',
]

NAMES = ('daqp', 'quadprog', 'osqp')  # in order of preference


@cache
def available() -> tuple[str, ...]:
    """Return the names of the solvers that can be imported, the preferred one first."""
    return tuple(name for name in NAMES if _module(name) is not None)


@cache
def _module(name: str) -> ModuleType | None:
    try:
        return import_module(f'walking_control.statics.solvers.{name}_solver')
    except ImportError:
        return None


def load(name: str | None = None) -> Solver:
    """Return a solver's function: Problem -> Solution, polished where the solver is loose.

    Args:
        name: One of `NAMES`; None takes the preferred one of those installed.

    Raises:
        ParameterError: There is no such solver.
        MissingDependency: It is not installed.
    """
    if name is None:
        require(
            available(),
            'a solver of quadratic programs',
            limit='none is installed',
            remedy='pip install daqp (or osqp, or quadprog)',
            error=MissingDependency,
        )
        name = available()[0]
    require_known(name, NAMES, 'solver', ParameterError, name)
    module = given(
        _module(name),
        f'solver {name}',
        limit='is not installed',
        remedy=f'pip install {name}; installed: ' + (', '.join(available()) or 'none'),
        error=MissingDependency,
    )
    return (lambda given: polish(given, module.solve(given))) if module.LOOSE else module.solve


def load_decider(name: str | None = None) -> Decider:
    """Return the `Decider` of a solver: exact ones are asked first, HiGHS has the last word.

    Args:
        name: One of `NAMES`, loaded before; None takes the preferred one.
    """
    module = _module(name or available()[0])
    return Decider(None if module is None or module.LOOSE else module.solve)
