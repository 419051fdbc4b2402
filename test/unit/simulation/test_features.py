# SPDX-License-Identifier: Apache-2.0
"""What engines declare, cell by cell: offered features act, others are refused with the reason."""

import numpy as np
import pytest

from walking_control.exceptions import IncompatiblePlant
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Command
from walking_control.runs.kinematics import foot_positions
from walking_control.simulation.disturbance import plan_disturbances
from walking_control.simulation.engine import Engine, Feature
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import simulate

PAIRS = [
    ('compass', 'rigid'),
    ('walker3d_point', 'rigid'),
    ('compass', 'compliant'),
    ('walker3d', 'compliant'),
    ('dribbel', 'mujoco'),
    ('walker3d', 'mujoco'),
    ('dribbel', 'dart'),
    ('walker3d', 'dart'),
]
SHIN = {
    'compass': 'right_leg',
    'dribbel': 'outer_shank',
    'walker3d': 'left_shank',
    'walker3d_point': 'left_leg',
}
TEXTS = {
    Feature.STEPS: 'step_up=0.002@1',
    Feature.TILTS: 'slope_change=0.02@1',
    Feature.EDGES: 'step_up=0.002@0.05m',
    Feature.BENDS: 'slope_change=0.02@0.05m',
    Feature.SIDEWAYS: 'side_push=0.2@0.01s',
    Feature.LINKS: 'push=0.2@0.01s:link=%s:duration=0.02',
    Feature.FORCES: 'push=0.2@0.01s:duration=0.02',
    Feature.UNEVEN: '',
}
BUMP = {'world.floor_places': (-1.0, 0.0, 0.05, 1.0), 'world.floor_heights': (0.0, 0.0, 0.002, 0.0)}


def planned(robot, name, feature):
    """Return a plant with a feature asked of it."""
    robot_file = load_robot(robot, BUMP.items() if feature is Feature.UNEVEN else ())
    plant = make_plant(robot_file, name)
    text = TEXTS[feature] % SHIN[robot] if feature is Feature.LINKS else TEXTS[feature]
    plan_disturbances(plant, [text] if text else [])
    plant.reset(robot_file.start)
    return plant


@pytest.mark.parametrize('robot, name', PAIRS)
def test_what_is_lacking_is_refused_with_the_reason(robot, name):
    """A walk would go on undisturbed where the command line promised a disturbance."""
    lacks = make_plant(load_robot(robot), name).engine.lacks
    for feature, reason in lacks.items():
        if feature is Feature.FORCES:  # given as impulses
            continue
        with pytest.raises(IncompatiblePlant) as found:
            planned(robot, name, feature)
        assert reason in str(found.value)


@pytest.mark.parametrize('robot, name', PAIRS)
def test_what_is_offered_is_planned(robot, name):
    """A feature of the page would be refused, or end in a traceback."""
    lacks = make_plant(load_robot(robot), name).engine.lacks
    for feature in set(Feature) - set(lacks):
        plant = planned(robot, name, feature)
        plant.step(Command(plant.robot), 0.01)
        assert np.isfinite(plant.truth.q).all(), feature


@pytest.mark.parametrize('robot, name', PAIRS)
@pytest.mark.parametrize('duration', [0.0, 0.02])
def test_every_plant_is_pushed_at_a_time(robot, name, duration):
    """A push that acts in one plant would do nothing in the next."""
    speeds = []
    for text in ([], [f'push=0.2@0.01s:duration={duration}']):
        robot_file = load_robot(robot)
        plant = make_plant(robot_file, name)
        plan_disturbances(plant, text)
        plant.reset(robot_file.start)
        for _ in range(4):
            plant.step(Command(plant.robot), 0.01)
        speeds.append(plant.truth.base.linear[0])
    assert speeds[1] - speeds[0] > 0.05


@pytest.mark.parametrize('link', ['outer_shank', 'inner_thigh'])
def test_links_are_pushed_alike(link):
    """A push on a leg would move the hip as one on the base does, or another leg."""
    changes = []
    for name in ('rigid', 'compliant', 'mujoco'):
        ends = []
        for size in (0.0, 0.02):
            robot_file = load_robot('dribbel')
            plant = make_plant(robot_file, name)
            plan_disturbances(plant, [f'push={size}@0.01s:link={link}:duration=0.02'])
            plant.reset(robot_file.start)
            for _ in range(3):
                plant.step(Command(plant.robot), 0.01)
            ends.append(plant.truth.v.copy())
        changes.append(ends[1] - ends[0])
    largest = abs(changes[2]).max()
    assert largest > 0.05
    rigid, compliant, other = changes
    assert rigid == pytest.approx(other, abs=0.02 * largest)
    assert compliant == pytest.approx(other, abs=0.3 * largest)  # its floor gives way


def test_an_engine_is_five_methods():
    """A newcomer would have to write more than CONTRIBUTING says."""
    assert Engine.__abstractmethods__ == {'reset', 'advance', 'read', 'impulse', 'rates'}


@pytest.mark.long
def test_floors_lean_from_a_touchdown_on():
    """The same slope_change would be another floor in the next plant, or move under a foot."""
    for name in ('rigid', 'mujoco', 'dart'):
        robot_file = load_robot('dribbel')
        run = simulate(robot_file, plant=name, duration=1.9, disturb=['slope_change=0.03@2'])
        feet = foot_positions(Dynamics(run.robot), run.q)
        down = np.flatnonzero(np.diff(run.steps)) + 6  # stopped by then
        places = np.array([feet[row, run.support[row]][::2] for row in down])
        assert len(places) == 3, name
        level = places[0, 1] - np.tan(0.03) * (places[:, 0] - places[0, 0])
        assert places[:, 1] == pytest.approx(level, abs=1e-3), name
