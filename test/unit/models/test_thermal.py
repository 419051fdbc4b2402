# SPDX-License-Identifier: Apache-2.0
"""How warm motors get."""

from dataclasses import replace

import numpy as np
import pytest

from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.endurance import endure, fit_heating, heat_of_table
from walking_control.loading import load_robot
from walking_control.models.actuators import MotorThermal
from walking_control.models.thermal import check_air, COPPER, Heating, heating, TOLD


def one_motor(copper=0.1):
    """Return the `Heating` of one motor of about half a kilogram."""
    numbers = (copper, 0.4, 1.2, 25.0, 225.0, 90.0)
    return Heating(('knee',), *np.array(numbers)[:, None], ())


def test_a_step_is_the_closed_form_of_two_nodes():
    """The exponential would differ from the eigenvalues' closed form by more than 1e-9."""
    model, squared, air = one_motor(), 100.0, 20.0
    warming = 0.1 * squared / (COPPER + TOLD)
    a, b = (warming - 1 / 0.4) / 25.0, 1 / (0.4 * 25.0)
    c, d = 1 / (0.4 * 225.0), -(1 / 0.4 + 1 / 1.2) / 225.0
    load = np.array([warming * COPPER / 25.0, air / 1.2 / 225.0])
    rest = np.linalg.solve([[a, b], [c, d]], -load)
    mean, root = 0.5 * (a + d), np.sqrt(0.25 * (a - d) ** 2 + b * c)
    for time in (0.5, 30.0, 900.0):
        fast, slow = np.exp((mean - root) * time), np.exp((mean + root) * time)
        matrix, eye = np.array([[a, b], [c, d]]), np.eye(2)
        power = (slow * (matrix - (mean - root) * eye) - fast * (matrix - (mean + root) * eye)) / (
            2.0 * root
        )
        expected = rest + power @ (np.array([air, air]) - rest)
        found = model.step(np.full((1, 2), air), np.array([squared]), np.zeros(1), air, time)
        assert found[0] == pytest.approx(expected, rel=1e-9)


def test_ticks_follow_the_exact_step():
    """The supervisor's temperatures would not be those of `endurance`."""
    model, start, squared = one_motor(), np.array([[60.0, 40.0]]), np.array([150.0])
    followed = start
    for _ in range(5000):
        followed = model.follow(followed, squared, 25.0, 0.002)
    exact = model.step(start, squared, np.zeros(1), 25.0, 10.0)
    assert followed == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize('squared', [0.0, 100.0, 1e9])
def test_a_tiny_capacity_gives_no_absurd_temperature(squared):
    """A told capacity far below the heat of a tick would swing, or make a number that is none."""
    model = replace(one_motor(), winding=np.array([1e-6]))
    warm = np.array([[25.0, 25.0]])
    for _ in range(100):
        warm = model.follow(warm, np.array([squared]), 25.0, 0.01)
        assert np.isfinite(warm).all()
        assert (warm >= 25.0 - 1e-9).all()


def test_the_continuous_effort_settles_at_the_limit():
    """What a motor bears for good would not be what makes it reach its limit at last."""
    model = one_motor()
    borne = model.continuous(25.0)
    found = endure(model, borne**2, np.zeros(1), 3600.0, 25.0, 25.0)
    assert found['temperatures']['knee']['settles_at'] == pytest.approx(90.0, abs=1e-6)
    more = endure(model, 1.1 * borne**2, np.zeros(1), 3600.0, 25.0, 25.0)
    assert 0.0 < more['temperatures']['knee']['time_to_limit'] < 3600.0


def test_heat_of_a_run_with_a_sliding_motor(tmp_path):
    """A run of a robot whose motor slides, in m/s and N, would be refused."""
    robot = load_robot('compass').robot
    slides = replace(robot.limits['hip'], kind='prismatic')
    robot = replace(robot, limits={**robot.limits, 'hip': slides}, ground_torque=None)
    table = tmp_path / 'run.csv'
    table.write_text('time [s],hip_effort [N],hip_rate [m/s]\n0,2,0.1\n1,4,0.1\n', 'utf-8')
    squared, _ = heat_of_table(table, robot)
    assert squared == pytest.approx([10.0])


def test_a_robot_without_motors_is_refused():
    """A passive walker would be answered by a trace of the stack."""
    passive = replace(load_robot('compass').robot, actuators={})
    with pytest.raises(InvalidInput, match='has none'):
        endure(heating(passive), np.zeros(0), np.zeros(0), 10.0, 25.0, 25.0)


def test_heat_that_runs_away_settles_nowhere():
    """A motor beyond all cooling would get a last temperature, or a number that is none."""
    row = endure(one_motor(), np.array([1e5]), np.zeros(1), 60.0, 25.0, 25.0)['temperatures'][
        'knee'
    ]
    assert row['settles_at'] is None
    assert np.isfinite(row['winding'])
    assert row['time_to_limit'] < 10.0


def test_guesses_are_said_and_what_is_told_is_taken():
    """A guessed temperature would look like one that is known."""
    robot = load_robot('walker3d').robot
    joint = next(iter(robot.actuators))
    assert any('thermal data of all' in words for words in heating(robot).guesses)
    told = MotorThermal(0.5, 1.5, 20.0, 200.0, 110.0)
    model = heating(replace(robot, thermal={joint: told}))
    assert (model.inside[0], model.housing[0], model.limit[0]) == (0.5, 200.0, 110.0)
    motor = robot.actuators[joint]
    assert model.copper[0] == pytest.approx(motor.resistance / motor.torque_per_ampere**2)
    assert not any('all' in words for words in model.guesses)


def test_thermal_data_are_fitted_within_five_percent():
    """Constants of a log of torque and temperature with 0.3 K of noise would be wrong."""
    true, random = one_motor(), np.random.default_rng(3)
    time = np.arange(0.0, 5400.0, 30.0)
    squared = np.where(time < 1800.0, 200.0, np.where(time < 3000.0, 20.0, 120.0))
    squared[(time % 600.0) < 120.0] = 400.0
    state, measured = np.full((1, 2), 25.0), [25.0]
    for load in squared[:-1]:
        state = true.step(state, np.array([load]), np.zeros(1), 25.0, 30.0)
        measured.append(state[0, 0])
    measured = np.array(measured) + random.normal(0.0, 0.3, len(time))
    begin = replace(
        true,
        inside=np.array([0.8]),
        outside=np.array([0.7]),
        winding=np.array([60.0]),
        housing=np.array([120.0]),
    )
    found = fit_heating(begin, 'knee', time, measured, squared, 25.0)
    for name, value in zip(found, (0.4, 1.2, 25.0, 225.0), strict=True):
        assert found[name]['value'] == pytest.approx(value, rel=0.05)
        assert found[name]['low'] < found[name]['value'] < found[name]['high']


def test_a_stuck_sensor_fits_nothing():
    """Constants would be made of a temperature that never changes."""
    time = np.arange(0.0, 600.0, 10.0)
    with pytest.raises(InvalidInput, match='stuck'):
        fit_heating(one_motor(), 'knee', time, np.full(60, 25.0), np.ones(60), 25.0)


@pytest.mark.parametrize('air, start', [(298.0, 25.0), (77.0, 25.0), (25.0, 298.0), (np.nan, 25.0)])
def test_temperatures_in_kelvin_or_fahrenheit_are_refused(air, start):
    """An ambient temperature in kelvin or Fahrenheit would be taken for one in degrees Celsius."""
    with pytest.raises(InvalidInput, match='Celsius'):
        check_air(air, start, np.array([90.0]))
