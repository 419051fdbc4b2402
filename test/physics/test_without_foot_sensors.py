# SPDX-License-Identifier: Apache-2.0
"""A robot as it is sold: nothing in its feet tells what they carry."""

import pytest

import walking_control as wc
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant


@pytest.mark.parametrize('controller', ['stepping', 'natural_walking'])
@pytest.mark.parametrize('delay', [0.0, 0.01])
def test_walks_by_motors_and_imu(controller, delay):
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
    run = run_plant(wc.make_plant(robot), loop, robot.start, 6.0)
    assert run.fault is None
    assert run.base.position[-1, 0] > 1.5
