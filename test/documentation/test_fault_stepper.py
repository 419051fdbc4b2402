# SPDX-License-Identifier: Apache-2.0
"""The page with the stepper does what the controller does."""

import importlib.util
from pathlib import Path
import random
import re
import shutil
import subprocess

import pytest

from walking_control.safety.faults import KINDS
from walking_control.safety.latch import Latch
from walking_control.safety.machine import Event, State, step

DOC = Path(__file__).parents[2] / 'doc'
BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')


@pytest.fixture(scope='module')
def data():
    """Return what the page walks."""
    spec = importlib.util.spec_from_file_location('generate', DOC / 'generate.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.stepper_data()


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
    others = ['ACTIVATE', 'CONFIGURE', 'DEACTIVATE', 'CLEANUP', 'SENSORS', 'SENSORS', 'OVER',
              'CLEAR']
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


def test_page_in_a_browser(tmp_path):
    """What the script of the page does with the table can only be seen where scripts run."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip('no browser: ' + ', '.join(BROWSERS))
    events, latch = random_walk(seed=3)
    done = subprocess.run(
        [browser, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync',
         f'--user-data-dir={tmp_path}', '--dump-dom',
         f'{(DOC / "fault_stepper.html").as_uri()}#{",".join(events)}'],
        capture_output=True, text=True, timeout=60)
    body = re.search(r'<body[^>]*>', done.stdout).group()
    assert f'data-state="{latch.state.name}"' in body
    assert f'data-fault="{latch.fault.code if latch.fault else ""}"' in body
    assert done.stdout.count('<li>') == len(events)
