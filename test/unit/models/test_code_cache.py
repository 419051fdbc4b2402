# SPDX-License-Identifier: Apache-2.0
"""Compiled code that is kept: found again, never mistaken, harmless where it cannot be kept."""

import contextlib
import errno
import hashlib
import os
from pathlib import Path
import sys
import tempfile

import numpy as np
from programs import Program
import pytest

pytest.importorskip('numba', reason='nothing is compiled without the extra "fast"')

from walking_control.loading import load_robot  # noqa: E402
from walking_control.models import array_functions, code_cache  # noqa: E402
from walking_control.models.array_functions import array_function  # noqa: E402
from walking_control.models.code_cache import cache_folder, compile_function  # noqa: E402
from walking_control.models.support import compiled  # noqa: E402
from walking_control.simulation.rigid import walk  # noqa: E402
from walking_control.simulation.rigid.compiled import Walker  # noqa: E402
from walking_control.statics import kernels  # noqa: E402

# a function that calls another, and is handed a third
SOURCE = """
import sys
from walking_control.models.code_cache import compile_function
from walking_control.models.array_functions import array_function

def part(x):
    return x + {part}

def make(step):
    def law(x):
        for _ in range(3):
            x = x * step
        return x
    return law

def apply(function, x):
    return function(part(x))

array_function(part)
law = compile_function(make({step}))
entry = compile_function(apply)
"""


def build(part=1.0, step=2.0):
    """Return a fresh compiled function f(x) = (x + part) step^3 of x, and its dispatcher."""
    scope = {'__name__': __name__}
    exec(SOURCE.format(part=part, step=step), scope)
    return lambda x: scope['entry'](scope['law'], x), scope['entry'].stats


def hits(stats):
    """Return how many signatures came from the folder, and how many were compiled."""
    return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a cache folder of this test's own, not made yet."""
    folder = tmp_path / 'deep' / 'cache'
    monkeypatch.setenv(code_cache.VARIABLE, str(folder))
    return folder


def test_compiled_code_is_found_again(folder):
    """Otherwise every process compiles what the last one did."""
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (0, 1)
    again, stats = build()
    assert again(1.0) == 16.0 and hits(stats) == (1, 0)
    assert oct(folder.stat().st_mode & 0o777) == '0o700'


@pytest.mark.parametrize('change', [{'part': 2.0}, {'step': 3.0}])
def test_change_in_what_is_called_counts(folder, change):
    """Otherwise an edited function goes on doing what it did, through those that call it."""
    build()[0](1.0)
    function, stats = build(**change)
    assert function(1.0) == (1.0 + change.get('part', 1.0)) * change.get('step', 2.0) ** 3
    assert hits(stats) == (0, 1)


def test_change_of_types_options_or_versions_counts(folder, monkeypatch):
    """Otherwise code for other arguments, another numba or another processor is run."""
    function, stats = build()
    assert function(1.0) == 16.0 and function(1) == 16.0
    assert hits(stats) == (0, 2)
    monkeypatch.setattr(code_cache.numba, '__version__', '0.0.1')
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (0, 1)


def test_order_of_fields_counts(folder):
    """Otherwise two numbers of a record change places when its definition does."""
    from collections import namedtuple

    results = []
    for fields in ('a b', 'b a'):
        kind = namedtuple('Kind', fields)
        results.append(compile_function(lambda record: record.a)(kind(1.0, 2.0)))
    assert results == [1.0, 2.0]


@pytest.mark.parametrize(
    'damage',
    [
        lambda content: b'',
        lambda content: content[: len(content) // 2],
        lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
        lambda content: hashlib.sha256(b'no pickle').digest() + b'no pickle',
    ],
)
def test_damaged_entries_are_compiled_anew(folder, damage):
    """Otherwise a file cut short ends in a traceback, or in running whatever is in it."""
    build()[0](1.0)
    for entry in folder.iterdir():
        entry.write_bytes(damage(entry.read_bytes()))
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (0, 1)
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (1, 0), 'a damaged entry was not replaced'


def _disk_full(monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError(errno.ENOSPC, 'No space left on device')

    monkeypatch.setattr(code_cache.os, 'replace', refuse)


def _read_only(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, 'Read-only file system')

    monkeypatch.setattr(tempfile, 'mkstemp', refuse)


def _no_folder(monkeypatch, tmp_path):
    (tmp_path / 'deep').write_text('a file where the folder should be')


def _no_home(monkeypatch, tmp_path):
    def refuse():
        raise RuntimeError('Could not determine home directory.')

    monkeypatch.delenv(code_cache.VARIABLE)
    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    monkeypatch.setattr(Path, 'home', refuse)


def _not_wanted(monkeypatch, tmp_path):
    monkeypatch.setenv(code_cache.VARIABLE, '')


@pytest.mark.parametrize('obstacle', [_disk_full, _read_only, _no_folder, _no_home, _not_wanted])
def test_code_that_cannot_be_kept_still_runs(folder, monkeypatch, tmp_path, obstacle, capsys):
    """Otherwise a full disk or a user without a home cannot walk, or waits without a word."""
    obstacle(monkeypatch, tmp_path)
    code_cache.say_once.cache_clear()
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (0, 1)
    said = capsys.readouterr().err.count('compiled code cannot be kept')
    assert said == (0 if obstacle is _not_wanted else 1)
    assert not [*tmp_path.glob('deep/cache/*')], 'something is left behind'


def test_code_of_others_is_not_run(folder, monkeypatch):
    """Otherwise whoever can write to a shared folder runs code as somebody else."""
    build()[0](1.0)
    monkeypatch.setattr(os, 'geteuid', lambda: folder.stat().st_uid + 4711)
    monkeypatch.setattr(code_cache, 'ROOT', -1)
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (0, 1)


@pytest.mark.skipif(
    not hasattr(os, 'geteuid') or os.geteuid(), reason='root alone gives files away'
)
def test_a_file_of_others_is_not_run(folder):
    """In a folder that all may write to, as /tmp, one file of somebody else would be run."""
    build()[0](1.0)
    for entry in folder.iterdir():
        os.chown(entry, 4711, 4711)
    function, stats = build()
    assert function(1.0) == 16.0 and hits(stats) == (0, 1)


def test_unused_entries_go(folder):
    """Otherwise the folder grows with every edit and every upgrade for ever."""
    build()[0](1.0)
    old = set(folder.iterdir())
    for entry in old:
        os.utime(entry, (0.0, 0.0))
    build(part=5.0, step=5.0)[0](1.0)
    left = set(folder.iterdir())
    assert len(left) == len(old) and not left & old


@pytest.mark.long
def test_processes_do_not_mix(folder):
    """Otherwise two processes at once spoil an entry, or equally named functions change places."""
    tail = '\nprint(entry(law, 1.0))'
    with contextlib.ExitStack() as stack:
        start = [
            stack.enter_context(
                Program(sys.executable, '-c', SOURCE.format(part=1.0, step=step) + tail)
            )
            for step in (2.0, 2.0, 3.0)
        ]
        assert [program.wait(120.0) for program in start] == [0, 0, 0]
        assert [float(program.output) for program in start] == [16.0, 16.0, 54.0]
    assert len({*folder.iterdir()}) == len({*folder.glob('*.code')}) == 4
    for step, expected in ((2.0, 16.0), (3.0, 54.0)):
        function, stats = build(step=step)
        assert function(1.0) == expected and hits(stats) == (1, 0)


def test_parts_are_kept_for_others_that_call_them(folder, monkeypatch):
    """Otherwise each law of a robot compiles anew what all of them call."""
    monkeypatch.setattr(code_cache, 'WORTH_KEEPING', 0.0)
    build()[0](1.0)
    assert len([*folder.iterdir()]) == 3  # the two functions and the part
    assert build(step=3.0)[0](1.0) == 54.0
    assert len([*folder.iterdir()]) == 5
    monkeypatch.setattr(code_cache, 'WORTH_KEEPING', 60.0)
    build(part=2.0)[0](1.0)
    assert len([*folder.iterdir()]) == 6  # the part took too little


def test_a_part_has_no_machine_code_of_its_own_and_raises_as_it_did(folder):
    """If it failed, every level of calls would be optimised anew, or an error of a part be lost."""

    def part(x):
        if x > 2.0:
            raise ValueError('too far', x)
        return 2.0 * x

    array_function(part)
    entry = compile_function(lambda x: part(x) + 1.0)
    assert entry(1.5) == 4.0
    with pytest.raises(ValueError, match='too far'):
        entry(3.0)
    kept = next(each for each in array_functions._PARTS if each.py_func is part)
    (library,) = (each.library for each in kept.overloads.values())
    assert isinstance(library, code_cache._PartCode)
    assert library.get_pointer_to_function('part') == 0


def test_everything_compiled_is_kept():
    """Otherwise some part of the package, such as a law, costs its seconds in every process."""
    law = compiled.compile_law
    for _ in range(2):
        law.cache_clear()
        compiled._compile.cache_clear()
        walkers = [Walker(load_robot('compass'), name) for name in ('none', 'time_pd')]
        for walker in walkers:
            walker.start(0, np.array([0.2, -0.4]), np.array([-1.0, 0.3]))
            walker.walk(0.02)
    assert hits(law(walk.walk).stats) == (2, 0)
    found = [kernel for kernel in vars(kernels).values() if hasattr(kernel, 'targetoptions')]
    assert len(found) == 7
    assert all(type(kernel._cache) is code_cache._Entries for kernel in found)


@pytest.mark.parametrize('obstacle', [_no_home, _not_wanted])
def test_a_law_stays_plain_where_its_code_cannot_be_kept(folder, monkeypatch, obstacle, capsys):
    """Otherwise each start of a robot without a home would take half a minute longer."""
    obstacle(monkeypatch, folder)
    code_cache.say_once.cache_clear()

    def law(x):
        return 2.0 * x

    assert all(compiled.compile_ahead(law, 1.0) is law for _ in range(2))
    assert capsys.readouterr().err.count('the law is not compiled') == 1


def test_a_law_that_cannot_be_compiled_stays_plain(folder, capsys):
    """Otherwise a version of numba that fails at something would keep the robot from walking."""
    code_cache.say_once.cache_clear()

    def law(x):
        return set(vars(x))

    assert compiled.compile_ahead(law, 1.0) is law
    assert capsys.readouterr().err.startswith('the law is not compiled, and its ticks take longer')


def test_folder_follows_the_rules(monkeypatch, tmp_path):
    """Otherwise code lands elsewhere than where users look for it and clean up."""
    monkeypatch.delenv(code_cache.VARIABLE, raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert cache_folder() == tmp_path / 'walking_control'
    monkeypatch.setenv('XDG_CACHE_HOME', 'relative')  # to be ignored, says the specification
    monkeypatch.setattr(Path, 'home', lambda: tmp_path)
    assert cache_folder() == tmp_path / '.cache' / 'walking_control'
    monkeypatch.setattr(Path, 'home', lambda: tmp_path / 'missing')
    assert cache_folder() is None
