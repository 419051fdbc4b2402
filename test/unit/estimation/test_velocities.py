# SPDX-License-Identifier: Apache-2.0
"""Joint velocities from noisy positions, by a line and by a model that bends it."""

import math

import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.estimation.velocities import StanceModel, VelocityFilter
from walking_control.exceptions import ParameterError
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Measurement
from walking_control.simulation.registry import make_plant

DT = 0.002
NO_EFFORT = np.zeros(1)


def values_of(memory, impact_memory=0.0):
    """Return values of the estimator with memories in s."""
    return load_robot(
        'dribbel', velocity_memory=memory, velocity_impact_memory=impact_memory
    ).values(EstimatorParameters)


def test_a_line_is_found_exactly(dribbel):
    """Wrong gains would leave a constant velocity with an error for ever."""
    filter_ = VelocityFilter(dribbel.robot, values_of(0.02))
    slopes, free = np.array([0.0, 1.0, -2.0, 0.5]), np.zeros(2, bool)
    for tick in range(4):
        rates = np.zeros(4)
        filter_.update(tick * DT, 0, slopes * tick * DT, rates, free, NO_EFFORT)
    assert rates == pytest.approx(slopes, abs=1e-12), 'two positions tell a line'


def test_noise_of_a_fading_memory(dribbel):
    """A filter that averages less than its memory allows lets noise through to the motors."""
    memory, noise, rng = 0.02, 1e-3, np.random.default_rng(3)
    filter_ = VelocityFilter(dribbel.robot, values_of(memory))
    found = []
    for tick in range(20000):
        angles, rates = noise * rng.standard_normal(4), np.zeros(4)
        filter_.update(tick * DT, 0, angles, rates, np.zeros(2, bool), NO_EFFORT)
        found.append(rates[1:])
    theta = math.exp(-DT / memory)  # [Mor69]: variance of the slope of a faded line
    expected = noise / DT * math.sqrt(2.0 * ((1.0 - theta) / (1.0 + theta)) ** 3)
    assert np.std(found[100:]) == pytest.approx(expected, rel=0.05)
    assert expected < 0.02 * noise / DT


def test_model_moves_as_the_plant_does(dribbel):
    """A model with another sign, support or lock than the robot would fight the measurements."""
    plant, loop = make_plant(dribbel, 'rigid'), ControlLoop(dribbel, 'hip_switching')
    model = StanceModel(Dynamics(dribbel.robot))
    measurement = Measurement(dribbel.robot)
    plant.reset(dribbel.start)
    smooth = 0
    for _ in range(100):
        plant.measure(measurement)
        effort = loop.tick(measurement).effort.copy()
        support, v, q = loop.state.support, plant.truth.v[2:].copy(), plant.truth.q[2:].copy()
        locked = plant.truth.locked.copy()
        model.hold(locked)
        step = 1e-6
        plant.step(loop.command, step)
        after = plant.truth.v[2:]
        if (plant.truth.locked == locked).all() and np.abs(after - v).max() < 0.01:
            expected = model.acceleration(support, q, v, effort)
            assert (after - v) / step == pytest.approx(expected, rel=1e-3, abs=2e-2)
            smooth += 1
        plant.step(loop.command, loop.period - step)
    assert smooth > 70


@pytest.mark.long
def test_estimates_follow_the_truth_through_impacts(dribbel):
    """Rates that lag behind touchdowns and knee strikes cost curve tracking its walk."""
    plant, loop = make_plant(dribbel, 'rigid'), ControlLoop(dribbel, 'hip_switching')
    measurement, rng = Measurement(dribbel.robot), np.random.default_rng(4)
    plant.reset(dribbel.start)
    errors, last = [], None
    for _ in range(250):
        plant.measure(measurement)
        measurement.position += 1e-3 * rng.standard_normal(3)
        if last is not None:
            measurement.velocity[:] = (measurement.position - last) / loop.period
        last = measurement.position.copy()
        loop.tick(measurement)
        errors.append(
            [loop.state.velocity - plant.truth.v[3:], measurement.velocity - plant.truth.v[3:]]
        )
        plant.step(loop.command, loop.period)
    estimated, differentiated = np.sqrt(np.mean(np.square(errors), axis=(0, 2)))
    assert loop.state.steps >= 3
    assert estimated < 0.1 and differentiated > 5.0 * estimated


def test_a_standing_robot_has_no_stance_model():
    """A robot without coordinates would be refused by an error deep in the dynamics."""
    with pytest.raises(ParameterError, match='choose filtered'):
        ControlLoop(load_robot('humanoid', [('estimator.velocity', 'model')]))


def test_filtered_velocities_of_any_robot():
    """A robot that is not a walker would keep the noise of its encoders."""
    robot_file = load_robot('humanoid', [('estimator.velocity', 'filtered')])
    loop, measurement = ControlLoop(robot_file), Measurement(robot_file.robot)
    rng = np.random.default_rng(5)
    measurement.position[:] = robot_file.start.posture
    measurement.foot_force[:, 2] = 155.0
    for tick in range(50):
        measurement.stamp = 0.002 * tick
        measurement.velocity[:] = rng.standard_normal(len(measurement.velocity))
        loop.estimator.update(measurement)
    assert np.abs(loop.state.velocity).max() < 1e-3
