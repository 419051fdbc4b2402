# SPDX-License-Identifier: Apache-2.0
"""Dribbel walks by signals as they are: noisy loads, noisy encoders, floors that are not level."""

import pytest

from walking_control.control_loop import ControlLoop
from walking_control.lab.experiments.variants import read_variants, variants_path
from walking_control.loading import load_robot
from walking_control.simulation.disturbance import plan_disturbances, rough_floor
from walking_control.simulation.registry import make_fast_plant
from walking_control.simulation.simulate import run_plant

FORCE = {'sensors.force_noise': 10.0}  # N
ENCODERS = {
    'sensors.position_noise': 1e-3,
    'sensors.velocity_cutoff': 1e4,
    'sensors.gyro_noise': 0.02,
}  # rad, Hz, rad/s
# between the legs' spread it gives and the damping that holds it, footholds matter least
STEADY = {
    'hip_switching.set_point': 0.515,
    'hip_switching.derivative_gain': 0.83,
    'hip_switching.proportional_gain': 15.0,
}


def walk(law, duration, overrides, floor=()):
    """Walk Dribbel on plant rigid and return the run."""
    robot_file = load_robot('dribbel', list(overrides.items()))
    plant = make_fast_plant(robot_file, 'rigid')
    plan_disturbances(plant, floor)
    return run_plant(plant, ControlLoop(robot_file, law), robot_file.start, duration)


@pytest.mark.parametrize(
    'law, steps', [('hip_switching', 5), pytest.param('curve_tracking', 2, marks=pytest.mark.long)]
)
def test_walks_with_a_tenth_of_its_weight_of_noise_on_its_feet(law, steps):
    """Noise on the feet once felled Dribbel under both its laws within seconds."""
    run = walk(law, 4.0, FORCE)
    assert run.fault is None and run.steps[-1] >= steps


@pytest.mark.long
def test_noise_of_encoders_costs_no_energy():
    """Differentiated encoders once made curve tracking spend more on noise than on walking."""
    clean, noisy = (walk('curve_tracking', 3.5, noise) for noise in ({}, ENCODERS))
    assert noisy.fault is None and noisy.steps[-1] == clean.steps[-1] >= 2
    assert noisy.electrical_energy[-1] < 1.1 * clean.electrical_energy[-1]


def test_walks_where_no_foothold_is_as_high_as_the_last():
    """A floor rough by 2 mm once felled hip switching within a few steps."""
    run = walk('hip_switching', 8.0, STEADY, rough_floor(0.005, 1))
    assert run.fault is None and run.steps[-1] >= 9


@pytest.mark.long
def test_a_leading_swing_leg_walks_on_a_rough_floor():
    """The gait and settings that ship for rough floors would serve no better than the others."""
    (rough,) = (
        variant
        for variant in read_variants(variants_path('dribbel'))
        if variant.name == 'curve_tracking, rough floor'
    )
    floor = rough_floor(0.004, 0)
    settings = {f'curve_tracking.{name}': value for name, value in rough.settings.items()}
    run = walk('curve_tracking', 7.0, settings, floor)
    assert run.fault is None and not run.fell and run.steps[-1] >= 6
    shipped = walk('curve_tracking', 7.0, {}, floor)
    assert shipped.fault is not None or shipped.fell
