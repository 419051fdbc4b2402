# SPDX-License-Identifier: Apache-2.0
"""The table of states and the operation that walks it, against random sequences of events."""

from fault_sequences import try_sequences, walk_table
import pytest

from walking_control.loading import load_robot
from walking_control.safety.faults import KINDS
from walking_control.safety.machine import (
    Event,
    LATCHED,
    LED,
    LIFECYCLE_EVENTS,
    NEXT,
    OUTPUTS,
    REACTION_EVENTS,
    State,
)

REQUESTS = {Event.CLEAR, Event.SHUTDOWN}


def test_many_walks_keep_every_promise():
    """If it failed, a way through the table would lead out of a fault unasked, or never to zero."""
    assert not any(walk_table(200_000, 30).values())


def test_only_a_request_leaves_a_fault():
    """If it failed, time, sensors or a second fault could re-arm a robot."""
    for (state, event), after in NEXT.items():
        assert state not in LATCHED or after in LATCHED or event in REQUESTS, (state, event)


def test_only_sensors_start_the_law():
    """If it failed, a service or a transition alone could set a robot in motion."""
    assert {(state, event) for (state, event), after in NEXT.items() if after is State.WALKING} == {
        (State.WAITING, Event.SENSORS),
        *((state, Event.CLEAR) for state in LED),  # in these it leads already
    }


def test_every_fault_ends_what_the_law_does():
    """If it failed, there would be a kind of fault during which the law goes on."""
    for kind in KINDS.values():
        for reaction in kind.choices:
            reaction = kind.react(reaction, True)
            assert NEXT[State.WALKING, REACTION_EVENTS[reaction]] in LATCHED


def test_the_table_is_complete():
    """If it failed, a state would have no output, or none but a restart would lead out of it."""
    assert set(OUTPUTS) == set(State)
    for state in set(State) - {State.FINALIZED}:
        assert any((state, event) in NEXT for event in LIFECYCLE_EVENTS), state


@pytest.fixture(scope='module')
def result():
    """Return what three hundred sequences through the real operation gave."""
    robot_file = load_robot('dribbel', standby='', damping_time=0.2)
    return try_sequences(robot_file, 300)


@pytest.fixture(scope='module')
def standing():
    """Return what a hundred sequences gave of a law that says it can stand."""
    robot_file = load_robot('dribbel', standby='', damping_time=0.2, stop_time=0.2, lower_time=0.1)
    return try_sequences(robot_file, 100, stands=True)


@pytest.mark.long
def test_sequences_of_a_law_that_stands_keep_every_promise(standing):
    """If it failed, a stop would be led by nobody, outlast its bound or end a stronger reaction."""
    assert standing.violations == []
    assert standing.states['STOPPING'] > 20


@pytest.mark.long
def test_sequences_keep_every_promise(result):
    """If it failed, an order of events would exist that leaves an effort on, or sends a bad one."""
    assert result.violations == []


@pytest.mark.long
def test_sequences_reach_what_they_are_to_judge(result):
    """If it failed, the promises would be kept because nothing had happened."""
    assert set(result.states) == {state.name for state in set(State) - {State.FINALIZED} - LED}
    assert len(result.faults) >= 15 and min(result.states.values()) > 20
    assert result.commands > 6_000
