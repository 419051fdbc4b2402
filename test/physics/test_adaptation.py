# SPDX-License-Identifier: Apache-2.0
"""Mechanics as decision variables."""

import numpy as np
import pytest

pytest.importorskip('casadi', reason='gait search needs the package casadi')

from walking_control.exceptions import InvalidInput  # noqa: E402
from walking_control.loading import load_robot  # noqa: E402
from walking_control.models import step_parameters  # noqa: E402
from walking_control.search.adaptation import find_adaptation, mass_column  # noqa: E402
from walking_control.search.parameters import SearchParameters  # noqa: E402


def numbers(robot_file):
    """Return theta of a robot file."""
    return step_parameters(robot_file.robot, 9.81, 0.0)


@pytest.mark.parametrize(
    'robot, argument',
    [('compass', 'leg_mass'), ('compass', 'hip_mass'), ('walker3d_point', 'head_mass')],
)
def test_mass_moves_theta_as_the_xacro_does(robot, argument):
    """A mass the optimiser moves must be the mass the expanded URDF has."""
    robot_file = load_robot(robot)
    base = float(robot_file.tree['robot']['xacro_args'][argument])
    column = mass_column(robot_file, argument, numbers(robot_file))
    heavier = load_robot(robot, [(argument, base + 0.7)])
    np.testing.assert_allclose(numbers(robot_file) + 0.7 * column, numbers(heavier), atol=1e-12)


def test_length_is_no_mass():
    """A length enters the equations otherwise and must not be taken for a mass."""
    robot_file = load_robot('compass')
    with pytest.raises(InvalidInput, match='linear'):
        mass_column(robot_file, 'leg_com', numbers(robot_file))


def test_bounds_and_start():
    """A first guess outside its bounds or a mass that may vanish makes no robot."""
    robot_file = load_robot('compass')
    values = SearchParameters.read({'mass_arguments': 'leg_mass hip_mass', 'min_mass': 0.3})
    adaptation = find_adaptation(robot_file, numbers(robot_file), ('spring', 'mass'), values)
    np.testing.assert_array_equal(adaptation.lower, [0.0, 0.3, 0.3])
    assert (adaptation.start >= adaptation.lower).all()
    assert adaptation.keeps_mass
    assert list(adaptation.name([1.0, 2.0, 3.0])) == [
        'robot.springs.hip.stiffness',
        'robot.xacro_args.leg_mass',
        'robot.xacro_args.hip_mass',
    ]
