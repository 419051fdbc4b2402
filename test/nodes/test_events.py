# SPDX-License-Identifier: Apache-2.0
"""What the benchmark of random events counts for an event, and what it draws."""

from pathlib import Path
import sys

import pytest

sys.path.append(str(Path(__file__).parents[2] / 'benchmarks'))
import events  # noqa: E402


def stream(end, lost=(), zero=float('inf')):
    """Return commands every 2 ms, but those that are lost, zero from a time on."""
    times = [0.002 * number for number in range(int(500 * end))]
    return [
        (when, [float(when < zero)]) for when in times if not any(a < when < b for a, b in lost)
    ]


def test_a_gap_counts_for_what_came_shortly_before():
    """A gap would be nobody's, or everybody's."""
    commands = stream(3.0, lost=[(1.0, 1.011)])
    found = events.gaps(commands, [(0.3, 0.32), (0.8, 0.81), (0.3, 1.2), (1.5, 1.6)])
    assert [gap for _, gap in found] == pytest.approx([2.0, 12.0, 12.0, 2.0])
    assert [zero for zero, _ in found] == [None] * 4


def test_an_event_that_ends_the_walk_is_seen():
    """Efforts that end, or a stream that does, would count as a walk that goes on."""
    assert events.gaps(stream(3.0, zero=1.0), [(0.3, 0.4), (0.8, 0.9)])[1][0] == 0.0
    [(_, gap)] = events.gaps(stream(1.0), [(0.9, 0.95)])
    assert gap == pytest.approx(402.0)


def test_what_ends_a_walk_is_drawn_alone():
    """The events after it would meet a robot without a torque."""
    drawn = [*events.EVENTS] * 40
    batches = [*events.batches(drawn)]
    assert [event for batch in batches for event in batch] == drawn
    for batch in batches:
        assert len(batch) <= events.TOGETHER
        assert len(batch) == 1 or all(
            events.EVENTS[event][0] == events.ON and event != events.FULL for event in batch
        )


@pytest.mark.parametrize('event', events.EVENTS)
def test_each_event_can_be_done(event):
    """A slip in one would end a run of half an hour."""
    if event == events.FULL or event.startswith(('SIG', 'kill')):
        return
    how, *content = events._content(event.removesuffix(', terminal not read'))
    assert callable(getattr(events.Stranger, how)) and len(content) in (3, 5)
