# SPDX-License-Identifier: Apache-2.0
"""Defaults in newtons, metres and seconds fit the robot they are for."""

import re

import numpy as np
import pytest
from stranger import write_rabbit

from walking_control.estimation.parameters import EstimatorParameters
from walking_control.loading import load_robot, SECTIONS
from walking_control.models.parameters import parameter, Parameters
from walking_control.models.scale import REFERENCE, RULES, Scale, scale_of

# what serves which kind of robot; the rest of the sections is nothing to it
SERVING = {
    'compass': None,
    'dribbel': None,
    'humanoid': ('estimator', 'safety', 'static_torque'),
    'walker3d_point': ('search',),
}
OTHERS = ('compliant', 'hip_stop', 'natural_walking', 'space_search', 'static_torque', 'stepping')
# bounds of what sensors can say grow with every robot; no walk that they let pass knows them
BOUNDS = ('bridge_time', 'base_rate_limit', 'foot_force_limit')


@pytest.mark.parametrize('name', SERVING)
def test_shipped_robots_keep_their_numbers(name):
    """A shipped robot would walk otherwise than in every figure of the pages."""
    robot_file = load_robot(name)
    for kind in SECTIONS.values():
        if (
            SERVING[name] is None
            and kind.section not in OTHERS
            or kind.section in (SERVING[name] or ())
        ):
            unscaled = kind.read(robot_file.sections.get(kind.section, {}))
            scaled, unscaled = vars(robot_file.values(kind)).copy(), vars(unscaled).copy()
            for bound in BOUNDS:
                scaled.pop(bound, None), unscaled.pop(bound, None)
            assert scaled == unscaled, kind.section


@pytest.mark.parametrize('mass', [0.5 / 32.0, 1.0, 50.0 / 32.0])
def test_contacts_are_seen_below_the_weight(tmp_path, mass):
    """A walker of half a kilogram would never feel the floor, one of 50 would feel dust."""
    robot_file = load_robot(write_rabbit(tmp_path, mass=mass))
    values, weight = robot_file.values(EstimatorParameters), 32.0 * mass * 9.81
    assert 0.1 * weight < values.contact_on < 0.2 * weight
    assert values.contact_off < values.contact_on


def test_size_of_a_robot(tmp_path):
    """Defaults would grow with something else than mass, leg length and gravity."""
    scale = scale_of(load_robot(write_rabbit(tmp_path, mass=2.0, length=0.5)).robot, 1.62)
    assert scale.mass == pytest.approx(64.0) and scale.length == pytest.approx(0.4)
    assert scale.time == pytest.approx((0.4 / 1.62) ** 0.5)


def test_rules_follow_from_units():
    """A rule would contradict its unit: the words, the exponents and the SI must agree."""
    scale = Scale(3.0, 0.7, 5.0)
    m, L, g, T = 3.0, 0.7, 5.0, (0.7 / 5.0) ** 0.5
    R = REFERENCE
    for unit, (_, words) in RULES.items():
        product = re.sub(r'(?<=[\w)]) (?=[\w(])', '*', words).replace('^', '**')  # our own text

        def size(m, g, L, T):
            return eval(product, {}, {'m': m, 'g': g, 'L': L, 'T': T})

        assert scale.factor(unit) == pytest.approx(
            size(m, g, L, T) / size(R.mass, R.gravity, R.length, R.time)
        )
        assert REFERENCE.factor(unit) == 1.0
    SI = {'N': 'kg m/s^2', 'J': 'kg m^2/s^2', 'W': 'kg m^2/s^3'}
    np.testing.assert_allclose(RULES['N'][0], (1, 1, -2), err_msg=SI['N'])
    np.testing.assert_allclose(RULES['W'][0], np.array(RULES['J'][0]) - RULES['s'][0])
    np.testing.assert_allclose(2 * np.array(RULES['J^0.5'][0]), RULES['J'][0])


def test_written_values_and_ranges_stand():
    """A number in a robot file would be changed, or a default leave its own range."""

    class Forces(Parameters, section='test'):
        force: float = parameter(10.0, 'N', 'A force.', 1.0, 20.0, scaled=True)

    giant, dwarf = Scale(100.0, 1.0, 9.81), Scale(1e-3, 1.0, 9.81)
    assert Forces.read({'force': 3.0}, giant).force == 3.0
    assert Forces.read({}, giant).force == 20.0 and Forces.read({}, dwarf).force == 1.0
    assert Forces.read().force == 10.0
