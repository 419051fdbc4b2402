# SPDX-License-Identifier: Apache-2.0
"""Errors of the package: one root, children carry what was wrong as data."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
import importlib
from pathlib import Path
from typing import Any, TypeVar

Given = TypeVar('Given')


class WalkingControlError(Exception):
    """Something the caller can act on.

    Args:
        what: The thing that is wrong, e.g. ``'parameter hip_switching.set_point'``.
        value: Its offending value.
        limit: The rule it breaks, in words.
        remedy: What to do about it.
    """

    exit_status = 2
    # what else was found wrong at the same time, see `Findings`
    others: tuple['InvalidInput', ...] = ()

    def __init__(
        self,
        what: str,
        *,
        value: object = None,
        limit: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.value = value
        self.limit = limit
        self.remedy = remedy
        super().__init__(what, value, limit, remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        # to other processes: not by __init__, which takes names
        return type(self).__new__, (type(self), *self.args), vars(self)

    def __str__(self) -> str:
        text = str(self.what)
        if self.value is not None:
            text += f' is {self.value!r}'
        if self.limit is not None:
            text += f': {self.limit}'
        if self.remedy is not None:
            text += f'; {self.remedy}'
        return ' '.join(text.split())

    def as_dict(self) -> dict[str, Any]:
        """Return the four parts as a JSON-ready dictionary."""
        value = self.value
        if not isinstance(value, (bool, int, float, str, type(None))):
            value = repr(value)
        return {'what': self.what, 'value': value, 'limit': self.limit, 'remedy': self.remedy}


class InvalidInput(WalkingControlError):
    """The caller gave something unusable: what, which value, which limit, and the remedy."""


class Findings:
    """Collects what is wrong with an input, so that all of it can be said at once.

    Attributes:
        errors: The errors so far.
    """

    def __init__(self) -> None:
        self.errors: list[InvalidInput] = []

    def attempt(self, function: Callable[..., Any], *args: object, **more: object) -> Any:
        """Return what a function returns, or None after keeping the `InvalidInput` it raised."""
        try:
            return function(*args, **more)
        except InvalidInput as error:
            self.errors += [error, *error.others]
            return None

    def raise_first(self) -> None:
        """Raise the first error, if any; the rest travels along as its ``others``."""
        if self.errors:
            first, *rest = self.errors
            first.others = tuple(rest)
            raise first


class ParameterError(InvalidInput):
    """A parameter is unknown, of the wrong type or out of its range."""


class RobotFileError(InvalidInput):
    """The robot file cannot be read or contradicts the URDF."""


class UrdfError(InvalidInput):
    """The URDF cannot be read or describes no physical robot."""


class IncompatibleController(InvalidInput):
    """The controller cannot control this robot."""


class IncompatiblePlant(InvalidInput):
    """The plant cannot simulate this robot."""


class MissingDependency(InvalidInput):
    """An optional package is needed for what was asked."""


class MeasurementError(WalkingControlError):
    """A measurement is incomplete or not finite; it must not reach the control law.

    Attributes:
        code: Of the fault that it is.
    """

    code = 'joint_state'


class Interrupted(KeyboardInterrupt):
    """Somebody stopped a long piece of work; what there was until then is not lost.

    Args:
        result: What the work would have returned, as far as it got.
    """

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__('interrupted')


class NotAchieved(WalkingControlError):
    """What was asked for did not happen: a fall, no solution, outside tolerance."""

    exit_status = 1


def require(
    holds: object,
    what: str,
    *,
    value: object = None,
    limit: str | None = None,
    remedy: str | None = None,
    error: type[WalkingControlError] = InvalidInput,
) -> None:
    """Refuse what does not hold.

    The message is made before anybody knows whether it is needed: in a tick, write an `if`.

    Args:
        holds: Is true where all is well.
        what: The thing that is wrong otherwise.
        value: Its offending value.
        limit: The rule it breaks, in words.
        remedy: What to do about it.
        error: What is raised.

    Raises:
        WalkingControlError: It does not hold.
    """
    if not holds:
        raise error(what, value=value, limit=limit, remedy=remedy)


def given(
    value: Given | None,
    what: str,
    *,
    limit: str | None = None,
    remedy: str | None = None,
    error: type[WalkingControlError] = InvalidInput,
) -> Given:
    """Return a value that must be there; the other arguments are those of `require`.

    Args:
        value: None is refused.
        what: The thing that is missing otherwise.
        limit: The rule that its absence breaks.
        remedy: What to do about it.
        error: What is raised.

    Raises:
        WalkingControlError: It is None.
    """
    if value is None:
        raise error(what, limit=limit, remedy=remedy)
    return value


@contextmanager
def refusing(
    problems: type[Exception] | tuple[type[Exception], ...],
    what: str,
    *,
    value: object = None,
    limit: str = '{error}',
    remedy: str | None = None,
    error: type[WalkingControlError] = InvalidInput,
) -> Iterator[None]:
    """Say in our words what others raise within the block.

    Args:
        problems: What they raise.
        what: The thing that is wrong then.
        value: Its offending value.
        limit: The rule it breaks; ``{error}`` stands for what they raised, as in `str.format`.
        remedy: What to do about it.
        error: What is raised instead.

    Raises:
        WalkingControlError: One of the problems came.
    """
    try:
        yield
    except problems as problem:
        said = limit.format(error=problem) if '{error' in limit else limit
        raise error(what, value=value, limit=said, remedy=remedy) from problem


def require_known(
    name: object,
    known: Iterable[object],
    what: str,
    error: type[InvalidInput] = InvalidInput,
    value: object = None,
    limit: str = 'unknown',
) -> None:
    """Refuse a name that is not known, with the one that was perhaps meant.

    Args:
        name: To be looked for.
        known: Names that there are.
        what: The thing that is named, for the message.
        error: What is raised.
        value: The offending value, where ``what`` does not say it.
        limit: The rule it breaks.

    Raises:
        InvalidInput: It is not among the known.
    """
    names = [str(each) for each in known]
    if name not in names:
        near = get_close_matches(str(name), names, 1)
        remedy = f'did you mean {near[0]}?' if near else 'known: ' + ', '.join(names)
        raise error(what, value=value, limit=limit, remedy=remedy)


def import_optional(
    module: str, what: str, package: str | None = None, remedy: str = 'pip install {package}'
) -> Any:
    """Return a module of a package that not everybody has.

    Args:
        module: Its dotted name.
        what: What needs it, for the message.
        package: What to install; None takes the first part of the name.
        remedy: How, where not so.

    Raises:
        MissingDependency: It is not installed.
    """
    package = package or module.partition('.')[0]
    with refusing(
        ImportError,
        what,
        limit=f'needs the package {package} ({{error}})',
        remedy=remedy.format(package=package),
        error=MissingDependency,
    ):
        return importlib.import_module(module)


@contextmanager
def writing_to(directory: Path) -> Iterator[None]:
    """Make a directory to write files to.

    Raises:
        InvalidInput: It, or a file written within, cannot be written.
    """
    with refusing(
        OSError,
        f'directory {directory}',
        limit='cannot be written: {error.strerror}',
        remedy='name another with --out',
    ):
        directory.mkdir(parents=True, exist_ok=True)
        yield
