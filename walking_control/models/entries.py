# SPDX-License-Identifier: Apache-2.0
"""Entries of a robot file, refused in one line where they are not what they must be."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
import math
from pathlib import Path
from typing import Any

from walking_control.exceptions import RobotFileError


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return a value that must be a mapping.

    Raises:
        RobotFileError: It is not.
    """
    if not isinstance(value, Mapping):
        raise RobotFileError(what, value=value, limit='must hold name: value pairs')
    return value


def finite(value: object, what: str, least: float = -math.inf,
           most: float = math.inf) -> float:
    """Return a value that must be a finite number of a range, as float.

    Raises:
        RobotFileError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) \
            or not math.isfinite(value) or not least <= value <= most:
        bounds = [f'{word} {bound:g}' for word, bound in (('at least', least), ('at most', most))
                  if math.isfinite(bound)]
        raise RobotFileError(what, value=value, limit='must be a finite number'
                             + (' of ' + ' and '.join(bounds) if bounds else ''),
                             remedy=exponent_remedy(value))
    return float(value)


def exponent_remedy(value: object) -> str | None:
    """Return what helps a number that YAML reads as a text, such as 1e-3; None for all else."""
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return None
    return f'write {number!r}; a number with an exponent needs a point and a sign in YAML' \
        if math.isfinite(number) else None


def require(name: object, known: Collection[str], kind: str, path: Path | str) -> None:
    """Refuse a name that the URDF does not have, with what was perhaps meant.

    Raises:
        RobotFileError: It is not among the known.
    """
    if name not in known:
        near = get_close_matches(str(name), list(known), n=1)
        raise RobotFileError(f'{kind} {name} in {path}', limit=f'is not a {kind} of the URDF',
                             remedy=f'did you mean {near[0]}?' if near
                             else 'known: ' + ', '.join(known))


def require_once(names: Iterable[str], what: str) -> None:
    """Refuse a list in which a name stands twice.

    Raises:
        RobotFileError: One does.
    """
    for name in names:
        if list(names).count(name) > 1:
            raise RobotFileError(what, value=list(names), limit=f'names {name} twice')
