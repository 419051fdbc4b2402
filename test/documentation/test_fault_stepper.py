# SPDX-License-Identifier: Apache-2.0
"""The page with the stepper does what the controller does."""

from pathlib import Path
import random
import re

from browser import browse
import generate
import pytest

from walking_control.safety.faults import KINDS
from walking_control.safety.latch import Latch
from walking_control.safety.machine import Event, State, step

DOC = Path(__file__).parents[2] / 'doc'


@pytest.fixture(scope='module')
def data():
    """Return what the page walks."""
    return generate.stepper_data()


def test_every_step_is_that_of_the_controller(data):
    """A page that is wrong about what comes next teaches what a robot will not do."""
    for state in State:
        for event in Event:
            after = data['next'].get(state.name, {}).get(event.name, state.name)
            assert after == step(state, event).name, (state, event)
    assert set(data['events']) == {event.name for event in Event}
    assert set(data['kinds']) == set(KINDS)


def random_walk(seed, length=60):
    """Return events as the page's address has them, and the `Latch` that took them."""
    rng, latch, events = random.Random(seed), Latch(State.UNCONFIGURED), []
    others = [
        'ACTIVATE',
        'CONFIGURE',
        'DEACTIVATE',
        'CLEANUP',
        'SENSORS',
        'SENSORS',
        'OVER',
        'CLEAR',
    ]
    for _ in range(length):
        if rng.random() < 0.3:
            kind = rng.choice(list(KINDS.values()))
            latch.catch(kind.code, '', 0.0, kind.reaction)
            name = {'fade': 'FADE', 'damping': 'DAMP', 'zero': 'ZERO'}[kind.reaction]
            events.append(f'{name}:{kind.code}')
            continue
        name = rng.choice(others)
        latch.clear() if name == 'CLEAR' else latch.handle(Event[name])
        events.append(name)
    return events, latch


def test_page_in_a_browser():
    """What the script of the page does with the table can only be seen where scripts run."""
    events, latch = random_walk(seed=3)
    page = browse(f'{(DOC / "fault_stepper.html").as_uri()}#{",".join(events)}')
    body = re.search(r'<body[^>]*>', page).group()
    assert f'data-state="{latch.state.name}"' in body
    assert f'data-fault="{latch.fault.code if latch.fault else ""}"' in body
    assert page.count('<li>') == len(events)
