# SPDX-License-Identifier: Apache-2.0
"""The measures of a run against a run whose measures are known by hand."""

import json

import numpy as np
import pytest
from synthetic_run import (
    coordinates_at,
    EFFORT,
    FRICTION_RATIO,
    LEG,
    LOWER,
    POWER,
    STEP_LENGTH,
    STEP_TICKS,
    STEP_TIME,
    synthetic_run,
    TERMINAL_POWER,
    UPPER,
    WEIGHT,
)

from walking_control.models.dynamics import Dynamics
from walking_control.runs.metrics import step_table, summarize
from walking_control.runs.quantities import steady_rows

SPEED = STEP_LENGTH / STEP_TIME


def test_whole_run_matches_hand_calculation():
    """Speed, cost of transport or squared effort would be reported wrong."""
    run = synthetic_run(steps=11)
    summary = summarize(run)
    assert summary['steps'] == 11
    assert summary['duration'] == pytest.approx(11 * STEP_TIME)
    assert summary['distance'] == pytest.approx(11 * STEP_LENGTH)
    assert summary['speed'] == pytest.approx(SPEED)
    assert summary['energy_injected'] == pytest.approx(POWER * 11 * STEP_TIME)
    assert summary['cost_of_transport'] == pytest.approx(POWER / (WEIGHT * SPEED))
    assert summary['cost_of_transport_electrical'] == pytest.approx(
        TERMINAL_POWER / (WEIGHT * SPEED)
    )
    assert summary['squared_effort_per_step'] == pytest.approx(EFFORT**2 * STEP_TIME)
    assert summary['peak_effort'] == EFFORT
    motor = run.robot.actuators['hip']
    assert summary['peak_current'] == pytest.approx(
        EFFORT / (motor.reduction * motor.torque_constant)
    )


def test_steady_state_leaves_out_the_start():
    """A slow, costly start would leak into the steady values."""
    run = synthetic_run(steps=12)
    run.columns['work'] = run.work + 50.0 * np.minimum(run.time, 1.0)[:, None]
    run.columns['q'][:100, 0] -= 1.0
    summary = summarize(run)
    assert summary['cost_of_transport'] > 1.5 * POWER / (WEIGHT * SPEED)
    steady = summary['steady']
    assert steady['steps'] == 6
    assert (steady['start'], steady['end']) == pytest.approx((3.0, 6.0))
    assert steady['speed'] == pytest.approx(SPEED)
    assert steady['mechanical_power'] == pytest.approx(POWER)
    assert steady['cost_of_transport'] == pytest.approx(POWER / (WEIGHT * SPEED))
    assert steady['step_length'] == pytest.approx(STEP_LENGTH)
    assert steady['step_time'] == pytest.approx(STEP_TIME)
    assert steady['asymmetry'] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize('steps', [7, 8, 9, 10])
def test_steady_window_holds_whole_strides_of_the_second_half(steps):
    """An odd number of steps would let a limp bias the mean."""
    run = synthetic_run(steps)
    first, last = steady_rows(run)
    count = run.steps[last] - run.steps[first]
    assert count >= 2 and count % 2 == 0
    assert run.time[first] >= 0.5 * run.time[-1]
    assert first % STEP_TICKS == 0 and last % STEP_TICKS == 0


def test_limp_is_reported():
    """A gait that differs between the legs would pass as symmetric."""
    run = synthetic_run(steps=12)
    limp = 0.02 * ((run.steps + 1) // 2)  # the inner foot lands 0.02 m farther ahead
    run.columns['q'][:, 0] += limp
    steady = summarize(run)['steady']
    assert steady['step_length'] == pytest.approx(STEP_LENGTH + 0.01)
    assert steady['asymmetry'] == pytest.approx(0.02 / (STEP_LENGTH + 0.01))


def test_clearance_matches_closed_form_kinematics():
    """Foot clearance would not be the height over the middle half of the way."""
    phase = np.arange(STEP_TICKS + 1) / STEP_TICKS
    q3, _, q5, q6 = coordinates_at(phase)
    thigh = q3 + q5
    x = -LEG * np.sin(q3) + UPPER * np.sin(thigh) + LOWER * np.sin(thigh + q6)
    height = LEG * np.cos(q3) - UPPER * np.cos(thigh) - LOWER * np.cos(thigh + q6)
    assert x[[0, -1]] == pytest.approx([-STEP_LENGTH, STEP_LENGTH])
    expected = height[np.abs(x) <= 0.5 * STEP_LENGTH].min()
    run = synthetic_run()
    table = step_table(run, Dynamics(run.robot))
    assert 0.009 < expected < 0.2 * height.max()
    assert table['clearance'] == pytest.approx(np.full(12, expected))


def test_scuffing_straight_leg_has_negative_clearance():
    """A foot that passes through the floor would be reported as clear of it."""
    run = synthetic_run(steps=2)
    # straight legs, mirror images of each other: both feet at the same height all the time
    run.columns['q'][:, 4:] = 0.0
    run.columns['q'][:, 3] = -2.0 * run.coordinates[:, 0] * (-1.0) ** run.support
    run.columns['q'][:, 2] = -np.where(run.support == 0, 1.0, -1.0) * run.coordinates[:, 0]
    dynamics = Dynamics(run.robot)
    assert step_table(run, dynamics)['clearance'] == pytest.approx([0.0, 0.0], abs=1e-9)
    run.columns['q'][20:30, 1] -= 0.01
    assert step_table(run, dynamics)['clearance'] == pytest.approx([-0.01, 0.0], abs=1e-9)


def test_forces_of_double_support_do_not_count():
    """The handover between feet would pass as loss of contact or as slip."""
    summary = summarize(synthetic_run())
    assert summary['min_normal_force'] == pytest.approx(WEIGHT)
    assert summary['max_friction_ratio'] == pytest.approx(FRICTION_RATIO)


def test_light_foot_counts_for_force_but_not_for_friction():
    """Two small forces would make a slip, or a flight would go unnoticed."""
    run = synthetic_run()
    run.columns['foot_force'][20, run.support[20]] = 0.03 * WEIGHT, 0.0, 0.04 * WEIGHT
    summary = summarize(run)
    assert summary['min_normal_force'] == pytest.approx(0.04 * WEIGHT)
    assert summary['max_friction_ratio'] == pytest.approx(FRICTION_RATIO)
    run.columns['foot_force'][21] = 0.0
    run.columns['contact'][21] = False
    assert summarize(run)['min_normal_force'] == 0.0


def test_unknown_is_none():
    """A number would be invented where there is no motor, no step or no progress."""
    run = synthetic_run(overrides=[('resistance', 0.0)])
    summary = summarize(run)
    assert summary['peak_current'] is None
    assert summary['cost_of_transport_electrical'] is None
    assert summary['cost_of_transport'] is not None
    standing = synthetic_run(steps=1)
    standing.columns = {name: column[:1] for name, column in standing.columns.items()}
    summary = summarize(standing)
    for name in ('speed', 'cost_of_transport', 'squared_effort_per_step'):
        assert summary[name] is None
    still = synthetic_run(steps=1)
    still.columns = {name: column[:STEP_TICKS] for name, column in still.columns.items()}
    assert summarize(still)['distance'] > 0.0
    assert summarize(still)['cost_of_transport'] is None
    backward = synthetic_run()
    backward.columns['q'][:, 0] *= -1.0
    summary = summarize(backward)
    assert summary['speed'] == pytest.approx(-SPEED)
    assert summary['cost_of_transport'] is None


def test_fall_has_no_steady_state():
    """The tumble of a fall would enter the steady values."""
    run = synthetic_run()
    run.fell, run.fall_reason = True, 'base too low'
    summary = summarize(run)
    assert summary['fell'] is True and summary['fall_reason'] == 'base too low'
    assert set(summary['steady'].values()) == {None}


def test_summary_is_strict_json():
    """A script could not read the summary, or a non-finite number would reach it."""
    run = synthetic_run()
    run.columns['work'][-1] = np.nan
    summary = summarize(run)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary['energy_injected'] is None
