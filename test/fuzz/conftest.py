# SPDX-License-Identifier: Apache-2.0
"""How many examples: few and always the same, or as many new ones as WALKING_CONTROL_FUZZ says."""

from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
import os
import signal

from hypothesis import HealthCheck, settings
import pytest

from walking_control.cli import main

LONGEST = 60  # s of CPU time, of a single command; some of it compiles
WANTED = int(os.environ.get('WALKING_CONTROL_FUZZ', '0'))

settings.register_profile(
    'fuzz',
    deadline=None,
    print_blob=True,
    database=None,
    derandomize=not WANTED,
    max_examples=WANTED or 8,
    suppress_health_check=(
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ),
)
settings.load_profile('fuzz')


@contextmanager
def _time_bound(arguments):
    def give_up(*_):
        raise AssertionError(f'walking_control {arguments} takes longer than {LONGEST} s')

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """Return a function that runs the command line and checks that it keeps its promises."""
    monkeypatch.chdir(tmp_path)
    inside = tmp_path / 'out'

    def run(*arguments):
        elsewhere = _files(tmp_path, inside)
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err), _time_bound(arguments):
            try:
                status = main([str(argument) for argument in arguments])
            except SystemExit as caught:
                status = caught.code
        said = err.getvalue()
        assert status in (0, 1, 2), said
        if status and not (arguments[0] == 'check' and out.getvalue()):
            assert said.splitlines()[-1].startswith('error: '), said
        if status == 2:
            assert said.count('\n') <= 1, said
        assert _files(tmp_path, inside) == elsewhere
        return status

    return run


def _files(folder, inside):
    """Return what lies beside the output folder."""
    return {path for path in folder.parent.rglob('*') if not path.is_relative_to(inside)}
