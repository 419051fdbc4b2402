# SPDX-License-Identifier: Apache-2.0
"""A robot with four feet: it stands, and is told what it would need to walk."""

from four_feet import four_feet
import pytest

from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.experiments.bring_up.run import bring_up
from walking_control.lab.experiments.bring_up.step import Site
from walking_control.lab.experiments.check import check_robot
from walking_control.loading import load_robot
from walking_control.simulation.simulate import simulate


@pytest.fixture(scope='module')
def adopted(tmp_path_factory):
    folder = tmp_path_factory.mktemp('four')
    (folder / 'four.urdf').write_text(four_feet())
    adoption = adopt(folder / 'four.urdf')
    return adoption, adoption.write(folder)[0]


def test_it_gets_a_law_that_fits(adopted):
    """A law for two feet would be written, which `check` refuses in the next breath."""
    adoption, path = adopted
    robot_file = load_robot(path)
    assert robot_file.controller == 'static_torque' and 'stepping' not in robot_file.sections
    (law,) = (guess for guess in adoption.guesses if guess.what == 'law')
    assert '4 feet' in law.why and 'walking needs a law' in law.why
    found = check_robot(path)
    assert found['ok'], found['problems']


@pytest.mark.parametrize(
    'plant',
    ['mujoco', *(pytest.param(plant, marks=pytest.mark.long) for plant in ('dart', 'compliant'))],
)
def test_it_stands_on_every_plant_in_space(adopted, plant):
    """A plant or the law would count on two feet, or a point be trusted with a moment."""
    pytest.importorskip({'dart': 'dartpy', 'mujoco': 'mujoco'}.get(plant, 'numba'))
    run = simulate(load_robot(adopted[1]), plant=plant, duration=1.5)
    assert run.fault is None
    posture = run.summary()['posture']
    assert posture['max_tilt'] < 0.01 and posture['final_tilt'] < 2e-3
    assert run.contact[-1].all() and run.contact.shape[1] == 4


@pytest.mark.long
def test_bring_up_says_what_it_lacks_to_walk(adopted, tmp_path):
    """A law for two feet would be tried, and the robot that stands be said not to."""
    pytest.importorskip('mujoco')
    results = {
        name: outcome
        for name, outcome, _ in bring_up(Site(adopted[1], tmp_path, duration=1.0, evaluations=0))
    }
    assert results['check'].ok and results['stand'].ok
    assert not results['stepping'].ok and 'of two feet, not of 4' in results['stepping'].what
