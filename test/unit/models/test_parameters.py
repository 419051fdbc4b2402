# SPDX-License-Identifier: Apache-2.0
"""Parameter tables validate, coerce and explain."""

import math

import pytest

from walking_control.exceptions import ParameterError
from walking_control.models.parameters import Parameter, ParameterTable


def below_high(values):
    """Cross-check used below."""
    if values.low >= values.high:
        raise ParameterError('parameter t.low', value=values.low, limit='must be below high')


TABLE = ParameterTable('t', [
    Parameter('low', 1.0, 'm', 'Low.', 0.0, 5.0),
    Parameter('high', 4.0, 'm', 'High.', 0.0, 5.0),
    Parameter('count', 3, '1', 'Count.', 1, 9),
    Parameter('on', True, '', 'Switch.'),
    Parameter('kind', 'a', '', 'Kind.', choices=('a', 'b')),
    Parameter('gains', (1.0, 2.0), '1', 'Gains.', 0.0, 10.0),
], checks=[below_high])


def test_defaults_and_coercion():
    """An integer for a number must be accepted, or robot files full of `3` would be refused."""
    values = TABLE.validate({'low': 2, 'gains': [3, 4.5]})
    assert values.low == 2.0 and isinstance(values.low, float)
    assert values.gains == (3.0, 4.5) and values.count == 3 and values.on is True


@pytest.mark.parametrize('changes, words', [
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
])
def test_bad_values_are_refused_in_one_line(changes, words):
    """A bad value that slips through, or a refusal that does not name it, misleads the user."""
    with pytest.raises(ParameterError) as caught:
        TABLE.validate(changes)
    text = str(caught.value)
    assert all(word in text for word in words) and '\n' not in text
