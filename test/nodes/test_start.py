# SPDX-License-Identifier: Apache-2.0
"""How a controller starts: its first answers, and a start right after an end."""

import gc
import inspect
import sys

import pytest

# of what a later answer takes: a first step or a first contact may add something
MUCH = 3


@pytest.fixture
def calls(monkeypatch):
    """Return a function that calls another and returns how many calls that took, however fast."""
    def counted(function, *arguments):
        count = 0

        def note(frame, event, argument):
            nonlocal count
            count += event in ('call', 'c_call')
        sys.setprofile(note)
        try:
            function(*arguments)
        finally:
            sys.setprofile(None)
        return count
    return counted


def test_first_answers_cost_what_later_ones_do(bench, robot, calls, monkeypatch):
    """A robot just armed would wait 0.1 s for its second command, which is a fault."""
    # as in a process that has logged nothing yet
    monkeypatch.setattr(inspect, 'modulesbyfile', {})
    monkeypatch.setattr(inspect, '_filesbymodname', {})
    node = bench.controller()
    session, counts = node._session, []
    answered = session._on_answered
    session._sensors._on_answered = lambda now: counts.append(calls(answered, now))
    robot.wait()
    for tick in range(21):
        robot.ask(1.0 + 0.01 * tick)
    # telemetry has been due several times among the later ones
    assert max(counts[:10]) <= MUCH * max(counts[10:]), counts
    first, second = (calls(session.stop, code, 'somebody') for code in ('watchdog', 'jump'))
    assert first <= MUCH * second, 'the first line that is logged'


def test_a_walk_does_not_wait_for_the_garbage_of_the_start(bench):
    """A full look at all modules and models holds a tick up for 0.1 to 0.2 s, now and then."""
    node = bench.controller()
    assert gc.get_freeze_count() > 0.9 * len(gc.get_objects())
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert not gc.get_freeze_count(), 'what is not needed any more could never be freed'
