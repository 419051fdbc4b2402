# SPDX-License-Identifier: Apache-2.0
"""Parameters validate, coerce and explain."""

from dataclasses import replace
import math

import pytest

from walking_control.exceptions import ParameterError
from walking_control.models.parameters import parameter, Parameters


class Limits(Parameters, section='t'):
    """One of each type, and a check of two together."""

    low: float = parameter(1.0, 'm', 'Low.', 0.0, 5.0)
    high: float = parameter(4.0, 'm', 'High.', 0.0, 5.0)
    count: int = parameter(3, '1', 'Count.', 1, 9)
    on: bool = parameter(True, '', 'Switch.')
    kind: str = parameter('a', '', 'Kind.', choices=('a', 'b'))
    gains: tuple[float, ...] = parameter((1.0, 2.0), '1', 'Gains.', 0.0, 10.0)

    def check(self):
        """Refuse values out of order."""
        if self.low >= self.high:
            raise ParameterError('parameter t.low', value=self.low, limit='must be below high')


def test_defaults_and_coercion():
    """An integer for a number must be accepted, or robot files full of `3` would be refused."""
    values = Limits.read({'low': 2, 'gains': [3, 4.5]})
    assert values.low == 2.0 and isinstance(values.low, float)
    assert values.gains == (3.0, 4.5) and values.count == 3 and values.on is True


@pytest.mark.parametrize(
    'changes, words',
    [
        ({'low': 7.0}, ('t.low', '7.0', 'from 0 to 5 m')),
        ({'low': math.nan}, ('t.low', 'finite')),
        ({'low': '1'}, ('t.low', 'number')),
        ({'low': True}, ('t.low', 'number')),
        ({'count': 2.5}, ('t.count', 'integer')),
        ({'count': 0}, ('t.count', 'from 1 to 9')),
        ({'on': 1}, ('t.on', 'bool')),
        ({'kind': 'c'}, ('t.kind', 'one of a, b')),
        ({'gains': [1.0, 11.0]}, ('t.gains', '11.0')),
        ({'gains': 'ab'}, ('t.gains', 'list')),
        ({'hihg': 1.0}, ('t.hihg', 'did you mean high')),
        ({'low': 4.5}, ('t.low', 'below high')),
    ],
)
def test_bad_values_are_refused_in_one_line(changes, words):
    """A bad value that slips through, or a refusal that does not name it, misleads the user."""
    with pytest.raises(ParameterError) as caught:
        Limits.read(changes)
    text = str(caught.value)
    assert all(word in text for word in words) and '\n' not in text


@pytest.mark.parametrize(
    'change, error',
    [
        (lambda: Limits(hihg=1.0), TypeError),
        (lambda: Limits(low=7.0), ParameterError),
        (lambda: Limits(low=4.5), ParameterError),
        (lambda: Limits(low='1'), ParameterError),
        (lambda: replace(Limits(), high=0.5), ParameterError),
        (lambda: setattr(Limits(), 'low', 2.0), AttributeError),
        (lambda: setattr(Limits(), 'hihg', 2.0), AttributeError),
    ],
)
def test_python_cannot_write_what_a_file_cannot(change, error):
    """If it failed, a slip in a script would walk with another value than the one it wrote."""
    with pytest.raises(error):
        change()


def test_what_is_inherited_comes_last_and_its_check_counts():
    """If it failed, a part that several sections share would not be declared or not be checked."""

    class Wider(Limits, section='w'):
        width: float = parameter(2.0, 'm', 'Width.', 0.0, 5.0)
        low: float = parameter(0.5, 'm', 'Lower.', 0.0, 5.0)

    assert list(Wider.rows)[:2] == ['low', 'width'] and Wider.read({}).low == 0.5
    with pytest.raises(ParameterError, match='w.width'):
        Wider.read({'width': 6.0})
    with pytest.raises(ParameterError, match='below high'):
        Wider(low=4.5)


@pytest.mark.parametrize(
    'declared, words',
    [(parameter(1.0, '', 'A number.'), 'lacks a unit'), (1.0, 'no unit, range and description')],
)
def test_a_parameter_says_its_unit(declared, words):
    """If it failed, a law's numbers could be read in any unit, and could not scale."""
    with pytest.raises(ParameterError, match=words):
        type(
            'Bare',
            (Parameters,),
            {'__annotations__': {'bare': float}, 'bare': declared},
            section='bare',
        )
