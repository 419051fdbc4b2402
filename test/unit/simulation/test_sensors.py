# SPDX-License-Identifier: Apache-2.0
"""Sensors as they are: each error has its size, its seed and no influence on the others."""

import math

import numpy as np
import pinocchio as pin
import pytest

from walking_control.estimation.estimator import DECLARED
from walking_control.estimation.parameters import EstimatorParameters
from walking_control.exceptions import InvalidInput, ParameterError
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import (
    has_errors,
    noise_overrides,
    read_preset,
    SensorParameters,
    Sensors,
)

ROBOT = load_robot('dribbel').robot
PERIOD = 0.002


def listen(ticks=4000, move=None, **values):
    """Return what sensors say of a robot at rest, or of the positions `move` gives, by signal."""
    sensors = Sensors(ROBOT, SensorParameters.read(values))
    told = Measurement(ROBOT)
    rows = {
        name: []
        for name in (
            'position',
            'velocity',
            'orientation',
            'angular_velocity',
            'linear_acceleration',
            'foot_force',
        )
    }
    for tick in range(ticks):
        told.stamp, told.values[:] = tick * PERIOD, 0.0
        told.orientation[3] = 1.0
        told.foot_force[:, 2] = 100.0
        if move is not None:
            move(told)
        sensors.spoil(told)
        for name, row in rows.items():
            row.append(getattr(told, name).copy())
    return {name: np.array(row) for name, row in rows.items()}


def tilt(orientation):
    """Return the rotation vectors of quaternions xyzw, ``(T, 3)``, rad."""
    return np.array(
        [pin.log3(pin.Quaternion(w, x, y, z).toRotationMatrix()) for x, y, z, w in orientation]
    )


@pytest.mark.parametrize(
    'name, signal, count',
    [
        ('position_noise', 'position', 3),
        ('velocity_noise', 'velocity', 3),
        ('gyro_noise', 'angular_velocity', 3),
        ('acceleration_noise', 'linear_acceleration', 3),
        ('force_noise', 'foot_force', 6),
    ],
)
def test_noise_has_the_size_that_was_asked_for(name, signal, count):
    """If it failed, a preset's standard deviation would be another, or of other signals."""
    told, clean = listen(**{name: 0.02}), listen(ticks=2)
    errors = told[signal].reshape(-1, count) - clean[signal].reshape(-1, count)[0]
    assert errors.std(axis=0) == pytest.approx(0.02, rel=0.06)
    assert np.abs(errors.mean(axis=0)).max() < 0.002
    assert abs(np.corrcoef(errors[1:, 0], errors[:-1, 0])[0, 1]) < 0.06  # white
    for other in set(told) - {signal}:
        assert np.array_equal(told[other], np.repeat(clean[other][:1], len(told[other]), axis=0))


@pytest.mark.parametrize(
    'name, signal',
    [('gyro_bias', 'angular_velocity'), ('acceleration_bias', 'linear_acceleration')],
)
def test_a_bias_stays_for_a_run_and_changes_with_the_seed(name, signal):
    """If it failed, what an estimator has to learn would not stay, or be the same in every run."""
    runs = np.array([listen(ticks=3, seed=seed, **{name: 0.1})[signal] for seed in range(200)])
    assert (runs == runs[:, :1]).all()
    assert runs[:, 0].std(axis=0) == pytest.approx(0.1, rel=0.15)


def test_orientation_error_wanders_about_its_bias():
    """If it failed, the attitude would be off by another angle, or forget its error too soon."""
    angles = np.array(
        [
            tilt(listen(ticks=2, seed=seed, orientation_bias=0.01)['orientation'][:1])
            for seed in range(200)
        ]
    )
    assert angles.std(axis=0) == pytest.approx(0.01, rel=0.15)
    told = listen(ticks=10000, orientation_drift=0.01, orientation_drift_time=0.05)['orientation']
    assert np.linalg.norm(told, axis=1) == pytest.approx(1.0, abs=1e-12)
    wander = tilt(told)
    assert wander.std(axis=0) == pytest.approx(0.01, rel=0.2)
    lag = round(0.05 / PERIOD)
    kept = (wander[lag:] * wander[:-lag]).mean() / (wander**2).mean()
    assert kept == pytest.approx(math.exp(-1.0), abs=0.12)


def test_encoder_counts_whole_steps():
    """If it failed, positions would be finer than the encoder."""

    def move(told):
        told.position[:] = 0.3 + told.stamp

    told = listen(ticks=500, move=move, position_resolution=0.01)['position']
    assert told == pytest.approx(0.01 * np.round(told / 0.01), abs=1e-12)
    assert np.abs(told - (0.3 + PERIOD * np.arange(500))[:, None]).max() <= 0.005 + 1e-12


def test_velocity_is_the_differentiated_encoder_behind_a_low_pass():
    """If it failed, velocities would be better, later or noisier than those of a drive."""
    cutoff = 20.0

    def move(told):
        told.position[:] = told.stamp if told.stamp > 0.1 else 0.1  # begins to move at 0.1 s

    told = listen(ticks=500, move=move, velocity_cutoff=cutoff)['velocity'][:, 0]
    stamps = PERIOD * np.arange(500)
    late = np.maximum(0.0, np.floor((stamps - 0.1 + 1e-9) / PERIOD) * PERIOD)
    assert told == pytest.approx(1.0 - np.exp(-2.0 * np.pi * cutoff * late), abs=1e-6)
    # y = a (x - x before) / T + (1 - a) y before, of white x, has variance 2 a^2 / (2 - a) / T^2
    a = 1.0 - math.exp(-2.0 * math.pi * cutoff * PERIOD)
    noisy = listen(position_noise=1e-3, velocity_cutoff=cutoff)['velocity']
    assert noisy[500:].std() == pytest.approx(
        1e-3 / PERIOD * a * math.sqrt(2.0 / (2.0 - a)), rel=0.05
    )


def test_feet_report_late_and_nothing_below_the_threshold():
    """If it failed, contacts would be seen sooner, or more lightly, than by the real sensor."""

    def move(told):
        told.foot_force[:] = 0.0
        told.foot_force[0, 2] = 1e4 * told.stamp

    told = listen(ticks=100, move=move, contact_delay=0.009)['foot_force'][:, 0, 2]
    late = 1e4 * PERIOD * np.maximum(0, np.arange(100) - 5)  # 0.009 s: five measurements
    assert told == pytest.approx(late, abs=1e-9)
    told = listen(ticks=100, move=move, contact_threshold=50.0)['foot_force'][:, 0, 2]
    assert not told[:3].any() and told[3:] == pytest.approx(1e4 * PERIOD * np.arange(3, 100))


def test_errors_do_not_depend_on_each_other():
    """If it failed, one more error would change all others, and no cause could be found."""
    preset = {name: value for name, value in read_preset('lab').items()}
    all_of_them, alone = (
        listen(ticks=50, **preset),
        listen(ticks=50, gyro_noise=0.005, gyro_bias=0.0035),
    )
    assert np.array_equal(all_of_them['angular_velocity'], alone['angular_velocity'])


def test_scale_makes_every_error_larger_alike():
    """If it failed, the margin of noise would be one of something else."""
    once, twice = (
        listen(
            ticks=50,
            gyro_noise=0.01,
            acceleration_bias=0.1,
            force_noise=5.0,
            position_noise=1e-3,
            scale=scale,
        )
        for scale in (1.0, 2.0)
    )
    clean = listen(ticks=50)
    for name, values in once.items():
        assert twice[name] - clean[name] == pytest.approx(2.0 * (values - clean[name]), abs=1e-12)


def test_one_seed_one_run():
    """If it failed, a fall could not be looked at again."""
    preset = read_preset('rough')
    first, again, other = (listen(ticks=20, seed=seed, **preset) for seed in (3, 3, 4))
    for name, values in first.items():
        assert np.array_equal(values, again[name]), name
        assert not np.array_equal(values, other[name]), name


def test_off_by_default_and_with_preset_none():
    """If it failed, a run would have errors that nobody asked for."""
    assert make_plant(load_robot('dribbel'), 'rigid').sensors == {}
    assert make_plant(load_robot('dribbel', noise_overrides('none')), 'rigid').sensors == {}
    assert not has_errors(SensorParameters.read({'seed': 3, **read_preset('none')}))


@pytest.mark.parametrize('preset', ['lab', 'rough'])
def test_presets_say_where_each_value_comes_from(preset):
    """A number without a reason would be tuned, not measured."""
    from walking_control.models.resources import noise_path

    lines = noise_path(preset).read_text().splitlines()
    values = read_preset(preset)
    for name in ('position_noise', 'gyro_noise', 'acceleration_noise', 'force_noise'):
        assert values[name] > 0.0
    reasons = [line for line in lines if line.startswith('# ')]
    assert len(reasons) >= 8
    units = [line for line in lines if line and not line.startswith('#')]
    assert all('#' in line for line in units), 'a unit is missing'
    assert (values['command_delay'] > 0.0) == (preset == 'rough')


def test_a_preset_replaces_the_sensors_of_the_robot_file():
    """If it failed, --noise none would leave on what the robot file has."""
    noisy = load_robot('dribbel', [('sensors.force_noise', 3.0), *noise_overrides('none')])
    assert not has_errors(noisy.values(SensorParameters))
    chosen = load_robot('dribbel', [*noise_overrides('lab'), ('force_noise', 3.0)])
    assert chosen.values(SensorParameters).force_noise == 3.0


@pytest.mark.parametrize(
    'values, words',
    [
        ({'gyro_noise': -0.1}, 'must be from 0'),
        ({'lost_measurements': 1.0}, 'must be from 0 to 0.99'),
        ({'command_delay': 0.001, 'command_jitter': 0.002}, 'at most sensors.command_delay'),
        ({'noise': 1.0}, 'unknown'),
    ],
)
def test_impossible_sensors_are_refused(values, words):
    """If it failed, noise below zero would be noise above, and answers come before questions."""
    with pytest.raises(ParameterError, match=words):
        SensorParameters.read(values)


@pytest.mark.parametrize(
    'values',
    [
        {'sensors.command_delay': 0.12},
        {'sensors.measurement_delay': 0.12},
        {'sensors.contact_delay': 0.12},
        {'sensors.measurement_delay': 0.07, 'sensors.command_delay': 0.05},
        {'sensors.measurement_delay': 0.09, 'sensors.measurement_jitter': 0.03},
    ],
)
def test_delays_that_the_watchdog_forbids_are_refused(values):
    """If it failed, every walk would end by a fault whose cause is in the settings."""
    with pytest.raises(ParameterError, match='safety.state_timeout') as refused:
        make_plant(load_robot('dribbel', values.items()), 'rigid')
    assert '\n' not in str(refused.value)
    make_plant(load_robot('dribbel', {**values, 'safety.state_timeout': 0.13}.items()), 'rigid')


@pytest.mark.parametrize(
    'text, words',
    [
        ('- 1', 'must be a list of parameters'),
        ('seed: 3', 'not part of a preset'),
        ('gyro_nose: 1.0', 'did you mean gyro_noise'),
        ('gyro_noise: -1.0', 'must be from 0'),
        ('gyro_noise: [', 'cannot be read'),
        (None, 'no such file'),
    ],
)
def test_bad_preset_files_are_refused(tmp_path, text, words):
    """If it failed, a slip of the pen in a preset would pass for a perfect sensor."""
    path = tmp_path / 'mine.yaml'
    if text is not None:
        path.write_text(text)
    with pytest.raises(InvalidInput, match=words):
        noise_overrides(path)


def test_unknown_preset_names_the_known_ones():
    """If it failed, nobody would learn what presets there are."""
    with pytest.raises(InvalidInput, match='known: lab, none, rough'):
        noise_overrides('labb')


def test_the_estimator_expects_what_the_sensors_are():
    """A preset that the estimator knows nothing of leaves it to believe noise."""
    perfect, lab = (
        load_robot('dribbel', noise_overrides(name)).values(EstimatorParameters)
        for name in ('none', 'lab')
    )
    assert not any(getattr(perfect, name) for name in DECLARED) and perfect.tachometers
    assert lab.gyro_sigma == 0.005 and lab.acceleration_bias_sigma == 0.05
    assert not lab.tachometers, 'rates from encoders'
    # the sum of noise and rounding to whole steps
    assert lab.position_sigma == pytest.approx(math.sqrt(1e-6 + 3.83e-4**2 / 12.0))
