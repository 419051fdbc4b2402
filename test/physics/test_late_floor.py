# SPDX-License-Identifier: Apache-2.0
"""Curve tracking where the floor is late or high: a path that reaches, a swing leg that leads."""

import numpy as np
import pytest

from walking_control.controllers.curve_tracking.controller import load_gait, make_gait_field
from walking_control.controllers.curve_tracking.parameters import CurveTrackingParameters
from walking_control.gaits.curve import evaluate
from walking_control.lab.experiments import robustness
from walking_control.lab.experiments.robustness import find_first_failure
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.models.support.dynamics import SupportDynamics
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import simulate

FOOT = [('curve_tracking.foot_half_length', 0.1)]
WITHOUT = [
    ('curve_tracking.continuation', 'free'),
    ('curve_tracking.lead_lacking', 0.0),
    ('curve_tracking.lead_excess', 0.0),
]


def field_of(**settings):
    """Return (field, piece) of the compass gait with settings over those of the robot file."""
    robot_file = load_robot(
        'compass', [(f'curve_tracking.{name}', value) for name, value in settings.items()]
    )
    world, values = robot_file.values(World), robot_file.values(CurveTrackingParameters)
    support = SupportDynamics(Dynamics(robot_file.robot, world.gravity, world.slope))
    gait = load_gait(robot_file.robot, values.gait, world)
    return make_gait_field(support, values, gait, 0)[:2]


def place(curve, s):
    """Return position, rate and acceleration of a curve."""
    out = [np.zeros(2) for _ in range(3)]
    evaluate(curve, s, *out)
    return out


def test_reach_leaves_the_gait_as_it_is():
    """If it failed, a path meant for a late floor would cost effort in every undisturbed step."""
    reaching, piece = field_of(continuation='reach')
    free, _ = field_of(continuation='free')
    for s in np.linspace(piece.time[0], piece.end, 50)[:-1]:
        for a, b in zip(place(reaching.curve, s), place(free.curve, s), strict=True):
            assert np.array_equal(a, b)
    before, after = (place(reaching.curve, piece.end + step) for step in (-1e-9, 1e-9))
    assert before[0] == pytest.approx(after[0], abs=1e-8)
    assert before[1] == pytest.approx(after[1], abs=1e-7)


def test_reach_opens_the_hip_as_the_walker_tips():
    """If it failed, the swing leg would fall back as it does by itself, and land under the hip."""
    reaching, piece = field_of(continuation='reach', reach=0.8, reach_blend=0.02)
    free, _ = field_of(continuation='free')
    _, rate, _ = place(reaching.curve, piece.end + 0.15)
    assert -rate[1] / rate[0] == pytest.approx(0.8, abs=0.1)
    assert place(free.curve, piece.end + 0.15)[1][1] < 0.0
    still = 0.5 * (piece.time[1:] + piece.time[:-1])[piece.time[1:] > piece.end]
    for s in still[::5]:  # what the samples say between each other: rates are those of the path
        after, before = (place(reaching.curve, s + step)[0] for step in (1e-5, -1e-5))
        assert (after - before) / 2e-5 == pytest.approx(place(reaching.curve, s)[1], abs=1e-4)


@pytest.mark.long
def test_compass_with_a_foot_steps_down_and_up_for_nothing():
    """If it failed, the page's headline would be gone: deep steps by a foot, no effort without."""
    pytest.importorskip('casadi')
    pytest.importorskip('numba')
    robot_file = load_robot('compass', FOOT, controller='curve_tracking')
    down = find_first_failure(robot_file, 'step_down', 0.2, 0.04)
    up = find_first_failure(robot_file, 'step_up', 0.06, 0.03)
    assert down.first_failure is None and up.first_failure is None
    assert down['nominal_squared_effort'] < 1e-11
    plain = load_robot('compass', [*FOOT, *WITHOUT], controller='curve_tracking')
    assert find_first_failure(plain, 'step_down', 0.16, 0.16).first_failure == 0.16


@pytest.mark.long
def test_deep_step_through_the_whole_chain(monkeypatch):
    """What is survived with the state known would end by a fault of estimator, contacts or safety.

    The stance foot carries little while the leg reaches; were it taken for lifted, the law let go.
    """
    monkeypatch.setattr(robustness, 'make_fast_plant', make_plant)  # nothing to compile
    monkeypatch.setattr(robustness, 'SETTLING_STEPS', 1)
    monkeypatch.setattr(robustness, 'FURTHER_STEPS', 3)
    result = find_first_failure(
        load_robot('compass', FOOT, controller='curve_tracking'),
        'step_down',
        largest=0.2,
        resolution=0.2,
        plant='rigid',
    )
    assert result['chain'] and result.samples == [[0.2, True, None]]


@pytest.mark.long
def test_a_push_leaves_the_foot_less_than_a_fifth_of_the_weight():
    """What the law keeps on the foot would be no contact to the estimator, and end in a fault."""
    late = load_robot('compass', [*FOOT, ('sensors.command_delay', 0.004)])
    run = simulate(late, 'curve_tracking', 'rigid', 1.3, ['push=1.2@1'])
    assert run.fault is None and run.steps[-1] >= 2
    assert run.foot_force[:, :, 2].max(axis=1).min() < 14.0
