# SPDX-License-Identifier: Apache-2.0
"""Compiled code, kept in the user's cache folder from one process to the next.

numba's own cache names code by the file and line of one function: it knows neither generated
functions nor functions handed to others, and does not notice a change in what a function calls.
Here the name of an entry is a digest of everything the code depends on: the bytecode of a function
and of all it calls, the constants and arrays frozen into them, the types of the arguments, the
versions and the processor. One file per entry, written elsewhere and moved into place; what cannot
be read, is damaged or is not ours counts as missing, and what cannot be written is left unwritten.

The folder is ``$WALKING_CONTROL_CACHE`` (empty: keep nothing), else ``walking_control`` in
``$XDG_CACHE_HOME`` or ``~/.cache``.
"""

from contextlib import suppress
import hashlib
import io
import itertools
import os
from pathlib import Path
import pickle
import sys
import tempfile
import time
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
from numba.core import bytecode, caching, codegen, compiler, config, serialize, sigutils, types
from numba.core.dispatcher import Dispatcher
import numba.extending
import numpy as np

from walking_control.models.array_functions import Function, OPTIONS, register, say_once

VARIABLE = 'WALKING_CONTROL_CACHE'
WORTH_KEEPING = 0.3  # s of compiling, for a part of something larger
UNUSED_AFTER = 60 * 86400.0  # s after which an entry that nobody asked for is removed
ROOT = 0  # user who may have filled the folder for all
_DIGEST_SIZE = 32
_MODULES = ('cmath', 'math', 'numpy')  # code from these is known by their version
_CODE = (  # what of a code object matters: all but its place in a file
    *('co_argcount', 'co_kwonlyargcount', 'co_flags', 'co_code', 'co_consts', 'co_names'),
    *('co_varnames', 'co_freevars', 'co_cellvars', 'co_exceptiontable'),
)
_NAMED = (  # types of numba that their name says all of
    *(types.Array, types.Boolean, types.NoneType, types.Number, types.Omitted, types.Record),
)

# numba tells equally named functions apart by a number that every process counts from 1; code of
# several processes meets here, so each process counts from a place of its own.
bytecode.FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(7), 'little'))


def cache_folder() -> Path | None:
    """Return the folder of compiled code, or None where there is to be none."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return Path(given).absolute() if given else None
    base = Path(os.environ.get('XDG_CACHE_HOME') or '.')
    if not base.is_absolute():  # such a value is to be ignored, says the XDG specification
        try:
            home = Path.home()
        except RuntimeError:
            return None
        if not home.is_dir():
            return None
        base = home / '.cache'
    return base / 'walking_control'


def keeps_code() -> bool:
    """Return whether compiled code outlives this process: in a folder that is or can be made."""
    folder = cache_folder()
    if folder is None or folder.is_dir():
        return folder is not None
    return os.access(next(each for each in folder.parents if each.exists()), os.W_OK)


def compile_function(function: Function, **options: Any) -> Function:
    """Return a function compiled by numba; what was compiled before comes from the cache folder.

    Args:
        function: A plain function, which may call shared ones and compiled ones.
        options: For ``numba.njit``.
    """
    dispatcher = numba.njit(function, **options)
    if dispatcher is not function:  # as it is with NUMBA_DISABLE_JIT
        dispatcher._cache = _Entries(dispatcher)
    compiled: Function = dispatcher
    return compiled


class Pointer(types.WrapperAddressProtocol):
    """A compiled function as compiled code takes it by its address, whichever function it is.

    A function handed over as such is compiled into whatever takes it, once more at every level;
    what takes an address is compiled once for all functions of one kind, and without them.

    Args:
        function: From `compile_function`.
        arguments: Types of numba that it is called with.

    Attributes:
        kind: Its type.
    """

    def __init__(self, function: Any, arguments: tuple[types.Type, ...]) -> None:
        function.compile(arguments)
        result = function.overloads[arguments]
        self._function, self._signature = function, result.signature
        self._address = result.library.get_pointer_to_function(
            result.fndesc.llvm_cfunc_wrapper_name
        )
        self.kind = types.FunctionType(result.signature)

    def __wrapper_address__(self) -> int:
        """Return the address."""
        return int(self._address)

    def signature(self) -> Any:
        """Return the signature, with types of numba."""
        return self._signature


@numba.extending.typeof_impl.register(Pointer)
def _type_of_pointer(pointer: Pointer, _: Any) -> types.Type:
    return pointer.kind


def _compile_part(function: Function) -> Dispatcher:
    """Return a function compiled for compiled code to call: nothing else can, and that saves time.

    What took long is kept like the rest: laws and robots share most of it.
    """
    dispatcher = numba.njit(
        function,
        pipeline_class=_PartCompiler,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        **OPTIONS,
    )
    dispatcher._cache = _Entries(dispatcher, WORTH_KEEPING)
    return dispatcher


class _PartCode(codegen.JITCodeLibrary):
    """Code of a part: optimised fully and made machine code once, with what calls it at the top.

    numba would do both at every level of calls, with all the code below.
    """

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=self._codegen._loopvect,
            slp_vectorize=False,
            opt=self._codegen._opt_level,
            cost='cheap',
        )
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        """Return what is kept: no object code."""
        return tuple(self.serialize_using_bitcode())

    @property
    def codegen(self) -> '_PartCode':
        """What is told the environment."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: `_Entries` gives it to the machine code at the top."""


class _PartCompiler(compiler.Compiler):
    """Compiles into a `_PartCode`."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, _PartCode(target.codegen(), 'part'), *rest)


class _Entries(caching.NullCache):
    """What a dispatcher of numba asks for compiled code, and gives it to.

    Args:
        dispatcher: Of one function.
        least: What was compiled faster is not kept, s of processor time.
    """

    def __init__(self, dispatcher: Dispatcher, least: float = 0.0) -> None:
        self._dispatcher, self._least = dispatcher, least
        self._begun: dict[Any, float] = {}

    def load_overload(self, sig: Any, target_context: Any) -> compiler.CompileResult | None:
        """Return the stored result of a compilation, or None."""
        arguments = sigutils.normalize_signature(sig)[0]
        target_context.refresh()
        try:
            data = _read(self._path(arguments, target_context.codegen()))
            unpickler: Any = pickle.Unpickler(io.BytesIO(data))
            unpickler.persistent_load = arguments.__getitem__
            return compiler.CompileResult._rebuild(target_context, *unpickler.load())
        except Exception:  # numba's inner structures promise nothing: compile instead
            register(_compile_part)
            self._begun[arguments] = time.process_time()
            return None

    def save_overload(self, sig: Any, data: compiler.CompileResult) -> None:
        """Store the result of a compilation where that is possible."""
        if not isinstance(data.library, _PartCode):
            for environment in data._find_referenced_environments():
                data.codegen.set_env(environment.env_name, environment)
        if data.library.has_dynamic_globals or data.lifted:
            return
        arguments = sigutils.normalize_signature(sig)[0]
        if time.process_time() - self._begun.pop(arguments, 0.0) < self._least:
            return
        try:
            path, stream = self._path(arguments, data.codegen), io.BytesIO()
            pickler: Any = serialize.NumbaPickler(stream, protocol=4)
            # functions among the arguments by their places: the next process has its own
            pickler.persistent_id = lambda thing: (
                arguments.index(thing) if isinstance(thing, types.Dispatcher) else None
            )
            pickler.dump(data._reduce())
            _write(path, stream.getvalue())
        except OSError as error:
            if os.environ.get(VARIABLE) != '':
                say_once(
                    f'compiled code cannot be kept ({error.strerror or error}): each start '
                    f'compiles anew; name a folder by {VARIABLE}, or none: {VARIABLE}='
                )
        except Exception:  # as above: the code is compiled, and not kept
            return

    def _path(self, arguments: tuple[types.Type, ...], codegen: Any) -> Path:
        versions = sys.version, numba.__version__, llvmlite.__version__, np.__version__
        stream, folder = io.BytesIO(), cache_folder()
        if folder is None:
            raise FileNotFoundError('no cache folder')
        _Content(stream).dump(
            (
                *(versions, *map(str, codegen.magic_tuple()), int(config.OPT), config.BOUNDSCHECK),
                *(tuple(OPTIONS.items()), self._dispatcher, arguments),
            )
        )
        return folder / f'{hashlib.sha256(stream.getvalue()).hexdigest()}.code'


class _Content(pickle.Pickler):
    """Writes down everything that decides what compiled code does.

    Functions are written with all they call, types of numba with what they hold; what has no
    content that is known is a `TypeError`.
    """

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, 4)
        self.fast = True  # no references among the bytes: the same content, the same bytes
        self._seen: dict[FunctionType, int] = {}

    def reducer_override(self, thing: Any) -> Any:
        """Return what stands for a function, module, class or type of numba."""
        if isinstance(thing, FunctionType):
            content = self._content_of(thing)
        elif isinstance(thing, CodeType):
            content = tuple(getattr(thing, name, b'') for name in _CODE)
        elif isinstance(thing, Dispatcher):
            content = (*sorted(map(repr, thing.targetoptions.items())), thing.py_func)
        elif isinstance(thing, types.Dispatcher):
            content = (thing.dispatcher,)
        elif isinstance(thing, types.FunctionType):
            content = (*thing.signature.args, thing.signature.return_type)
        elif isinstance(thing, types.BaseTuple):
            content = (getattr(thing, 'instance_class', tuple), *thing)
        elif isinstance(thing, _NAMED):
            content = (str(thing),)
        elif isinstance(thing, type) and hasattr(thing, '_fields'):
            content = thing.__module__, thing.__qualname__, thing._fields
        elif isinstance(thing, ModuleType) and _is_known(thing.__name__):
            content = (thing.__name__,)
        elif isinstance(thing, (ModuleType, types.Type)) or (
            isinstance(thing, type) and not _is_known(thing.__module__)
        ):
            raise TypeError(f'compiled code depends on {thing!r}')
        else:
            return NotImplemented
        return tuple, ((type(thing).__name__, *content),)

    def _content_of(self, function: FunctionType) -> tuple[Any, ...]:
        if function in self._seen:
            return (self._seen[function],)
        self._seen[function] = len(self._seen)
        # names of attributes are among these: one more dependence than there is does no harm
        used = set(_names(function.__code__)) & set(function.__globals__)
        return (
            function.__code__,
            function.__defaults__,
            sorted((function.__kwdefaults__ or {}).items()),
            [cell.cell_contents for cell in function.__closure__ or ()],
            [(name, function.__globals__[name]) for name in sorted(used)],
        )


def _names(code: CodeType) -> tuple[str, ...]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return *code.co_names, *itertools.chain.from_iterable(inner)


def _is_known(module: str) -> bool:
    return module == 'builtins' or module.partition('.')[0] in _MODULES


def _check_owner(path: Path, about: os.stat_result) -> None:
    """Refuse a folder or file of somebody else: what is in it would be run."""
    if hasattr(os, 'geteuid') and about.st_uid not in (ROOT, os.geteuid()):
        raise PermissionError(f'{path} belongs to somebody else')


def _read(path: Path) -> bytes:
    """Return what was stored, and mark it as used."""
    _check_owner(path.parent, path.parent.stat())
    with path.open('rb') as stream:
        # everybody may write into a folder like /tmp; the open file cannot be exchanged any more
        _check_owner(path, os.fstat(stream.fileno()))
        content = stream.read()
    data = content[_DIGEST_SIZE:]
    if hashlib.sha256(data).digest() != content[:_DIGEST_SIZE]:
        raise ValueError(f'{path} is damaged')
    try:
        os.utime(path)
    except OSError:  # read-only
        pass
    return data


def _write(path: Path, data: bytes) -> None:
    """Store data at once or not at all; remove what nobody has used for long."""
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_owner(folder, folder.stat())
    handle, temporary = tempfile.mkstemp(dir=folder, suffix='.new')
    try:
        with os.fdopen(handle, 'wb') as stream:
            stream.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    limit = time.time() - UNUSED_AFTER
    for entry in itertools.chain(folder.glob('*.code'), folder.glob('*.new')):
        with suppress(FileNotFoundError):  # another process was first
            if entry.stat().st_mtime < limit:
                entry.unlink()
