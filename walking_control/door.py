# SPDX-License-Identifier: Apache-2.0
"""Doors: what many need of a room, and its modules, are there by name, imported on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
import sys
from types import MappingProxyType
from typing import Any

Places = dict[str, tuple[str, str]]  # name -> module, without the package's name, and name there


def open_door(
    room: str, defined: Mapping[str, str] = MappingProxyType({})
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
        """Import a name of the room, or a module of it, on first use."""
        if name not in places:
            if find_spec(f'{room}.{name}') is None:
                raise AttributeError(f'module {room!r} has no attribute {name!r}')
            return import_module(f'{room}.{name}')
        module, other = places[name]
        value = getattr(import_module(f'{package}.{module}'), other)
        setattr(sys.modules[room], name, value)
        return value

    return places, [*places], get
