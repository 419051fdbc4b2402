# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING's steps, taken: its toy controller runs wherever a controller can."""

from pathlib import Path
import re

import numpy as np
import pytest

import walking_control as wc
from walking_control.simulation.rigid.compiled import make_walker, Walker


@pytest.mark.long
@pytest.mark.parametrize('plant', ['rigid', 'mujoco'])
def test_it_walks_in_every_plant(toy, plant):
    """A new law would need edits in the plants."""
    robot = wc.load_robot('dribbel', controller=toy, stiffness=9.0)
    run = wc.simulate(robot, plant=plant, duration=1.5)
    assert run.settings['stiffness'] == 9.0 and run.steps[-1] >= 1


def test_it_walks_in_sweeps(toy):
    """A new law would be shut out of sweeps and limit cycles, or be another law there."""
    robot = wc.load_robot('compass')
    fast, plain = make_walker(robot, toy), Walker(robot, toy, compiled=False)
    for walker in (fast, plain):
        walker.start(0, robot.start.q, robot.start.v)
        walker.walk(0.3)
    assert np.abs(fast.state.effort).max() > 0.1
    assert fast.state.y == pytest.approx(plain.state.y, abs=1e-9)


def test_whether_it_fits_is_found_out(toy):
    """Nobody would know which robots a new law is for."""
    assert toy in wc.find_controllers(wc.load_robot('dribbel', controller=toy))
    assert toy not in wc.find_controllers(wc.load_robot('humanoid', controller=toy))


def test_a_wrong_parameter_of_it_is_refused(toy):
    """A new law's parameters would be taken unchecked."""
    with pytest.raises(wc.InvalidInput, match='hip_spring.stiffness'):
        wc.load_robot('dribbel', [('controller', toy), ('hip_spring.stiffness', -1.0)])


def test_it_imports_what_is_stable(toy):
    """The first law somebody writes would break with the next release."""
    page = (Path(__file__).parents[2] / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    (module,) = re.findall(r'```python\n(.*?)```', page, re.S)
    assert 'from walking_control' not in module
    assert set(re.findall(r'wc\.(\w+)', module)) <= set(wc.__all__)
