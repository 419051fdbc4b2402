# SPDX-License-Identifier: Apache-2.0
"""YAML without surprises, and entries refused in one line where they are not what they must be.

A key that stands twice is refused instead of the first one lost; so are whole numbers beyond any
float, nodes that hold themselves and aliases of aliases that make a book of a few lines, which end
the code behind in tracebacks, or never.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from copy import deepcopy
from functools import lru_cache
import math
from pathlib import Path
import sys
from typing import Any

import yaml

from walking_control.exceptions import (
    InvalidInput,
    refusing,
    require,
    require_known,
    RobotFileError,
)

MOST = 200_000  # values, those behind aliases counted wherever they stand
LONGEST = 4_000_000  # characters: a second of reading


class _Loader(yaml.SafeLoader):
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Refuse a mapping that merges (``<<``) more than anybody writes."""
        super().flatten_mapping(node)
        if len(node.value) > MOST:
            raise yaml.constructor.ConstructorError(
                None, None, f'merged keys make more than {MOST} values', node.start_mark
            )

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a mapping in which a key stands twice; merged (``<<``) keys may be overridden."""
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == 'tag:yaml.org,2002:merge':
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable):
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f'the key {key} stands twice', key_node.start_mark
                    )
                seen.add(key)
        return super().construct_mapping(node, deep)


def _read_integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    value = loader.construct_yaml_int(node)
    if abs(value) > sys.float_info.max:
        raise yaml.constructor.ConstructorError(
            None, None, 'the number is too large', node.start_mark
        )
    return value


def _read_slice(loader: yaml.SafeLoader, node: yaml.SequenceNode) -> list[Any]:
    """Return the bounds of a slice, as Isaac Lab's exporters write one; nothing is called."""
    return loader.construct_sequence(node)


_Loader.add_constructor('tag:yaml.org,2002:int', _read_integer)
_Loader.add_constructor('tag:yaml.org,2002:python/object/apply:builtins.slice', _read_slice)


def load_yaml(text: str) -> Any:
    """Return what a YAML text says, in plain types.

    Raises:
        yaml.YAMLError: It is not YAML, a key of a mapping stands twice, a number is too large, it
            is longer than `LONGEST`, a node holds itself or aliases make more than `MOST` values.
    """
    if len(text) > LONGEST:
        raise yaml.YAMLError(f'it is {len(text)} characters long; limit {LONGEST}')
    return deepcopy(_load(text))


@lru_cache(8)
def _load(text: str) -> Any:
    """Return what `load_yaml` copies: the text of a robot file takes most of the time it takes."""
    try:
        document = yaml.load(text, _Loader)
        _count(document, {})
    except (ValueError, RecursionError) as error:  # of a date that is none, or nested too deep
        raise yaml.YAMLError(f'{type(error).__name__}: {error}') from error
    return document


def read_yaml(path: Path | str, what: str, kind: type[InvalidInput] = InvalidInput) -> Any:
    """Return what a YAML file says, see `load_yaml`.

    Args:
        path: Of the file.
        what: What it is, for the error.
        kind: Of the error.

    Raises:
        InvalidInput: It cannot be read.
    """
    with refusing(
        (OSError, UnicodeDecodeError, yaml.YAMLError),
        what,
        limit='cannot be read: {error}',
        error=kind,
    ):
        return load_yaml(Path(path).read_text(encoding='utf-8'))


def _count(node: object, counted: dict[int, int | None]) -> int:
    """Return how many values a node holds; counted: id -> number of a node, None of one above."""
    if not isinstance(node, (dict, list)):
        return 1
    if id(node) not in counted:
        counted[id(node)] = None
        counted[id(node)] = 1 + sum(
            _count(child, counted) for child in (node.values() if isinstance(node, dict) else node)
        )
    number = counted[id(node)]
    if number is None:
        raise yaml.YAMLError('a node holds itself')
    if number > MOST:
        raise yaml.YAMLError(f'aliases make more than {MOST} values')
    return number


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return a value that must be a mapping.

    Args:
        value: To be looked at.
        what: What it is, for the message.

    Raises:
        RobotFileError: It is not.
    """
    if not isinstance(value, Mapping):
        raise RobotFileError(what, value=value, limit='must hold name: value pairs')
    return value


def finite(value: object, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number of a range as float; `RobotFileError` for all else.

    Args:
        value: To be looked at.
        what: What it is, for the message.
        least: Smallest that is allowed.
        most: Largest.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not math.isfinite(value)
        or not least <= value <= most
    ):
        bounds = [
            f'{word} {bound:g}'
            for word, bound in (('at least', least), ('at most', most))
            if math.isfinite(bound)
        ]
        raise RobotFileError(
            what,
            value=value,
            limit='must be a finite number' + (' of ' + ' and '.join(bounds) if bounds else ''),
            remedy=exponent_remedy(value),
        )
    return float(value)


def exponent_remedy(value: object) -> str | None:
    """Return what helps a number that YAML reads as a text, such as 1e-3; None for all else."""
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return (
        f'write {number!r}; a number with an exponent needs a point and a sign in YAML'
        if math.isfinite(number)
        else None
    )


def require_part(name: object, known: Collection[str], kind: str, path: Path | str) -> None:
    """Refuse a name that the URDF does not have, with what was perhaps meant.

    Args:
        name: To be looked for.
        known: Names that there are.
        kind: ``joint`` or ``link``, for the message.
        path: Of the file that asks for it.

    Raises:
        RobotFileError: It is not among the known.
    """
    what, limit = f'{kind} {name} in {path}', f'is not a {kind} of the URDF'
    require_known(name, known, what, RobotFileError, limit=limit)


def require_once(names: Iterable[str], what: str) -> None:
    """Refuse a list in which a name stands twice.

    Args:
        names: The list.
        what: Where it stands, for the message.

    Raises:
        RobotFileError: One does.
    """
    for name in names:
        require(
            list(names).count(name) <= 1,
            what,
            value=list(names),
            limit=f'names {name} twice',
            error=RobotFileError,
        )
