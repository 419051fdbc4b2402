# SPDX-License-Identifier: Apache-2.0
"""The rigid plant's floor is solid: what the swing foot does inside it is judged and told."""

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.runs.kinematics import foot_positions
from walking_control.simulation.rigid import model as rm
from walking_control.simulation.rigid.compiled import Walker
from walking_control.simulation.simulate import simulate

DOWN = ((1, 0.03, 0.0),)  # the passive compass trips over it


def thrown(walker):
    """Start a compass and let it walk till it falls; return the status."""
    start = load_robot('compass').start
    walker.start(0, start.q, start.v)
    return walker.walk(3.0)


def path(walker, until, step, dt=5e-4):
    """Return times, places ahead and heights of a step's swing foot over its stance foot, m."""
    start = load_robot('compass').start
    walker.start(0, start.q, start.v)
    rows = []
    while walker.state.memo[rm.TIME] < until and walker.state.mode[rm.STEPS] <= step:
        walker.walk(dt if walker.state.mode[rm.STEPS] == step else 0.01)
        support, q = int(walker.state.mode[rm.SUPPORT]), walker.state.y[2:4]
        foot = walker.support.layout.split(walker.support.terms(support, q, np.zeros(2)))['foot']
        if walker.state.mode[rm.STEPS] == step:
            rows.append((walker.state.memo[rm.TIME], foot[0], foot[1]))
    return np.array(rows).T


@pytest.mark.long
def test_a_foot_ahead_inside_the_floor_has_tripped():
    """A foot could travel under the floor and land from below, and the walk would count."""
    walker = Walker(load_robot('compass'), 'none', DOWN, compiled=False)
    assert thrown(walker) == rm.TRIPPED
    time, foot = walker.state.memo[rm.TIME], walker._work.foot0
    passing = Walker(
        load_robot('compass', (('rigid.scuff_depth', 10.0),)), 'none', DOWN, compiled=False
    )
    times, ahead, height = path(passing, time + 0.02, step=1)
    inside = (ahead > 0.05) & (height < -0.001)
    assert times[np.argmax(inside)] == pytest.approx(time, abs=6e-4) and inside.any()
    assert min(foot[rm.AHEAD] - 0.05, -foot[rm.AHEAD_HEIGHT] - 0.001) == pytest.approx(0, abs=1e-9)


def test_compiled_trips_are_the_same():
    """Robustness and searches would judge another floor than the plant has."""
    pytest.importorskip('casadi')
    pytest.importorskip('numba')
    walkers = [Walker(load_robot('compass'), 'none', DOWN, compiled) for compiled in (False, True)]
    assert [thrown(walker) for walker in walkers] == [rm.TRIPPED] * 2
    assert walkers[0].state.y == pytest.approx(walkers[1].state.y, abs=1e-9)
    assert walkers[0].state.memo[rm.FOOT_DEPTH :] == pytest.approx(
        walkers[1].state.memo[rm.FOOT_DEPTH :], abs=1e-6
    )


def test_depth_and_reach_are_those_of_the_path():
    """The depth a foot goes under the floor would be that of the ends of long steps alone."""
    walker = Walker(load_robot('compass'), 'none', compiled=False)
    _, ahead, height = path(walker, 0.75, step=0, dt=2e-3)
    for longest in (0.1, 0.004):
        booked = Walker(
            load_robot('compass', (('rigid.max_step', longest),)), 'none', compiled=False
        )
        start = load_robot('compass').start
        booked.start(0, start.q, start.v)
        booked.walk(0.75)
        memo = booked.state.memo
        assert memo[rm.FOOT_DEPTH] == pytest.approx(-height.min(), rel=0.02)
        assert memo[rm.DEPTH_AHEAD] == pytest.approx(ahead[np.argmin(height)], abs=0.03)
        assert memo[rm.SCUFF_REACH] == pytest.approx(ahead[height < -1e-3].max(), abs=0.03)


@pytest.mark.parametrize(
    'kind, trips',
    [
        pytest.param('step_up=0.004@2', False, marks=pytest.mark.long),
        ('step_down=0.004@2', False),
        ('step_down=0.05@2', True),
    ],
)
def test_an_edge_lies_where_it_does_least_harm(kind, trips):
    """A foot would trip over a step's edge that it has not come to, or not over the floor."""
    run = simulate(load_robot('compass'), 'none', 'rigid', 3.0, [kind])
    assert run.fell == trips and (not trips or 'tripped' in run.fall_reason)


def test_forgiven_scuff_counts():
    """The length that is forgiven would change nothing, as if the floor were none."""
    for length in (0.02, 0.05, 0.1):
        walker = Walker(
            load_robot('compass', (('scuff_length', length),)), 'none', DOWN, compiled=False
        )
        assert thrown(walker) == rm.TRIPPED
        assert walker._work.foot0[rm.AHEAD] == pytest.approx(length, abs=1e-9)
        assert walker.state.memo[rm.SCUFF_REACH] == pytest.approx(length, abs=1e-9)


@pytest.mark.parametrize(
    'kind, fell', [pytest.param(None, False, marks=pytest.mark.long), ('step_down=0.05@2', True)]
)
def test_every_summary_tells_how_deep_the_feet_were(kind, fell):
    """A walk through the floor would look like one over it."""
    run = simulate(load_robot('compass'), 'none', 'rigid', 2.0, [kind] if kind else [])
    summary = run.summary()
    assert summary['fell'] == fell and (not fell or 'tripped' in summary['fault_reason'])
    walker = Walker(
        load_robot('compass'), 'none', ((2, 0.05, 0.0),) if fell else (), compiled=False
    )
    start = load_robot('compass').start
    walker.start(0, start.q, start.v)
    walker.walk(2.0)
    expected = rm.foot_in_floor(walker.state.memo)
    for name in ('foot_depth', 'foot_depth_ahead', 'scuff_reach'):
        assert summary[name] == pytest.approx(expected[name], abs=0.02), name
    assert summary['foot_depth'] == pytest.approx(expected['foot_depth'], rel=0.01)


def test_soft_floors_tell_it_too():
    """MuJoCo's feet would sink in unsaid, or be taken for those of another robot."""
    pytest.importorskip('mujoco')
    run = simulate(load_robot('dribbel'), None, 'mujoco', 1.0)
    assert 1e-5 < run.summary()['foot_depth'] < 3e-3
    dynamics = Dynamics(run.robot)
    feet = foot_positions(dynamics, run.q)[:, :, 2]  # frames on the sole, which is a small ball
    assert run.foot_height == pytest.approx(feet, abs=3e-3)
