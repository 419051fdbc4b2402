# SPDX-License-Identifier: Apache-2.0
"""Doors: what many need of a room is there by name and is imported on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
import sys
from types import ModuleType
from typing import Any

Places = dict[str, tuple[str, str]]  # name -> module, without the package's name, and name there


def open_door(
    room: str, defined: Mapping[str, str]
) -> tuple[Places, list[str], Callable[[str], Any]]:
    """Return what a room offers by name: where it is, its ``__all__`` and its ``__getattr__``.

    Args:
        room: Dotted name of the room, its ``__name__``.
        defined: Module of the room -> the names in it that are offered; ``name=other`` offers
            under a name what has another one there.
    """
    package, _, inner = room.partition('.')
    places = {
        name: (f'{inner}.{module}'.lstrip('.'), other or name)
        for module, names in defined.items()
        for name, _, other in (each.partition('=') for each in names.split())
    }

    def get(name: str) -> Any:
        """Import a name of the room on first use."""
        if name not in places:
            raise AttributeError(f'module {room!r} has no attribute {name!r}')
        module, other = places[name]
        value = getattr(import_module(f'{package}.{module}'), other)
        setattr(sys.modules[room], name, value)
        return value

    return places, [*places], get


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return the ``__getattr__`` of a package whose modules are imported when they are first named.

    Args:
        package: Its dotted name.
    """

    def find(name: str) -> ModuleType:
        if find_spec(f'{package}.{name}') is None:
            raise AttributeError(f'module {package} has no attribute {name}')
        return import_module(f'{package}.{name}')

    return find
