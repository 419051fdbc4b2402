# SPDX-License-Identifier: Apache-2.0
"""A law of one's own on the walking engine, in less than 150 lines of public names."""

import ast
from pathlib import Path

import pytest
import wide_steps

from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'wide_steps.py'


@pytest.fixture(scope='module')
def law():
    """Return the law of the example with speed and soles."""
    return wide_steps.WideSteps(speed=0.1, sole_length=0.1, sole_width=0.05)


@pytest.mark.long
def test_a_law_from_outside_walks(law):
    """Whoever has another way to walk would have to change the engine for it."""
    run = simulate(load_robot('walker3d'), law, duration=5.0)
    assert run.fault is None and run.steps[-1] >= 3
    assert run.summary().speed > 0.05
    assert run.contact[10:].any(axis=1).all(), 'it never jumps'


def test_it_needs_public_names_alone():
    """It would break with the next change within the engine."""
    text = EXAMPLE.read_text(encoding='utf-8')
    assert len(text.splitlines()) < 150
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr.startswith('_'):
            assert ast.unparse(node.value) == 'self'
        if isinstance(node, ast.ImportFrom) and node.module.startswith('walking_control'):
            assert node.module == 'walking_control.controllers'
