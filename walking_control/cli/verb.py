# SPDX-License-Identifier: Apache-2.0
"""Verbs from typed options: what argparse is told follows from the class that a verb takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from difflib import get_close_matches
import math
from pathlib import Path
import re
from typing import Any, get_args, get_origin, get_type_hints, NamedTuple, NoReturn, TypeVar

import yaml

from walking_control.cli.output import Answer
from walking_control.lab.experiments.sweeps.task import Axis
from walking_control.models import load_yaml

LONGEST_RUN = 1e6  # s, as of the simulator node
Words = str | Callable[[], str] | None
Value = TypeVar('Value')


def demand(holds: object, words: str) -> None:
    """Refuse a text on the command line.

    Args:
        holds: Is true where all is well.
        words: Said otherwise.

    Raises:
        ArgumentTypeError: It does not hold.
    """
    if not holds:
        raise argparse.ArgumentTypeError(words)


def named(text: str, value: str = 'value') -> tuple[str, str]:
    """Return name and value of NAME=VALUE, still as text."""
    name, separator, given = text.partition('=')
    demand(name and separator, f'{text!r} is not of the form name={value}')
    return name, given


def setting(text: str) -> tuple[str, Any]:
    """Return name and value of NAME=VALUE."""
    name, value = named(text)
    try:
        return name, load_yaml(value)
    except yaml.YAMLError as error:
        raise argparse.ArgumentTypeError(f'value of {name} is not YAML: {error}') from error


def numbers(text: str) -> list[float]:
    """Return the numbers of A,B,C."""
    return [finite(part) for part in text.split(',')]


def ratios(text: str) -> list[float]:
    """Return the numbers of A,B,C, each a number or a fraction such as 1/20."""
    return [_ratio(part) for part in text.split(',')]


def _ratio(text: str) -> float:
    above, slash, below = text.partition('/')
    bottom = finite(below) if slash else 1.0
    demand(bottom != 0.0, f'{text!r} divides by zero')
    return finite(above) / bottom


def number_range(text: str) -> list[float]:
    """Return the N numbers of LO:HI:N, or those of a list with commas."""
    if ',' in text:
        return numbers(text)
    parts = text.split(':')
    demand(
        len(parts) == 3 and parts[2].isdigit() and int(parts[2]) >= 1,
        f'{text!r} is not of the form LO:HI:N or A,B,...',
    )
    low, high, count = finite(parts[0]), finite(parts[1]), int(parts[2])
    return [low + (high - low) * i / max(1, count - 1) for i in range(count)]


def axis(text: str) -> Axis:
    """Return the axis of NAME=LO:HI:N, or of NAME=LO:HI where points are drawn at random."""
    name, _, ends = text.partition('=')
    parts = ends.split(':')
    demand(
        name
        and len(parts) in (2, 3)
        and (len(parts) == 2 or parts[2].isdigit())
        and parts[2:] != ['0'],
        f'{text!r} is not of the form name=LO:HI:N, N from 1',
    )
    return Axis(name, finite(parts[0]), finite(parts[1]), int(parts[2]) if parts[2:] else 1)


def margin(text: str) -> tuple[str, float]:
    """Return name and size of NAME=SIZE."""
    name, size = named(text, 'size')
    return name, finite(size)


def positions(text: str) -> dict[str, float] | str:
    """Return joint -> position of A=VALUE,B=VALUE, else the text, the path of a file."""
    return dict(map(margin, text.split(','))) if '=' in text else text


def words(text: str) -> tuple[str, ...]:
    """Return the words of A,B,C."""
    return tuple(word for word in text.split(',') if word)


def finite(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    demand(math.isfinite(value), f'{text!r} is not a finite number')
    return value


def checked(
    read: Callable[[str], Value], fits: Callable[[Value], bool], otherwise: str
) -> Callable[[str], Value]:
    """Return a reader of values that says what is wrong with those that do not fit."""

    def reader(text: str) -> Value:
        value = read(text)
        demand(fits(value), f'{text} {otherwise}')
        return value

    return reader


def whole(least: int, most: float, what: str) -> Callable[[str], int]:
    """Return a reader of whole numbers between two ends."""

    def reader(text: str) -> int:
        demand(text.isdigit() and least <= int(text) <= most, f'{text!r} is not a {what}')
        return int(text)

    return reader


seed = whole(0, math.inf, 'whole number from 0')
count = whole(1, math.inf, 'whole number from 1')
port = whole(0, 65535, 'port: a whole number up to 65535')  # TCP; 0 for a free one
positive = checked(finite, lambda value: value > 0.0, 'must be above 0')
not_negative = checked(finite, lambda value: value >= 0.0, 'must not be below 0')
share = checked(positive, lambda value: value < 1.0, 'must be below 1')
duration = checked(
    positive, lambda value: value <= LONGEST_RUN, f'must be at most {LONGEST_RUN:g} s'
)  # of a run
READERS = {Path: Path, int: int, float: finite}  # of annotations; other texts stay texts


class Field(NamedTuple):
    """An option or a word of a verb.

    Attributes:
        words: Its help, or what tells it when it is asked for, as installed laws do.
        more: For argparse, in place of what follows from its annotation.
        flag: Its name, if not that of the field; '' of a word without a name.
        apart: Fields of which one alone may be given share this.
        group: Title and description under which help lists it.
    """

    words: Words
    more: dict[str, Any]
    flag: str | None = None
    apart: str = ''
    group: tuple[str, str] | None = None

    def keywords(self, hint: Any) -> dict[str, Any]:
        """Return what argparse is told of a field of this type."""
        told: dict[str, Any] = {'help': self.words() if callable(self.words) else self.words}
        if hint is bool:
            return {**told, 'action': 'store_true', **self.more}
        known = {READERS[kind] for kind in (get_args(hint) or (hint,)) if kind in READERS}
        if known:
            told['type'] = known.pop()
        if get_origin(hint) is list:  # every time it is given adds to it
            told |= {'action': 'append', 'default': []}
        return {**told, **self.more}


def option(
    words: Words = None,
    metavar: str | tuple[str, ...] | None = None,
    read: Callable[[str], Any] | None = None,
    flag: str | None = None,
    apart: str = '',
    **more: Any,
) -> Any:
    """Return a field that is typed as ``--its-name``; see `Field`.

    Args:
        words: Its help; None: what it may be says enough.
        metavar: What stands for its value there.
        read: From text to value; None takes what its annotation says.
        flag: Its name, if another one.
        apart: See `Field`.
        **more: For argparse.
    """
    given = {name: value for name, value in (('metavar', metavar), ('type', read)) if value}
    return Field(words, {**given, **more}, flag, apart)


def argument(words: str, metavar: str | None = None, **more: Any) -> Any:
    """Return a field that is a word without a name, see `option`."""
    return option(words, metavar, flag='', **more)


class Options:
    """What can be typed behind a verb, a field each; the class statement may name their group."""

    command: list[str]  # as it was typed
    json = False
    out: Path | None = None
    _own: dict[str, Field] = {}

    def __init_subclass__(cls, group: tuple[str, str] | None = None) -> None:
        cls._own = {
            name: value._replace(group=group)
            for name, value in vars(cls).items()
            if isinstance(value, Field)
        }
        for name in cls._own:
            delattr(cls, name)

    @classmethod
    def add_to(cls, parser: argparse.ArgumentParser) -> None:
        """Add all fields to a parser, those of base classes first."""
        owns = [vars(base).get('_own', {}) for base in reversed(cls.__mro__)]
        fields: dict[str, Field] = {name: field for own in owns for name, field in own.items()}
        hints, places = get_type_hints(cls), dict[Any, Any]()
        for name, field in fields.items():
            where = field.apart or field.group
            if where is not None and where not in places:
                places[where] = (
                    parser.add_mutually_exclusive_group()
                    if field.apart
                    else parser.add_argument_group(*field.group or ())
                )
            place, told = places.get(where, parser), field.keywords(hints[name])
            if field.flag == '':
                place.add_argument(name, **told)
            else:
                place.add_argument(field.flag or f'--{name.replace("_", "-")}', dest=name, **told)

    def prepare(self) -> None:
        """Do what comes before the work of the verb: nothing."""


class Verb(NamedTuple):
    """A verb: its function, the class of its options, and what its help ends with."""

    run: Callable[[Any], Answer]
    kind: type[Options]
    name: str
    epilog: str

    def add_to(self, verbs: argparse._SubParsersAction[Any]) -> None:
        """Add it to the verbs of a parser."""
        parser = verbs.add_parser(
            self.name, help=self.run.__doc__, description=self.run.__doc__, epilog=self.epilog
        )
        self.kind.add_to(parser)
        parser.set_defaults(run=self)

    def __call__(self, given: argparse.Namespace) -> int:
        """Run it with what was typed, say and write its answer; return the exit status."""
        options = self.kind()
        options.__dict__ = vars(given)  # the same: who looks at one sees what the other was given
        options.prepare()
        return self.run(options).give(options)


def verb(
    *examples: str, name: str | None = None, before: str = ''
) -> Callable[[Callable[[Any], Answer]], Verb]:
    """Return a decorator that makes a `Verb` of a function, whose ``options`` say by their type.

    Args:
        *examples: Lines that its help ends with.
        name: Its name, if not that of the function.
        before: What stands before them.
    """
    epilog = before + 'Example:\n  ' + '\n  '.join(examples)
    return lambda run: Verb(run, get_type_hints(run)['options'], name or run.__name__, epilog)


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)
        # a list that begins with a negative number is a value, not an option
        self._negative_number_matcher = re.compile(r'^-[0-9.][0-9.,eE+-]*$')

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        near = get_close_matches(str(value), map(str, action.choices or ()), 3, 0.5)
        if near and value not in (action.choices or ()):
            raise argparse.ArgumentError(
                action, f'{value!r} is unknown; did you mean {" or ".join(near)}?'
            )
        super()._check_value(action, value)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return what was given; a word that nobody takes ends it, with the option meant."""
        given, extra = super().parse_known_args(args, namespace)
        if extra:
            near = get_close_matches(
                extra[0].partition('=')[0], self._option_string_actions, 1, 0.7
            )
            words = f'; did you mean {near[0]}?' if near else ''
            self.error(f'{" ".join(extra)}: not an argument of {self.prog}{words}')
        return given, extra

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line."""
        self.exit(2, f'error: {" ".join(message.split())}; see {self.prog} --help\n')
