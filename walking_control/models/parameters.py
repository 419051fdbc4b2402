# SPDX-License-Identifier: Apache-2.0
"""Parameters: the one place where a parameter's name, type, range and meaning stand.

The parameters of a law, a plant, a node, ... are a class, and their values an instance of it, valid
as long as it lives. The class reads robot files, drives ROS declarations and the command line's
``--set``, and prints the documentation page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, Field, field, fields
import math
from typing import Any, ClassVar, TYPE_CHECKING, TypeVar

from walking_control.exceptions import Findings, given, ParameterError, require, require_known
from walking_control.models.yaml_text import exponent_remedy

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    from walking_control.models.scale import Scale
else:

    def dataclass_transform(**_):
        """Tell type checkers; `typing` has it from Python 3.11 on."""
        return lambda cls: cls


Value = TypeVar('Value')
Section = TypeVar('Section', bound='Parameters')

_TYPE_NAMES = {
    bool: 'bool',
    int: 'integer',
    float: 'number',
    str: 'text',
    list: 'list of names',
    dict: 'mapping of name: value',
}
_ROW = 'parameter'  # in the metadata of a field


def parameter(
    default: Value,
    unit: str,
    description: str,
    minimum: float | None = None,
    maximum: float | None = None,
    *,
    choices: tuple[str, ...] = (),
    live: bool = False,
    scaled: bool = False,
) -> Value:
    """Declare a parameter in the body of a class of `Parameters`.

    Args:
        default: Default value; its type (bool, int, float, str, or a tuple of floats) is the
            parameter's type.
        unit: SI unit, ``'1'`` when dimensionless, ``''`` for texts and switches.
        description: One sentence.
        minimum: Smallest allowed value (for arrays: of each element).
        maximum: Largest allowed value.
        choices: Allowed values, for texts.
        live: Whether it may change while the robot walks.
        scaled: Whether the default is that of a robot of 10 kg and 1 m and grows with the robot.
    """
    row = {
        'unit': unit,
        'description': description,
        'minimum': minimum,
        'maximum': maximum,
        'choices': choices,
        'live': live,
        'scaled': scaled,
    }
    return field(default=default, metadata={_ROW: row})


@dataclass(frozen=True)
class Parameter:
    """One tunable value, as a class of `Parameters` declares it.

    Args:
        name: Name within its section.
        default: Default value; its type (bool, int, float, str, a tuple of floats, a list of names
            or a dict) is the parameter's type.
        unit: SI unit, ``'1'`` when dimensionless, ``''`` for texts and switches.
        description: One sentence.
        minimum: Smallest allowed value (for arrays: of each element).
        maximum: Largest allowed value.
        choices: Allowed values, for texts.
        live: True when it may change while the robot walks.
        scaled: True when the default is that of a robot of 10 kg and 1 m and grows with the
            robot, as its unit says (see `models.scale`).
    """

    name: str  # name within its section
    # default value; its type is the parameter's type
    default: Any
    unit: str
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False  # true when it may change while the robot walks
    # true when the default is that of a robot of 10 kg and 1 m and grows with the robot, as its
    # unit says (see `models.scale`)
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
        """Return the type of the value: bool, int, float, str, tuple, list (of names) or dict."""
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
            require(
                hasattr(value, '__iter__') and not isinstance(value, (str, Mapping)),
                what,
                value=value,
                limit='must be a list of numbers',
                error=ParameterError,
            )
            return tuple(self._as_float(number, what) for number in value)
        if self.type is float:
            return self._as_float(value, what)
        require(
            isinstance(value, list)
            and self.type is list
            and all(isinstance(each, str) for each in value)
            or type(value) is self.type is not list,
            what,
            value=value,
            limit=f'must be a {_TYPE_NAMES[self.type]}',
            error=ParameterError,
        )
        return value

    @staticmethod
    def _as_float(value: object, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ParameterError(
                what, value=value, limit='must be a number', remedy=exponent_remedy(value)
            )
        require(
            math.isfinite(value), what, value=value, limit='must be finite', error=ParameterError
        )
        return float(value)

    def _check_range(self, value: Any, what: str) -> None:
        outside = (
            (self.choices and value not in self.choices)
            or (self.minimum is not None and value < self.minimum)
            or (self.maximum is not None and value > self.maximum)
        )
        require(
            not outside,
            what,
            value=value,
            limit=self.range_text,
            remedy=f'the default is {self.default!r}',
            error=ParameterError,
        )


# no field_specifiers: to a type checker `parameter` is a default, which stands first in it
@dataclass_transform(frozen_default=True)
class Parameters:
    """The parameters of one section of a robot file: subclass it, one `parameter` a line.

    ::

        class SpringParameters(Parameters, section='hip_spring'):
            stiffness: float = parameter(8.0, 'N m/rad', 'Of the spring.', 0.0, 1e3, live=True)

    A subclass is a frozen dataclass. Parts that several sections have are classes without a
    section, to be inherited. Attributes: `section`: name of the section. `rows`: name ->
    `Parameter`, what the class itself declares first.

    Raises:
        ParameterError: A bad value or a contradiction; carries all others.
    """

    section: ClassVar[str]
    rows: ClassVar[Mapping[str, Parameter]]
    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, section: str = '', more: Mapping[str, Any] | None = None) -> None:
        """Make a dataclass of it; ``more`` holds parameters that follow from another table."""
        for name, value in (more or {}).items():
            setattr(cls, name, value)
            cls.__annotations__[name] = type(value.default).__name__
        own = set(cls.__annotations__)
        dataclass(frozen=True)(cls)
        cls.section = section
        cls.rows = {
            each.name: _row(cls, each)
            for each in sorted(fields(cls), key=lambda each: each.name not in own)
        }

    def __post_init__(self) -> None:
        findings = Findings()
        for name, row in self.rows.items():
            value = findings.attempt(row.validate, getattr(self, name), f'{self.section}.')
            object.__setattr__(self, name, value)
        findings.raise_first()
        self.check()

    def check(self) -> None:
        """Raise `ParameterError` when values, each valid, contradict each other."""

    @classmethod
    def read(
        cls: type[Section],
        values: Mapping[str, Any] | None = None,
        scale: Scale | None = None,
        place: str | None = None,
    ) -> Section:
        """Return what a mapping of names to values says, defaults filled in; all or nothing.

        Args:
            values: Missing names take their default.
            scale: `Scale` of the robot, with which some defaults grow.
            place: What messages call the section, where it is one of several.

        Raises:
            ParameterError: An unknown name, a bad value or a contradiction; carries all others.
        """
        place = cls.section if place is None else place
        return cls(**read_rows(cls.rows, {} if values is None else values, place, scale))


def read_rows(
    rows: Mapping[str, Parameter],
    values: Mapping[str, Any],
    place: str,
    scale: Scale | None = None,
) -> dict[str, Any]:
    """Return what a mapping of names to values says, defaults filled in; all or nothing.

    Args:
        rows: name -> `Parameter`.
        values: Missing names take their default.
        place: What messages call it.
        scale: `Scale` of the robot, with which some defaults grow.

    Raises:
        ParameterError: An unknown name or a bad value; carries all others.
    """
    require(
        isinstance(values, Mapping),
        f'section {place}',
        value=values,
        limit='must be a list of name: value pairs',
        error=ParameterError,
    )
    findings = Findings()
    for name in values:
        findings.attempt(require_known, name, rows, f'parameter {place}.{name}', ParameterError)
    read = {
        name: findings.attempt(row.validate, values[name], f'{place}.')
        if name in values
        else row.default_for(scale)
        for name, row in rows.items()
    }
    findings.raise_first()
    return read


def _row(cls: type[Parameters], declared: Field[Any]) -> Parameter:
    """Return the `Parameter` of a field.

    Raises:
        ParameterError: It was not declared by `parameter`, or is a number without a unit.
    """
    what = f'parameter {declared.name} of {cls.__name__}'
    row = given(
        declared.metadata.get(_ROW),
        what,
        limit='has no unit, range and description',
        remedy='declare it by walking_control.models.parameters.parameter',
        error=ParameterError,
    )
    require(
        row['unit'] or isinstance(declared.default, (bool, str)),
        what,
        limit='lacks a unit',
        remedy="say '1' where it has none",
        error=ParameterError,
    )
    return Parameter(declared.name, declared.default, **row)
