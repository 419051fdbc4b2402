# SPDX-License-Identifier: Apache-2.0
"""Dribbel walks: on level floor with the gains of [DS09] 5.3, downhill by its natural gait."""

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.runs.metrics import summarize
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import run_plant

pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')


def walk(duration, **overrides):
    """Return the summary of a walk from the documented start."""
    robot_file = load_robot('dribbel', list(overrides.items()))
    run = run_plant(make_plant(robot_file), ControlLoop(robot_file), robot_file.start, duration)
    return summarize(run)


@pytest.mark.long
def test_a_minute_of_walking():
    """The documented command must walk: 0.42-0.60 m/s at a cost of 0.13-0.27 within 8 A."""
    summary = walk(60.0)
    assert not summary['fell'], summary['fall_reason']
    assert summary['steps'] > 90
    assert 0.42 <= summary['speed'] <= 0.60
    assert 0.13 <= summary['cost_of_transport'] <= 0.27
    assert summary['peak_current'] <= 8.0


@pytest.mark.long
def test_speed_rises_with_the_set_point():
    """The set point is how speed is steered; the table in the robot file rests on it."""
    speeds = [walk(20.0, set_point=set_point)['speed'] for set_point in (0.2, 0.25, 0.3, 0.35)]
    assert all(slow < fast for slow, fast in zip(speeds, speeds[1:]))


@pytest.mark.long
@pytest.mark.parametrize(
    'speed',
    [
        pytest.param(0.35, marks=pytest.mark.long),
        pytest.param(0.40, marks=pytest.mark.long),
        pytest.param(0.45, marks=pytest.mark.long),
        0.48,
    ],
)
def test_speed_command_is_followed(speed):
    """A speed asked for must be walked, within 5 %."""
    summary = walk(40.0, **{'hip_switching.speed': speed})
    assert not summary['fell']
    assert summary['steady']['speed'] == pytest.approx(speed, rel=0.05)


def test_a_backward_start_is_reported_as_a_fall():
    """A robot that cannot start must be called fallen, with the reason."""
    summary = walk(10.0, v=[0.8, 0.0, 0.0, 0.0])
    assert summary['fell'] and 'lean' in summary['fall_reason']


@pytest.mark.long
@pytest.mark.parametrize('degrees, gait, bound', [(1.5, 'dribbel_passive', 5.0), (0.0, '', 20.0)])
def test_curve_tracking_walks_dribbel_by_its_hip(degrees, gait, bound):
    """From the start of the robot file Dribbel must come to its gait and stay, downhill and level.

    Without control it falls in the first step. A law that misreads the locks at a touchdown, or
    lets go of the hip at the wrong time, falls too.
    """
    settings = [('world.slope', np.radians(degrees)), ('curve_tracking.gait', gait)]
    robot_file = load_robot('dribbel', settings)
    for name, falls in (('none', True), ('curve_tracking', False)):
        run = run_plant(
            make_plant(robot_file), ControlLoop(robot_file, name), robot_file.start, 10.0
        )
        assert run.fell == falls
    summary = summarize(run)
    assert summary['steps'] >= 10 and summary['squared_effort_per_step'] < bound
    assert summary['cost_of_transport'] < 0.12
    late = run.time > 8.0
    assert np.nanmax(run.telemetry['gait_distance'][late]) < 0.1
