# SPDX-License-Identifier: Apache-2.0
"""A found gait is judged by what it is, not by how long the re-simulation holds its torques."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from stranger import write_rabbit

from walking_control.gaits.gait_file import load_gait, overrides_of, read_gait
from walking_control.lab.experiments import resimulation as gait_check
from walking_control.lab.experiments.gait_search import save_gait
from walking_control.lab.experiments.resimulation import FOLLOWS, resimulate
from walking_control.loading import load_robot
from walking_control.models.resources import gait_path


@pytest.fixture(scope='module')
def rabbit(tmp_path_factory):
    """Return the robot file of a RABBIT of 8 cm, whose steps are short, and a gait."""
    pytest.importorskip('casadi')
    from walking_control.lab.experiments.gait_search import find_gait

    path = write_rabbit(tmp_path_factory.mktemp('rabbit'), length=0.1)
    robot_file = load_robot(path)
    task = {'speed': 0.2, 'min_step_length': 0.02, 'clearance': 0.002, 'starts': 1}
    return robot_file, find_gait(robot_file, task).result.gait


@pytest.mark.long
def test_error_of_the_hold_is_not_the_gaits(rabbit):
    """A good gait would be rejected because the simulation holds its torques for two ms."""
    robot_file, gait = rabbit
    check = resimulate(robot_file, gait)
    assert check.hold_error_v > FOLLOWS
    assert check.follows and check.error_v < 1e-2 * FOLLOWS, check


@pytest.mark.long
def test_error_falls_with_the_square_of_the_tick():
    """Extrapolation would add errors instead of removing them, where a knee strikes within a tick
    too."""
    document = read_gait(gait_path('dribbel'))
    robot_file = load_robot('dribbel', overrides_of(document))
    gait = load_gait(gait_path('dribbel'), robot_file)
    step = gait_check._Step(robot_file, gait)
    q, v = gait.start
    errors = [
        max(abs(walked[1] - q).max(), abs(walked[2] - v).max())
        for walked in (step.walk(0), step.walk(1))
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert resimulate(robot_file, gait).error_v < 1e-6


@pytest.mark.long
def test_wrong_torques_do_not_pass(rabbit):
    """A gait that another robot walks would be taken for one of this robot."""
    robot_file, gait = rabbit
    phase = gait.phases[0]
    bent = phase.values + 2e-3 * np.sin(np.linspace(0.0, np.pi, len(phase.values)))[:, None]
    spoilt = replace(gait, phases=(replace(phase, values=bent * [1.0, 1.0, 1.0, 1.0, 1.1]),))
    check = resimulate(robot_file, spoilt)
    assert not check.follows and check.reason is not None


@pytest.mark.long
@pytest.mark.parametrize(
    'converged, follows, name',
    [
        (True, True, 'rabbit_gait.yaml'),
        (True, False, 'rabbit_not_followed.yaml'),
        (False, False, 'rabbit_not_converged.yaml'),
    ],
)
def test_name_of_the_file_says_what_the_summary_says(
    rabbit, tmp_path, monkeypatch, converged, follows, name
):
    """A file named not_converged would hold a gait whose summary says that it converged."""
    from walking_control.lab.experiments import gait_search

    monkeypatch.setattr(gait_search, 'document_of', lambda found: {})
    found = SimpleNamespace(
        result=SimpleNamespace(converged=converged),
        resimulation=SimpleNamespace(follows=follows),
        summary={'robot': 'rabbit', 'reason': None},
    )
    assert save_gait(found, tmp_path).name == name
