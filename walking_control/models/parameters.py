# SPDX-License-Identifier: Apache-2.0
"""Parameter tables: the one place where a parameter's name, type, range and meaning stand.

A table validates robot files, drives ROS declarations and the command line's ``--set``, and prints
the documentation page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
import math
from types import SimpleNamespace
from typing import Any, TYPE_CHECKING

from walking_control.exceptions import Findings, ParameterError
from walking_control.models.entries import exponent_remedy

if TYPE_CHECKING:
    from walking_control.models.scale import Scale

_TYPE_NAMES = {bool: 'bool', int: 'integer', float: 'number', str: 'text'}


@dataclass(frozen=True)
class Parameter:
    """One tunable value.

    Args:
        name: Name within its table.
        default: Default value; its type (bool, int, float, str, or a tuple of floats) is the
            parameter's type.
        unit: SI unit, ``'1'`` when dimensionless, ``''`` for texts and switches.
        description: One sentence.
        minimum: Smallest allowed value (for arrays: of each element).
        maximum: Largest allowed value.
        choices: Allowed values, for texts.
        live: True when it may change while the robot walks.
        scaled: True when the default is that of a robot of 10 kg and 1 m and grows with the
            robot, as its unit says (see `models.scale`).
    """

    name: str
    default: Any
    unit: str
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False
    scaled: bool = False

    def default_for(self, scale: Scale | None) -> Any:
        """Return the default for a robot.

        Args:
            scale: Its `Scale`; None takes the robot that defaults are written for.
        """
        if not self.scaled or scale is None:
            return self.default
        value = self.default * scale.factor(self.unit)
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return min(max(value, low), high)

    @property
    def type(self) -> type:
        """Return the Python type of the value: bool, int, float, str or tuple (of floats)."""
        return type(self.default)

    @property
    def range_text(self) -> str:
        """Return the allowed range in words."""
        if self.choices:
            return 'one of ' + ', '.join(self.choices)
        unit = '' if self.unit == '1' else f' {self.unit}'
        if self.minimum is not None and self.maximum is not None:
            return f'must be from {self.minimum:g} to {self.maximum:g}{unit}'
        if self.minimum is not None:
            return f'must be at least {self.minimum:g}{unit}'
        if self.maximum is not None:
            return f'must be at most {self.maximum:g}{unit}'
        return ''

    def validate(self, value: Any, prefix: str = '') -> Any:
        """Return the value in the parameter's type.

        Integers are accepted where a float is wanted.

        Raises:
            ParameterError: The type does not fit, the value is not finite or out of range.
        """
        what = f'parameter {prefix}{self.name}'
        value = self._coerced(value, what)
        for number in value if self.type is tuple else (value,):
            self._check_range(number, what)
        return value

    def _coerced(self, value: Any, what: str) -> Any:
        if self.type is tuple:
            if isinstance(value, (str, Mapping)) or not hasattr(value, '__iter__'):
                raise ParameterError(what, value=value, limit='must be a list of numbers')
            return tuple(self._as_float(number, what) for number in value)
        if self.type is float:
            return self._as_float(value, what)
        if type(value) is not self.type:
            raise ParameterError(what, value=value, limit=f'must be a {_TYPE_NAMES[self.type]}')
        return value

    @staticmethod
    def _as_float(value: object, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ParameterError(what, value=value, limit='must be a number',
                                 remedy=exponent_remedy(value))
        if not math.isfinite(value):
            raise ParameterError(what, value=value, limit='must be finite')
        return float(value)

    def _check_range(self, value: Any, what: str) -> None:
        outside = (
            (self.choices and value not in self.choices)
            or (self.minimum is not None and value < self.minimum)
            or (self.maximum is not None and value > self.maximum)
        )
        if outside:
            raise ParameterError(what, value=value, limit=self.range_text,
                                 remedy=f'the default is {self.default!r}')


class ParameterTable:
    """The parameters of one section of a robot file.

    Args:
        section: Name of the section, e.g. ``'hip_switching'``.
        parameters: The `Parameter` rows.
        checks: Callables that take the validated namespace and raise `ParameterError` when values
            contradict each other.
    """

    def __init__(self, section: str, parameters: Iterable[Parameter],
                 checks: Iterable[Callable[[SimpleNamespace], None]] = ()) -> None:
        self.section = section
        self.parameters = {parameter.name: parameter for parameter in parameters}
        self.checks = tuple(checks)

    def validate(self, values: Mapping[str, Any] | None = None,
                 scale: Scale | None = None) -> SimpleNamespace:
        """Return all values, defaults filled in, as a namespace; all or nothing.

        Args:
            values: Mapping of name to value; missing names take their default.
            scale: `Scale` of the robot, with which some defaults grow.

        Raises:
            ParameterError: An unknown name, a bad value or a contradiction; carries all others.
        """
        values = {} if values is None else values
        if not isinstance(values, Mapping):
            raise ParameterError(f'section {self.section}', value=values,
                                 limit='must be a list of name: value pairs')
        findings = Findings()
        for name in values:
            findings.attempt(self._require_known, name)
        prefix = f'{self.section}.'
        validated = SimpleNamespace(**{
            name: findings.attempt(parameter.validate, values[name], prefix)
            if name in values else parameter.default_for(scale)
            for name, parameter in self.parameters.items()
        })
        findings.raise_first()
        for check in self.checks:
            check(validated)
        return validated

    def _require_known(self, name: str) -> None:
        if name in self.parameters:
            return
        near = get_close_matches(str(name), self.parameters, n=1)
        remedy = f'did you mean {near[0]}?' if near else 'known: ' + ', '.join(self.parameters)
        raise ParameterError(f'parameter {self.section}.{name}', limit='unknown', remedy=remedy)
