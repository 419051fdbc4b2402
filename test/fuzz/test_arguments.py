# SPDX-License-Identifier: Apache-2.0
"""Any words on the command line: an answer in one line, and nothing done by halves."""

import argparse
from contextlib import redirect_stderr
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
import pytest

from walking_control.cli.parser import make_parser

WORDS = st.one_of(
    st.sampled_from(
        (
            '',
            '-1',
            '0',
            '1',
            '1e9',
            '1e300',
            'nan',
            'inf',
            '-inf',
            '1e-300',
            '0x10',
            '٣',
            '1:2:3',
            '0:1:100000000000',
            '1:nan:2',
            ',',
            '1,2',
            '1,,2',
            'a=b',
            '=',
            'x=',
            'x={',
            'x=[1',
            'x=!!python/object:os.system a',
            '..',
            '../../evil',
            'nobody',
            'compass',
            'humanoid',
            'rate=.inf',
            'rate=1e400',
            'start.q=[1]',
            'robot=3',
            'robot.name=../../evil',
            'world=7',
            'controller=none',
            'gait=../x.yaml',
            'push=1@1',
            'push=nan@2',
            'push=1e300@1',
            'step_down=0.1@-1',
            'push=1@1e9',
            'x' * 300,
            'a\nb',
            '--',
            '-',
        )
    ),
    st.text(max_size=6),
    st.floats().map(str),
    st.integers().map(str),
)
QUICK = {  # verb -> what it needs, and what keeps it short; the last word counts
    'simulate': (['compass'], ['--duration', '0.02']),
    'check': (['dribbel'], []),
    'statics': (['humanoid'], []),
    'gait impact': (['compass', '--q', '-0.2,0.4'], []),
    'compare': (['compass'], ['--duration', '0.02']),
    'design transmission': (['humanoid'], []),
    'design rotom': (['dribbel'], []),
}


def _parsers(parser, prefix=''):
    """Return verb -> its parser, verbs of verbs included."""
    found = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                found |= _parsers(verb, f'{prefix}{name} ') or {prefix + name: verb}
    return found


VERBS = _parsers(make_parser())


@st.composite
def options_of(draw, verb, most=3):
    """Return options of a verb with words that may fit or not."""
    # a check of a running robot is another test's; its executor wants a real standard error
    others = ('help', 'out', 'variants', 'live')
    actions = [
        action
        for action in VERBS[verb]._actions
        if action.option_strings and action.dest not in others
    ]
    words = []
    for _ in range(draw(st.integers(0, most))):
        action = draw(st.sampled_from(actions))
        words.append(action.option_strings[0])
        if not isinstance(action, argparse._StoreTrueAction) or draw(st.booleans()):
            values = (
                WORDS
                if action.choices is None
                else st.one_of(WORDS, st.sampled_from([str(choice) for choice in action.choices]))
            )
            words += draw(st.lists(values, min_size=1, max_size=2 if action.nargs else 1))
    return words


@given(data=st.data(), verb=st.sampled_from(sorted(VERBS)))
def test_words_are_read_or_refused(data, verb):
    """A slip in a word would end in a traceback before anything began."""
    arguments = [
        *verb.split(),
        *data.draw(st.lists(WORDS, max_size=2)),
        *data.draw(options_of(verb, 5)),
    ]
    err = StringIO()
    with redirect_stderr(err):
        try:
            make_parser().parse_args(arguments)
        except SystemExit as caught:
            assert caught.code == 2
            assert err.getvalue().startswith('error: ') and err.getvalue().count('\n') == 1


@pytest.mark.long
@given(data=st.data())
@pytest.mark.parametrize('verb', QUICK)
def test_verbs_answer(data, verb, judge):
    """A value that passes the parser would end in a traceback, or run for ever."""
    needed, short = QUICK[verb]
    judge(*verb.split(), *needed, *data.draw(options_of(verb)), *short)
