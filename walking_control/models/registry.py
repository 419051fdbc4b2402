# SPDX-License-Identifier: Apache-2.0
"""Things to choose from by name: controllers, plants, solvers; those of other packages, too."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
import os
import sys
from typing import Any, NamedTuple, ParamSpec, Protocol

from walking_control.exceptions import InvalidInput, require
from walking_control.models.parameters import Parameters

Given = ParamSpec('Given')


class Chosen(NamedTuple):
    """A class that was chosen, with some of its parameters: what ``Law(stiffness=8.0)`` gives.

    Attributes:
        kind: The class.
        parameters: name -> value of those given.
    """

    kind: Any
    parameters: dict[str, Any]


Choice = str | type | Chosen | None  # a name, `module:Class`, class; None takes the usual one


class Choosable(Protocol[Given]):
    """A class with parameters: a law, a plant."""

    @property
    def parameters(self) -> Callable[Given, Any]:
        """The class of its parameters."""


def choose(kind: Choosable[Given], *order: Given.args, **parameters: Given.kwargs) -> Chosen:
    """Return a law or plant with some of its parameters, as ``Law(stiffness=8.0)`` does at a desk.

    Of this one a type checker knows the names and types of the parameters.

    Args:
        kind: The class.
        order: None: parameters are given by name.
        parameters: Name -> value; the others stay as the robot file has them.

    Raises:
        InvalidInput: A parameter without a name.
    """
    require(not order, 'choose', value=order, limit='takes parameters by name alone')
    return Chosen(kind, parameters)


def choose_or_make(kind: type, *args: Any, **parameters: Any) -> Any:
    """As ``__new__``: parameters by name alone choose the class, anything else makes its object."""
    return Chosen(kind, parameters) if parameters and not args else object.__new__(kind)


class Registry(Mapping[str, Any]):
    """Name -> thing, imported when it is asked for.

    Args:
        kind: What is chosen, for messages.
        places: name -> ``'module:attribute'``, in the order they are shown in.
        group: Entry points of other packages that count as well; ``''``: none.
        base: ``'module:Class'`` of which classes from outside must be subclasses.
        needs: Parameters that each of them must have.

    Attributes:
        places: Of the things of this package.
    """

    def __init__(
        self,
        kind: str,
        places: dict[str, str],
        group: str = '',
        base: str = '',
        needs: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.places, self._group, self._base = kind, places, group, base
        self._needs = needs
        self._classes: dict[str, type] = {}  # by reference
        self._references: dict[str, str] = {}  # of classes from outside, by their names

    @cached_property
    def foreign(self) -> dict[str, list[str]]:
        """Name -> places, of the things of other packages; one of each name, as it should be."""
        from importlib.metadata import entry_points  # half of what reading a robot imports

        found: dict[str, list[str]] = {}
        for point in entry_points(group=self._group) if self._group else ():
            if point.value not in (known := found.setdefault(point.name, [])):
                known.append(point.value)
        return found

    def __getitem__(self, name: str) -> Any:
        if name in self.places and name not in self.foreign:
            module, _, attribute = self.places[name].partition(':')
            return getattr(import_module(module), attribute)
        places = [*self.foreign[name], *self.places.get(name, '').split()]
        require(
            len(places) <= 1,
            self.kind,
            value=name,
            limit='is there twice: ' + ' and '.join(sorted(places)),
            remedy='uninstall one of them, or choose by module:Class',
        )
        return self._take(self._import(places[0], f'entry point {name} of {self._group}'), name)

    def __iter__(self) -> Iterator[str]:
        return iter((*self.places, *(name for name in self.foreign if name not in self.places)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def find(self, name: str) -> Any:
        """Return the thing of a name, or of a place ``module:Class``.

        Raises:
            InvalidInput: Unknown, or from outside and unusable; says what is known.
        """
        if name in self.places or ':' not in name and name in self.foreign:
            return self[name]
        if self._base and ':' in name:
            return self._classes.get(name) or self._take(self._import(name, self.kind))
        raise InvalidInput(
            self.kind,
            value=name,
            limit='unknown',
            remedy='known: '
            + ', '.join(sorted(self))
            + (', or module:Class' if self._base else ''),
        )

    def choose(self, choice: Any) -> tuple[str | None, list[tuple[str, Any]]]:
        """Return the name to find a choice by, and the parameters given with it, by dotted names.

        Args:
            choice: A name, a class, a `Chosen` or None.

        Raises:
            InvalidInput: It is none of these, or a class that is unusable.
        """
        if choice is None or isinstance(choice, str):
            return choice, []
        kind, parameters = choice if isinstance(choice, Chosen) else (choice, {})
        thing = self._take(kind)
        own = (name for name, place in self.places.items() if place == _reference(thing))
        return next(own, _reference(thing)), [
            (f'{thing.parameters.section}.{name}', value) for name, value in parameters.items()
        ]

    def sections(self, chosen: Iterable[object], sections: Iterable[str]) -> list[Any]:
        """Return the classes of `Parameters` of what comes from outside.

        Args:
            chosen: Names and places; what is unknown is left out.
            sections: Names of sections, likewise.
        """
        names = [name for name in chosen if isinstance(name, str)]
        names += [name for name in sections if ':' not in name]
        return list(
            dict.fromkeys(
                self.find(name).parameters
                for name in names
                if name not in self.places and (':' in name or name in self.foreign)
            )
        )

    def _import(self, place: str, what: str) -> Any:
        """Return what stands at a place, in the working folder or where Python looks else."""
        module, _, attribute = place.partition(':')
        try:
            try:
                found: Any = import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module.partition('.')[0] or os.getcwd() in sys.path:
                    raise
                sys.path.append(os.getcwd())  # programs that pip installs do not look there
                found = import_module(module)
            for part in attribute.split('.'):
                found = getattr(found, part)
        except InvalidInput:
            raise
        except Exception as error:  # whatever a module of somebody else's does
            raise InvalidInput(
                what,
                value=place,
                limit=f'cannot be imported: {type(error).__name__}: {error}',
                remedy='repair or uninstall it'
                if place != what and what != self.kind
                else 'it must stand in the working folder or on PYTHONPATH',
            ) from error
        return found

    def _take(self, kind: Any, name: str = '') -> Any:
        """Return a class from outside, once it is known to be usable."""
        module, _, attribute = self._base.partition(':')
        base = getattr(import_module(module), attribute)
        require(
            base in getattr(kind, '__mro__', ()),
            self.kind,
            value=_reference(kind),
            limit=f'is no subclass of walking_control.{attribute}',
        )
        reference = _reference(kind)
        if reference in self.places.values():
            return kind
        own: Any = getattr(kind, 'name', None)
        what = f'{self.kind} {own} ({reference})'
        parameters: Any = getattr(kind, 'parameters', None)
        require(
            isinstance(parameters, type) and issubclass(parameters, Parameters),
            what,
            limit='its attribute parameters must be a class of walking_control.Parameters',
        )
        missing = [need for need in self._needs if need not in parameters.rows]
        require(
            not missing,
            what,
            limit=f'its parameters lack {", ".join(missing)}',
            remedy=f'let {parameters.__name__} inherit LawParameters',
        )
        require(
            isinstance(own, str) and parameters.section == own and name in ('', own),
            what,
            limit='its attribute name, the section of its parameters and '
            'its entry point, if any, must be one name',
        )
        other = self.places.get(own) or self._references.setdefault(own, reference)
        require(
            other == reference,
            what,
            limit=f'there is another of this name: {other}',
            remedy='give it a name of its own',
        )
        self._classes[reference] = kind
        return kind


def _reference(thing: Any) -> str:
    """Return the place ``module:Class`` of a class."""
    if isinstance(thing, type):
        return f'{thing.__module__}:{thing.__qualname__}'
    return repr(thing)
