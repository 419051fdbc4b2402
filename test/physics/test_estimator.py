# SPDX-License-Identifier: Apache-2.0
"""The estimator against the truth of MuJoCo, with sensors as preset lab has them."""

import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.runs.kinematics import estimate_error, estimation_measures
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import run_plant

TILT, VELOCITY = math.radians(0.5), 0.05  # rms, rad and m/s


def noisy_run(name, duration, seed, pushes=(), settings=()):
    """Return a run with preset lab; pushes are (time, impulse, direction)."""
    robot_file = load_robot(name, [*noise_overrides('lab'), ('sensors.seed', seed), *settings])
    plant = make_plant(robot_file)
    step, waiting = plant.step, list(pushes)

    def pushed_step(command, span):
        if waiting and plant.time >= waiting[0][0] - 1e-9:
            plant.push(*waiting.pop(0)[1:])
        step(command, span)

    plant.step = pushed_step
    run = run_plant(plant, ControlLoop(robot_file), robot_file.start, duration)
    assert run.fault is None and not waiting
    return run


@pytest.fixture(scope='module', params=[0, 1])
def walk(request):
    """Return a walk of Dribbel."""
    return noisy_run('dribbel', 6.0, request.param)


@pytest.fixture(scope='module')
def pushed():
    """Return a humanoid that stands on both feet and is pushed to the front and to the left."""
    return noisy_run(
        'humanoid',
        3.0,
        1,
        [(1.0, 3.0, 0.0), (2.0, 2.0, 0.5 * math.pi)],
        [('static_torque.routine', 'hold')],
    )


def check(run):
    """Check a run against what the estimator promises."""
    found = estimation_measures(run)
    assert found['roll_rms'] < TILT and found['pitch_rms'] < TILT
    assert found['velocity_rms'] < VELOCITY
    assert found['within_3_sigma'] > 0.99
    assert 0.1 < found['nees'] < 1.5


def test_dribbel_walks(walk):
    """A walker whose pitch or speed is wrong steps at the wrong moment."""
    assert walk.steps[-1] >= 8
    check(walk)


@pytest.mark.long
def test_humanoid_is_pushed(pushed):
    """A push that the estimator takes for noise or a slip would be answered too late."""
    check(pushed)
    error, speed = estimate_error(pushed), np.linalg.norm(pushed.base.linear, axis=1)
    for time in (1.0, 2.0):
        rows = (pushed.time > time) & (pushed.time < time + 0.05)
        assert speed[rows].max() > 0.05, 'it moves'
        assert np.linalg.norm(error.velocity[rows], axis=1).max() < 0.3 * speed[rows].max()


def test_perfect_sensors_need_no_filter():
    """Figures of walks with perfect sensors would change in their last digits."""
    robot_file = load_robot('dribbel')
    plain, chosen = (
        run_plant(make_plant(file), ControlLoop(file), file.start, 1.0)
        for file in (robot_file, load_robot('dribbel', [('estimator.kind', 'kinematic')]))
    )
    assert 'covariance' not in plain.columns
    assert np.array_equal(plain.q, chosen.q)


def test_filter_with_perfect_sensors_is_as_good():
    """A filter that spoils what is perfect would be a bad default for good sensors."""
    robot_file = load_robot('dribbel', [('estimator.kind', 'filter')])
    run = run_plant(make_plant(robot_file), ControlLoop(robot_file), robot_file.start, 3.0)
    found = estimation_measures(run)
    assert run.fault is None and run.steps[-1] >= 4
    assert found['pitch_rms'] < math.radians(0.2) and found['velocity_rms'] < 0.02
