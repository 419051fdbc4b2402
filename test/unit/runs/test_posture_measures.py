# SPDX-License-Identifier: Apache-2.0
"""The measures of a kept posture against a run whose measures are known by hand."""

import json

import numpy as np
import pytest
from synthetic_posture_run import (
    ALONE,
    EFFORT,
    KNEE,
    LEAN,
    ROWS,
    SHIFT,
    SINK,
    synthetic_posture_run,
    TANGENTIAL,
    TICK,
    WEIGHT,
)
from synthetic_run import synthetic_run

from walking_control.models.dynamics import Dynamics
from walking_control.runs.kinematics import base_lean, place_soles, sole_corners
from walking_control.runs.metrics import summarize
from walking_control.runs.posture import support_intervals


def test_keys_of_the_contract_are_there():
    """A script that reads the summary of any robot would fail on one in space."""
    spatial = summarize(synthetic_posture_run())
    assert set(summarize(synthetic_run(steps=2))) <= set(spatial)
    for name in (
        'cost_of_transport',
        'cost_of_transport_electrical',
        'squared_effort_per_step',
        'steady',
    ):
        assert spatial[name] is None, name
    json.dumps(spatial, allow_nan=False)


def test_posture_matches_hand_calculation():
    """Tilt, height, shift, load or effort of a robot in space would be reported wrong."""
    summary = summarize(synthetic_posture_run(routine='hold'))
    posture = summary['posture']
    assert summary['mass'] == pytest.approx(31.6)
    assert posture['max_tilt'] == pytest.approx(LEAN)
    assert posture['final_tilt'] == pytest.approx(0.0, abs=1e-6)
    assert posture['height_change'] == pytest.approx([-SINK, 0.0])
    assert posture['base_shift'] == pytest.approx(SHIFT)
    assert posture['joint_drift'] == pytest.approx(KNEE)
    assert posture['joint_drift_joint'] == 'left_knee'
    assert posture['final_joint_drift'] == pytest.approx(0.0, abs=1e-12)
    assert posture['load_share'] == {
        'left_sole': pytest.approx([0.5, 1.0]),
        'right_sole': pytest.approx([0.0, 0.5]),
    }
    assert posture['peak_effort_share'] == pytest.approx(EFFORT / 90.0)
    assert posture['peak_effort_joint'] == 'left_knee'
    assert summary['peak_effort'] == EFFORT


def test_contacts_match_hand_calculation():
    """Changes of contact or the time on each foot would be counted wrong."""
    run = synthetic_posture_run()
    posture = summarize(run)['posture']
    alone = (ALONE.stop - ALONE.start) * TICK
    assert posture['contact_changes'] == {'left_sole': 0, 'right_sole': 2}
    assert posture['support_time'] == {
        'left_sole': pytest.approx(alone),
        'left_sole + right_sole': pytest.approx((ROWS - 1) * TICK - alone),
    }
    assert support_intervals(run) == [
        (0, ALONE.start, (0, 1)),
        (ALONE.start, ALONE.stop, (0,)),
        (ALONE.stop, ROWS, (0, 1)),
    ]


def test_friction_counts_both_directions_along_the_floor():
    """A foot that slides sideways would look safe."""
    summary = summarize(synthetic_posture_run())
    assert summary['max_friction_ratio'] == pytest.approx(TANGENTIAL)
    assert summary['min_normal_force'] == pytest.approx(WEIGHT)


def test_nearly_unloaded_foot_does_not_count_as_sliding():
    """Noise of a foot that hardly touches would be reported as friction used."""
    run = synthetic_posture_run()
    run.columns['foot_force'][ALONE, 1] = 0.0, 5.0, 1.0
    assert summarize(run)['max_friction_ratio'] == pytest.approx(TANGENTIAL)


@pytest.mark.parametrize('settings', [{}, {'routine': 'shift'}])
def test_drift_is_unknown_where_no_posture_was_held(settings):
    """A commanded motion would be reported as an error of the joints."""
    posture = summarize(synthetic_posture_run(**settings))['posture']
    assert posture['joint_drift'] is None and posture['joint_drift_joint'] is None


def test_tilt_counts_from_the_vertical_on_a_slope():
    """On a slope the tilt would count from the floor's normal."""
    run = synthetic_posture_run(overrides=[('world.slope', 0.04)])
    tilt, forward, left = base_lean(run)
    assert forward[0] == pytest.approx(0.04) and tilt[0] == pytest.approx(0.04)
    assert np.abs(left).max() < 1e-12


def test_lean_to_the_left_is_positive():
    """A picture would show the lean to the wrong side."""
    run = synthetic_posture_run()
    run.columns['q'][:, 3:7] = np.sin(-0.05), 0.0, 0.0, np.cos(0.05)  # about x, left side down
    tilt, forward, left = base_lean(run)
    assert left == pytest.approx(np.full(ROWS, 0.1)) and tilt == pytest.approx(left)
    assert np.abs(forward).max() < 1e-12
    assert run.base.rotation[0] @ [0.0, 0.0, 1.0] == pytest.approx([0.0, np.sin(0.1), np.cos(0.1)])


def test_soles_stand_on_the_floor_at_the_start():
    """The robot would be drawn above or in the floor, or its joints in the wrong order."""
    run = synthetic_posture_run()
    dynamics = Dynamics(run.robot)
    dynamics.place(run.q[0])
    soles = place_soles(dynamics, [sole_corners(run.robot.urdf, foot) for foot in run.robot.feet])
    for sole, side in zip(soles, (1.0, -1.0), strict=True):
        assert sole[:, 2] == pytest.approx(np.zeros(5), abs=1e-3)
        assert np.ptp(sole, axis=0) == pytest.approx([0.2, 0.1, 0.0], abs=1e-9)
        assert sole[:, 1].mean() * side > 0.05
    assert sole_corners(run.robot.urdf, 'pelvis') == pytest.approx(np.zeros((1, 3)))


def test_empty_run_has_a_summary():
    """A fault before the first tick would end in a traceback."""
    run = synthetic_posture_run()
    run.columns = {name: column[:0] for name, column in run.columns.items()}
    assert summarize(run)['posture'] is None
