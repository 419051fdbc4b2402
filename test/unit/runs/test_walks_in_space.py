# SPDX-License-Identifier: Apache-2.0
"""Walks in space: their measures, their routes, and how the routes were kept."""

import math

import numpy as np
import pytest
from synthetic_space_walk import AHEAD, LEFT, OFF, ROWS, STEP, synthetic_space_walk, TICK, TURN

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.models.resources import route_names
from walking_control.runs.metrics import summarize
from walking_control.runs.posture import keeps_posture
from walking_control.runs.quantities import positive_work
from walking_control.runs.route import read_route, Route, Segment
from walking_control.runs.space import judge_route, name_natural_part

ARC = AHEAD, LEFT, TURN


def segment(begin, end, velocity=ARC, stop=False, push=0.0):
    return Segment('part', begin, end, velocity, stop, push, begin, 0.0)


def test_steady_values_are_seen_from_the_robot():
    """Along x of the floor, a robot that turns would come out slow, and one on a circle lame."""
    summary = summarize(synthetic_space_walk())
    steady = summary['steady']
    assert 'posture' not in summary and not keeps_posture(synthetic_space_walk())
    found = steady['speed'], steady['sideways'], steady['turn']
    assert found == pytest.approx(ARC, rel=2e-3)
    assert steady['heading_error'] == pytest.approx(OFF, abs=1e-9)
    assert steady['step_time'] == pytest.approx(STEP) and steady['steps'] % 2 == 0
    assert steady['mechanical_power'] == pytest.approx(1.0)
    load = summary['mass'] * 9.81 * math.hypot(AHEAD, LEFT)
    assert steady['cost_of_transport'] == pytest.approx(1.0 / load, rel=2e-3)
    assert steady['cost_of_transport_electrical'] == pytest.approx(2.0 / load, rel=2e-3)
    assert steady['cost_of_transport_positive'] == pytest.approx(1.0 / load, rel=2e-3)
    assert steady['step_length'] == pytest.approx(AHEAD * STEP, abs=0.03)


def test_squared_efforts_are_counted_over_the_way():
    """Two laws of different speeds are compared by what a metre takes of the motors."""
    run = synthetic_space_walk()
    run.effort[:] = 2.0
    n = run.effort.shape[1]
    steady = summarize(run)['steady']
    assert steady['squared_effort'] == pytest.approx(4.0 * n / math.hypot(AHEAD, LEFT), rel=2e-3)


def test_a_short_or_broken_walk_has_no_steady_state():
    """Figures of a stride that never was would be made up."""
    steady = summarize(synthetic_space_walk(rows=60))['steady']
    assert set(steady.values()) == {None}


def test_a_kept_route_is_told_as_kept():
    """Everything else here is an exception from this."""
    (verdict,) = judge_route(synthetic_space_walk(Route((segment(2.0, 12.0),))))
    assert verdict['kept'] and verdict['reason'] is None
    assert verdict['speed'] == pytest.approx(AHEAD, rel=2e-3)
    assert verdict['heading_error'] == pytest.approx(OFF, abs=1e-9)


@pytest.mark.parametrize('part, name', enumerate(('speed', 'sideways', 'turn')))
def test_another_velocity_than_asked_is_told(part, name):
    """A demo that walks at half the speed asked for has not done what it shows."""
    asked = list(ARC)
    asked[part] += 0.05
    for push in (0.0, 0.3):
        (verdict,) = judge_route(
            synthetic_space_walk(Route((segment(2.0, 12.0, tuple(asked), push=push),)))
        )
        if push:
            assert verdict['kept'] and verdict['push'] == push, 'it is caught, not kept pace with'
        else:
            assert not verdict['kept'] and verdict['reason'].startswith(f'{name} ')
            assert f'asked {asked[part]:g}' in verdict['reason']


def test_a_heading_that_is_lost_is_told():
    """A robot that drifts off looks as fast as one that goes where it shall."""
    run = synthetic_space_walk(Route((segment(2.0, 12.0),)))
    run.telemetry['heading'] = run.telemetry['heading'] - math.radians(5.0)
    (verdict,) = judge_route(run)
    assert not verdict['kept'] and 'heading off by 6.7 deg' in verdict['reason']


def test_a_stop_counts_its_steps_and_looks_whether_it_stands():
    """Who does not stand within a few steps has not stopped."""
    time = TICK * np.arange(ROWS)
    route = Route((segment(2.0, 10.0, (0.0, 0.0, 0.0), stop=True),))
    for until, kept, words in (
        (3.5, True, ''),
        (6.0, False, '10 steps to a stand, allowed 5'),
        (16.0, False, 'does not stand'),
    ):
        run = synthetic_space_walk(route, walking=(time < until).astype(float))
        run.q[time > until] = run.q[np.searchsorted(time, min(until, time[-1]))]
        (verdict,) = judge_route(run)
        assert verdict['kept'] is kept and words in (verdict['reason'] or ''), verdict


def test_a_segment_says_what_it_cost_and_whether_it_was_natural():
    """The cost of a demo would be that of pushes and of stepping aside, under the gait's name."""
    time = synthetic_space_walk().time
    run = synthetic_space_walk(
        Route((segment(2.0, 7.0), segment(7.0, 12.0))), on_gait=(time > 7.0).astype(float)
    )
    first, second = judge_route(run)
    assert (first['on_gait'], second['on_gait']) == (0.0, 1.0)
    cost = first['cost_of_transport_electrical']
    assert cost is None or cost == pytest.approx(second['cost_of_transport_electrical'], rel=0.2)
    said = name_natural_part([first, {**second, 'kept': True}])
    assert said.startswith(f'{second["name"]}, 100 % of it on the gait')
    assert name_natural_part([{**first, 'kept': True}]) is None


def test_what_was_not_walked_is_not_kept():
    """A run cut short must not pass for a route walked to its end."""
    verdicts = judge_route(synthetic_space_walk(Route((segment(0.0, 8.0), segment(8.0, 40.0)))))
    assert [verdict['kept'] for verdict in verdicts] == [True, None]
    assert 'not walked to its end' in verdicts[1]['reason']
    fallen = synthetic_space_walk(Route((segment(0.0, 8.0), segment(8.0, 40.0))))
    fallen.fell = True
    assert [verdict['kept'] for verdict in judge_route(fallen)] == [True, False]


@pytest.mark.parametrize('name', route_names())
def test_shipped_routes_are_read(name):
    """A shipped route with a mistake would end the demo before it begins."""
    route = read_route(name)
    ends = [each.end for each in route.segments]
    assert [each.begin for each in route.segments] == [0.0, *ends[:-1]]
    assert route.duration == ends[-1] > 10.0
    load_robot(name, route.overrides)


@pytest.mark.parametrize(
    'text, words',
    [
        ('segments: []', 'must hold segments'),
        ('- 3', 'must hold segments'),
        ('{segments: [{ahead: 0.4}], speed: 3}', 'must hold segments'),
        ('{segments: [{ahed: 0.4}]}', 'did you mean ahead'),
        ('{segments: [{ahead: .nan}]}', 'must be finite'),
        ('{segments: [{duration: 0.0}]}', 'from 0.1 to 3600 s'),
        ('{segments: [{push: 0.4, push_at: 1.95}]}', 'before the segment'),
        ('{segments: [{stop: true, ahead: 0.1}]}', 'has no velocity'),
        ('{segments: [{}], noise: 3}', 'noise of route'),
        ('{segments: [{}], controller: [1]}', 'controller of route'),
        ('{segments: [{}], posture: [1.0]}', 'name: value pairs'),
        ('{segments: [{}], posture: {left_knee: .inf}}', 'must be a finite number'),
        ('segments: [', 'cannot be read'),
    ],
)
def test_bad_routes_are_refused_in_one_line(tmp_path, text, words):
    """A route with a mistake must say which, before a robot walks it."""
    path = tmp_path / 'route.yaml'
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_route(path)
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_unknown_routes_are_refused():
    """A typing error must not walk another route."""
    with pytest.raises(InvalidInput, match='walker3d'):
        read_route('walker4d')


def test_braking_is_no_gift():
    """Work that one motor takes up would pay for another's, and sinking would cost less than 0."""
    work = np.array([[0.0, 0.0], [2.0, -3.0], [1.0, -2.0]])
    assert positive_work(work) == pytest.approx(3.0)
