# SPDX-License-Identifier: Apache-2.0
"""The first tick: as cheap as any other, and without a trace of the rehearsal before it."""

import sys

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.controllers.registry import CONTROLLERS, fitting_controllers
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.simulation.registry import make_plant

# written down: to find out compiles half the laws, in every worker before its first test
LAWS = {
    'dribbel': ('curve_tracking', 'hip_pd', 'hip_stop', 'hip_switching', 'none', 'time_pd'),
    'compass': ('curve_tracking', 'hip_pd', 'hip_stop', 'hip_switching', 'none', 'time_pd'),
    'humanoid': ('none', 'stepping', 'static_torque'),
    'walker3d': ('natural_walking', 'none', 'stepping', 'static_torque'),
    'walker3d_point': ('foot_placement', 'none', 'push_off'),
}
FITTING = [(robot, controller) for robot, laws in LAWS.items() for controller in laws]
MUCH = 3  # times the calls of an ordinary tick: what a first step or a first contact may add


def walk(loop, ticks, counted=False):
    """Return (calls of Python and C functions in each tick, if they are counted; efforts)."""
    robot_file = load_robot(loop.robot.name)
    plant, measurement = make_plant(robot_file), Measurement(loop.robot)
    plant.reset(robot_file.start)
    counts, efforts = [], []

    def count(frame, event, argument):
        counts[-1] += event in ('call', 'c_call')

    for _ in range(ticks):
        plant.measure(measurement)
        counts.append(0)
        sys.setprofile(count if counted else None)
        try:
            command = loop.tick(measurement)
        finally:
            sys.setprofile(None)
        efforts.append(command.effort.copy())
        plant.step(command, loop.period)
    return counts, np.array(efforts)


def check_first_tick(loop):
    """Assert that the first tick does as much as the later ones."""
    counts, _ = walk(loop, 40, counted=True)
    assert counts[0] <= MUCH * np.median(counts), counts


@pytest.mark.parametrize('robot, controller', FITTING)
def test_first_tick_costs_what_later_ones_do(robot, controller):
    """Otherwise the robot stands without command while the law compiles or builds its tables."""
    check_first_tick(ControlLoop(load_robot(robot), controller))


def test_first_tick_of_a_compiled_law():
    """Otherwise `compiled: true` makes the robot wait for the compiler at its first tick."""
    pytest.importorskip('numba', reason='nothing is compiled without the extra "fast"')
    check_first_tick(
        ControlLoop(load_robot('compass', [('curve_tracking.compiled', True)]), 'curve_tracking')
    )


@pytest.mark.long
@pytest.mark.parametrize('robot, controller', FITTING)
def test_rehearsal_leaves_no_trace(robot, controller, monkeypatch):
    """Otherwise a walk depends on what was done before it, in its last digits or in all."""
    rehearsed = walk(ControlLoop(load_robot(robot), controller), 100)[1]
    monkeypatch.setattr(ControlLoop, 'rehearse', lambda loop: None)
    fresh = walk(ControlLoop(load_robot(robot), controller), 100)[1]
    assert np.array_equal(rehearsed, fresh)


def test_every_controller_is_among_them():
    """Otherwise a new controller could be slow at its first tick unseen."""
    assert LAWS == {robot: tuple(fitting_controllers(load_robot(robot))) for robot in LAWS}
    # a policy fits nothing before somebody names its network
    assert {controller for _, controller in FITTING} == set(CONTROLLERS) - {'policy'}
