# SPDX-License-Identifier: Apache-2.0
"""A robot as it is sold: nothing in its feet tells what they carry."""

import pytest

import walking_control as wc
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant


@pytest.mark.parametrize(
    'controller', ['stepping', pytest.param('natural_walking', marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    'delay, duration, least',
    [
        (0.01, 2.5, 0.3),
        pytest.param(0.0, 6.0, 1.5, marks=pytest.mark.long),
        pytest.param(0.01, 6.0, 1.5, marks=pytest.mark.long),
    ],
)
def test_walks_by_motors_and_imu(controller, delay, duration, least):
    """If it failed, robots without force sensors would fall under noise and delay."""
    robot = wc.load_robot(
        'walker3d',
        [
            *noise_overrides('lab'),
            ('robot.foot_forces', 'motors'),
            ('controller', controller),
            ('sensors.seed', 3),
            ('sensors.command_delay', delay),
            (f'{controller}.delay', delay),
        ],
    )
    loop = wc.ControlLoop(robot)
    loop.reference.speed = 0.5
    run = run_plant(wc.make_plant(robot), loop, robot.start, duration)
    assert run.fault is None
    assert run.base.position[-1, 0] > least
