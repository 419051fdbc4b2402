# SPDX-License-Identifier: Apache-2.0
"""Things to choose from by name: controllers, plants, solvers."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from walking_control.exceptions import InvalidInput


class Registry(Mapping[str, Any]):
    """Name -> thing, imported when it is asked for.

    Args:
        kind: What is chosen, for messages.
        places: name -> ``'module:attribute'``, in the order they are shown in.

    Attributes:
        places: The same; a new thing is one more line here.
    """

    def __init__(self, kind: str, places: dict[str, str]) -> None:
        self.kind = kind
        self.places = places

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.places[name].partition(':')
        return getattr(import_module(module), attribute)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def find(self, name: str) -> Any:
        """Return the thing of a name.

        Raises:
            InvalidInput: Unknown; says what is known.
        """
        if name not in self.places:
            raise InvalidInput(self.kind, value=name, limit='unknown',
                               remedy='known: ' + ', '.join(sorted(self.places)))
        return self[name]
