# SPDX-License-Identifier: Apache-2.0
"""The route of `walking_control demo walker3d`, which pages show, with many seeds of its noise."""

import pytest

from walking_control.loading import load_robot
from walking_control.runs.route import read_route
from walking_control.runs.space import judge_route
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate


@pytest.mark.timeout(900)
@pytest.mark.parametrize('law', ['natural_walking', 'stepping'])
@pytest.mark.parametrize(
    'seed',
    [
        pytest.param(0, marks=pytest.mark.long),
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20)),
    ],
)
def test_the_demo_keeps_its_route(law, seed):
    """If it failed, the first command in space that a newcomer tries would end with status 1."""
    route = read_route('walker3d')
    robot_file = load_robot(
        'walker3d',
        [
            *noise_overrides(route.noise),
            *route.overrides,
            ('controller', law),
            ('sensors.seed', seed),
        ],
    )
    run = simulate(robot_file, duration=route.duration, route=route)
    assert run.fault is None
    missed = [
        (verdict['name'], verdict['reason'])
        for verdict in judge_route(run)
        if verdict['kept'] is False
    ]
    assert not missed
