# SPDX-License-Identifier: Apache-2.0
"""Floors in space that nobody told of: the robot feels them and keeps speed and attitude."""

import numpy as np
import pinocchio as pin
import pytest

from walking_control.exceptions import ParameterError
from walking_control.loading import load_robot
from walking_control.models.signals import WalkerState
from walking_control.safety.fall import FallDetector
from walking_control.safety.parameters import SafetyParameters
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

EIGHT_DEGREES = 0.1396


def pitch(orientation):
    """Return the pitch of quaternions xyzw, ``(T, 4)``, rad."""
    x, y, z, w = orientation.T
    return np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))


def walk(slope, duration, seed):
    """Return (speed, largest error of the pitch) over the last third, on a slope from 0.6 m on."""
    robot_file = load_robot(
        'walker3d', [('stepping.speed', 0.5), *noise_overrides('lab'), ('sensors.seed', seed)]
    )
    run = simulate(robot_file, duration=duration, disturb=[f'slope_change={slope}@0.6m'])
    assert run.fault is None and not run.fell
    late = run.time > duration * 2.0 / 3.0
    way = run.q[late]
    error = pitch(run.estimate[late, 3:7]) - pitch(way[:, 3:7])
    return (np.hypot(*(way[-1, :2] - way[0, :2])) / np.ptp(run.time[late]), np.abs(error).max())


@pytest.mark.parametrize(
    'slope, duration, seeds',
    [
        pytest.param(EIGHT_DEGREES, 9.0, [1], marks=pytest.mark.long),
        pytest.param(EIGHT_DEGREES, 30.0, range(2), marks=pytest.mark.slow),
        pytest.param(-EIGHT_DEGREES, 30.0, range(2), marks=pytest.mark.slow),
    ],
)
def test_an_unseen_slope_changes_neither_speed_nor_attitude(slope, duration, seeds):
    """If it failed, the robot would run away on a ramp, or its filter take it for a tilt."""
    for seed in seeds:
        speed, error = walk(slope, duration, seed)
        assert speed == pytest.approx(0.5, rel=0.1)
        # on a ramp nothing tells a tilt from the accelerometer's bias, 0.3 degrees
        assert error < np.radians(0.5)


@pytest.mark.parametrize(
    'seeds, duration',
    [
        pytest.param([1], 5.0, marks=pytest.mark.long),
        pytest.param(range(1, 21), 10.0, marks=pytest.mark.slow),
    ],
)
def test_tiles_are_walked_over(seeds, duration):
    """If it failed, a floor of loose slabs would fell the robot, or an edge that a toe rubs on."""
    for seed in seeds:
        heights = 0.05 * np.random.default_rng((seed, 7)).uniform(0.0, 1.0, 80)
        heights[0] = 0.0
        tiles = [
            f'step_up={rise:.6f}@{0.5 + 0.3 * i:.6g}m'
            for i, rise in enumerate(np.diff(heights))
            if 0.3 * i < duration
        ]
        robot_file = load_robot(
            'walker3d', [('stepping.speed', 0.5), *noise_overrides('lab'), ('sensors.seed', seed)]
        )
        run = simulate(robot_file, duration=duration, disturb=tiles)
        assert run.fault is None, run.fault
        assert run.q[-1, 0] > 0.3 * duration  # it starts from standing


@pytest.mark.long
def test_a_slippery_floor_is_walked_on_untold():
    """With a friction of 0.2 in place of the 0.5 that is relied on it fell after 0.84 s."""
    settings = [('controller', 'natural_walking'), ('natural_walking.slippery', 0.18)]
    floor = [('natural_walking.speed', 0.5), ('world.friction', 0.2)]
    run = simulate(load_robot('walker3d', [*settings, *floor]), duration=1.6)
    assert run.fault is None and not run.fell
    assert run.q[-1, 0] > 0.15


STAIRS = ([0.8, 1.1, 1.4, 2.4, 2.7, 3.0], [0.1, 0.1, 0.1, -0.1, -0.1, -0.1])


@pytest.mark.long
@pytest.mark.parametrize(
    'rises, x, z', [(STAIRS[1], 3.0, 0.66), ([0.1, 0.3, *STAIRS[1][2:]], 0.6, 0.76)]
)
def test_stairs_that_it_is_told_of_are_climbed(rises, x, z):
    """If it failed, it would stub its toes on a riser, or try one that is too high."""
    places = STAIRS[0]
    robot_file = load_robot(
        'walker3d',
        [
            ('stepping.speed', 0.5),
            *noise_overrides('lab'),
            ('stepping.edge_places', places),
            ('stepping.edge_rises', rises),
        ],
    )
    run = simulate(
        robot_file,
        duration=9.5 if x > 1.0 else 5.0,
        disturb=[f'step_up={rise}@{place}m' for place, rise in zip(places, rises)],
    )
    assert run.fault is None, run.fault
    assert run.q[-1, 0] > x and run.q[-1, 2] == pytest.approx(z, abs=0.03)
    assert run.q[-1, 0] < 1.2 or x > 1.2


def test_edges_that_are_none_are_refused():
    """If it failed, a list of another length would end the walk in an index error."""
    with pytest.raises(ParameterError, match='edge_places.*must rise'):
        load_robot(
            'walker3d', [('stepping.edge_places', [1.0, 0.5]), ('stepping.edge_rises', [0.1, 0.1])]
        )


def test_the_height_is_counted_from_the_stance_foot():
    """If it failed, a robot that walks downhill would count as fallen."""
    robot_file = load_robot('walker3d')
    check = FallDetector(robot_file.robot, robot_file.values(SafetyParameters))
    state = WalkerState(robot_file.robot)
    state.base.orientation[:] = pin.Quaternion.Identity().coeffs()
    state.base.position[2], state.foothold[2] = -2.2, -3.0
    assert check.reason(state) is None
    state.foothold[2] = -2.4
    assert 'above the stance foot' in check.reason(state)
